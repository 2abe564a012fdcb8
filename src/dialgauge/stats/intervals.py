"""Intervals of single scores from resampled dialogues: ratios of sums, and means over groups.

The studentised bootstrap asks how far a resample's ratio lies from the corpus' in *its own* standard errors, so a few
dialogues give the wider interval they deserve. Where a measure has two bounds, the interval is Wilson's with the
effective number of dialogues, which keeps it inside the bounds and honest close to them: 30 dialogues without a
mistake are no proof of perfection. (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 12; Korn
and Graubard, *Confidence intervals for proportions with small expected number of positive counts*, 1998.)
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.stats.one_more_unit import counted_cases, share_interval
from dialgauge.stats.resampling import (
    Floats,
    block_sums,
    bootstrap_weights,
    check_level,
    checked,
    distinct_rows,
    divide,
    quantiles,
    varied,
    weighted_sums,
)

#: ``percentile`` takes the ends of the resampled ratios as they are: too narrow on a few dozen dialogues.
#: ``linearised`` draws nothing and takes Student's critical value: the same as studentised for many thousand dialogues.
IntervalMethod: TypeAlias = Literal["studentised", "percentile", "linearised"]
INTERVAL_METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)

#: A resample's variance below this share of the corpus' is no variation, but the last bits of equal sums.
_NOTHING = 1e-12

#: Above so many times Student's critical value a single dialogue dominates the bootstrap's: fall back to Student's.
_STEADY = 1.25


class BootstrapDraws(NamedTuple):
    """How far ratios of sums in resamples of dialogues are from the corpus' ratio, (resamples, ratios).

    The distances are in standard errors of the resample, NaN where it has none; ``ratio``, ``error``, ``scored`` and
    ``effective`` are of the corpus: value, standard error, dialogues with a score, and as how many equal ones they
    count.
    """

    distances: Floats
    ratio: Floats
    error: Floats
    scored: Floats
    effective: Floats


def interval_method(name: str) -> IntervalMethod:
    """A method by name."""
    for method in INTERVAL_METHODS:
        if method == name:
            return method
    raise DialgaugeError(f"there is no interval method '{name}'.{nearest(name, INTERVAL_METHODS)}")


def ratio_intervals(
    num: ArrayLike,
    den: ArrayLike,
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    bounds: ArrayLike = (-np.inf, np.inf),
    method: str = "studentised",
) -> Floats:
    """Bootstrap intervals of ``sum(num) / sum(den)``, as an array (measures, 2).

    ``num`` and ``den`` are (measures, dialogues). What is drawn with replacement is the *dialogue*: the turns of one
    dialogue are not independent. A dialogue without a score for a measure is 0 / 0 or NaN there. ``bounds`` are the
    lowest and highest value of the measures, one pair or a pair for each. Where every dialogue is one case, right or
    wrong, nothing is drawn: the interval is that of :func:`~dialgauge.stats.share_interval`. NaN where fewer than two
    dialogues have a score: one says nothing about how dialogues vary. The order of the dialogues does not matter.
    """
    numerators, denominators = _in_order(*checked(num, den, axes=2))
    if interval_method(method) != "percentile":
        drawn = bootstrap_weights(numerators.shape[1], resamples, seed) if method == "studentised" else iter(())
        draws = bootstrap_draws(numerators, denominators, drawn)
        intervals = studentised_intervals(draws, level, bounds)
        limits = np.broadcast_to(np.asarray(bounds, dtype=np.float64), intervals.shape).tolist()
        for index, row in enumerate(zip(numerators, denominators, strict=True)):
            if limits[index] == [0.0, 1.0] and (cases := counted_cases(*row)) is not None:
                intervals[index] = share_interval(*cases, level)
        return intervals
    sums = weighted_sums(bootstrap_weights(numerators.shape[1], resamples, seed), numerators, denominators)
    intervals = quantiles(divide(*sums), level)
    intervals[~varied(denominators)] = np.nan
    return intervals


def _in_order(num: Floats, den: Floats) -> tuple[Floats, Floats]:
    """Each measure's dialogues by denominator and numerator, in whatever order they come."""
    order = np.lexsort((num, den))
    return np.take_along_axis(num, order, axis=1), np.take_along_axis(den, order, axis=1)


def bootstrap_draws(num: ArrayLike, den: ArrayLike, weights: Iterator[Floats]) -> BootstrapDraws:
    """How far ratios of ``num`` and ``den``, (ratios, dialogues), lie from the corpus' under each block of weights."""
    above, below = checked(num, den, axes=2)
    totals, sizes = above.sum(axis=1), below.sum(axis=1)
    ratio = divide(totals, sizes)
    expected = np.nan_to_num(ratio)[:, None] * below
    # The last bits of equal scores are no variation: without this they decided how wide an interval is.
    residual = np.where(np.isclose(above, expected, rtol=1e-12, atol=0.0), 0.0, above - expected)
    spread = (residual**2).sum(axis=1)
    # Most measures of most systems are over the same turns: what rests on these alone is summed once.
    distinct, which = distinct_rows(below)
    columns = above, residual**2, residual * below, distinct, distinct**2
    distances = [np.empty((0, len(ratio)))]
    for drawn, squares, products, *by_size in block_sums(weights, *columns):
        drawn_sizes, size_squares = (part[:, which] for part in by_size)
        shift = divide(drawn, drawn_sizes) - ratio
        variance = squares - 2.0 * shift * products + shift**2 * size_squares
        variance[(variance <= _NOTHING * spread) | (spread == 0)] = 0.0
        distances.append(divide(np.abs(shift) * drawn_sizes, np.sqrt(variance)))
    return BootstrapDraws(
        distances=np.concatenate(distances),
        ratio=ratio,
        error=divide(np.sqrt(spread), sizes),
        scored=(below != 0).sum(axis=1).astype(np.float64),
        effective=divide(sizes**2, (below**2).sum(axis=1)),
    )


