"""How far two distributions are apart: Kullback-Leibler over categories, Cramér-von Mises and others over numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialgauge.stats.resampling import Floats, bootstrap_weights, divide, label_masks, quantiles

#: Added to every count where none is named: Jeffreys' prior.
SMOOTHING = 0.5
#: Resamples weighed at a time, which changes no number.
_ROWS = 200


def kullback_leibler(true: Mapping[Any, float], other: Mapping[Any, float], smoothing: float = SMOOTHING) -> float:
    """The divergence of ``other`` from ``true``, in bits: sum of p log2(p / q) over all categories that either has.

    ``smoothing`` is added to each count of both, so that what one of them never does is rare and not impossible.

    >>> round(kullback_leibler({"a": 1, "b": 1}, {"a": 3, "b": 1}, smoothing=0.0), 6)
    0.207519
    """
    names = list({**true, **other})
    p, q = (np.array([counts.get(name, 0) for name in names], float) + smoothing for counts in (true, other))
    p, q = p / p.sum(), q / q.sum()
    some = p > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float((p[some] * np.log2(p[some] / q[some])).sum()))


class CramerVonMises(NamedTuple):
    """Two samples: the criterion T of Anderson (1962), and the root mean square of the difference of their curves.

    T grows with the samples, and is what tables of significance have; ``distance`` is between 0 and 1.
    """

    criterion: float
    distance: float


def cramer_von_mises(first: ArrayLike, second: ArrayLike) -> CramerVonMises:
    """The Cramér-von Mises criterion of two samples, over the empirical distributions at all values of both.

    >>> cramer_von_mises([1, 2], [3, 4])
    CramerVonMises(criterion=0.375, distance=0.6123724356957945)
    """
    x, y = (np.sort(np.asarray(sample, float)) for sample in (first, second))
    if not len(x) or not len(y):
        return CramerVonMises(float("nan"), float("nan"))
    pooled = np.concatenate([x, y])
    gap = np.searchsorted(x, pooled, side="right") / len(x) - np.searchsorted(y, pooled, side="right") / len(y)
    squares = float((gap**2).sum())
    both = len(x) + len(y)
    return CramerVonMises(len(x) * len(y) * squares / both**2, float(np.sqrt(squares / both)))


def histogram(values: Sequence[int]) -> dict[int, int]:
    """How often each number occurs."""
    numbers, counts = np.unique(np.asarray(values, np.int64), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


class DistributionDistances(NamedTuple):
    """For each row of two samples: their Kolmogorov-Smirnov distance, its interval, and how often chance is as far.

    The distance is the largest gap between the two curves: of a yes or no, the difference of the shares, whichever is
    called yes. (Cramér-von Mises, which weighs gaps by the values below them, is not the same both ways.) Without
    resamples only the distance is defined.
    """

    distance: Floats
    low: Floats
    high: Floats
    p: Floats


def distribution_distances(
    first: ArrayLike,
    second: ArrayLike,
    *,
    groups: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> DistributionDistances:
    """Rows are features, columns the units of two samples; NaN where a unit has no value.

    ``groups`` numbers the group of each unit, from 0 in each sample: units of one group are alike, so that whole groups
    are drawn and dealt. Without it every unit is a group of its own.

    The distance of two finite samples is never 0, and that of their resamples is larger still. So what is resampled is
    how far the gap strays from the observed one, anywhere on the curves: no distance can be off by more, and the
    interval of two samples of one kind holds 0. ``p`` is by permutation: the share of ways to deal the groups of both
    out again that are as far apart.
    """
    x, y = np.atleast_2d(np.asarray(first, float)), np.atleast_2d(np.asarray(second, float))
    pooled = np.hstack([x, y])
    own = (np.arange(pooled.shape[1]) < x.shape[1]).astype(float)[None, :]
    distance = _largest_gaps(pooled, own, 1 - own)[0]
    if not resamples or not x.shape[1] or not y.shape[1]:
        undefined = np.full(len(pooled), np.nan)
        return DistributionDistances(distance, undefined, undefined, undefined)
    ours, theirs = groups if groups is not None else (np.arange(x.shape[1]), np.arange(y.shape[1]))
    sizes = int(ours.max()) + 1, int(theirs.max()) + 1
    of_unit = np.concatenate([ours, sizes[0] + theirs])
    pairs = _drawn_pairs(*sizes, resamples, seed)
    strayed = np.vstack(
        [_largest_gaps(pooled, drawn[:, of_unit], others[:, of_unit], around=own) for drawn, others in pairs]
    )
    error = quantiles(strayed, 0.9)[:, 1]  # 95% are below the upper end of the central 90%
    error[error == 0] = np.nan  # units without variation show none in resamples, and would promise certainty
    masks = (mask[:, of_unit] for mask in label_masks(*sizes, resamples, seed))
    dealt = np.vstack([_largest_gaps(pooled, mask, 1 - mask) for mask in masks])
    # Equal but for rounding is as far.
    p = (1 + (dealt >= distance - 1e-12).sum(axis=0)) / (1 + resamples)
    low, high = np.clip([distance - error, distance + error], 0, 1)
    return DistributionDistances(distance, low, high, np.where(np.isnan(distance), np.nan, p))


def _drawn_pairs(units: int, others: int, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Weights over the units of both samples, each drawn by itself: one stream would draw equal sizes alike."""
    ours = np.vstack(list(bootstrap_weights(units, resamples, 2 * seed)))
    theirs = np.vstack(list(bootstrap_weights(others, resamples, 2 * seed + 1)))
    for start in range(0, resamples, _ROWS):
        rows = slice(start, start + _ROWS)
        yield np.pad(ours[rows], ((0, 0), (0, others))), np.pad(theirs[rows], ((0, 0), (units, 0)))


def _largest_gaps(pooled: Floats, ours: Floats, theirs: Floats, around: Floats | None = None) -> Floats:
    """(resamples, features): how far two weightings of the same units are apart, or stray from the gap of another."""
    made = np.full((len(ours), len(pooled)), np.nan)
    for index, values in enumerate(pooled):
        some = np.flatnonzero(~np.isnan(values))
        if not len(some):
            continue
        order = some[np.argsort(values[some], kind="stable")]
        starts = np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0)
        gaps = _curves(ours, order, starts) - _curves(theirs, order, starts)
        if around is not None:
            gaps -= _curves(around, order, starts) - _curves(1 - around, order, starts)
        made[:, index] = np.abs(gaps).max(axis=1)
    return made


def _curves(weights: Floats, order: NDArray[np.intp], starts: NDArray[np.intp]) -> Floats:
    """(resamples, different values): the weight up to each value."""
    sums = np.cumsum(np.add.reduceat(weights[:, order], starts, axis=1), axis=1)
    return divide(sums, sums[:, -1:])
