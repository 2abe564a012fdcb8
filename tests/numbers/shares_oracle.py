"""The closed form of an interval of a share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

Counts = np.ndarray[Any, np.dtype[np.int64]]
Chances = np.ndarray[Any, np.dtype[np.float64]]


def closed_forms(right: Counts, cases: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Both ends: one more case, wrong or right, weighs three to one (specs/small-sample-intervals.md, section 1)."""
    low = solve(lambda x: 0.75 * below(x, right, cases + 1 - right) + 0.25 * below(x, right + 1, cases - right), 0.025)
    high = solve(lambda x: 0.25 * below(x, right, cases + 1 - right) + 0.75 * below(x, right + 1, cases - right), 0.975)
    return np.stack([np.where(right == 0, 0.0, low), np.where(right == cases, 1.0, high)], axis=1)


def below(x: Chances, first: Counts, second: Counts) -> Chances:
    """The chance that a beta distribution gives at most x; with a parameter of 0 it gives 0, or 1."""
    inner: Chances = stats.beta.cdf(x, np.maximum(first, 1), np.maximum(second, 1))
    return np.where(first == 0, 1.0, np.where(second == 0, 0.0, inner))


def solve(chance: Callable[[Chances], Chances], target: float) -> Chances:
    low, high = np.zeros(1), np.ones(1)
    for _ in range(45):
        middle = (low + high) / 2
        under = chance(middle) < target
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return low
