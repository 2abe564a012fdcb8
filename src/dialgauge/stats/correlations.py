"""Correlations. Undefined is None: two pairs at least are needed, and neither side may be constant.

Pairs in which a side is NaN (a turn a measure skips) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

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
