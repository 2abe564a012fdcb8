from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as scipy_stats

from dialgauge.errors import DialgaugeError
from dialgauge.stats import CORRELATIONS, correlation, correlation_matrix, kendall, pearson
from support.soak import examples

numbers = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=25)


def tau_b(x: list[int], y: list[int]) -> float:
    """Straight from the definition, over all pairs."""
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i in range(len(x)) for j in range(i)]
    agree = sum(int(a * b) for a, b in signs)
    return agree / math.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))


THEIRS = {
    "pearson": scipy_stats.pearsonr,
    "spearman": scipy_stats.spearmanr,
    "kendall": scipy_stats.kendalltau,
}


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize("distinct", [2, 3, 17, 1000, None])
@pytest.mark.parametrize("size", [2, 5, 64, 3001])
def test_they_equal_scipy_to_the_last_digits(name: str, distinct: int | None, size: int) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        x, noise = random.normal(size=(2, size))
        y = x * random.uniform(-1, 1) + noise
        if distinct:
            x, y = (np.floor(side * distinct / 4) / 7 for side in (x, y))
        if np.ptp(x) and np.ptp(y):
            assert correlation(name)(x, y) == pytest.approx(THEIRS[name](x, y).statistic, rel=0, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=60))
@settings(max_examples=examples(80), deadline=None)
def test_kendall_equals_scipy_bit_for_bit(pairs: list[tuple[int, int]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert kendall(x, y) == scipy_stats.kendalltau(x, y).statistic


@pytest.mark.parametrize("name", CORRELATIONS)
def test_undefined_is_none(name: str) -> None:
    function = correlation(name)
    assert function([1, 2, 3], [5, 5, 5]) is None
    assert function([1], [2]) is None
    assert function([], []) is None
    assert function([1, math.nan], [math.nan, 2]) is None
    # A constant that differs in the last bits is still a constant.
    assert function([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]) is None


@pytest.mark.parametrize("name", CORRELATIONS)
def test_pairs_without_a_score_are_left_out(name: str) -> None:
    function = correlation(name)
    assert function([1, 2, math.nan, 4], [1, 3, 9, 2]) == function([1, 2, 4], [1, 3, 2])


def test_matrix() -> None:
    matrix = correlation_matrix([[1, 2, 3], [3, 2, 1], [7, 7, 7]], "spearman")
    assert matrix == [[1.0, -1.0, None], [-1.0, 1.0, None], [None, None, None]]


def test_mistakes() -> None:
    with pytest.raises(DialgaugeError, match="Did you mean 'pearson'"):
        correlation("pearsons")
    with pytest.raises(ValueError, match="equal length"):
        pearson([1, 2], [1, 2, 3])
