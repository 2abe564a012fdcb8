"""How far two distributions are apart: Kullback-Leibler over categories, Cramér-von Mises over numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

#: Added to every count where none is named: Jeffreys' prior.
SMOOTHING = 0.5


def kullback_leibler(true: Mapping[Any, float], other: Mapping[Any, float], smoothing: float = SMOOTHING) -> float:
    """The divergence of ``other`` from ``true``, in bits: sum of p log2(p / q) over all categories that either has.

    ``smoothing`` is added to each count of both, so that what one of them never does is rare and not impossible.

    >>> round(kullback_leibler({"a": 1, "b": 1}, {"a": 3, "b": 1}, smoothing=0.0), 6)
    0.207519
    """
    names = list({**true, **other})
    p, q = (np.array([counts.get(name, 0) for name in names], float) + smoothing for counts in (true, other))
    p, q = p / p.sum(), q / q.sum()
    some = p > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float((p[some] * np.log2(p[some] / q[some])).sum()))


class CramerVonMises(NamedTuple):
    """Two samples: the criterion T of Anderson (1962), and the root mean square of the difference of their curves.

    T grows with the samples, and is what tables of significance have; ``distance`` is between 0 and 1.
    """

    criterion: float
    distance: float


def cramer_von_mises(first: ArrayLike, second: ArrayLike) -> CramerVonMises:
    """The Cramér-von Mises criterion of two samples, over the empirical distributions at all values of both.

    >>> cramer_von_mises([1, 2], [3, 4])
    CramerVonMises(criterion=0.375, distance=0.6123724356957945)
    """
    x, y = (np.sort(np.asarray(sample, float)) for sample in (first, second))
    if not len(x) or not len(y):
        return CramerVonMises(float("nan"), float("nan"))
    pooled = np.concatenate([x, y])
    gap = np.searchsorted(x, pooled, side="right") / len(x) - np.searchsorted(y, pooled, side="right") / len(y)
    squares = float((gap**2).sum())
    both = len(x) + len(y)
    return CramerVonMises(len(x) * len(y) * squares / both**2, float(np.sqrt(squares / both)))


def histogram(values: Sequence[int]) -> dict[int, int]:
    """How often each number occurs."""
    numbers, counts = np.unique(np.asarray(values, np.int64), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
