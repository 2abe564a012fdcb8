"""The states of two trackers side by side, turn by turn, for showing where they part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from dialgauge.comparison.divergence import Detail, Details, SlotDifference
from dialgauge.dialogue import dialogue_key
from dialgauge.tracking import StateComparison

#: Slot number to gold and predicted value code; 0 is an empty slot.
Codes: TypeAlias = dict[int, tuple[int, int]]

EMPTY = "-"


def state_details(first: StateComparison, second: StateComparison) -> Details | None:
    """Finds where the predicted states of two systems differ; None where there are only correctness flags.

    Both must have been compared under the same profile, so that their codes mean the same values.
    """
    if first.flags_only or second.flags_only or first.coder is not second.coder:
        return None
    sides = [_by_dialogue(comparison) for comparison in (first, second)]

    def detail(dialogue: str) -> Detail | None:
        mine, theirs = (side.get(dialogue_key(dialogue), {}) for side in sides)
        shared = sorted(set(mine) & set(theirs))
        parted = [turn for turn in shared if _differing(mine[turn], theirs[turn])]
        if not parted:
            return Detail(0, None, ())
        differing = _differing(mine[parted[0]], theirs[parted[0]])
        slots = tuple(_difference(first, slot, mine[parted[0]], theirs[parted[0]]) for slot in differing)
        return Detail(len(parted), parted[0], slots)

    return detail


def _by_dialogue(comparison: StateComparison) -> dict[str, dict[int, Codes]]:
    """Dialogue key and turn number to the filled slots of either state."""
    found: dict[str, dict[int, Codes]] = {}
    for key, turn, codes in _turns(comparison):
        found.setdefault(key, {})[turn] = codes
    return found


def _turns(comparison: StateComparison) -> Iterator[tuple[str, int, Codes]]:
    aligned = comparison.aligned
    keys = [dialogue_key(name) for name in aligned.ids]
    for stretch in comparison.stretches():
        codes: list[Codes] = [{} for _ in range(stretch.stop - stretch.start)]
        rows, columns = np.nonzero((stretch.gold != 0) | (stretch.predicted != 0))
        cells = zip(
            stretch.slots[rows].tolist(),
            columns.tolist(),
            stretch.gold[rows, columns].tolist(),
            stretch.predicted[rows, columns].tolist(),
            strict=True,
        )
        for slot, column, gold, predicted in cells:
            codes[column][slot] = (gold, predicted)
        for column, filled in enumerate(codes):
            row = stretch.start + column
            yield keys[int(aligned.dialogue[row])], int(aligned.turn[row]), filled


def _differing(first: Codes, second: Codes) -> list[int]:
    """Slots that the two predicted states fill differently."""
    return sorted(slot for slot in {*first, *second} if first.get(slot, (0, 0))[1] != second.get(slot, (0, 0))[1])


def _difference(comparison: StateComparison, slot: int, first: Codes, second: Codes) -> SlotDifference:
    values = comparison.coder.values
    domain, name = comparison.slots[slot]
    gold, mine = first.get(slot, (0, 0))
    theirs_gold, theirs = second.get(slot, (0, 0))
    shown = [" | ".join(values[code]) or EMPTY for code in (gold or theirs_gold, mine, theirs)]
    return SlotDifference(f"{domain}-{name}", *shown)
