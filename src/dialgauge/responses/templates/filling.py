"""Choosing what fills a template's slots: a log-linear model over the candidates of the template.

    P(c | template t, x) ∝ exp( Σ_slots j Σ_marks m of the entity at j  (u[kind, m] + v[t, j, m])  +  b[entity] (values)
                                + Σ_marks m of the text  (u'[m] + v'[t, m]) )

Weights u are shared by all templates, so that a template seen rarely (or never) fills sensibly; v are its own and
penalised more. Marks of the text say that the bot has said exactly this before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from dialgauge.errors import DialgaugeError
from dialgauge.responses.templates.filling_fit import FillingLikelihood
from dialgauge.responses.templates.inventory import Ints, Inventory
from dialgauge.responses.templates.logistic import Floats
from dialgauge.responses.templates.slots import Marked, Slots, Weights

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
        cls, inventory: Inventory, points: Sequence[Marked], gold: Ints, penalty: float, own_penalty: float
    ) -> Filling:
        """Learned from points and the numbers of their gold candidates."""
        filling = cls(inventory, list(dict.fromkeys(mark for point in points for _, mark in point.entities)))
        likelihood = FillingLikelihood(inventory, filling.slots, points, gold)
        start = filling.weights
        factor = Weights(*(np.full_like(part, own_penalty) for part in start))
        factor.shared[:], factor.text[:] = penalty, penalty
        factors = factor.flat()

        def loss(flat: Floats) -> tuple[float, Floats]:
            value, gradient = likelihood.loss(start.like(flat))
            return value + 0.5 * float((factors * flat * flat).sum()), gradient.flat() + factors * flat

        found = minimize(loss, start.flat(), jac=True, method="L-BFGS-B", options={"maxiter": 80})
        filling.weights = start.like(found.x)
        return filling

    def log_probabilities(self, points: Sequence[Marked]) -> Floats:
        """Points × candidates."""
        chunks = [self._chunk(points[start : start + _CHUNK]) for start in range(0, len(points), _CHUNK)]
        return np.concatenate([np.zeros((0, len(self._inventory.candidates))), *chunks])

    def _chunk(self, points: Sequence[Marked]) -> Floats:
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
        found = Weights(*(arrays[f"fill_{name}"] for name in Weights._fields))
        if any(one.shape != own.shape for one, own in zip(found, self.weights, strict=True)):
            raise DialgaugeError("the weights of the model do not fit its templates; save it again")
        self.weights = found
