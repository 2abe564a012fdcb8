"""The candidates, sorted into templates: which template each is, and which entities fill its slots.

A shape that only one text has is no template with slots but a fixed sentence (``You can ask for restaurants …`` though
``ask`` is also a restaurant).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialgauge.responses.templates.lexicon import CALL, NAME, Lexicon, Slot

Ints = NDArray[np.int64]


class Parsed(NamedTuple):
    """A text as template and entities; the template is -1 when no candidate has it."""

    template: int
    slots: tuple[Slot, ...]


class Inventory:
    """Templates numbered in the order of the candidates, and entities numbered by kind and value."""

    def __init__(self, lexicon: Lexicon, candidates: Sequence[str]) -> None:
        self.lexicon, self.candidates = lexicon, tuple(candidates)
        split = [lexicon.split(text) for text in candidates]
        fillings: dict[str, set[tuple[Slot, ...]]] = {}
        for shape, slots in split:
            fillings.setdefault(shape, set()).add(slots)
        self._open = {shape for shape, found in fillings.items() if len(found) > 1}
        closed = [
            (shape, slots) if shape in self._open else (text, ())
            for text, (shape, slots) in zip(candidates, split, strict=True)
        ]
        self.templates = list(dict.fromkeys(shape for shape, _ in closed))
        self._number = {shape: number for number, shape in enumerate(self.templates)}
        self.template_of: Ints = np.array([self._number[shape] for shape, _ in closed], dtype=np.int64)
        self.slots = [slots for _, slots in closed]
        self.members = [np.flatnonzero(self.template_of == number) for number in range(len(self.templates))]
        self._parsed: dict[str, Parsed] = {}
        self._number_entities()

    def _number_entities(self) -> None:
        """Entities that fillings are told apart by: the name where there is one (the rest follows from it)."""
        keys = [self._keys(slots) for slots in self.slots]
        self.entities = {slot: number for number, slot in enumerate(dict.fromkeys(s for key in keys for s in key))}
        self.entity_kinds = [slot.kind for slot in self.entities]
        self.keys = [[self.entities[slot] for slot in key] for key in keys]

    def _keys(self, slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
        """The name, said or told by what belongs to it (``resto_rome_phone``); the values where there is neither."""
        values = self.lexicon.values
        named = [slot for slot in slots if slot.kind == NAME] or [slot for slot in slots if slot.kind not in values]
        return (Slot(NAME, named[0].value),) if named else slots

    def parse(self, text: str) -> Parsed:
        """A text as template and entities."""
        found = self._parsed.get(text)
        if found is None:
            shape, slots = self.lexicon.split(text)
            if shape not in self._open:
                shape, slots = text, ()
            found = self._parsed[text] = Parsed(self._number.get(shape, -1), slots)
        return found

    def is_call(self, template: int) -> bool:
        """Is it the template of the calls?"""
        return template >= 0 and self.templates[template] == CALL

    def signature(self, template: int) -> tuple[str, ...]:
        """The kinds of a template's slots, sorted."""
        return tuple(sorted(slot.kind for slot in self.slots[self.members[template][0]]))
