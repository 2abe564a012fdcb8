"""Confidence intervals of scores: by resampling dialogues, or with one more unit (single cases, few units, amounts).

Systems scored on the same number of dialogues are resampled together, so that ten systems under four profiles draw
their random numbers once. Which measures get which interval, and why: docs/explanation/intervals.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dialgauge import stats
from dialgauge.measures.base import Floats, Measure, mean_of_ratios, ratio

#: How signatures name intervals that ask what one more unit would change.
ONE_MORE_UNIT, ONE_MORE_AMOUNT = "one-more-unit", "one-more-amount"
#: Shares over fewer units than this, of uneven length, get such an interval: resampled ones hold in 90% there.
FEW_UNITS = 20
#: Beyond this many units nothing is drawn: the ratio is linearised, as signatures say. That makes intervals up to 8%
#: narrower, by the chance of 1,000 resamples.
MANY_UNITS, LINEARISED = 5_000, "linearised"
#: Units of how many ratios are resampled together, so that their arrays fit the memory.
_CELLS = 4_000_000
#: Units are uneven that count as less than this share of as many equal ones.
EVEN = 0.7
#: Amounts over more units than this are resampled: it takes a tenth of a second for each 500.
_MANY_AMOUNTS = 500

#: Values that differ by less than this share of them are equal.
_EQUAL = 1e-12

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

    @classmethod
    def parse(cls, text: str) -> Resampling | None:
        """What a signature says; None where it says nothing, or nothing we know.

        >>> Resampling.parse("0.95-percentile-1000-0")
        Resampling(resamples=1000, seed=0, level=0.95, method='percentile')
        """
        try:
            level, method, resamples, seed = text.split("-")
            return cls(int(resamples), int(seed), float(level), method)
        except ValueError:
            return None


class Interval(NamedTuple):
    """Low and high, NaN where undefined, and how they were made, as signatures print it."""

    low: float
    high: float
    made: str

    @property
    def ends(self) -> Bounds:
        """Low and high."""
        return self.low, self.high

    @property
    def defined(self) -> bool:
        """Are both ends known?"""
        return math.isfinite(self.low) and math.isfinite(self.high)


#: Where a measure has no interval.
NO_INTERVAL = Interval(math.nan, math.nan, "")


class Summed(NamedTuple):
    """The sums of a measure by dialogue, (k, dialogues), and what its card says of their value."""

    sums: Floats
    bounds: Bounds = (-math.inf, math.inf)
    of: Callable[[Floats], Floats] = ratio
    one_more: bool = False

    @property
    def is_ratio(self) -> bool:
        """Is the value one sum over another?"""
        return len(self.sums) == 2 and self.of in (ratio, mean_of_ratios)

    @classmethod
    def by(cls, measure: Measure[Any], sums: Floats) -> Summed:
        """Sums that a measure gave."""
        card = measure.card
        return cls(sums, (card.lower, card.upper), card.of, card.one_more)


def intervals(work: Sequence[Sequence[tuple[Measure[Any], Floats]]], how: Resampling) -> list[list[Interval]]:
    """For every system and each of its measures, given with their sums, the interval."""
    places = [
        (number, index, Summed.by(measure, sums))
        for number, measured in enumerate(work)
        for index, (measure, sums) in enumerate(measured)
        if measure.has_interval and sums.shape[1]
    ]
    made = [[NO_INTERVAL] * len(measured) for measured in work]
    limits = summed_intervals([summed for *_, summed in places], how)
    for (number, index, _), interval in zip(places, limits, strict=True):
        made[number][index] = interval
    return made


def summed_intervals(rows: Sequence[Summed], how: Resampling) -> list[Interval]:
    """The intervals of some sums; ratios that are resampled, and have as many units, share their random numbers."""
    made = [few_units_interval(row, how) if row.is_ratio else _of_several(row, how) for row in rows]
    resampled: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        if made[index] is None:
            resampled.setdefault(row.sums.shape[1], []).append(index)
    for units, every in resampled.items():
        linear = units > MANY_UNITS
        many = 1 if linear else max(1, _CELLS // units)
        for places in (every[start : start + many] for start in range(0, len(every), many)):
            limits = stats.ratio_intervals(
                np.stack([rows[index].sums[0] for index in places]),
                np.stack([rows[index].sums[1] for index in places]),
                resamples=how.resamples,
                seed=how.seed,
                level=how.level,
                bounds=[rows[index].bounds for index in places],
                method=LINEARISED if linear else how.method,
            )
            for index, (low, high) in zip(places, limits.tolist(), strict=True):
                made[index] = Interval(low, high, f"{how.level:g}-{LINEARISED}" if linear else str(how))
    return [interval or NO_INTERVAL for interval in made]


def few_units_interval(row: Summed, how: Resampling) -> Interval | None:
    """The one-more-unit interval for single cases and small samples; None means: use the bootstrap."""
    num, den = row.sums
    there = den != 0
    units = int(there.sum())
    if how.method != "studentised" or not units:
        return None
    bounded = all(map(math.isfinite, row.bounds))
    if row.one_more and not bounded and _equal(num[there] / den[there]):
        return NO_INTERVAL  # nothing varies, and nothing says how far another unit may lie from these
    is_share = row.bounds == (0.0, 1.0)
    cases = is_share and stats.counted_cases(num, den) is not None
    uneven_share = is_share and 1 < units < FEW_UNITS and _uneven(den[there])
    if cases or uneven_share or (row.one_more and bounded):
        ends = stats.share_mean_interval(num, den, how.level, row.bounds)
        return Interval(*ends, f"{how.level:g}-{ONE_MORE_UNIT}")
    lowest, highest = row.bounds
    if highest == math.inf and (lowest == 0.0 or row.one_more) and 1 < units <= _MANY_AMOUNTS:
        ends = stats.amount_mean_interval(num, den, how.level, lowest)
        return Interval(*ends, f"{how.level:g}-{ONE_MORE_AMOUNT}")
    return None


def _equal(values: Floats) -> bool:
    return bool(np.ptp(values) <= _EQUAL * np.abs(values).max())


def _uneven(lengths: Floats) -> bool:
    """Do a few long units decide? They count as so much fewer equal ones (Kish's effective number)."""
    return bool(lengths.sum() ** 2 < EVEN * len(lengths) * (lengths**2).sum())


def _of_several(row: Summed, how: Resampling) -> Interval:
    """The interval of a value that is made of several sums."""
    if row.of is mean_of_ratios:
        above, below = np.split(row.sums, 2)
        low, high = stats.group_mean_interval(above, below, how.level)
        return Interval(max(low, row.bounds[0]), min(high, row.bounds[1]), f"{how.level:g}-jackknife")
    ends = stats.sums_interval(row.sums, row.of, resamples=how.resamples, seed=how.seed, level=how.level)
    return Interval(*ends, str(replace(how, method="percentile")))
