"""Choosing what fills a template's slots: a log-linear model over the candidates of the template.

    P(c | template of c, x) ∝ exp( Σ_entities e of c  Σ_marks m of e at x  w[kind of e, m] )

A candidate counts as an entity of its own, so that the bot's having said exactly this before is a mark like others.
Weights belong to kinds of entities, not to templates: a template seen rarely (or never) fills as sensibly as others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from dialgauge.rankers.templates.cues import Mark
from dialgauge.rankers.templates.inventory import Ints, Inventory
from dialgauge.rankers.templates.logistic import Floats, log_softmax

_STEPS = 80


class Filling:
    """Gives log P(candidate | its template) for all candidates; ``weights`` is per mark."""

    def __init__(self, inventory: Inventory, marks: Sequence[str], weights: Floats | None = None) -> None:
        self._inventory, self.marks = inventory, list(marks)
        self.weights = np.zeros(len(self.marks)) if weights is None else weights
        self._number = {mark: number for number, mark in enumerate(self.marks)}
        widths = [len(keys) for keys in inventory.keys]
        #: Candidates × slots; the number after the last entity where a candidate has fewer slots.
        self._entities = np.full((len(widths), max(widths)), len(inventory.entities), dtype=np.int64)
        for candidate, keys in enumerate(inventory.keys):
            self._entities[candidate, : len(keys)] = keys
        self._order = np.argsort(inventory.template_of, kind="stable")
        self._lengths = np.array(list(map(len, inventory.members)))

    @classmethod
    def fitted(cls, inventory: Inventory, points: Sequence[Sequence[Mark]], gold: Ints, penalty: float) -> Filling:
        """Learned from points' marks and the numbers of their gold candidates."""
        filling = cls(inventory, list(dict.fromkeys(mark for marks in points for _, mark in marks)))
        likelihood = FillingLikelihood(filling, points, gold)

        def loss(weights: Floats) -> tuple[float, Floats]:
            value, gradient = likelihood.loss(weights)
            return value + 0.5 * penalty * float(weights @ weights), gradient + penalty * weights

        optimum = minimize(loss, filling.weights, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        filling.weights = optimum.x
        return filling

    def marked(self, points: Sequence[Sequence[Mark]]) -> sparse.csr_matrix:
        """(points · (entities and one for none)) × marks, 1 where an entity has a mark; unknown marks are dropped."""
        entities = len(self._inventory.entities) + 1
        cells = [
            (row * entities + entity, self._number[mark])
            for row, marks in enumerate(points)
            for entity, mark in dict.fromkeys(marks)
            if mark in self._number
        ]
        rows, columns = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), (len(points) * entities, len(self.marks)))

    def marked_candidates(self, marked: sparse.csr_matrix, rows: Ints, candidates: Ints) -> sparse.csr_matrix:
        """(rows · candidates) × marks: those of a candidate's entities together."""
        first = rows[:, None] * (len(self._inventory.entities) + 1)
        return sum(marked[(first + entities).ravel()] for entities in self._entities[candidates].T)

    def log_probabilities(self, points: Sequence[Sequence[Mark]]) -> Floats:
        """Points × candidates."""
        shape = len(points), len(self._inventory.entities) + 1
        of_entities = (self.marked(points) @ self.weights).reshape(shape)
        scores: Floats = sum(of_entities[:, entities] for entities in self._entities.T)
        ordered, starts = scores[:, self._order], np.cumsum([0, *self._lengths])[:-1]
        ordered -= np.repeat(np.maximum.reduceat(ordered, starts, axis=1), self._lengths, axis=1)
        total = np.log(np.add.reduceat(np.exp(ordered), starts, axis=1))  # a softmax within each template
        scores[:, self._order] = ordered - np.repeat(total, self._lengths, axis=1)
        return scores


class FillingLikelihood:
    """−Σ log P(gold filling | template) over training points, and its gradient."""

    def __init__(self, filling: Filling, points: Sequence[Sequence[Mark]], gold: Ints) -> None:
        inventory = filling._inventory
        marked = filling.marked(points)
        templates = inventory.template_of[gold]
        #: Per template: the place of the gold candidate among its candidates, and the marks of all of these.
        self._blocks: list[tuple[Ints, sparse.csr_matrix, sparse.csr_matrix]] = []
        for template, members in enumerate(inventory.members):
            rows = np.flatnonzero(templates == template)
            if len(members) > 1 and len(rows):
                features = filling.marked_candidates(marked, rows, members)
                self._blocks.append((np.searchsorted(members, gold[rows]), features, features.T.tocsr()))

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        """The negative log-likelihood, and its gradient."""
        value, gradient = 0.0, np.zeros_like(weights)
        for gold, features, transposed in self._blocks:
            rows = np.arange(len(gold))
            log_p = log_softmax((features @ weights).reshape(len(gold), -1))
            excess = np.exp(log_p)
            excess[rows, gold] -= 1.0
            value -= float(log_p[rows, gold].sum())
            gradient += transposed @ excess.ravel()
        return value, gradient
