"""Confidence intervals of measures that are ratios of sums over dialogues."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats.resample import Floats, bootstrap_weights, checked, divide, quantiles, varied, weighted_sums


def ratio_intervals(
    num: ArrayLike, den: ArrayLike, *, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> Floats:
    """Percentile bootstrap intervals of ``sum(num) / sum(den)``, as an array (measures, 2).

    ``num`` and ``den`` are (measures, dialogues). What is drawn with replacement is the *dialogue*: the turns of one
    dialogue are not independent. A dialogue without a score for a measure is 0 / 0 or NaN there. NaN where a measure
    is undefined in every resample, and where fewer than two dialogues have a score: one dialogue says nothing about
    how dialogues vary. (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13.)
    """
    numerators, denominators = checked(num, den, axes=2)
    weights = bootstrap_weights(numerators.shape[1], resamples, seed)
    sums, sizes = weighted_sums(weights, numerators, denominators)
    intervals = quantiles(divide(sums, sizes), level)
    intervals[~varied(denominators)] = np.nan
    return intervals
