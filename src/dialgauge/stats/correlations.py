"""Correlations of measures and agreement of raters.

An undefined correlation is None: two pairs at least are needed, and neither side may be constant.

Pairs in which a side is NaN (a turn a measure skips) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.stats.resampling import Floats

Correlation: TypeAlias = Callable[[ArrayLike, ArrayLike], "float | None"]
Matrix: TypeAlias = list[list[float | None]]
Codes: TypeAlias = NDArray[np.int64]


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Linear correlation: the covariance over the product of the standard deviations.

    >>> pearson([1, 2, 3], [2, 4, 6])
    1.0
    >>> pearson([1, 2, 3], [5, 5, 5]) is None
    True
    """
    pair = _pair(x, y)
    if pair is None:
        return None
    a, b = (_centred(side) for side in pair)
    r = float(a @ b / np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, r))


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Rank correlation: Pearson's over the ranks, equal values sharing their mean rank.

    >>> spearman([1, 2, 3], [1, 8, 9])
    1.0
    """
    pair = _pair(x, y)
    return None if pair is None else pearson(ranks(pair[0]), ranks(pair[1]))


def kendall(x: ArrayLike, y: ArrayLike) -> float | None:
    """Kendall's tau-b: (concordant - discordant) pairs over the geometric mean of the pairs untied on each side.

    >>> round(kendall([1, 2, 3], [1, 3, 2]), 4)
    0.3333
    """
    pair = _pair(x, y)
    return None if pair is None else _tau_b(*(np.unique(side, return_inverse=True)[1] for side in pair))


#: The correlations by name.
CORRELATIONS: dict[str, Correlation] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlation(name: str) -> Correlation:
    """A correlation by its name."""
    if name not in CORRELATIONS:
        raise DialgaugeError(f"there is no correlation '{name}'.{nearest(name, CORRELATIONS)}")
    return CORRELATIONS[name]


def correlation_matrix(columns: Sequence[ArrayLike], kind: str = "pearson") -> Matrix:
    """All pairs of columns; the diagonal is 1 where a column is not constant."""
    function, size = correlation(kind), len(columns)
    matrix: Matrix = [[None] * size for _ in range(size)]
    for row in range(size):
        for column in range(row, size):
            value = function(columns[row], columns[column])
            matrix[row][column] = matrix[column][row] = value
    return matrix


def correlation_draws(x: ArrayLike, y: ArrayLike, weights: Floats, kind: str = "pearson") -> Floats:
    """The correlation in each resample; NaN where it is undefined there.

    ``weights`` is (resamples, pairs): how often each pair was drawn. Ranks and concordant pairs are those of the
    resample: a pair that was drawn twice is tied with itself.
    """
    pair = _pair(x, y)
    if pair is None:
        return np.full(len(weights), np.nan)
    known = ~(np.isnan(np.asarray(x, dtype=np.float64)) | np.isnan(np.asarray(y, dtype=np.float64)))
    drawn = weights[:, known]
    if kind == "kendall":
        signs = [np.sign(side[:, None] - side[None, :]) for side in pair]
        concordant, untied, untied_too = (
            np.einsum("ri,ri->r", drawn @ form, drawn)
            for form in (signs[0] * signs[1], np.abs(signs[0]), np.abs(signs[1]))
        )
        return _divided(concordant, np.sqrt(untied * untied_too))
    a, b = pair if kind == "pearson" else (_ranks_drawn(side, drawn) for side in pair)
    total = drawn.sum(axis=1)
    a, b = (side - ((drawn * side).sum(axis=1) / total)[:, None] for side in (a, b))
    covariance, first, second = ((drawn * product).sum(axis=1) for product in (a * b, a * a, b * b))
    return _divided(covariance, np.sqrt(first * second))


def _ranks_drawn(side: Floats, drawn: Floats) -> Floats:
    """The mean rank of each value in each resample."""
    below, same = (side[:, None] < side[None, :]), (side[:, None] == side[None, :])
    ranked: Floats = drawn @ below + (drawn @ same + 1) / 2
    return ranked


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    ratio = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=ratio, where=denominator > 1e-12)
    return ratio


def ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Floats = (last - (counts - 1) / 2.0)[inverse]
    return shared


def _tau_b(x: Codes, y: Codes) -> float:
    """Kendall's tau-b of the places that values have among the distinct ones, in n log n (Knight, 1966)."""
    together = x * (y.max() + 1) + y
    pairs = len(x) * (len(x) - 1) // 2
    tied_x, tied_y, tied_both = (_ties(codes) for codes in (x, y, together))
    discordant = _inversions(y[np.argsort(together)])
    surplus = pairs - tied_x - tied_y + tied_both - 2 * discordant
    tau = surplus / np.sqrt(pairs - tied_x) / np.sqrt(pairs - tied_y)
    return min(1.0, max(-1.0, float(tau)))


