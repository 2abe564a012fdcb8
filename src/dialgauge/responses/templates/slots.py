"""Where the weights of the fillings lie: slots of templates as columns, entities of candidates, marks as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dialgauge.responses.templates.inventory import Inventory
from dialgauge.responses.templates.lexicon import NAME
from dialgauge.responses.templates.logistic import Floats
from dialgauge.responses.templates.marks import Mark
from dialgauge.responses.templates.talk import Talk

#: Marks of a whole text: said in the bot's latest reply, said earlier.
TEXT_MARKS = 2


class Marked(NamedTuple):
    """A point: marks on entities, and marks on candidates that the bot has said (candidate, mark)."""

    entities: list[Mark]
    texts: list[tuple[int, int]]


class Weights(NamedTuple):
    """Shared per kind × mark; own per column × mark; per entity; per mark of a text, shared and per template."""

    shared: Floats
    own: Floats
    entity: Floats
    text: Floats
    own_text: Floats

    def flat(self) -> Floats:
        """All weights as one vector."""
        return np.concatenate([part.ravel() for part in self])

    def like(self, flat: Floats) -> Weights:
        """A vector of weights in this shape."""
        parts = np.split(flat, np.cumsum([part.size for part in self])[:-1])
        return Weights(*(found.reshape(part.shape) for found, part in zip(parts, self, strict=True)))


class Slots:
    """A column per slot of a template; per candidate and slot its entity (-1 where it has fewer slots)."""

    def __init__(self, inventory: Inventory, marks: Sequence[str]) -> None:
        self.marks = list(marks)
        self._mark_number = {mark: place for place, mark in enumerate(self.marks)}
        self.kinds = list(dict.fromkeys(inventory.entity_kinds))
        self.entities = len(inventory.entity_kinds)
        #: Values have a weight of their own, names do not: one restaurant is as good as another.
        self.biased = np.array([kind != NAME for kind in inventory.entity_kinds], dtype=np.float64)
        widths = [len(inventory.keys[members[0]]) for members in inventory.members]
        self._first = np.cumsum([0, *widths])
        self.entity = np.full((len(inventory.candidates), max([*widths, 1])), -1, dtype=np.int64)
        for candidate, keys in enumerate(inventory.keys):
            self.entity[candidate, : len(keys)] = keys
        kind_of = np.array([self.kinds.index(kind) for kind in inventory.entity_kinds], dtype=np.int64)
        firsts = [inventory.keys[members[0]] for members in inventory.members]
        self.column_kind = kind_of[np.array([entity for keys in firsts for entity in keys], dtype=np.int64)]
        self._templates = len(inventory.templates)

    def width(self, template: int) -> int:
        """How many slots a template has."""
        return int(self._first[template + 1] - self._first[template])

    def column(self, template: int, slot: int) -> int:
        """The column of a template's slot."""
        return int(self._first[template]) + slot

    def zeros(self) -> Weights:
        """Weights that say nothing."""
        marks = len(self.marks)
        return Weights(
            np.zeros((len(self.kinds), marks)),
            np.zeros((len(self.column_kind), marks)),
            np.zeros(self.entities),
            np.zeros(TEXT_MARKS),
            np.zeros((self._templates, TEXT_MARKS)),
        )

    def entity_marks(self, points: Sequence[Marked]) -> sparse.csr_matrix:
        """(points · entities) × marks, 1 where an entity has a mark at a point; unknown marks are dropped."""
        number = self._mark_number
        cells = [
            (row * self.entities + entity, number[mark])
            for row, point in enumerate(points)
            for entity, mark in dict.fromkeys(point.entities)
            if mark in number
        ]
        rows, columns = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        shape = (len(points) * self.entities, len(self.marks))
        return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def said_texts(talk: Talk, index: dict[str, int]) -> list[tuple[int, int]]:
    """(candidate, mark) of what the bot has said: 0 in its latest reply, 1 earlier."""
    latest = talk.texts[-1:]
    earlier = [text for text in dict.fromkeys(talk.texts) if text not in latest]
    return [(index[text], mark) for mark, texts in enumerate((latest, earlier)) for text in texts if text in index]
