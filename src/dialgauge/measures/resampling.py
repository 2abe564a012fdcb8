"""Confidence intervals of scores: percentile bootstrap over dialogues.

Systems scored on the same number of dialogues are resampled together, so that ten systems under four profiles draw
their random numbers once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dialgauge.measures.base import Floats, Measure, Rows

#: Low and high, NaN where undefined.
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Resampling:
    """How intervals are made."""

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.level:g}-bootstrap-{self.resamples}-{self.seed}"


def intervals(work: Sequence[tuple[Any, Sequence[Measure[Any]]]], how: Resampling) -> list[list[Bounds]]:
    """For every evidence and each of its measures: low and high, NaN where undefined."""
    from dialgauge.stats import ratio_intervals

    ratios: dict[int, list[tuple[int, int, Floats, Floats]]] = {}
    bounds: list[list[Bounds]] = [[(np.nan, np.nan)] * len(measures) for _, measures in work]
    for number, (evidence, measures) in enumerate(work):
        if not evidence.dialogues:
            continue
        for place, measure in enumerate(measures):
            if measure.card.statistics:
                bounds[number][place] = _of_statistics(measure, evidence, how)
            elif measure.grouped:
                bounds[number][place] = _of_groups(measure.by_group(evidence), how)
            else:
                above, below = measure.by_dialogue(evidence)
                ratios.setdefault(evidence.dialogues, []).append((number, place, above, below))
    for rows in ratios.values():
        above, below = np.stack([row[2] for row in rows]), np.stack([row[3] for row in rows])
        limits = ratio_intervals(above, below, resamples=how.resamples, seed=how.seed, level=how.level)
        for (number, place, _, _), (low, high) in zip(rows, limits.tolist(), strict=True):
            bounds[number][place] = (low, high)
    return bounds


def _of_groups(sums: Rows, how: Resampling) -> Bounds:
    """Of a mean over groups: the groups are those of the corpus; one that a resample lacks keeps its value.

    Leaving it out instead would shift the mean whenever a rare slot is not drawn.
    """
    from dialgauge.stats import bootstrap_weights, divide, quantiles, weighted_sums

    above, below = sums
    dialogues = above.shape[1]
    occurring = below.sum(axis=1) > 0
    if not occurring.any():
        return np.nan, np.nan
    above, below = above[occurring], below[occurring]
    drawn, sizes = weighted_sums(bootstrap_weights(dialogues, how.resamples, how.seed), above, below)
    observed = divide(above.sum(axis=1), below.sum(axis=1))
    ratios = divide(drawn, sizes)
    means = np.where(np.isnan(ratios), observed, ratios).mean(axis=1)
    low, high = quantiles(means[:, None], how.level)[0].tolist()
    return low, high


def _of_statistics(measure: Measure[Any], evidence: Any, how: Resampling) -> Bounds:
    """Of a value that is made of several sums."""
    from dialgauge.stats import bootstrap_weights, quantiles

    card = measure.card
    if card.statistics is None or card.of_sums is None:
        raise TypeError(f"{measure} is not made of several sums")
    sums = card.statistics(evidence, measure.settings(evidence))
    blocks = bootstrap_weights(evidence.dialogues, how.resamples, how.seed)
    drawn = np.concatenate([weights @ sums.T for weights in blocks])
    low, high = quantiles(card.of_sums(drawn)[:, None], how.level)[0].tolist()
    return low, high
