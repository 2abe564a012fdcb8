"""Is B better than A, or is it noise? Paired tests, many of them at once, and what a test set can tell apart.

Every measure is a ratio of sums, ``sum(num) / sum(den)`` over dialogues, and the statistic is the difference of two
systems' ratios, first minus second. All systems and measures share the same resamples, so the work is one product of
a (resamples, dialogues) matrix with the (dialogues, systems x measures) scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.errors import DialgaugeError
from dialgauge.stats.resampling import (
    Floats,
    bootstrap_weights,
    checked,
    divide,
    quantiles,
    swap_masks,
    varied,
    weighted_sums,
)

#: Differences closer than this share of the scores' size are ties: sums in another order differ in the last bits.
_TIE = 1e-12
#: Standard errors up to this are the last bits of equal sums, not variation.
_NOTHING = 1e-12


@dataclass(frozen=True)
class PairedBootstrap:
    """For each pair of systems (rows) and measure (columns): difference, interval, standard error, two-sided p."""

    pairs: tuple[tuple[int, int], ...]
    difference: Floats
    low: Floats
    high: Floats
    error: Floats
    p: Floats


@dataclass(frozen=True)
class PairedRandomisation:
    """For each pair of systems (rows) and measure (columns): difference and two-sided p."""

    pairs: tuple[tuple[int, int], ...]
    difference: Floats
    p: Floats


def paired_bootstrap(
    num: ArrayLike, den: ArrayLike, *, resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> PairedBootstrap:
    """Paired bootstrap of all pairs of systems; ``num`` and ``den`` are (systems, measures, dialogues).

    Dialogues are drawn with replacement, the same ones for both systems. The interval is the percentile interval of the
    resampled difference d*; the two-sided p-value asks how often a difference as far from the observed d as d is from 0
    arises by resampling: ``p = (1 + #{|d* - d| >= |d|}) / (1 + resamples)``. (Efron and Tibshirani, 1993, chapter 16;
    Koehn, *Statistical significance tests for machine translation evaluation*, 2004.) All but the difference is NaN
    where a system has a score on fewer than two dialogues.
    """
    numerators, denominators = _systems(num, den)
    scores = divide(numerators.sum(axis=2), denominators.sum(axis=2))
    drawn, sizes = _sums(bootstrap_weights(numerators.shape[2], resamples, seed), numerators, denominators)
    ratios = divide(drawn, sizes)
    pairs = tuple(combinations(range(len(scores)), 2))
    rows = [_bootstrap_row(ratios[:, a] - ratios[:, b], scores[a], scores[b], level) for a, b in pairs]
    difference, low, high, error, p = (np.array(part) for part in zip(*rows, strict=True))
    enough = varied(denominators)
    alone = np.array([~(enough[a] & enough[b]) for a, b in pairs])
    for part in (low, high, error, p):
        part[alone] = np.nan
    return PairedBootstrap(pairs, difference, low, high, error, p)


def _bootstrap_row(
    samples: Floats, a: Floats, b: Floats, level: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    observed = a - b
    interval = quantiles(samples, level)
    defined = ~np.isnan(samples)
    count = defined.sum(axis=0).astype(np.float64)
    mean = divide(np.where(defined, samples, 0.0).sum(axis=0), count)
    squares = np.where(defined, (samples - mean) ** 2, 0.0).sum(axis=0)
    error = np.sqrt(divide(squares, np.maximum(count - 1.0, 0.0)))
    p = _share(np.abs(samples - observed), observed, a, b)
    return observed, interval[:, 0], interval[:, 1], error, p


def paired_randomisation(
    num: ArrayLike, den: ArrayLike, *, resamples: int = 10_000, seed: int = 0
) -> PairedRandomisation:
    """Paired approximate randomisation of all pairs of systems; ``num`` and ``den`` are (systems, measures, dialogues).

    Under the null hypothesis the two systems are exchangeable on every dialogue, so each dialogue's scores change sides
    with probability one half: ``p = (1 + #{|d*| >= |d|}) / (1 + resamples)``. (Noreen, *Computer-Intensive Methods for
    Testing Hypotheses*, 1989; Riezler and Maxwell, 2005.)
    """
    numerators, denominators = _systems(num, den)
    totals, sizes = numerators.sum(axis=2), denominators.sum(axis=2)
    scores = divide(totals, sizes)
    moved_num, moved_den = _sums(swap_masks(numerators.shape[2], resamples, seed), numerators, denominators)
    pairs = tuple(combinations(range(len(scores)), 2))
    p = []
    for a, b in pairs:
        # What leaves A on the swapped dialogues comes to B, and the other way round.
        shift_num, shift_den = moved_num[:, b] - moved_num[:, a], moved_den[:, b] - moved_den[:, a]
        first = divide(totals[a] + shift_num, sizes[a] + shift_den)
        second = divide(totals[b] - shift_num, sizes[b] - shift_den)
        p.append(_share(np.abs(first - second), scores[a] - scores[b], scores[a], scores[b]))
    return PairedRandomisation(pairs, np.array([scores[a] - scores[b] for a, b in pairs]), np.array(p))


def _systems(num: ArrayLike, den: ArrayLike) -> tuple[Floats, Floats]:
    numerators, denominators = checked(num, den, axes=3)
    if len(numerators) < 2:
        raise DialgaugeError("a comparison needs at least two systems")
    return numerators, denominators


def _sums(masks: Iterator[Floats], num: Floats, den: Floats) -> tuple[Floats, Floats]:
    """(resamples, systems, measures) sums of both arrays over the dialogues of each resample."""
    systems, measures, dialogues = num.shape
    sums = weighted_sums(masks, num.reshape(-1, dialogues), den.reshape(-1, dialogues))
    first, second = (part.reshape(-1, systems, measures) for part in sums)
    return first, second


def _share(distances: Floats, observed: Floats, a: Floats, b: Floats) -> Floats:
    """The add-one share of resamples at least as extreme as what was observed; NaN where nothing was."""
    extreme = distances >= np.abs(observed) - _TIE * (np.abs(a) + np.abs(b))
    p: Floats = (1.0 + extreme.sum(axis=0)) / (1.0 + (~np.isnan(distances)).sum(axis=0))
    p[np.isnan(observed)] = np.nan
    return p


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down adjustment along the first axis: one family per column.

    With the m defined p-values in rising order, the k-th (from 0) becomes ``max over j <= k of min(1, (m - j) p_j)``.
    It bounds the chance of even one false finding in the family, whatever the dependence. (Holm, *A simple sequentially
    rejective multiple test procedure*, 1979.) Undefined values stay undefined and do not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    flat = values.reshape(len(values), -1)
    adjusted = np.full_like(flat, np.nan)
    for column in range(flat.shape[1]):
        defined = np.flatnonzero(~np.isnan(flat[:, column]))
        order = defined[np.argsort(flat[defined, column], kind="stable")]
        steps = np.arange(len(order), 0, -1) * flat[order, column]
        adjusted[order, column] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted.reshape(values.shape)


def noise_floor(error: ArrayLike, *, level: float = 0.95) -> Floats:
    """The smallest difference a test set can resolve between two systems: ``z(level) * standard error``.

    ``error`` is the standard error of the paired difference (from :func:`paired_bootstrap`). The interval of a smaller
    difference includes 0, however the systems rank; at 95% the factor is 1.96. NaN where the error is 0: the two
    systems differ alike on every dialogue (mostly: not at all), which says nothing about noise.
    """
    return NormalDist().inv_cdf((1 + level) / 2) * _known(error)


def detectable(error: ArrayLike, *, level: float = 0.95, power: float = 0.8) -> Floats:
    """The true difference that a test at this level finds with this probability: ``(z(level) + z(power)) * error``.

    At 95% and 80% the factor is 2.80. (Card et al., *With little power comes great responsibility*, 2020.) NaN where
    the error is 0, as in :func:`noise_floor`.
    """
    normal = NormalDist()
    return (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * _known(error)


def _known(error: ArrayLike) -> Floats:
    values = np.asarray(error, dtype=np.float64)
    known: Floats = np.where(values > _NOTHING, values, np.nan)
    return known


def discriminative_power(p: ArrayLike, *, alpha: float = 0.05) -> list[float | None]:
    """For each measure, the share of system pairs with p below alpha; ``p`` is (pairs, measures).

    Undefined pairs are left out; None where all are. (Sakai, *Evaluating evaluation metrics based on the bootstrap*,
    2006.)
    """
    values = np.asarray(p, dtype=np.float64)
    defined = (~np.isnan(values)).sum(axis=0)
    below = (values < alpha).sum(axis=0)
    return [float(few / many) if many else None for few, many in zip(below, defined, strict=True)]


def win_tie_loss(first: ArrayLike, second: ArrayLike) -> tuple[int, int, int]:
    """On how many of the dialogues with both scores the first system's score is higher, equal, lower.

    >>> win_tie_loss([1.0, 0.5, 0.0], [0.5, 0.5, 0.5])
    (1, 1, 1)
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    difference = difference[~np.isnan(difference)]
    wins, losses = int((difference > 1e-12).sum()), int((difference < -1e-12).sum())
    return wins, len(difference) - wins - losses, losses
