"""Correctness flags (FGA's ``trippy_result.json``): for each turn, whether each of MultiWOZ's 30 slots was right.

``{"MUL0001.json": {"0": [1, 0, 1, ...]}}``
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import msgspec

from turnwise.dialogue import Dialogue, Turn
from turnwise.errors import TurnwiseError
from turnwise.formats.base import DialogueFormat, Notes
from turnwise.formats.located import Key, as_key
from turnwise.formats.peek import Peek
from turnwise.formats.predictions import assembled, built, by_turn, members, sample_dialogues, sample_turns
from turnwise.formats.source import Part

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
_COUNT = sum(map(len, FLAG_SLOTS.values()))

_Flags: TypeAlias = list[bool | int | float]

_DECODER = msgspec.json.Decoder(dict[Key, _Flags], dec_hook=as_key)


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
        def build(dialogue: str, raw: msgspec.Raw) -> Dialogue:
            turns = by_turn(raw, _DECODER, part, notes)
            return assembled(dialogue, turns, _turn)

        return built(members(part), build, part, notes)


def _are_numbers(flags: list[object]) -> bool:
    return bool(flags) and all(isinstance(flag, (bool, int, float)) for flag in flags)


def _turn(flags: _Flags) -> Turn:
    return Turn(speaker="user", judged=_judged(tuple(flags)))


@lru_cache(maxsize=1 << 12)
def _judged(flags: tuple[float, ...]) -> dict[str, dict[str, bool]]:
    """The verdict of each slot; the same few patterns make up most of a file."""
    if len(flags) != _COUNT:
        raise TurnwiseError(f"it has {len(flags)} flags; there must be {_COUNT}, one a slot")
    wrong = [flag for flag in flags if flag not in (0, 1)]
    if wrong:
        raise TurnwiseError(f"a flag is {wrong[0]}; it must be 0 or 1")
    verdicts = map(bool, flags)
    return {domain: {slot: next(verdicts) for slot in slots} for domain, slots in FLAG_SLOTS.items()}
