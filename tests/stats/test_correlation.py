from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from dialgauge.stats import CORRELATIONS, correlation

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
