"""Belief states written as lists of texts, one text for domain, slot and value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from turnwise.dialogue import State
from turnwise.errors import TurnwiseError
from turnwise.formats.base import Notes, present

Triple: TypeAlias = tuple[str, str, str]


def hyphenated(text: str) -> Triple:
    """``domain-slot-value``; only the first two hyphens separate, for values may contain more.

    >>> hyphenated("restaurant-name-the slug-and-lettuce")
    ('restaurant', 'name', 'the slug-and-lettuce')
    """
    pieces = text.split("-", 2)
    if len(pieces) < 3 or not pieces[0] or not pieces[1]:
        raise TurnwiseError(f"'{text[:80]}' is not of the form domain-slot-value")
    return pieces[0], pieces[1], pieces[2]


def hyphenated_slot(text: str) -> tuple[str, str]:
    """``domain-slot``, where the slot may contain hyphens.

    >>> hyphenated_slot("hotel-book people")
    ('hotel', 'book people')
    """
    domain, _, slot = text.partition("-")
    if not domain or not slot:
        raise TurnwiseError(f"'{text[:80]}' is not of the form domain-slot")
    return domain, slot


def state_of(triples: Iterable[Triple], notes: Notes) -> State:
    """The state of the triples, without values that mean "absent".

    A state has one value a slot: of two different values the later stands, as in a JSON object, and that is noted.
    """
    state: State = {}
    for domain, slot, text in triples:
        values = present(text)
        if not values:
            continue
        slots = state.setdefault(domain, {})
        if slots.get(slot, values) != values:
            notes.add("slots with two values in one state, the later kept")
        slots[slot] = values
    return state
