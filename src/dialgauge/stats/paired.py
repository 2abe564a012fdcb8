"""Is B better than A, or is it noise? Two paired tests over the dialogues both systems were scored on.

Every measure is a ratio of sums, ``sum(num) / sum(den)`` over dialogues, and the statistic is the difference of two
systems' ratios, first minus second. All systems and measures share the same resamples, so the work is one product of
a (resamples, dialogues) matrix with the (dialogues, systems x measures) scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.errors import DialgaugeError
from dialgauge.stats.resample import (
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
