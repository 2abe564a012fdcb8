"""Choosing what fills a template's slots: a log-linear model over the candidates of the template.

    P(c | template t, x) ∝ exp( Σ_slots j Σ_marks m of the entity at j  (u[kind, m] + v[t, j, m])
                                + b[entity] (values)  +  Σ_marks m of the text  (u'[m] + v'[t, m]) )

Weights u are shared by all templates, so that a template seen rarely (or never) fills sensibly; v are its own and
penalised more. Marks of the text say that the bot has said exactly this before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from dialgauge.errors import DialgaugeError
from dialgauge.rankers.templates.features import MarkedPoint
from dialgauge.rankers.templates.inventory import NAME, Ints, Inventory
from dialgauge.rankers.templates.logistic import Floats, log_softmax

#: Marks of a whole text: said in the bot's latest reply, said earlier.
TEXT_MARKS = 2


class FillingWeights(NamedTuple):
    """Shared per kind × mark; own per column × mark; per entity; per mark of a text, shared and per template."""

    shared: Floats
    own: Floats
    entity: Floats
    text: Floats
    own_text: Floats

    def flat(self) -> Floats:
        """All weights as one vector."""
        return np.concatenate([part.ravel() for part in self])

    def like(self, flat: Floats) -> FillingWeights:
        """A vector of weights in this shape."""
        parts = np.split(flat, np.cumsum([part.size for part in self])[:-1])
        return FillingWeights(*(values.reshape(part.shape) for values, part in zip(parts, self, strict=True)))


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

    def zeros(self) -> FillingWeights:
        """Weights that say nothing."""
        marks = len(self.marks)
        return FillingWeights(
            np.zeros((len(self.kinds), marks)),
            np.zeros((len(self.column_kind), marks)),
            np.zeros(self.entities),
            np.zeros(TEXT_MARKS),
            np.zeros((self._templates, TEXT_MARKS)),
        )

    def entity_marks(self, points: Sequence[MarkedPoint]) -> sparse.csr_matrix:
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


# The model.

_CHUNK = 64


class Filling:
    """Fits the weights and gives log P(candidate | its template) for all candidates."""

    def __init__(self, inventory: Inventory, marks: Sequence[str] = ()) -> None:
        self._inventory = inventory
        self.slots = Slots(inventory, marks)
        self.weights = self.slots.zeros()
        order = np.argsort(inventory.template_of, kind="stable")
        self._order, self._back = order, np.argsort(order, kind="stable")
        self._lengths = np.array(list(map(len, inventory.members)))
        self._starts = np.cumsum([0, *self._lengths])[:-1]
        columns = [
            [self.slots.column(t, slot) for slot in range(self.slots.entity.shape[1])]
            for t in range(len(inventory.templates))
        ]
        self._columns = np.array(columns, dtype=np.int64)[inventory.template_of]

    @classmethod
    def fitted(
        cls, inventory: Inventory, points: Sequence[MarkedPoint], gold: Ints, penalty: float, own_penalty: float
    ) -> Filling:
        """Learned from points and the numbers of their gold candidates."""
        filling = cls(inventory, list(dict.fromkeys(mark for point in points for _, mark in point.entities)))
        likelihood = FillingLikelihood(inventory, filling.slots, points, gold)
        start = filling.weights
        factor = FillingWeights(*(np.full_like(part, own_penalty) for part in start))
        factor.shared[:], factor.text[:] = penalty, penalty
        factors = factor.flat()

        def loss(flat: Floats) -> tuple[float, Floats]:
            value, gradient = likelihood.loss(start.like(flat))
            return value + 0.5 * float((factors * flat * flat).sum()), gradient.flat() + factors * flat

        optimum = minimize(loss, start.flat(), jac=True, method="L-BFGS-B", options={"maxiter": 80})
        filling.weights = start.like(optimum.x)
        return filling

    def log_probabilities(self, points: Sequence[MarkedPoint]) -> Floats:
        """Points × candidates."""
        chunks = [self._chunk(points[start : start + _CHUNK]) for start in range(0, len(points), _CHUNK)]
        return np.concatenate([np.zeros((0, len(self._inventory.candidates))), *chunks])

    def _chunk(self, points: Sequence[MarkedPoint]) -> Floats:
        weights, slots = self.weights, self.slots
        columns = (weights.shared[slots.column_kind] + weights.own).T
        scored = np.asarray(slots.entity_marks(points) @ columns).reshape(len(points), slots.entities, columns.shape[1])
        scores = np.zeros((len(points), len(self._inventory.candidates)))
        bias = weights.entity * slots.biased
        for entities, column in zip(slots.entity.T, self._columns.T, strict=True):
            there = np.flatnonzero(entities >= 0)
            scores[:, there] += scored[:, entities[there], column[there]] + bias[entities[there]]
        for row, point in enumerate(points):
            for candidate, mark in point.texts:
                template = self._inventory.template_of[candidate]
                scores[row, candidate] += weights.text[mark] + weights.own_text[template, mark]
        return self._normalised(scores)

    def _normalised(self, scores: Floats) -> Floats:
        """Log-softmax within each template."""
        ordered = scores[:, self._order]
        highest = np.maximum.reduceat(ordered, self._starts, axis=1)
        ordered -= np.repeat(highest, self._lengths, axis=1)
        total = np.log(np.add.reduceat(np.exp(ordered), self._starts, axis=1))
        ordered -= np.repeat(total, self._lengths, axis=1)
        back: Floats = ordered[:, self._back]
        return back

    def arrays(self) -> dict[str, Floats]:
        """The weights by name."""
        return {f"fill_{name}": value for name, value in self.weights._asdict().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`arrays` gave."""
        weights = FillingWeights(*(arrays[f"fill_{name}"] for name in FillingWeights._fields))
        if any(one.shape != own.shape for one, own in zip(weights, self.weights, strict=True)):
            raise DialgaugeError("the weights of the model do not fit its templates; save it again")
        self.weights = weights