def studentised_intervals(draws: BootstrapDraws, level: float, bounds: ArrayLike = (-np.inf, np.inf)) -> Floats:
    """The intervals, (ratios, 2); ``bounds`` are the lowest and highest value, one pair or a pair for each ratio."""
    check_level(level)
    lowest, highest = np.broadcast_to(np.asarray(bounds, dtype=np.float64), (len(draws.ratio), 2)).T
    amount = (lowest == 0) & np.isposinf(highest) & (draws.ratio > 0)
    # What can fall below 0 in principle, as SA can, but does not, is a share like any other close to its upper bound.
    is_share = np.isneginf(lowest) & np.isfinite(highest)
    lowest = np.where(is_share & (draws.ratio >= 0) & (draws.ratio <= highest), 0.0, lowest)
    student = _student(level, draws.scored - 1)
    critical = np.fmax(_upper_quantile(draws.distances, level), student)
    low, high = draws.ratio - critical * draws.error, draws.ratio + critical * draws.error
    width = highest - lowest
    inside = np.isfinite(width) & (draws.ratio >= lowest) & (draws.ratio <= highest)
    share = np.where(inside, divide(draws.ratio - lowest, np.where(inside, width, 1.0)), 0.5)
    error = divide(draws.error, np.where(inside, width, 1.0))
    wilson = _wilson(share, error, draws.effective, critical)
    low = np.where(inside, lowest + wilson[0] * np.where(inside, width, 0.0), np.maximum(low, lowest))
    high = np.where(inside, lowest + wilson[1] * np.where(inside, width, 0.0), np.minimum(high, highest))
    low, high = np.where(amount & (critical > _STEADY * student), _on_log_scale(draws, _STEADY * student), (low, high))
    intervals = np.stack([np.fmin(low, draws.ratio), np.fmax(high, draws.ratio)], axis=1)
    intervals[draws.scored < 2] = np.nan
    return intervals


def _on_log_scale(draws: BootstrapDraws, critical: Floats) -> Floats:
    """Intervals of amounts that rest on one or two dialogues: the ratio divided by a factor, and times it.

    Resamples without the largest dialogue have next to no error, so how far they are from the ratio in such errors says
    nothing: it made intervals several times as wide, and they held no more often.
    """
    with np.errstate(over="ignore"):
        factor = np.exp(np.nan_to_num(divide(critical * draws.error, draws.ratio)))
    return np.stack([draws.ratio / factor, draws.ratio * factor])


def _wilson(share: Floats, error: Floats, effective: Floats, critical: Floats) -> tuple[Floats, Floats]:
    """Wilson's interval of a share; as many observations as give it this error, and at least the dialogues."""
    observations = np.fmax(divide(share * (1.0 - share), error**2), effective)
    extra = divide(critical**2, observations)
    middle = (share + extra / 2) / (1.0 + extra)
    half = np.sqrt(np.maximum(extra * share * (1.0 - share) + extra**2 / 4, 0.0)) / (1.0 + extra)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


def _upper_quantile(distances: Floats, level: float) -> Floats:
    """The quantile of each column, undefined values left out; NaN where all are."""
    if not len(distances):
        return np.full(distances.shape[1], np.nan)
    last = np.maximum((~np.isnan(distances)).sum(axis=0) - 1, 0)
    position = last * level
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, last)
    ordered = np.partition(distances, sorted({*below.tolist(), *above.tolist()}), axis=0)  # NaN last
    columns = np.arange(distances.shape[1])
    low, high = ordered[below, columns], ordered[above, columns]
    result: Floats = low + (position - below) * (high - low)
    return result


def _student(level: float, freedom: Floats) -> Floats:
    """Student's two-sided quantile, by its expansion around the normal one: scipy's costs a second of start-up."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    n = np.maximum(freedom, 1.0)
    result: Floats = z + terms[0] / n + terms[1] / n**2 + terms[2] / n**3
    return result


def group_mean_interval(num: ArrayLike, den: ArrayLike, level: float) -> tuple[float, float]:
    """The jackknife interval of a mean of ratios, one for each group; ``num`` and ``den`` are (groups, dialogues).

    The groups are those that occur. NaN where they are not settled: where a group without a single right unit occurs
    in one dialogue only, more dialogues would bring more such groups, and no interval around this mean would hold.
    (Good, *The population frequencies of species*, 1953: what was seen once tells how much is still unseen.)
    """
    check_level(level)
    above, below = checked(num, den, axes=2)
    occurring = below.sum(axis=1) > 0
    above, below = above[occurring], below[occurring]
    dialogues = above.shape[1]
    alone = (below != 0).sum(axis=1) == 1
    if dialogues < 2 or not len(above) or bool((alone & (above.sum(axis=1) == 0)).any()):
        return np.nan, np.nan
    totals, sizes = above.sum(axis=1, keepdims=True), below.sum(axis=1, keepdims=True)
    ratios = totals / sizes
    without = divide(totals - above, np.where(sizes - below > 0, sizes - below, 0.0))
    # A group that only one dialogue has keeps its value without that dialogue: its mean would else shift.
    means = np.where(np.isnan(without), ratios, without).mean(axis=0)
    error = np.sqrt((dialogues - 1) / dialogues * ((means - means.mean()) ** 2).sum())
    reach = float(_student(level, np.array(dialogues - 1.0)) * error)
    value = float(ratios.mean())
    return value - reach, value + reach
