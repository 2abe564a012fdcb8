"""How far distributions are apart, against formulas and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import cramervonmises_2samp

from dialgauge.stats import cramer_von_mises, kullback_leibler


def test_kullback_leibler_by_its_formula() -> None:
    true, other = {"a": 3, "b": 1}, {"a": 1, "c": 5}
    p, q = [3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5], [1.5 / 7.5, 0.5 / 7.5, 5.5 / 7.5]
    assert kullback_leibler(true, other) == pytest.approx(sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True)))
    assert kullback_leibler(true, {"a": 300, "b": 100}, 1e-9) == pytest.approx(0, abs=1e-6)


def test_cramer_von_mises_is_scipys_where_no_two_values_are_equal() -> None:
    draw = np.random.default_rng(1)
    for _ in range(5):
        x, y = draw.normal(size=draw.integers(2, 30)), draw.normal(0.5, 2, size=draw.integers(2, 30))
        criterion = len(x) * len(y) / (len(x) + len(y)) * cramer_von_mises(x, y) ** 2
        assert criterion == pytest.approx(cramervonmises_2samp(x, y).statistic)


def test_ends_of_the_distance() -> None:
    assert cramer_von_mises([1, 2, 2], [2, 1, 2]) == 0
    assert cramer_von_mises([1, 1], [5, 5]) == pytest.approx(math.sqrt(0.5))
    assert math.isnan(cramer_von_mises([], [1]))
