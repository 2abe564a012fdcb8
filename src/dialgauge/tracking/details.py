"""What a tracking run says besides its scores, typed: a stored run may have been changed by anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from dialgauge.measures import Measure, Scores
from dialgauge.runs import Run
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.checks import below_empty


class CountBasis(Struct, frozen=True):
    """What the counts of a run rest on."""

    #: Size of the slot inventory.
    slots: int
    #: Whether there are gold states, and whether there are only flags instead.
    gold: bool
    flags: bool
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
    ]
    basis, unknown = details["evidence"], details["counts"]["off_ontology"]
    if unknown:
        which = some_of(basis.slots_not_in_inventory)
        sentence = (
            f"{counted(unknown, 'predicted value')} in slots that the inventory lacks ({which}), counted as spurious "
            "unless gold fills the same slot"
        )
        notes.append(Note("outside_inventory", sentence))
    if outside := basis.slots_out_of_scope:
        sentence = f"{counted(len(outside), 'slot name')} out of scope of the profile, so not compared"
        notes.append(Note("out_of_scope", f"{sentence}: {some_of(outside)}"))
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


def tracking_details(run: Run) -> TrackingDetails:
    """The details of a run, checked."""
    return run.details_as(TrackingDetails)