# Its likelihood and the gradient of it, template by template.


class _Block(NamedTuple):
    """All points whose gold reply has one template: marks per slot as (points · members) × marks."""

    template: int
    gold: Ints
    marks: list[sparse.csr_matrix]
    transposed: list[sparse.csr_matrix]
    #: (point, member, mark) of texts said before.
    texts: Ints


class FillingLikelihood:
    """−Σ log P(gold filling | template) over training points, and its gradient."""

    def __init__(self, inventory: Inventory, slots: Slots, points: Sequence[MarkedPoint], gold: Ints) -> None:
        self._inventory, self._slots = inventory, slots
        self._blocks = []
        everything = slots.entity_marks(points)
        templates = inventory.template_of[gold]
        for template, members in enumerate(inventory.members):
            rows = np.flatnonzero(templates == template)
            if len(members) > 1 and len(rows):
                self._blocks.append(self._block(template, rows, points, gold[rows], everything))

    def _block(
        self, template: int, rows: Ints, points: Sequence[MarkedPoint], gold: Ints, everything: sparse.csr_matrix
    ) -> _Block:
        members = self._inventory.members[template]
        place = {int(member): at for at, member in enumerate(members)}
        marks = []
        for entities in self._slots.entity[members].T[: self._slots.width(template)]:
            marks.append(everything[(rows[:, None] * self._slots.entities + entities[None, :]).ravel()])
        texts = [
            (at, place[candidate], mark)
            for at, row in enumerate(rows)
            for candidate, mark in points[row].texts
            if candidate in place
        ]
        return _Block(
            template,
            np.array([place[int(candidate)] for candidate in gold], dtype=np.int64),
            marks,
            [matrix.T.tocsr() for matrix in marks],
            np.array(texts, dtype=np.int64).reshape(-1, 3),
        )

    def loss(self, weights: FillingWeights) -> tuple[float, FillingWeights]:
        """The negative log-likelihood, and its gradient in the shape of the weights."""
        gradient = FillingWeights(*(np.zeros_like(part) for part in weights))
        return sum(self._block_loss(block, weights, gradient) for block in self._blocks), gradient

    def _block_loss(self, block: _Block, weights: FillingWeights, gradient: FillingWeights) -> float:
        members = self._inventory.members[block.template]
        shape = len(block.gold), len(members)
        scores = np.zeros(shape)
        for slot, marks in enumerate(block.marks):
            column = self._slots.column(block.template, slot)
            kind = self._slots.column_kind[column]
            scores += (marks @ (weights.shared[kind] + weights.own[column])).reshape(shape)
            scores += self._bias(members, slot, weights)[None, :]
        point, member, mark = block.texts.T
        np.add.at(scores, (point, member), weights.text[mark] + weights.own_text[block.template, mark])
        log_p = log_softmax(scores)
        excess = np.exp(log_p)
        excess[np.arange(len(block.gold)), block.gold] -= 1.0
        self._add_gradient(block, excess, gradient)
        return float(-log_p[np.arange(len(block.gold)), block.gold].sum())

    def _bias(self, members: Ints, slot: int, weights: FillingWeights) -> Floats:
        entities = self._slots.entity[members, slot]
        bias: Floats = weights.entity[entities] * self._slots.biased[entities]
        return bias

    def _add_gradient(self, block: _Block, excess: Floats, gradient: FillingWeights) -> None:
        members = self._inventory.members[block.template]
        for slot, transposed in enumerate(block.transposed):
            column = self._slots.column(block.template, slot)
            pull = transposed @ excess.ravel()
            gradient.shared[self._slots.column_kind[column]] += pull
            gradient.own[column] += pull
            entities = self._slots.entity[members, slot]
            np.add.at(gradient.entity, entities, excess.sum(axis=0) * self._slots.biased[entities])
        point, member, mark = block.texts.T
        of_texts = np.bincount(mark, weights=excess[point, member], minlength=TEXT_MARKS)
        gradient.text[:] += of_texts
        gradient.own_text[block.template] += of_texts
