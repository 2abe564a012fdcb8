"""What raters are worth: chance-corrected agreement over the same items, and shares corrected for a rater's errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.errors import DialgaugeError
from dialgauge.stats.resampling import Floats

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


def cohen_kappa(pairs: Sequence[tuple[object, object]]) -> float | None:
    """Cohen's kappa of two raters' answers to the same items: ``(P - P_e) / (1 - P_e)``.

    P is the share of items on which they agree, P_e that by chance, from how often each gives each answer. None where
    both always give the same one answer, or there are no items. (Cohen, 1960.)

    >>> cohen_kappa([(1, 1), (1, 0), (0, 0), (0, 0)])
    0.5
    """
    items = len(pairs)
    if not items:
        return None
    first, second = Counter(answer for answer, _ in pairs), Counter(answer for _, answer in pairs)
    observed = sum(answer == other for answer, other in pairs) / items
    chance = sum(first[answer] * second[answer] for answer in first) / items**2
    return None if chance == 1 else (observed - chance) / (1 - chance)


def rogan_gladen(
    positive: int, cases: int, hits: int, positives: int, rejections: int, negatives: int, level: float = 0.95
) -> tuple[float, float, float]:
    """The true share behind ``positive`` of ``cases`` by an imperfect test, and its interval, clipped to 0 and 1.

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
