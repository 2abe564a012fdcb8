"""What the tables of stored tracking runs say without states: counts per turn, and per slot and dialogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from dialgauge.comparison.divergence import Detail, Details, SlotDifference
from dialgauge.dialogue import dialogue_key

if TYPE_CHECKING:
    import polars

_COUNTS = ("correct", "wrong_value", "missed", "spurious")
_LETTERS = "CVDW"

Counted: TypeAlias = dict[str, dict[int | str, tuple[int, ...]]]


def slot_details(
    turns: tuple[polars.DataFrame, polars.DataFrame], slots: tuple[polars.DataFrame, polars.DataFrame]
) -> Details:
    """Finds the turns whose counts differ, and the slots whose counts over the dialogue differ.

    Runs do not keep states, so a slot shows how often it was right (C), wrong (V), missed (D) and spurious (W).
    """
    by_turn = [_counted(frame, lambda row: row["turn"]) for frame in turns]
    by_slot = [_counted(frame, lambda row: f"{row['domain']}-{row['slot']}") for frame in slots]

    def detail(dialogue: str) -> Detail | None:
        key = dialogue_key(dialogue)
        first, second = (side.get(key, {}) for side in by_turn)
        parted = sorted(int(turn) for turn in set(first) & set(second) if first[turn] != second[turn])
        mine, theirs = (side.get(key, {}) for side in by_slot)
        names = sorted(str(name) for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        differing = tuple(
            SlotDifference(name, None, _shown(mine.get(name)), _shown(theirs.get(name))) for name in names
        )
        return Detail(len(parted), parted[0] if parted else None, differing)

    return detail


def _counted(frame: polars.DataFrame, name: Callable[[dict[str, Any]], int | str]) -> Counted:
    found: Counted = {}
    for row in frame.iter_rows(named=True):
        counts = tuple(int(row[column]) for column in _COUNTS)
        found.setdefault(dialogue_key(row["dialogue"]), {})[name(row)] = counts
    return found


def _shown(counts: tuple[int, ...] | None) -> str:
    parts = [f"{letter}{count}" for letter, count in zip(_LETTERS, counts or (), strict=False) if count]
    return " ".join(parts) or "-"


def gold_slots(turns: polars.DataFrame) -> list[int]:
    """For each dialogue the number of gold slots in its fullest turn: right, wrong and missed ones."""
    import polars

    filled = polars.sum_horizontal("correct", "wrong_value", "missed").alias("filled")
    largest = turns.select("dialogue", filled).group_by("dialogue", maintain_order=True).max()
    return [int(count) for count in largest["filled"]]


def domain_f1(slots: polars.DataFrame) -> dict[str, float]:
    """Micro F1 of each domain over all turns, ``2C / (2C + 2V + D + W)``."""
    sums = slots.select("domain", *_COUNTS).group_by("domain").sum()
    return {
        domain: 2 * right / total
        for domain, right, wrong, missed, spurious in sums.iter_rows()
        if (total := 2 * right + 2 * wrong + missed + spurious)
    }
