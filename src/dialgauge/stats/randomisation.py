"""Paired randomisation of all pairs of systems at once: p-values, step-down max-T, and intervals that agree with them.

Under the null hypothesis two systems are exchangeable on every dialogue, so each dialogue's scores change sides with
probability one half. All pairs and measures share the same swaps, and that is what the correction lives on: the largest
statistic of a resample shows how large a difference chance alone makes *somewhere* among all pairs, with the
correlation between systems in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.stats.resampling import Floats, check_level, checked, distinct_rows, divide, swap_masks, weighted_sums

#: Differences closer than this share of the scores' size are ties: sums in another order differ in the last bits.
TIE = 1e-12
#: Standard errors up to this are the last bits of equal sums, not variation.
NOTHING = 1e-12

#: Resampled differences held at a time.
CELLS = 2_000_000


class PairedRandomisation(Struct, frozen=True):
    """For each pair of systems (rows) and measure (columns) the difference, first minus second, and its tests.

    ``p`` is of one pair by itself; ``adjusted`` holds for all pairs of a measure together, and so do ``low`` and
    ``high``, which exclude 0 exactly where ``adjusted`` is below ``1 - level``. ``error`` is the standard error,
    ``reach`` the difference that is significant at the first step of the correction, when no pair is decided yet.
    """

    pairs: tuple[tuple[int, int], ...]
    difference: Floats
    p: Floats
    adjusted: Floats
    low: Floats
    high: Floats
    error: Floats
    reach: Floats

    def take(self, columns: Sequence[int], other: PairedRandomisation) -> None:
        """Put the measures of another one in the place of some of these."""
        for part in self.__struct_fields__[1:]:
            getattr(self, part)[:, columns] = getattr(other, part)

    def copy(self) -> PairedRandomisation:
        """The same in arrays of its own."""
        return PairedRandomisation(self.pairs, *(getattr(self, part).copy() for part in self.__struct_fields__[1:]))


def paired_randomisation(
    num: ArrayLike, den: ArrayLike, *, resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> PairedRandomisation:
    """Paired approximate randomisation of all pairs of systems; ``num`` and ``den`` are (systems, measures, dialogues).

    One pair: ``p = (1 + #{|d*| >= |d|}) / (1 + resamples)``. (Noreen, *Computer-Intensive Methods for Testing
    Hypotheses*, 1989.) All pairs of a measure: the statistic is ``T = |d| / s``, s the standard deviation of d* over
    the swaps; the pair with the largest T is held against the largest T* of each resample, the next against the largest
    of the pairs that are left, and so on: step-down max-T. (Westfall and Young, *Resampling-Based Multiple Testing*,
    1993; Romano and Wolf, 2005.) Of two systems the adjusted p-value is the p-value.

    The interval is the test turned round: every true difference δ that the first step would not reject, were δ
    subtracted from the scores first. Where a later step found the difference, the end that faces 0 is that step's. So
    an interval holds 0 exactly where the difference is not significant. There is none, and the error is 0, where the
    systems differ by the same amount on every dialogue.
    """
    check_level(level)
    numerators, denominators = checked_systems(num, den)
    systems, measures, dialogues = numerators.shape
    # Most measures of most systems are over the same turns, which need to be summed only once.
    distinct, which = distinct_rows(denominators.reshape(-1, dialogues))
    sums = weighted_sums(swap_masks(dialogues, resamples, seed), numerators.reshape(-1, dialogues), distinct)
    moved_num, places = sums[0].reshape(-1, systems, measures), np.array(which).reshape(systems, measures)
    pairs = tuple(combinations(range(systems), 2))
    alpha = round(1 - level, 12)
    results = []
    for measure in range(measures):
        swaps = _RatioSwaps(
            np.array(pairs).T,
            numerators[:, measure].sum(axis=1),
            denominators[:, measure].sum(axis=1),
            moved_num[:, :, measure],
            sums[1][:, places[:, measure]],
            len(set(places[:, measure].tolist())) == 1,
        )
        results.append(tested_pairs(swaps, alpha))
    return PairedRandomisation(pairs, *(np.stack(part, axis=1) for part in zip(*results, strict=True)))


def checked_systems(num: ArrayLike, den: ArrayLike) -> tuple[Floats, Floats]:
    """(systems, measures, dialogues) arrays of at least two systems."""
    numerators, denominators = checked(num, den, axes=3)
    if len(numerators) < 2:
        raise DialgaugeError("a comparison needs at least two systems")
    return numerators, denominators


@dataclass(frozen=True)
class PairSwaps(ABC):
    """One measure with its swaps; the pairs are two rows of places."""

    pairs: NDArray[np.int64]

    @property
    @abstractmethod
    def resamples(self) -> int:
        """How often dialogues changed sides."""

    @abstractmethod
    def scores(self) -> tuple[Floats, Floats]:
        """The scores of the first and the second system of each pair."""

    @abstractmethod
    def slopes(self, rows: slice) -> Floats:
        """How far d* falls with δ: if a true difference δ is subtracted first, half of it from each side, d* becomes
        ``d* - δ * slope``. One column where it is the same for all pairs.
        """

    @abstractmethod
    def differences(self, rows: slice, a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
        """The difference d* of pairs in some of the resamples."""

    @property
    def cells(self) -> int:
        """How many differences are made at a time."""
        return CELLS

    @cached_property
    def all_differences(self) -> Floats | None:
        """The differences of all pairs, kept where they are few."""
        if self.resamples * self.pairs.shape[1] > CELLS:
            return None
        return self.differences(slice(None), *self.pairs)

    def blocks(self, chosen: NDArray[np.int64]) -> Iterator[tuple[Floats, slice]]:
        """Resamples a block at a time: the difference d* of the chosen pairs, and which rows these are."""
        size = max(1, self.cells // max(1, len(chosen)))
        for start in range(0, self.resamples, size):
            rows = slice(start, start + size)
            yield self.differences(rows, *self.pairs[:, chosen]), rows

    def sizes(self, chosen: NDArray[np.int64], scale: Floats) -> Iterator[Floats]:
        """The statistics |d*| / s of the chosen pairs, a block of resamples at a time."""
        if self.all_differences is not None:
            yield np.abs(self.all_differences[:, chosen]) / scale[chosen]
            return
        for differences, _ in self.blocks(chosen):
            yield np.abs(differences) / scale[chosen]

    def largest(self, order: NDArray[np.int64], scale: Floats) -> Iterator[Floats]:
        """At each place the largest statistic of the pairs from there on, a block of resamples at a time."""
        for sizes in self.sizes(order[::-1], scale):
            yield np.fmax.accumulate(sizes, axis=1)[:, ::-1]


@dataclass(frozen=True)
class _RatioSwaps(PairSwaps):
    """Each system's sums, and what leaves it in each resample."""

    totals: Floats
    sizes_of: Floats
    num: Floats
    den: Floats
    same_sizes: bool

    @property
    def resamples(self) -> int:
        return len(self.num)

    def scores(self) -> tuple[Floats, Floats]:
        ratios = divide(self.totals, self.sizes_of)
        return ratios[self.pairs[0]], ratios[self.pairs[1]]

    def slopes(self, rows: slice) -> Floats:
        den = self.den[rows]
        if self.same_sizes:
            return divide(self.sizes_of[:1] - 2.0 * den[:, :1], self.sizes_of[:1])
        a, b = self.pairs
        both, shift = den[:, a] + den[:, b], den[:, b] - den[:, a]
        below, other_below = self.sizes_of[a] + shift, self.sizes_of[b] - shift
        return 0.5 * (divide(self.sizes_of[a] - both, below) + divide(self.sizes_of[b] - both, other_below))

    def differences(self, rows: slice, a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
        """What leaves one system on the swapped dialogues comes to the other."""
        num, den = self.num[rows], self.den[rows]
        if self.same_sizes:  # the usual case: all systems are scored on the same turns
            values = np.ascontiguousarray(divide(self.totals - 2.0 * num, self.sizes_of).T)
            return (values[a] - values[b]).T
        shift, shift_den = num[:, b] - num[:, a], den[:, b] - den[:, a]
        first = divide(self.totals[a] + shift, self.sizes_of[a] + shift_den)
        return first - divide(self.totals[b] - shift, self.sizes_of[b] - shift_den)


def tested_pairs(swaps: PairSwaps, alpha: float) -> tuple[Floats, ...]:
    """One measure, all pairs: difference, p, adjusted, low, high, error, reach."""
    a, b = swaps.scores()
    observed = a - b
    tie = TIE * (np.abs(a) + np.abs(b))
    p, moments = _alone(swaps, observed, tie)
    scale = np.sqrt(moments[0])
    known = np.flatnonzero((scale > NOTHING) & ~np.isnan(observed))
    statistic, tie_size = divide(np.abs(observed), scale), divide(tie, scale)
    adjusted, critical, first = _step_down(swaps, known, scale, statistic - tie_size, alpha)
    adjusted[(scale <= NOTHING) & ~np.isnan(observed)] = 1.0
    widest = _interval(observed, np.full_like(critical, first), moments)
    low, high = _compatible(observed, adjusted < alpha, _interval(observed, critical, moments), widest)
    variance = _variance(moments, observed)
    alike = variance <= NOTHING * moments[0]  # the test turned round would end at the difference, as if that were sure
    error = np.where(alike, 0.0, np.sqrt(np.maximum(variance, 0.0)))
    low, high = np.where(alike, np.nan, low), np.where(alike, np.nan, high)
    reach = np.where(observed < 0, widest[1] - observed, observed - widest[0])
    return observed, p, adjusted, low, high, error, reach


def _alone(swaps: PairSwaps, observed: Floats, tie: Floats) -> tuple[Floats, Floats]:
    """Each pair's own p-value, and the means of d*², d* slope and slope² over the resamples, (3, pairs)."""
    everyone = np.arange(len(observed))
    extreme, defined = np.zeros(len(observed)), np.zeros(len(observed))
    sums = np.zeros((3, len(observed)))
    kept = swaps.all_differences if swaps.resamples * len(everyone) <= swaps.cells else None
    for drawn, rows in swaps.blocks(everyone) if kept is None else [(kept, slice(None))]:
        unknown = np.isnan(drawn)
        extreme += _counts(np.abs(drawn) >= np.abs(observed) - tie)
        whole = not unknown.any()
        defined += len(drawn) if whole else _counts(~unknown)
        difference, slope = (part if whole else np.where(unknown, 0.0, part) for part in (drawn, swaps.slopes(rows)))
        sums[0] += np.einsum("rp,rp->p", difference, difference)
        sums[1] += slope[:, 0] @ difference if slope.shape[1] == 1 else np.einsum("rp,rp->p", difference, slope)
        sums[2] += np.einsum("rp,rp->p", slope, slope)
    p: Floats = (1.0 + extreme) / (1.0 + defined)
    p[np.isnan(observed)] = np.nan
    return p, divide(sums, defined)


def _counts(flags: NDArray[np.bool_]) -> NDArray[np.float32]:
    """How many of each column are true, in half the time that ``flags.sum(axis=0)`` takes; exact up to 2^24."""
    counts: NDArray[np.float32] = np.ones(len(flags), np.float32) @ flags.astype(np.float32)
    return counts


def _step_down(
    swaps: PairSwaps, known: NDArray[np.int64], scale: Floats, statistic: Floats, alpha: float
) -> tuple[Floats, Floats, float]:
    """Adjusted p-values, the critical value of the step that decided each pair, and that of the first step."""
    adjusted, critical = np.full(len(scale), np.nan), np.full(len(scale), np.nan)
    order = known[np.argsort(-statistic[known], kind="stable")]
    if not len(order):
        return adjusted, critical, np.nan
    kept = list(swaps.largest(order, scale)) if swaps.all_differences is not None else None
    adjusted[order] = _adjusted(kept or swaps.largest(order, scale), statistic[order])
    left, first = order, np.nan
    while True:
        # Those that are left are the last of the order.
        blocks, column = (kept, len(order) - len(left)) if kept else (swaps.largest(left, scale), 0)
        value = _critical(np.concatenate([largest[:, column] for largest in blocks]), alpha)
        first = value if np.isnan(first) else first
        critical[left] = value
        remaining = left[statistic[left] <= value]
        if not len(remaining) or len(remaining) == len(left):
            return adjusted, critical, first
        left = remaining


def _adjusted(blocks: Iterable[Floats], statistic: Floats) -> Floats:
    extreme, defined = np.zeros(len(statistic)), 0
    for largest in blocks:
        extreme += _counts(largest >= statistic)
        defined += int((~np.isnan(largest[:, 0])).sum())
    shares: Floats = np.maximum.accumulate((1.0 + extreme) / (1.0 + defined))
    return shares


def _critical(largest: Floats, alpha: float) -> float:
    """What a statistic must exceed, given the largest T* of each resample: the smallest that leaves p below alpha."""
    largest = largest[~np.isnan(largest)]
    allowed = int(np.ceil(alpha * (1 + len(largest)) - 1e-9)) - 2  # how many may be as large: (1 + k) / (1 + n) < alpha
    if allowed < 0:
        return np.inf
    return float(np.partition(largest, len(largest) - 1 - allowed)[len(largest) - 1 - allowed])


def _compatible(
    observed: Floats, significant: NDArray[np.bool_], own: tuple[Floats, Floats], widest: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """The interval of the first step, which covers for all pairs together, made to agree with every verdict.

    Of a pair that only a later step told apart, the end that faces 0 is that step's.
    """
    low = np.where(significant & (observed > 0), own[0], widest[0])
    high = np.where(significant & (observed < 0), own[1], widest[1])
    unknown = np.isnan(low) | np.isnan(high)
    # Where a statistic equals the critical value, the last bits must not decide on which side of 0 an end lies.
    low, high = np.where(significant, low, np.minimum(low, 0.0)), np.where(significant, high, np.maximum(high, 0.0))
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _variance(moments: Floats, shift: Floats) -> Floats:
    """The variance of d* over the swaps, were a true difference of ``shift`` subtracted first."""
    result: Floats = moments[0] - 2.0 * shift * moments[1] + shift**2 * moments[2]
    return result


def _interval(observed: Floats, critical: Floats, moments: Floats) -> tuple[Floats, Floats]:
    """The δ with ``(d - δ)² <= c² variance(δ)``, the ends of a quadratic; NaN where they are not bounded.

    That needs more than about c² dialogues, four for one pair.
    """
    squared = np.where(np.isfinite(critical), critical, np.nan) ** 2
    lead = 1.0 - squared * moments[2]
    middle = observed - squared * moments[1]
    scale = np.sqrt(np.maximum(moments[0], 0.0))
    bound = np.sqrt(squared) * scale
    last = (np.abs(observed) - bound) * (np.abs(observed) + bound)
    root = np.sqrt(np.maximum(middle**2 - lead * last, 0.0))
    # The end that is farther from 0, and from it the nearer one: no cancellation where it counts.
    far = divide(middle + np.where(middle < 0, -root, root), lead)
    near = np.where(far == 0, 0.0, divide(last, lead * far))
    bounded = lead > 1e-9
    low, high = np.minimum(np.minimum(far, near), observed), np.maximum(np.maximum(far, near), observed)
    return np.where(bounded, low, np.nan), np.where(bounded, high, np.nan)
