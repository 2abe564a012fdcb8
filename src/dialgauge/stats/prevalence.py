"""A share that was counted by an imperfect test, corrected for the errors of the test."""

from __future__ import annotations

from statistics import NormalDist

from dialgauge.errors import DialgaugeError


def rogan_gladen(
    positive: int, cases: int, hits: int, positives: int, rejections: int, negatives: int, level: float = 0.95
) -> tuple[float, float, float]:
    """The true share behind ``positive`` of ``cases``, and its interval, clipped to 0 and 1.

    The test found ``hits`` of ``positives`` true cases (sensitivity) and passed over ``rejections`` of ``negatives``
    false ones (specificity): ``(share + specificity - 1) / (sensitivity + specificity - 1)`` (Rogan and Gladen, 1978).
    The interval is that of Lang and Reiczigel (2014), which adds a little to every count and shifts the middle. The
    cases must be independent.

    >>> [round(value, 3) for value in rogan_gladen(60, 100, 45, 50, 40, 50)]
    [0.571, 0.396, 0.743]
    """
    if not (cases and positives and negatives):
        raise DialgaugeError("the true share needs counted cases, and true and false ones that the test was tried on")
    informed = hits / positives + rejections / negatives - 1
    if informed <= 0:
        raise DialgaugeError(
            "sensitivity and specificity add up to no more than 1: the test tells nothing of the true share"
        )
    estimate = (positive / cases + rejections / negatives - 1) / informed
    z = NormalDist().inv_cdf((1 + level) / 2)
    n, n_sens, n_spec = cases + z**2, positives + 2, negatives + 2
    share, sens, spec = (positive + z**2 / 2) / n, (hits + 1) / n_sens, (rejections + 1) / n_spec
    gain = sens + spec - 1
    middle = (share + spec - 1) / gain
    spread_sens, spread_spec = sens * (1 - sens) / n_sens, spec * (1 - spec) / n_spec
    shift = 2 * z**2 * (middle * spread_sens - (1 - middle) * spread_spec)
    variance = (share * (1 - share) / n + middle**2 * spread_sens + (1 - middle) ** 2 * spread_spec) / gain**2
    low, high = middle + shift - z * variance**0.5, middle + shift + z * variance**0.5
    return _clip(estimate), _clip(min(low, estimate)), _clip(max(high, estimate))


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
