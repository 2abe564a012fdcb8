"""Confidence intervals of scores, by resampling dialogues.

Systems scored on the same number of dialogues are resampled together, so that ten systems under four profiles draw
their random numbers once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from dialgauge.measures.base import Measure, Rows

#: How signatures of version 0.1 name a method.
_NAMES_BEFORE = {"bootstrap": "percentile"}

#: Low and high, NaN where undefined.
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Resampling:
    """How intervals are made."""

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95
    #: ``studentised``, or ``percentile``, which is too narrow on a few dozen dialogues.
    method: str = "studentised"

    def __str__(self) -> str:
        """As signatures print it: ``0.95-studentised-1000-0``."""
        return f"{self.level:g}-{self.method}-{self.resamples}-{self.seed}"

    def of(self, measure: Measure[Any]) -> str:
        """How the interval of one measure is made: of several sums by percentiles, of a mean over groups without
        resampling; as signatures print it."""
        if measure.card.statistics:
            return str(replace(self, method="percentile"))
        return f"{self.level:g}-jackknife" if measure.grouped else str(self)

    @classmethod
    def parse(cls, text: str) -> Resampling | None:
        """What a signature says; None where it says nothing, or nothing we know.

        >>> Resampling.parse("0.95-percentile-1000-0")
        Resampling(resamples=1000, seed=0, level=0.95, method='percentile')
        """
        try:
            level, method, resamples, seed = text.split("-")
            return cls(int(resamples), int(seed), float(level), _NAMES_BEFORE.get(method, method))
        except ValueError:
            return None


def intervals(work: Sequence[tuple[Any, Sequence[Measure[Any]]]], how: Resampling) -> list[list[Bounds]]:
    """For every evidence and each of its measures: low and high, NaN where undefined."""
    from dialgauge.stats import group_mean_interval, ratio_intervals

    ratios: dict[int, list[tuple[int, int, Rows, Bounds]]] = {}
    bounds: list[list[Bounds]] = [[(np.nan, np.nan)] * len(measures) for _, measures in work]
    for number, (evidence, measures) in enumerate(work):
        if not evidence.dialogues:
            continue
        for place, measure in enumerate(measures):
            card = measure.card
            if card.statistics:
                bounds[number][place] = _of_statistics(measure, evidence, how)
            elif not measure.settled:
                continue
            elif measure.grouped:
                low, high = group_mean_interval(*measure.by_group(evidence), how.level)
                bounds[number][place] = max(low, card.lower), min(high, card.upper)
            else:
                row = (number, place, measure.by_dialogue(evidence), (card.lower, card.upper))
                ratios.setdefault(evidence.dialogues, []).append(row)
    for rows in ratios.values():
        above, below = (np.stack([sums[side] for _, _, sums, _ in rows]) for side in (0, 1))
        limits = ratio_intervals(
            above,
            below,
            resamples=how.resamples,
            seed=how.seed,
            level=how.level,
            bounds=[ends for *_, ends in rows],
            method=how.method,
        )
        for (number, place, *_), (low, high) in zip(rows, limits.tolist(), strict=True):
            bounds[number][place] = (low, high)
    return bounds


def _of_statistics(measure: Measure[Any], evidence: Any, how: Resampling) -> Bounds:
    """Of a value that is made of several sums."""
    from dialgauge.stats import bootstrap_weights, quantiles

    card = measure.card
    if card.statistics is None or card.of_sums is None:
        raise TypeError(f"{measure} is not made of several sums")
    sums = card.statistics(evidence, measure.settings(evidence))
    if sums.any(axis=0).sum() < 2:  # one dialogue shows no variation, and resampling it would promise certainty
        return np.nan, np.nan
    blocks = bootstrap_weights(evidence.dialogues, how.resamples, how.seed)
    drawn = np.concatenate([weights @ sums.T for weights in blocks])
    low, high = quantiles(card.of_sums(drawn)[:, None], how.level)[0].tolist()
    return low, high
