"""What a tracking run says besides its scores, typed: a stored run may have been changed by anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from dialgauge.measures import Measure
from dialgauge.runs import Run
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.checks import below_empty
from dialgauge.tracking.inputs import Remark


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

    @classmethod
    def joined(cls, parts: Sequence[CountBasis]) -> CountBasis:
        """That of disjoint dialogues together, but for the renamed slots, which may be the same ones."""
        domains = sorted({domain for part in parts for domain in part.slots_by_domain})
        return cls(
            slots=max(part.slots for part in parts),
            slots_by_domain={domain: max(part.slots_by_domain.get(domain, 0) for part in parts) for domain in domains},
            gold=all(part.gold for part in parts),
            flags=any(part.flags for part in parts),
            slots_out_of_scope=sorted({slot for part in parts for slot in part.slots_out_of_scope}),
            slots_not_in_inventory=sorted({slot for part in parts for slot in part.slots_not_in_inventory}),
        )


class HiddenSlots(Struct, frozen=True):
    """Predicted slots that gold never has, and a mean over slots without them."""

    slots: int
    gold_slots: int
    value: float


class OfficialDetails(Struct, frozen=True):
    """SGD's official scores by group of services, and what they leave out."""

    scores: dict[str, dict[str, float | None]]
    signature: str
    frames: dict[str, int]
    matching: str
    joint: str
    missing_dialogues: int
    missing_turns: int
    blanks: int = 0


class TrackingDetails(Struct, frozen=True):
    """The details of a run of one system under one profile."""

    profile: str
    coverage: TurnCoverage
    counts: dict[str, int]
    evidence: CountBasis
    #: What gold scores against itself where that is not 100: by the run's profile, and by those of the sensitivity.
    gold_against_itself: dict[str, float | None] = {}
    sensitivity_ceilings: dict[str, float | None] = {}
    #: What in the prediction file was read as something else.
    remarks: list[Remark] = []
    left_out: dict[str, str] = {}
    slots_without_gold: HiddenSlots | None = None
    sgd: OfficialDetails | None = None


def ceiling_sentence(profile: str, ceiling: Mapping[str, float | None], shares: Mapping[str, bool]) -> Note:
    """What to say beside scores that cannot reach 100; ``ceiling`` is what gold scores against itself."""
    values = ", ".join(
        f"{name} {value:.2%}".removesuffix("%") if shares.get(name, True) else f"{name} {value:.4g}"
        for name, value in ceiling.items()
        if value is not None
    )
    sentence = (
        f"Under {profile} gold scored against itself gets {values}, not 100: some of its rules change only one side."
    )
    return Note("ceiling", sentence)


def run_notes(details: Mapping[str, Any], of_input: Iterable[Note], measures: Iterable[Measure[Any]]) -> list[Note]:
    """What is said of a run beside its scores: coverage, its input, unknown slots, what gold itself gets."""
    ceiling = details["gold_against_itself"]
    shares = {str(measure): measure.card.unit == "share" for measure in measures}
    return [
        details["coverage"].note(),
        *of_input,
        *below_empty(details["counts"]),
        *inventory_notes(details["counts"]["off_ontology"], details["evidence"].slots_not_in_inventory),
        *([ceiling_sentence(details["profile"], ceiling, shares)] if ceiling else ()),
    ]


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
