"""Is B better than A, or is it noise? Holm's correction, and what a test set can tell apart.

Every measure is a ratio of sums, ``sum(num) / sum(den)`` over dialogues, and the statistic is the difference of two
systems' ratios, first minus second. The test that decides is in :mod:`dialgauge.stats.randomisation`.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats.randomisation import NOTHING
from dialgauge.stats.resampling import Floats


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down adjustment of one family of p-values.

    With the m defined p-values in rising order, the k-th (from 0) becomes ``max over j <= k of min(1, (m - j) p_j)``.
    It bounds the chance of even one false finding in the family, whatever the dependence. (Holm, *A simple sequentially
    rejective multiple test procedure*, 1979.) Undefined values stay undefined and do not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full_like(values, np.nan)
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    steps = np.arange(len(order), 0, -1) * values[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def detectable(reach: ArrayLike, error: ArrayLike, *, power: float = 0.8) -> Floats:
    """The true difference that a test finds with this probability: ``reach + z(power) * error``.

    ``reach`` is what an observed difference must exceed to be significant, under whatever correction the test has.
    (Card et al., *With little power comes great responsibility*, 2020.) NaN where the error is 0: two systems that
    differ alike on every dialogue say nothing about noise.
    """
    errors = np.asarray(error, dtype=np.float64)
    result: Floats = np.where(errors > NOTHING, np.asarray(reach) + NormalDist().inv_cdf(power) * errors, np.nan)
    return result


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
