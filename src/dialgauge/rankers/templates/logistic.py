"""Multinomial logistic regression over sparse cues, fitted by L-BFGS.

P(k | x) = exp(x · w_k) / Σ_j exp(x · w_j),     maximise  Σ_i log P(y_i | x_i) − ½ Σ_c λ_c ‖w_c‖²

where λ_c is the penalty of cue c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

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


def fit_logistic(x: sparse.csr_matrix, y: Ints, classes: int, penalty: Floats, steps: int) -> Floats:
    """The weights, cues × classes; ``penalty`` is per cue."""
    count, width = x.shape
    rows = np.arange(count)
    transposed = x.T.tocsr()

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(width, classes)
        log_p = log_softmax(x @ weights)
        excess = np.exp(log_p)
        excess[rows, y] -= 1.0
        pull = penalty[:, None] * weights
        gradient = transposed @ excess + pull
        return float(-log_p[rows, y].sum() + 0.5 * (pull * weights).sum()), gradient.ravel()

    options = {"maxiter": steps, "maxcor": 6}
    optimum = minimize(loss, np.zeros(width * classes), jac=True, method="L-BFGS-B", options=options)
    weights: Floats = optimum.x.reshape(width, classes)
    return weights


def log_softmax(scores: Floats) -> Floats:
    """Row by row, without overflow."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result
