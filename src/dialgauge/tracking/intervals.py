"""Confidence intervals of scores: percentile bootstrap over dialogues.

Systems scored on the same number of dialogues are resampled together, so that ten systems under four profiles draw
their random numbers once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialgauge.stats import bootstrap_weights, divide, quantiles, ratio_intervals, weighted_sums
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.encode import Floats
from dialgauge.tracking.measures.base import Measure


@dataclass(frozen=True)
class Resampling:
    """How intervals are made."""

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.level:g}-bootstrap-{self.resamples}-{self.seed}"


Bounds = tuple[float, float]


def intervals(work: list[tuple[Counts, list[Measure]]], how: Resampling) -> list[list[Bounds]]:
    """For every counts and each of its measures: low and high, NaN where undefined."""
    ratios: dict[int, list[tuple[int, int, Floats, Floats]]] = {}
    found: list[list[Bounds]] = [[(np.nan, np.nan)] * len(measures) for _, measures in work]
    for number, (counts, measures) in enumerate(work):
        for place, measure in enumerate(measures):
            if measure.grouped:
                found[number][place] = _of_groups(measure, counts, how)
            else:
                above, below = measure.by_dialogue(counts)
                ratios.setdefault(counts.dialogues, []).append((number, place, above, below))
    for rows in ratios.values():
        above, below = np.stack([row[2] for row in rows]), np.stack([row[3] for row in rows])
        bounds = ratio_intervals(above, below, resamples=how.resamples, seed=how.seed, level=how.level)
        for (number, place, _, _), (low, high) in zip(rows, bounds.tolist(), strict=True):
            found[number][place] = (low, high)
    return found


def _of_groups(measure: Measure, counts: Counts, how: Resampling) -> Bounds:
    """Of a mean over slots or domains: the groups are those of the corpus; one that a resample lacks keeps its value.

    Leaving it out instead would shift the mean whenever a rare slot is not drawn.
    """
    above, below = measure.by_group(counts)
    occurring = below.sum(axis=1) > 0
    if not occurring.any():
        return np.nan, np.nan
    above, below = above[occurring], below[occurring]
    sums, sizes = weighted_sums(bootstrap_weights(counts.dialogues, how.resamples, how.seed), above, below)
    observed = divide(above.sum(axis=1), below.sum(axis=1))
    ratios = divide(sums, sizes)
    means = np.where(np.isnan(ratios), observed, ratios).mean(axis=1)
    low, high = quantiles(means[:, None], how.level)[0].tolist()
    return low, high
