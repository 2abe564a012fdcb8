from __future__ import annotations

import math

import pytest

from dialgauge.stats import CORRELATIONS, correlation


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
