"""The likelihood of fillings and its gradient, template by template (see :mod:`filling` for the model)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dialgauge.responses.templates.inventory import Ints, Inventory
from dialgauge.responses.templates.logistic import Floats, log_softmax
from dialgauge.responses.templates.slots import TEXT_MARKS, Marked, Slots, Weights


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

    def __init__(self, inventory: Inventory, slots: Slots, points: Sequence[Marked], gold: Ints) -> None:
        self._inventory, self._slots = inventory, slots
        self._blocks = []
        everything = slots.entity_marks(points)
        templates = inventory.template_of[gold]
        for template, members in enumerate(inventory.members):
            rows = np.flatnonzero(templates == template)
            if len(members) > 1 and len(rows):
                self._blocks.append(self._block(template, rows, points, gold[rows], everything))

    def _block(
        self, template: int, rows: Ints, points: Sequence[Marked], gold: Ints, everything: sparse.csr_matrix
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
            [found.T.tocsr() for found in marks],
            np.array(texts, dtype=np.int64).reshape(-1, 3),
        )

    def loss(self, weights: Weights) -> tuple[float, Weights]:
        """The negative log-likelihood, and its gradient in the shape of the weights."""
        gradient = Weights(*(np.zeros_like(part) for part in weights))
        return sum(self._block_loss(block, weights, gradient) for block in self._blocks), gradient

    def _block_loss(self, block: _Block, weights: Weights, gradient: Weights) -> float:
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

    def _bias(self, members: Ints, slot: int, weights: Weights) -> Floats:
        entities = self._slots.entity[members, slot]
        bias: Floats = weights.entity[entities] * self._slots.biased[entities]
        return bias

    def _add_gradient(self, block: _Block, excess: Floats, gradient: Weights) -> None:
        members = self._inventory.members[block.template]
        for slot, transposed in enumerate(block.transposed):
            column = self._slots.column(block.template, slot)
            found = transposed @ excess.ravel()
            gradient.shared[self._slots.column_kind[column]] += found
            gradient.own[column] += found
            entities = self._slots.entity[members, slot]
            np.add.at(gradient.entity, entities, excess.sum(axis=0) * self._slots.biased[entities])
        point, member, mark = block.texts.T
        of_texts = np.bincount(mark, weights=excess[point, member], minlength=TEXT_MARKS)
        gradient.text[:] += of_texts
        gradient.own_text[block.template] += of_texts
