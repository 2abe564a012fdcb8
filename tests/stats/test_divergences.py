"""How far distributions are apart, against formulas and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import cramervonmises_2samp, ks_2samp

from dialgauge.stats import cramer_von_mises, distribution_distances, kullback_leibler


def test_kullback_leibler_by_its_formula() -> None:
    true, other = {"a": 3, "b": 1}, {"a": 1, "c": 5}
    p, q = [3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5], [1.5 / 7.5, 0.5 / 7.5, 5.5 / 7.5]
    assert kullback_leibler(true, other) == pytest.approx(sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True)))
    assert kullback_leibler(true, {"a": 300, "b": 100}, 1e-9) == pytest.approx(0, abs=1e-6)
    assert math.isinf(kullback_leibler(true, {"a": 1}, 0.0))


def test_cramer_von_mises_is_scipys_where_no_two_values_are_equal() -> None:
    draw = np.random.default_rng(1)
    for _ in range(5):
        x, y = draw.normal(size=draw.integers(2, 30)), draw.normal(0.5, 2, size=draw.integers(2, 30))
        assert cramer_von_mises(x, y).criterion == pytest.approx(cramervonmises_2samp(x, y).statistic)


def test_ends_of_the_distance() -> None:
    assert cramer_von_mises([1, 2, 2], [2, 1, 2]).distance == 0
    assert cramer_von_mises([1, 1], [5, 5]).distance == pytest.approx(math.sqrt(0.5))
    assert math.isnan(cramer_von_mises([], [1]).distance)


def test_distances_are_scipys_kolmogorov_smirnov_with_ties_and_gaps() -> None:
    draw = np.random.default_rng(2)
    x, y = draw.integers(0, 6, (3, 40)).astype(float), draw.integers(1, 9, (3, 25)).astype(float)
    x[1, ::3], y[2] = np.nan, np.nan
    made = distribution_distances(x, y, resamples=200)
    for row in (0, 1):
        known = x[row][~np.isnan(x[row])]
        assert made.distance[row] == pytest.approx(ks_2samp(known, y[row]).statistic)
        assert made.low[row] < made.distance[row] < made.high[row]
    assert all(np.isnan(part[2]) for part in made)
    bare = distribution_distances(x, y, resamples=0)
    assert bare.distance[0] == made.distance[0] and np.isnan(bare.p).all() and np.isnan(bare.low).all()


def test_the_interval_of_a_share_and_of_units_without_variation() -> None:
    """Of a yes or no the distance is the difference of shares, and its interval the usual one for that."""
    x, y = np.repeat([0.0, 1.0], [60, 140]), np.repeat([0.0, 1.0], [150, 50])
    made = distribution_distances(x, y, resamples=4000)
    error = 1.96 * math.sqrt(0.7 * 0.3 / 200 + 0.75 * 0.25 / 200)
    assert made.distance[0] == pytest.approx(0.45)
    assert made.low[0] == pytest.approx(0.45 - error, abs=0.01)
    assert made.high[0] == pytest.approx(0.45 + error, abs=0.01)
    assert made.p[0] == pytest.approx(1 / 4001)
    same = distribution_distances(np.ones(5), np.ones(9), resamples=50)
    assert same.distance[0] == 0 and np.isnan(same.low[0]) and same.p[0] == 1


def test_samples_of_one_kind_hold_zero_and_have_even_p_values() -> None:
    draw = np.random.default_rng(3)
    made = distribution_distances(draw.poisson(3, (200, 60)), draw.poisson(3, (200, 60)), resamples=200, seed=1)
    assert (made.low > 0).mean() < 0.1
    assert (made.p <= 0.05).mean() < 0.1 and 0.35 < (made.p <= 0.5).mean() < 0.62
