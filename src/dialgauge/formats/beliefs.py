"""Belief states written as texts: ``domain-slot-value``, or ``domain-slot`` and a value beside it.

A file repeats the same few thousand texts over and over, so each is taken apart once, and so do whole states
(:class:`Beliefs`); that takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, present
from dialgauge.formats.remembered import Remembered
from dialgauge.formats.source import Part

Triple: TypeAlias = tuple[str, str, str]

_TEXTS = msgspec.json.Decoder(list[str])
_TWO_VALUES = "slots with two values in one state, the later kept"


def hyphenated(text: str) -> Triple:
    """``domain-slot-value``; only the first two hyphens separate, for values may contain more.

    >>> hyphenated("restaurant-name-the slug-and-lettuce")
    ('restaurant', 'name', 'the slug-and-lettuce')
    """
    pieces = text.split("-", 2)
    if len(pieces) < 3 or not pieces[0] or not pieces[1]:
        raise DialgaugeError(f"'{text[:80]}' is not of the form domain-slot-value")
    return pieces[0], pieces[1], pieces[2]


@lru_cache(maxsize=1 << 10)
def hyphenated_slot(text: str) -> tuple[str, str]:
    """``domain-slot``, where the slot may contain hyphens.

    >>> hyphenated_slot("hotel-book people")
    ('hotel', 'book people')
    """
    domain, _, slot = text.partition("-")
    if not domain or not slot:
        raise DialgaugeError(f"'{text[:80]}' is not of the form domain-slot")
    return domain, slot


class Beliefs:
    """Lists of texts as states, for one file. ``parse`` takes one text apart.

    A state has one value a slot: of two different values the later stands, as in a JSON object, and that is noted.
    Values that mean "absent" are left out.
    """

    def __init__(self, parse: Callable[[str], Triple], part: Part, notes: Notes) -> None:
        self._parse = parse
        self._notes = notes
        self._known: dict[str, tuple[str, str, Values]] = {}
        self._states = Remembered(_TEXTS, self._made, part)

    def state(self, texts: Iterable[str]) -> State:
        """The state of texts that are already decoded."""
        return self._noted(self._made(texts))

    def read(self, raw: msgspec.Raw) -> State:
        """The state of a JSON array of texts."""
        return self._noted(self._states.read(raw))

    def optional(self, raw: msgspec.Raw) -> State | None:
        """The state of a JSON array of texts that may not be recorded."""
        made = self._states.optional(raw)
        return None if made is None else self._noted(made)

    def _noted(self, made: tuple[State, int]) -> State:
        state, twice = made
        if twice:
            self._notes.add(_TWO_VALUES, twice)
        return state

    def _made(self, texts: Iterable[str]) -> tuple[State, int]:
        """The state, and how many slots had two values."""
        state: State = {}
        twice = 0
        for text in texts:
            domain, slot, values = self._known.get(text) or self._learned(text)
            if not values:
                continue
            slots = state.get(domain)
            if slots is None:
                slots = state[domain] = {}
            elif slots.get(slot, values) != values:
                twice += 1
            slots[slot] = values
        return state, twice

    def _learned(self, text: str) -> tuple[str, str, Values]:
        domain, slot, value = self._parse(text)
        known = self._known[text] = (domain, slot, present(value))
        return known


def slot_state(values: Mapping[str, Values]) -> State:
    """The state of ``domain-slot`` to values, without empty ones."""
    state: State = {}
    for name, found in values.items():
        if found:
            domain, slot = hyphenated_slot(name)
            state.setdefault(domain, {})[slot] = found
    return state
