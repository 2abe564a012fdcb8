"""What a tracking run says besides its scores, typed: a stored run may have been changed by anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from dialgauge.measures import Measure, Scores
from dialgauge.runs import Run
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.checks import below_empty


class CountBasis(Struct, frozen=True):
    """What the counts of a run rest on."""

    #: Size of the slot inventory, and of each domain's part of it.
    slots: int
    slots_by_domain: dict[str, int]
    #: Whether there are gold states, and whether there are only flags instead.
    gold: bool
    flags: bool
    slots_renamed: int = 0
    slots_out_of_scope: list[str] = []
    #: Predicted slots that the inventory lacks, the most frequent first.
    slots_not_in_inventory: list[str] = []


class OfficialDetails(Struct, frozen=True):
    """How SGD's official scores were computed, and what they leave out."""

    matching: str
    joint: str
    #: Frames of all services, and of seen and unseen ones where these are told apart.
    frames: dict[str, int]
    missing_dialogues: int
    missing_turns: int
    blanks: int = 0


class TrackingDetails(Struct, frozen=True):
    """The details of a run of one system under one profile."""

    profile: str
    coverage: TurnCoverage
    counts: dict[str, int]
    evidence: CountBasis
    #: What gold scores against itself where that is not 100.
    gold_against_itself: dict[str, float | None] = {}
    left_out: dict[str, str] = {}
    sgd: OfficialDetails | None = None


class Part(NamedTuple):
    """A part of the evidence, and what is measured on it; without turns, nothing."""

    by: str
    label: str
    dialogues: int
    turns: int
    spurious: int
    measures: list[Measure[Any]]


def run_notes(details: Mapping[str, Any], of_input: Iterable[Note], scores: Scores) -> list[Note]:
    """What is said of a run beside its scores: coverage, its input, unknown slots, limits, what was not computed."""
    notes = [
        details["coverage"].note(),
        *of_input,
        *below_empty(details["counts"]),
        *inventory_notes(details["counts"]["off_ontology"], details["evidence"].slots_not_in_inventory),
    ]
    if ceiling := details["gold_against_itself"]:
        shares = {name: score.unit == "share" for name, score in scores.scores.items()}
        values = ", ".join(
            f"{name} {value:.2%}".removesuffix("%") if shares.get(name, True) else f"{name} {value:.4g}"
            for name, value in ceiling.items()
        )
        limit = f"Under {details['profile']} gold scored against itself gets {values}, not 100: "
        notes.append(Note("ceiling", f"{limit}some of its rules change only one side."))
    notes += [Note("left_out", f"no {measure}: {why}") for measure, why in scores.left_out.items()]
    return notes


def scored_sentences(run: Run) -> list[str]:
    """What was scored, and what the profile did to slot names, for the log."""
    details = tracking_details(run)
    evidence, unknown = details.evidence, details.counts.get("off_ontology", 0)
    outside = evidence.slots_out_of_scope
    facts = {
        f"{counted(evidence.slots_renamed, 'slot name')} unified": evidence.slots_renamed,
        f"{counted(len(outside), 'slot name')} out of scope ({some_of(outside)})": outside,
        "".join(inventory_notes(unknown, evidence.slots_not_in_inventory)): unknown,
    }
    statements = [details.coverage.sentence(), ", ".join(fact for fact, count in facts.items() if count)]
    return [f"{run.name} ({details.profile}): {statement}" for statement in statements if statement]


def inventory_notes(values: int, slots: Sequence[str]) -> list[Note]:
    """What to say of predicted values of slots that the inventory does not have."""
    if not values:
        return []
    which = f" ({some_of(slots)})" if slots else ""
    sentence = (
        f"{counted(values, 'predicted value')} in slots that the inventory lacks{which}, counted as spurious unless "
        "gold fills the same slot"
    )
    return [Note("outside_inventory", sentence)]


def tracking_details(run: Run) -> TrackingDetails:
    """The details of a run, checked."""
    return run.details_as(TrackingDetails)
