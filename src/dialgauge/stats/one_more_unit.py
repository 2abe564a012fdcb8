"""Intervals from few units without random numbers: what if there were one more unit, as extreme as a unit can be?

The units seen and one more get random weights, all Dirichlet's with parameter 1 (the Bayesian bootstrap; Rubin, 1981).
Each end of the interval is a quantile of the weighted mean, a mixture over where the extra unit lies: mostly where it
pushes the end outwards, at the measure's bound, so that ends stay inside the bounds and are honest close to them. (With
that one alone it would be Gaffke's bound, 2005, a tenth wider.) Under every weighting the mean of smaller values is
smaller, so intervals keep the order of their measures, such as pass^1 >= pass^2; equal units are counted together, so
the order of the units cannot matter. How often they hold: docs/explanation/intervals.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import exp, isqrt, lgamma, log, log1p
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats.resampling import Floats, check_level, checked, divide

#: The low and the high end of an interval, NaN where there is none.
Ends: TypeAlias = tuple[float, float]

#: How much the extra unit that pushes an end outwards counts there; the one at the other bound counts the rest.
_OUTWARD = 0.75
#: Amounts have no bound to put an extra unit at: it lies ``1 + 15 / units`` times as far from the mean as the farthest.
_FARTHER = 15.0
_NODES = 400
#: Roots are as close as this, in standard errors or as a share of the range.
_CLOSE = 1e-9
#: Nodes times distinct units that are held at a time.
_CELLS = 1_000_000
#: More units of equal length than this, beside so many outermost ones on either side, are gathered into so many groups.
_MANY, _OUTERMOST = 1_000, 100
_NOWHERE: Ends = (np.nan, np.nan)


def share_interval(count: int, cases: int, level: float = 0.95) -> Ends:
    """The interval of a share of independent cases, each right or wrong; without cases, all of 0 to 1.

    The weighted mean of such cases has a beta distribution, and its chances are tails of a binomial. So the low end is
    the share at which ``count`` right cases or more have a chance of 2.5%, where exactly ``count`` is
    weighted ¾ (Clopper and Pearson weight it 1).

    >>> [round(end, 4) for end in share_interval(9, 10)]
    [0.5726, 0.9966]
    """
    check_level(level)
    if not cases:
        return 0.0, 1.0
    tail = (1 - level) / 2
    return _low_end(count, cases, tail), 1.0 - _low_end(cases - count, cases, tail)


def _low_end(count: int, cases: int, tail: float) -> float:
    if not count:
        return 0.0
    ways = lgamma(cases + 1) - lgamma(count + 1) - lgamma(cases - count + 1)
    # Each number of right cases is so many times, over the odds, as likely as the one before; ten standard deviations
    # farther nothing is left.
    more = np.arange(count, min(cases, count + 60 + 10 * isqrt(cases)), dtype=np.float64)
    steps = (cases - more) / (more + 1.0)
    low, high = 0.0, count / cases
    for _ in range(60):
        share = (low + high) / 2
        exactly = exp(ways + count * log(share) + (cases - count) * log1p(-share))
        chance = exactly * (_OUTWARD + float(np.cumprod(steps * (share / (1.0 - share))).sum()))
        low, high = (share, high) if chance < tail else (low, share)
    return (low + high) / 2


def counted_cases(num: ArrayLike, den: ArrayLike) -> tuple[int, int] | None:
    """How many of how many units are right, where each is one case: of one length, and wholly right or wholly wrong.

    None where some are not, or where fewer than two units have a score.
    """
    above, below = checked(num, den, axes=1)
    lengths = below[below != 0]
    if len(lengths) < 2 or (lengths != lengths[0]).any() or ((above != 0) & (above != below)).any():
        return None
    return int(np.count_nonzero(above)), len(lengths)


def share_mean_interval(num: ArrayLike, den: ArrayLike, level: float = 0.95, bounds: Ends = (0.0, 1.0)) -> Ends:
    """The interval of ``sum(num) / sum(den)`` between two bounds; the units are those with a denominator.

    The extra unit is as long as the longest, and at either bound: wholly wrong or wholly right. Units that are single
    cases have :func:`share_interval`.

    >>> [round(end, 4) for end in share_mean_interval([1.0] * 10, [1.0] * 10)]
    [0.7117, 1.0]
    """
    if bounds == (0.0, 1.0) and (cases := counted_cases(num, den)) is not None:
        return share_interval(*cases, level)
    units = _Units.of(num, den)
    return units.ends(*bounds, level) if units else _NOWHERE


def amount_mean_interval(num: ArrayLike, den: ArrayLike, level: float = 0.95, lowest: float = 0.0) -> Ends:
    """The interval of the mean of an amount, ``sum(num) / sum(den)`` without upper bound; NaN if all are equal."""
    units = _Units.of(num, den)
    if units is None or units.equal:
        return _NOWHERE
    low, high = units.beyond()
    return units.ends(max(low, lowest), high, level)


def share_difference_interval(differences: ArrayLike, level: float = 0.95) -> Ends:
    """The interval of a mean of paired differences between -1 and 1; the extra one is -1, 0 or 1, with equal chance."""
    units = _Units.alone(differences)
    if units is None:
        return _NOWHERE
    thirds = (1 / 3, 1 / 3, 1 / 3)
    return units.ends_between((-1.0, 0.0, 1.0), (thirds, thirds), level)


def amount_difference_interval(differences: ArrayLike, level: float = 0.95) -> Ends:
    """The interval of a mean of paired differences of amounts; NaN if all are equal."""
    units = _Units.alone(differences)
    return units.ends(*units.beyond(), level) if units and not units.equal else _NOWHERE


def amount_difference_p(differences: ArrayLike) -> float:
    """The two-sided p-value that belongs to this interval: it is below ``1 - level`` where the interval excludes 0."""
    units = _Units.alone(differences)
    if units is None or units.equal:
        return np.nan
    below = units.chances(0.0, np.array(units.beyond()))
    p = 2.0 * min(float(_mixture(0) @ below), 1.0 - float(_mixture(1) @ below))
    return min(max(p, 0.0), 1.0)


def _mixture(end: int) -> Floats:
    """How much the extra unit at the low and at the high bound counts at the low end (0) and at the high one (1)."""
    return np.array([_OUTWARD, 1.0 - _OUTWARD] if end == 0 else [1.0 - _OUTWARD, _OUTWARD])


@dataclass(frozen=True)
class _Units:
    """The distinct units that have a score, and how many there are of each."""

    num: Floats
    den: Floats
    counts: Floats

    @classmethod
    def of(cls, num: ArrayLike, den: ArrayLike) -> _Units | None:
        """None where no unit has a score."""
        above, below = checked(num, den, axes=1)
        pairs, counts = np.unique(np.stack([above, below])[:, below != 0], axis=1, return_counts=True)
        return cls(pairs[0], pairs[1], counts.astype(np.float64)) if len(counts) else None

    @classmethod
    def alone(cls, values: ArrayLike) -> _Units | None:
        """Units of equal length. Of very many, neighbours between the outermost ones count as so many of their mean."""
        given = np.sort(np.asarray(values, dtype=np.float64))
        if len(given) <= _MANY + 2 * _OUTERMOST:
            return cls.of(given, np.ones_like(given)) if len(given) else None
        starts = np.linspace(_OUTERMOST, len(given) - _OUTERMOST, _MANY, endpoint=False).astype(np.intp)
        edges = np.r_[0:_OUTERMOST, starts, len(given) - _OUTERMOST : len(given)]
        counts = np.diff(np.append(edges, len(given))).astype(np.float64)
        return cls(np.add.reduceat(given, edges) / counts, np.ones(len(edges)), counts)

    @property
    def mean(self) -> float:
        return float(self.num @ self.counts / (self.den @ self.counts))

    @property
    def values(self) -> Floats:
        return divide(self.num, self.den)

    @property
    def equal(self) -> bool:
        """Are all values the same, up to the last bits?"""
        return bool(np.ptp(self.values) <= 1e-12 * np.abs(self.values).max())

    def beyond(self) -> Ends:
        """Where an extra amount may lie at the least and at the most."""
        farther = 1.0 + _FARTHER / float(self.counts.sum())
        low, high = (self.mean + farther * (float(end) - self.mean) for end in (self.values.min(), self.values.max()))
        return low, high

    def ends(self, lowest: float, highest: float, level: float) -> Ends:
        """With the extra unit mostly at the bound that an end faces."""
        return self.ends_between((lowest, highest), (_mixture(0), _mixture(1)), level)

    def ends_between(self, extras: ArrayLike, mixtures: tuple[ArrayLike, ArrayLike], level: float) -> Ends:
        """The quantiles of the weighted mean, each a mixture over the extra units; the mean itself lies between."""
        check_level(level)
        places = np.asarray(extras, dtype=np.float64)
        low, high = (
            self._quantile(places, np.asarray(mixture), share)
            for mixture, share in zip(mixtures, ((1 - level) / 2, (1 + level) / 2), strict=True)
        )
        return min(low, self.mean), max(high, self.mean)

    def _quantile(self, extras: Floats, mixture: Floats, share: float) -> float:
        """Where the mixture of chances reaches the share, between the outermost extra units.

        Regula falsi, on the normal scale, where the chance is nearly a line.
        """
        scale = NormalDist()
        aim = scale.inv_cdf(share)

        def distance(x: float) -> float:
            chance = float(mixture @ self.chances(x, extras))
            return scale.inv_cdf(min(max(chance, 1e-9), 1 - 1e-9)) - aim

        left, right = float(extras.min()), float(extras.max())
        at_left, at_right = distance(left), distance(right)
        if at_left >= 0:
            return left
        if at_right <= 0:
            return right
        width, before = right - left, 0.0
        while right - left > _CLOSE * width:
            x = left + (right - left) * at_left / (at_left - at_right)
            value = distance(x)
            if abs(value) < _CLOSE or not left < x < right:
                return x
            # An end that stays twice counts half as far off, so that the next step lands beyond the root (Illinois).
            stayed = value * before > 0
            if value < 0:
                left, at_left, at_right = x, value, at_right / 2 if stayed else at_right
            else:
                right, at_right, at_left = x, value, at_left / 2 if stayed else at_left
            before = value
        return (left + right) / 2

    def chances(self, x: float, extras: Floats) -> Floats:
        """For each extra unit, the chance that the weighted mean is at most x.

        The mean is at most x where a weighted sum of ``num - x den``, the weights exponential, is at most 0. (The
        chance is then Gil-Pelaez' integral of the sum's characteristic function, 1951.)
        """
        pulls = self.num - x * self.den
        outer = float(self.den.max()) * (extras - x)
        result = np.empty(len(extras))
        for index, pull in enumerate(outer.tolist()):
            if max(pull, float(pulls.max())) <= 0:
                result[index] = 1.0
            elif min(pull, float(pulls.min())) >= 0:
                result[index] = 0.0
            else:
                result[index] = _chance(np.append(pulls, pull), np.append(self.counts, 1.0))
        return result


def _chance(pulls: Floats, counts: Floats) -> float:
    """The chance that a sum of ``pulls`` times exponential weights, so many of each, is at most 0."""
    times, steps = _nodes()
    scaled = pulls / np.sqrt(counts @ pulls**2)
    phase, size = np.zeros(_NODES), np.zeros(_NODES)
    block = max(1, _CELLS // _NODES)
    for start in range(0, len(scaled), block):
        part = np.outer(times, scaled[start : start + block])
        phase += np.arctan(part) @ counts[start : start + block]
        size += np.log1p(part**2) @ counts[start : start + block]
    return float(0.5 - steps @ (np.sin(phase) * np.exp(-size / 2)) / np.pi)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Gauss and Legendre's nodes t and their weights over t, of an integral over t from 0 on."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    share = (nodes + 1.0) / 2
    times = share / (1.0 - share)
    return times, weights / 2 / (1.0 - share) ** 2 / times
