"""Correctness flags (FGA's ``trippy_result.json``): for each turn, whether each of MultiWOZ's 30 slots was right.

``{"MUL0001.json": {"0": [1, 0, 1, ...]}}``
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.jsonfile import Remembered
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.common import NumberedTurns, assembled, sample_dialogues, sample_turns
from dialgauge.formats.source import Part

#: The slots in the order of the flags.
FLAG_SLOTS = {
    "taxi": ("leaveAt", "destination", "departure", "arriveBy"),
    "restaurant": ("book_people", "book_day", "book_time", "food", "pricerange", "name", "area"),
    "hotel": (
        *("book_people", "book_day", "book_stay", "name", "area"),
        *("parking", "pricerange", "stars", "internet", "type"),
    ),
    "attraction": ("type", "name", "area"),
    "train": ("book_people", "leaveAt", "destination", "day", "arriveBy", "departure"),
}
_ENDS = dict(zip(FLAG_SLOTS, accumulate(map(len, FLAG_SLOTS.values())), strict=True))
_PLACES = {domain: (end - len(FLAG_SLOTS[domain]), end) for domain, end in _ENDS.items()}
_COUNT = max(_ENDS.values())

_Flags: TypeAlias = list[bool | int | float]

_FILE = NumberedTurns(msgspec.Raw)
_FLAGS = msgspec.json.Decoder(_Flags)


class Flags(DialogueFormat):
    """One list of 30 numbers a turn, 1 for a slot that is right."""

    name = "flags"
    summary = "correctness of the 30 MultiWOZ slots, {dialogue: {turn: [1, 0, ...]}} (FGA's TripPy results)"
    kind = "predictions"
    fields = frozenset({"judged"})

    def recognise(self, peek: Peek) -> bool:
        turns = sample_turns(sample_dialogues(peek))
        return bool(turns) and all(isinstance(flags, list) and _are_numbers(flags) for flags in turns)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        verdicts = Remembered(_FLAGS, _judged, part)

        def make(flags: msgspec.Raw) -> Turn:
            return Turn(speaker="user", judged=verdicts.read(flags))

        return _FILE.read(part, notes, lambda dialogue, turns: assembled(dialogue, turns, make))


def _are_numbers(flags: list[object]) -> bool:
    return bool(flags) and all(isinstance(flag, (bool, int, float)) for flag in flags)


def _judged(flags: _Flags) -> dict[str, dict[str, bool]]:
    """The verdict of each slot."""
    if len(flags) != _COUNT:
        raise DialgaugeError(f"it has {len(flags)} flags; there must be {_COUNT}, one per slot")
    wrong = [flag for flag in flags if flag not in (0, 1)]
    if wrong:
        raise DialgaugeError(f"a flag is {wrong[0]}; it must be 0 or 1")
    verdicts = tuple(map(bool, flags))
    return {domain: _of_domain(domain, verdicts[first:last]) for domain, (first, last) in _PLACES.items()}


@lru_cache(maxsize=1 << 12)
def _of_domain(domain: str, verdicts: tuple[bool, ...]) -> dict[str, bool]:
    """The same few patterns make up most of a file."""
    return dict(zip(FLAG_SLOTS[domain], verdicts, strict=True))
