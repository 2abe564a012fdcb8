"""How far two distributions are apart: Kullback-Leibler over categories, Cramér-von Mises over numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

#: Added to every count where none is named: Jeffreys' prior.
SMOOTHING = 0.5


def kullback_leibler(true: Mapping[Any, float], other: Mapping[Any, float], smoothing: float = SMOOTHING) -> float:
    """The divergence of ``other`` from ``true``, in bits: sum of p log2(p / q) over all categories that either has.

    ``smoothing``, more than 0, is added to each count of both, so that what one of them never does is rare and not
    impossible.

    >>> round(kullback_leibler({"a": 1, "b": 1}, {"a": 3, "b": 1}), 6)
    0.125769
    """
    names = list({**true, **other})
    p, q = (np.array([counts.get(name, 0) for name in names], float) + smoothing for counts in (true, other))
    p, q = p / p.sum(), q / q.sum()
    return max(0.0, float((p * np.log2(p / q)).sum()))


def cramer_von_mises(first: ArrayLike, second: ArrayLike) -> float:
    """The root mean square of the difference of two samples' empirical distributions, over all values of both.

    >>> cramer_von_mises([1, 2], [3, 4])
    0.6123724356957945
    """
    x, y = (np.sort(np.asarray(sample, float)) for sample in (first, second))
    if not len(x) or not len(y):
        return float("nan")
    pooled = np.concatenate([x, y])
    gap = np.searchsorted(x, pooled, side="right") / len(x) - np.searchsorted(y, pooled, side="right") / len(y)
    return float(np.sqrt((gap**2).mean()))


def histogram(values: Sequence[int]) -> dict[int, int]:
    """How often each number occurs."""
    numbers, counts = np.unique(np.asarray(values, np.int64), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
