"""What a test set can tell apart, and what a measure does tell apart."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats.resample import Floats

#: Standard errors up to this are the last bits of equal sums, not variation.
_NOTHING = 1e-12


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
