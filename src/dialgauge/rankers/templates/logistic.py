"""Multinomial logistic regression over sparse cues, fitted by L-BFGS.

P(k | x) = exp(x · w_k) / Σ_j exp(x · w_j),     maximise  Σ_i a_i log P(y_i | x_i) − ½ Σ_c λ_c ‖w_c‖²

where a_i is how much point i counts (1 unless said otherwise) and λ_c is the penalty of cue c (the same for all unless
said otherwise).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from dialgauge.errors import DialgaugeError
from dialgauge.rankers.templates.inventory import Ints

Floats = NDArray[np.float64]
#: A cue must occur at least this often in training.
_OCCURRENCES = 2


class CueVocabulary:
    """Cues numbered in the order of their first occurrence."""

    def __init__(self, cues: Sequence[str]) -> None:
        self.cues = list(cues)
        self._number = {cue: number for number, cue in enumerate(self.cues)}

    @classmethod
    def of(cls, points: Sequence[Sequence[str]]) -> CueVocabulary:
        """The cues that occur often enough."""
        counts = Counter(cue for cues in points for cue in cues)
        return cls([cue for cue, times in counts.items() if times >= _OCCURRENCES])

    def matrix(self, points: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        """Points × cues, 1 where a point has a cue; unknown cues are dropped."""
        rows = [[self._number[cue] for cue in cues if cue in self._number] for cues in points]
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.array([number for row in rows for number in row], dtype=np.int64)
        return sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(self.cues)))


def fit_logistic(
    x: sparse.csr_matrix, y: Ints, classes: int, penalty: float | Floats, steps: int = 60, counts: Floats | None = None
) -> Floats:
    """The weights, cues × classes; ``penalty`` is one for all cues or one for each, ``counts`` is per point."""
    count, width = x.shape
    rows = np.arange(count)
    transposed = x.T.tocsr()
    penalties = np.broadcast_to(np.asarray(penalty, dtype=np.float64), (width,))[:, None]
    count_of = np.ones(count) if counts is None else counts

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(width, classes)
        log_p = log_softmax(x @ weights)
        excess = np.exp(log_p)
        excess[rows, y] -= 1.0
        excess *= count_of[:, None]
        pull = penalties * weights
        gradient = transposed @ excess + pull
        return float(-log_p[rows, y] @ count_of + 0.5 * (pull * weights).sum()), gradient.ravel()

    options = {"maxiter": steps, "maxcor": 6}
    optimum = minimize(loss, np.zeros(width * classes), jac=True, method="L-BFGS-B", options=options)
    weights: Floats = optimum.x.reshape(width, classes)
    return weights


def log_softmax(scores: Floats) -> Floats:
    """Row by row, without overflow."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result


class Classifier:
    """Log-probabilities of classes (acts or templates); ``weights`` is cues × classes."""

    def __init__(self, cues: Sequence[str], weights: Floats) -> None:
        self.vocabulary, self.weights = CueVocabulary(cues), weights

    @classmethod
    def fitted(
        cls,
        cues: Sequence[Sequence[str]],
        gold: Ints,
        classes: int,
        penalty: float,
        *,
        counts: Floats | None = None,
    ) -> Classifier:
        """Learned from points' cues and the numbers of their classes; ``counts`` says how much each point counts."""
        vocabulary = CueVocabulary.of(cues)
        return cls(vocabulary.cues, fit_logistic(vocabulary.matrix(cues), gold, classes, penalty, counts=counts))

    def log_probabilities(self, cues: Sequence[Sequence[str]]) -> Floats:
        """Points × classes."""
        return log_softmax(np.asarray(self.vocabulary.matrix(cues) @ self.weights))


def weights_fitting(weights: NDArray[Any], *shape: int) -> NDArray[Any]:
    """The weights, if they have this shape; otherwise they are of another model."""
    if weights.shape != shape:
        raise DialgaugeError("the weights of the model do not fit its cues and templates; save it again")
    return weights


def numbers_fitting(numbers: NDArray[Any], templates: int) -> Ints:
    """The numbers, if there is one for each of so many templates and none reaches their count."""
    fitting = numbers.shape == (templates,) and np.issubdtype(numbers.dtype, np.integer)
    if not fitting or not ((numbers >= 0) & (numbers < templates)).all():
        raise DialgaugeError("the numbers of acts in the model do not fit its templates; save it again")
    return numbers.astype(np.int64)
