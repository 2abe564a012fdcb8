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
from msgspec import Struct

from dialgauge import stats
from dialgauge.measures.base import Floats, Measure

#: How signatures name intervals that ask what one more unit would change.
ONE_MORE_UNIT, ONE_MORE_AMOUNT = "one-more-unit", "one-more-amount"
#: Shares over fewer units than this, of uneven length, get such an interval: resampled ones hold in 90% there.
FEW_UNITS = 20
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


class RatioRow(NamedTuple):
    """A ratio of sums over units; ``one_more`` is what its card says."""

    num: Floats
    den: Floats
    bounds: Bounds
    one_more: bool = False


def intervals(work: Sequence[tuple[Any, Sequence[Measure[Any]]]], how: Resampling) -> list[list[Interval]]:
    """For every evidence and each of its measures the interval."""
    ratios: list[tuple[int, int, RatioRow]] = []
    made: list[list[Interval]] = [[NO_INTERVAL] * len(measures) for _, measures in work]
    for number, (evidence, measures) in enumerate(work):
        if not evidence.dialogues:
            continue
        for index, measure in enumerate(measures):
            if measure.card.statistics:
                made[number][index] = _of_statistics(measure, evidence, how)
            elif not measure.settled:
                continue
            elif measure.grouped:
                made[number][index] = _of_groups(measure, evidence, how)
            else:
                ratios.append((number, index, ratio_row(measure, *measure.by_dialogue(evidence))))
    limits = ratio_row_intervals([row for *_, row in ratios], how)
    for (number, index, _), interval in zip(ratios, limits, strict=True):
        made[number][index] = interval
    return made


def ratio_row(measure: Measure[Any], num: Floats, den: Floats) -> RatioRow:
    """A measure's sums over units, with what its card says of its interval."""
    card = measure.card
    return RatioRow(num, den, (card.lower, card.upper), card.one_more)


def ratio_row_intervals(rows: Sequence[RatioRow], how: Resampling) -> list[Interval]:
    """The intervals of ratios; those that are resampled, and have as many units, share their random numbers."""
    intervals = [few_units_interval(row, how) for row in rows]
    resampled: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        if intervals[index] is None:
            resampled.setdefault(len(row.num), []).append(index)
    for places in resampled.values():
        limits = stats.ratio_intervals(
            np.stack([rows[index].num for index in places]),
            np.stack([rows[index].den for index in places]),
            resamples=how.resamples,
            seed=how.seed,
            level=how.level,
            bounds=[rows[index].bounds for index in places],
            method=how.method,
        )
        for index, (low, high) in zip(places, limits.tolist(), strict=True):
            intervals[index] = Interval(low, high, str(how))
    return [interval or NO_INTERVAL for interval in intervals]


def few_units_interval(row: RatioRow, how: Resampling) -> Interval | None:
    """The interval with one more unit, where that is the better one, as of single cases; None where resampling is."""
    there = row.den != 0
    units = int(there.sum())
    if how.method != "studentised" or not units:
        return None
    bounded = all(map(math.isfinite, row.bounds))
    if row.one_more and not bounded and _equal(row.num[there] / row.den[there]):
        return NO_INTERVAL  # nothing varies, and nothing says how far another unit may lie from these
    is_share = row.bounds == (0.0, 1.0)
    cases = is_share and stats.counted_cases(row.num, row.den) is not None
    uneven_share = is_share and 1 < units < FEW_UNITS and _uneven(row.den[there])
    if cases or uneven_share or (row.one_more and bounded):
        ends = stats.share_mean_interval(row.num, row.den, how.level, row.bounds)
        return Interval(*ends, f"{how.level:g}-{ONE_MORE_UNIT}")
    lowest, highest = row.bounds
    if highest == math.inf and (lowest == 0.0 or row.one_more) and 1 < units <= _MANY_AMOUNTS:
        ends = stats.amount_mean_interval(row.num, row.den, how.level, lowest)
        return Interval(*ends, f"{how.level:g}-{ONE_MORE_AMOUNT}")
    return None


def _equal(values: Floats) -> bool:
    return bool(np.ptp(values) <= _EQUAL * np.abs(values).max())


def _uneven(lengths: Floats) -> bool:
    """Do a few long units decide? They count as so much fewer equal ones (Kish's effective number)."""
    return bool(lengths.sum() ** 2 < EVEN * len(lengths) * (lengths**2).sum())


def _of_groups(measure: Measure[Any], evidence: Any, how: Resampling) -> Interval:
    """The interval of a mean over groups, such as slots."""
    low, high = stats.group_mean_interval(*measure.by_group(evidence), how.level)
    return Interval(max(low, measure.card.lower), min(high, measure.card.upper), f"{how.level:g}-jackknife")


def _of_statistics(measure: Measure[Any], evidence: Any, how: Resampling) -> Interval:
    """The interval of a value that is made of several sums."""
    card = measure.card
    if card.statistics is None or card.of_sums is None:
        raise TypeError(f"{measure} is not made of several sums")
    return sums_interval(card.statistics(evidence, measure.settings(evidence)), card.of_sums, how)


def sums_interval(sums: Floats, of: Callable[[Floats], Floats], how: Resampling) -> Interval:
    """The interval of a value of several sums, (sums, dialogues)."""
    ends = stats.sums_interval(sums, of, resamples=how.resamples, seed=how.seed, level=how.level)
    return Interval(*ends, str(replace(how, method="percentile")))


class Moments(Struct, frozen=True, array_like=True):
    """Sums over dialogues of a measure's numerators and denominators, their squares and their products."""

    above: float
    below: float
    above_squared: float
    below_squared: float
    product: float

    @classmethod
    def of(cls, above: Floats, below: Floats) -> Moments:
        """The moments of some dialogues."""
        products = (above, below, above * above, below * below, above * below)
        return cls(*(float(product.sum()) for product in products))

    @classmethod
    def joined(cls, parts: Sequence[Moments]) -> Moments:
        """The moments of several files together."""
        return cls(*(math.fsum(getattr(part, name) for part in parts) for name in cls.__struct_fields__))

    @property
    def value(self) -> float:
        """The ratio of the sums."""
        return self.above / self.below if self.below else math.nan

    def interval(self, dialogues: int, how: Resampling, ends: Bounds) -> Interval:
        """That of a share of cases, or the normal interval of a ratio; its error is the spread of the residuals."""
        from statistics import NormalDist

        if not self.below or dialogues < 2:
            return NO_INTERVAL
        if ends == (0.0, 1.0) and self.above == self.above_squared and self.below == self.below_squared:
            cases = stats.share_interval(int(self.above), int(self.below), how.level)
            return Interval(*cases, f"{how.level:g}-{ONE_MORE_UNIT}")
        value = self.value
        squares = self.above_squared - 2 * value * self.product + value * value * self.below_squared
        spread = math.sqrt(max(0.0, squares) * dialogues / (dialogues - 1)) / self.below
        reach = NormalDist().inv_cdf((1 + how.level) / 2) * spread
        return Interval(max(value - reach, ends[0]), min(value + reach, ends[1]), str(how))