def _ties(codes: Codes) -> int:
    """How many pairs are equal."""
    _, counts = np.unique(codes, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(codes: Codes) -> int:
    """How many pairs stand in falling order.

    Two codes are in falling order if, at the highest bit in which they differ, a 1 stands before a 0. So those pairs
    are counted for one bit after the other from the highest, among codes that are alike in all bits above it.
    """
    inversions = 0
    for shift in reversed(range(int(codes.max()).bit_length())):
        bits, alike = codes >> shift & 1, codes >> shift + 1
        ones_before = np.cumsum(bits) - bits
        begins = np.append(True, alike[1:] != alike[:-1])
        in_group = ones_before - np.maximum.accumulate(np.where(begins, ones_before, 0))
        inversions += int(in_group[bits == 0].sum())
        codes = codes[np.argsort(codes >> shift, kind="stable")]
    return inversions


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats] | None:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"correlation needs two lists of equal length (got {a.shape} and {b.shape})")
    defined = ~(np.isnan(a) | np.isnan(b))
    a, b = a[defined], b[defined]
    return None if len(a) < 2 or _constant(a) or _constant(b) else (a, b)


def _centred(values: Floats) -> Floats:
    """Around 0 and at most 1 in size, so that squares neither vanish nor overflow."""
    centred: Floats = values - values.mean()
    scaled: Floats = centred / np.abs(centred).max()
    return scaled


def _constant(values: Floats) -> bool:
    """Equal up to the last bits: sums in different orders must not make a constant look like a tiny signal."""
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())


Level: TypeAlias = Literal["nominal", "ordinal", "interval"]


def fleiss_kappa(ratings: ArrayLike) -> float | None:
    """Fleiss' kappa of an (items, raters) array of category numbers: ``(P - P_e) / (1 - P_e)``.

    P is the mean share of agreeing pairs of raters per item, P_e the sum of the squared shares of the categories.
    Every item needs the same number of ratings (which raters gave them does not matter; NaN is none); None where it
    differs, where there is but one rating per item, or where all ratings are equal. (Fleiss, 1971.)
    """
    counts = _counts(np.asarray(ratings, dtype=np.float64))
    per_item = counts.sum(axis=1)
    if not counts.size or per_item.min() != per_item.max() or per_item[0] < 2:
        return None
    raters = per_item[0]
    agreement = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return None if chance >= 1.0 else float((agreement.mean() - chance) / (1.0 - chance))


def krippendorff_alpha(ratings: ArrayLike, level: Level = "nominal") -> float | None:
    """Krippendorff's alpha of an (items, raters) array, NaN where a rater gave none: ``1 - D_o / D_e``.

    D_o is the observed and D_e the expected disagreement, from the coincidences of values within items that have two
    ratings or more. The squared distance of two values is 0 or 1 (nominal), the square of the ratings that lie between
    them (ordinal), or the square of their difference (interval). None where all pairable ratings are equal or there
    are none. (Krippendorff, *Content Analysis*, chapter 11; Hayes and Krippendorff, 2007.)
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise DialgaugeError(f"there is no level of measurement '{level}'; choose nominal, ordinal or interval")
    values = np.asarray(ratings, dtype=np.float64)
    counts = _counts(values)
    paired = counts[counts.sum(axis=1) >= 2]
    if not len(paired):
        return None
    weights = paired / (paired.sum(axis=1, keepdims=True) - 1.0)
    coincidences = weights.T @ paired - np.diag(weights.sum(axis=0))
    totals = coincidences.sum(axis=1)
    distance = _distances(np.unique(values[~np.isnan(values)]), totals, level)
    observed = (coincidences * distance).sum()
    expected = (np.outer(totals, totals) * distance).sum() / (totals.sum() - 1.0)
    return None if expected == 0 else float(1.0 - observed / expected)


def _counts(ratings: Floats) -> Floats:
    """(items, categories): how many raters put the item into the category; categories in rising order."""
    categories = np.unique(ratings[~np.isnan(ratings)])
    counts: Floats = (ratings[:, :, None] == categories).sum(axis=1).astype(np.float64)
    return counts


def _distances(categories: Floats, totals: Floats, level: Level) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(len(categories))
    if level == "interval":
        # Alpha is a ratio of distances, so the unit does not matter; in this one squares cannot overflow.
        scaled = categories / max(np.abs(categories).max(), np.finfo(np.float64).tiny)
        difference: Floats = np.subtract.outer(scaled, scaled)
        return difference**2
    # Ratings strictly between two categories, and half of the ratings in each of the two.
    middle = np.cumsum(totals) - totals / 2.0
    between: Floats = np.subtract.outer(middle, middle)
    return between**2
