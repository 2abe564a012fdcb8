"""Where two systems part: the dialogues that make the difference, the first turn that differs, and its slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dialgauge.comparison.scores import Scores
from dialgauge.report import Column, Table


@dataclass(frozen=True)
class SlotDifference:
    """One slot that two systems fill differently; ``-`` is an empty slot. Without states, gold is None."""

    slot: str
    gold: str | None
    first: str
    second: str


@dataclass(frozen=True)
class Detail:
    """How two systems differ within a dialogue: on how many turns, which is the first, and which slots."""

    turns: int
    first_turn: int | None
    slots: tuple[SlotDifference, ...]


@dataclass(frozen=True)
class Divergence:
    """A dialogue on which two systems score differently; ``size`` is its share of the corpus difference."""

    dialogue: str
    first: float | None
    second: float | None
    size: float
    detail: Detail | None = None


#: Finds the detail of a dialogue, where there is more than scores to look at.
Details: TypeAlias = Callable[[str], Detail | None]


def partings(
    scores: Scores, first: str, second: str, measure: str, most: int, details: Details | None = None
) -> list[Divergence]:
    """The dialogues that contribute most to the difference of two systems on a measure, largest first.

    A dialogue contributes ``num_a / sum(den_a) - num_b / sum(den_b)``; over all of them that adds up to the difference.
    """
    a, b = scores.place_of_system(first), scores.place_of_system(second)
    place = scores.place_of_measure(measure)
    sizes = [round(size, 12) for size in _contributions(scores, a, b, place)]
    values = scores.by_dialogue[:, place]
    parted = [row for row, size in enumerate(sizes) if size]
    order = sorted(parted, key=lambda row: (-abs(sizes[row]), scores.dialogues[row]))
    return [
        Divergence(
            scores.dialogues[row],
            _defined(values[a, row]),
            _defined(values[b, row]),
            sizes[row],
            details(scores.dialogues[row]) if details else None,
        )
        for row in order[:most]
    ]


def _contributions(scores: Scores, first: int, second: int, measure: int) -> list[float]:
    sizes = np.zeros(len(scores.dialogues))
    for system, sign in ((first, 1.0), (second, -1.0)):
        total = scores.den[system, measure].sum()
        if total:
            sizes += sign * scores.num[system, measure] / total
    return [float(size) for size in sizes]


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def parting_tables(found: Sequence[Divergence], first: str, second: str, measure: str) -> list[Table]:
    """The dialogues, and where details are known the slots that differ."""
    detailed = any(parting.detail for parting in found)
    columns = [Column("dialogue"), Column(first), Column(second), Column("share of the difference", signed=True)]
    table = Table(
        f"Where {first} and {second} part: {measure}",
        [*columns, *(["turns that differ", "first such turn"] if detailed else [])],
        notes=[] if found else [f"No dialogue has a different {measure}."],
    )
    for parting in found:
        detail = parting.detail
        extra = [detail.turns if detail else None, detail.first_turn if detail else None] if detailed else []
        table.add(parting.dialogue, parting.first, parting.second, parting.size, *extra)
    return [table, *_slot_tables(found, first, second)]


def _slot_tables(found: Sequence[Divergence], first: str, second: str) -> list[Table]:
    rows = [
        (parting.dialogue, parting.detail, slot) for parting in found if parting.detail for slot in parting.detail.slots
    ]
    if not rows:
        return []
    if all(slot.gold is None for _, _, slot in rows):
        counted = Table(f"Slots on which {first} and {second} differ", ["dialogue", "slot", first, second])
        for dialogue, _, slot in rows:
            counted.add(dialogue, slot.slot, slot.first, slot.second)
        counted.notes.append(
            "Turns of the dialogue in which the slot is right (C), wrong (V), missed (D), spurious (W)."
        )
        return [counted]
    table = Table(f"First difference between {first} and {second}", ["dialogue", "turn", "slot", "gold", first, second])
    for dialogue, detail, slot in rows:
        table.add(dialogue, detail.first_turn, slot.slot, slot.gold, slot.first, slot.second)
    return [table]
