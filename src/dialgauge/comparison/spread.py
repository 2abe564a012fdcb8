"""Measures about measures, from a table of systems: how far does a measure spread them, and do measures rank alike?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats import Matrix, correlation_matrix


@dataclass(frozen=True)
class Spread:
    """One measure over systems. The sample standard deviation needs two systems; it is None with fewer."""

    measure: str
    systems: int
    mean: float | None
    population_std: float | None
    sample_std: float | None
    lowest: float | None
    highest: float | None

    @property
    def range(self) -> float | None:
        """Highest minus lowest."""
        return None if self.highest is None or self.lowest is None else self.highest - self.lowest


def spreads(measures: Sequence[str], values: ArrayLike) -> list[Spread]:
    """Mean, both standard deviations and range of each measure; ``values`` is (systems, measures), NaN left out."""
    table = np.asarray(values, dtype=np.float64)
    return [_spread(name, table[:, place]) for place, name in enumerate(measures)]


def _spread(name: str, column: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Spread:
    known = column[~np.isnan(column)]
    if not len(known):
        return Spread(name, 0, None, None, None, None, None)
    sample = float(known.std(ddof=1)) if len(known) > 1 else None
    return Spread(
        name, len(known), float(known.mean()), float(known.std()), sample, float(known.min()), float(known.max())
    )


def rank_agreement(values: ArrayLike) -> Matrix:
    """Kendall's tau-b between the orders in which two measures put the systems; ``values`` is (systems, measures)."""
    table = np.asarray(values, dtype=np.float64)
    return correlation_matrix(list(table.T), "kendall")


def swapped_pairs(values: ArrayLike) -> list[list[int]]:
    """For two measures, how many pairs of systems they put into opposite orders; ``values`` is (systems, measures)."""
    table = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(len(table), 1)
    signs = np.sign(np.nan_to_num(table[first] - table[second]))
    return [[int((signs[:, a] * signs[:, b] < 0).sum()) for b in range(signs.shape[1])] for a in range(signs.shape[1])]
