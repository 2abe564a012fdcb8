"""Which measure of a tracker tells whether the task will be done? Arrays only: conditions by goals.

Two questions. *Per conversation*: of two conversations, one a success and one a failure, how often does the measure
give the success the higher score (AUC; ties count half; 0.5 is guessing)? Once over all pairs, and once over pairs of
the same condition only, where a measure cannot profit from knowing how bad the condition is. *Per condition*: does the
measure rank conditions as their rates of success do (Kendall's tau-b), and how far off is the rate of success that a
straight line through the other conditions predicts?

Intervals resample goals, each with its conversations in all conditions: the same goals were pursued everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PERCENTILES = (2.5, 97.5)


class Estimate(Struct, frozen=True):
    """A value with its 95% interval; NaN where it cannot be told."""

    value: float
    low: float
    high: float


class Predictor(Struct, frozen=True, kw_only=True):
    """How well one measure predicts success."""

    measure: str
    #: Over all pairs of conversations, how far that is behind the best measure, and over pairs within a condition.
    auc: Estimate
    behind: Estimate
    auc_within: Estimate
    #: Over conditions: rank correlation, and the error of a straight line in shares of success.
    tau: Estimate
    error: Estimate


def predictors(
    success: Floats, measures: Mapping[str, Floats], *, resamples: int = 1000, seed: int = 0
) -> list[Predictor]:
    """The measures, the best predictor per conversation first. Arrays have a row for each condition, a column for
    each goal; a conversation without a score is NaN."""
    draws = np.random.default_rng(seed).integers(0, success.shape[1], (resamples, success.shape[1]))

    def sampled(of: Callable[[Floats, Floats], float], values: Floats) -> Floats:
        """The statistic as it is, then of every resample."""
        return np.array([of(success, values), *(of(success[:, goals], values[:, goals]) for goals in draws)])

    aucs = {name: sampled(auc, values) for name, values in measures.items()}
    order = sorted(aucs, key=lambda name: (np.isnan(aucs[name][0]), -aucs[name][0]))
    return [
        Predictor(
            measure=name,
            auc=_estimate(aucs[name]),
            behind=_estimate(aucs[order[0]] - aucs[name]),
            auc_within=_estimate(sampled(auc_within, measures[name])),
            tau=_estimate(sampled(rank_agreement, measures[name])),
            error=_estimate(sampled(line_error, measures[name])),
        )
        for name in order
    ]


def _estimate(sampled: Floats) -> Estimate:
    kept = sampled[1:][~np.isnan(sampled[1:])]
    low, high = np.percentile(kept, _PERCENTILES) if len(kept) else (np.nan, np.nan)
    return Estimate(float(sampled[0]), float(low), float(high))


def auc(success: Floats, values: Floats) -> float:
    """How often a success scores above a failure; ties count half."""
    won, pairs = _pairs_won(success.ravel(), values.ravel())
    return won / pairs if pairs else float("nan")


def auc_within(success: Floats, values: Floats) -> float:
    """The same over pairs of one condition, all of them pooled."""
    sums = [_pairs_won(row, scores) for row, scores in zip(success, values, strict=True)]
    pairs = sum(count for _, count in sums)
    return sum(won for won, _ in sums) / pairs if pairs else float("nan")


def _pairs_won(success: Floats, values: Floats) -> tuple[float, float]:
    known = ~(np.isnan(values) | np.isnan(success))
    good, bad = values[known & (success > 0)], np.sort(values[known & (success == 0)])
    if not len(good) or not len(bad):
        return 0.0, 0.0
    below, not_above = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below + not_above).sum()) / 2, float(len(good) * len(bad))


def rank_agreement(success: Floats, values: Floats) -> float:
    """Kendall's tau-b between the conditions' mean scores and rates of success."""
    mean, rate = _by_condition(success, values)
    above = np.triu_indices(len(mean), 1)
    signs = np.sign(mean[:, None] - mean[None, :])[above]
    other = np.sign(rate[:, None] - rate[None, :])[above]
    scale = np.sqrt(float((signs**2).sum()) * float((other**2).sum()))
    return float((signs * other).sum() / scale) if scale else float("nan")


def line_error(success: Floats, values: Floats) -> float:
    """The mean distance between a condition's rate of success and what a line through the others predicts."""
    mean, rate = _by_condition(success, values)
    if len(mean) < 3:
        return float("nan")
    errors = []
    for left_out in range(len(mean)):
        others = np.arange(len(mean)) != left_out
        x, y = mean[others], rate[others]
        spread = float(((x - x.mean()) ** 2).sum())
        slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread else 0.0
        predicted = min(1.0, max(0.0, float(y.mean() + slope * (mean[left_out] - x.mean()))))
        errors.append(abs(predicted - float(rate[left_out])))
    return float(np.mean(errors))


def _by_condition(success: Floats, values: Floats) -> tuple[Floats, Floats]:
    known = ~(np.isnan(values) | np.isnan(success))
    counts = known.sum(axis=1)
    kept = counts > 0
    sums = [np.where(known, array, 0.0).sum(axis=1)[kept] / counts[kept] for array in (values, success)]
    return sums[0], sums[1]
