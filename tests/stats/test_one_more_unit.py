"""Intervals with one more unit: scipy's beta as oracle, and their laws."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as scipy_stats

from dialgauge.stats import (
    amount_difference_interval,
    amount_difference_p,
    amount_mean_interval,
    share_mean_interval,
)
from support.soak import examples, soak


def of_pass(successes: Sequence[int], k: int, trials: int = 4) -> tuple[float, float]:
    values = [comb(passed, k) / comb(trials, k) for passed in successes]
    return share_mean_interval(values, np.ones(len(values)))


@pytest.mark.parametrize("units", [1, 2, 7, 50, 1000])
def test_without_a_success_or_a_failure_the_ends_are_known(units: int) -> None:
    ones = np.ones(units)
    assert share_mean_interval(0 * ones, ones) == pytest.approx((0.0, 1 - 30 ** (-1 / units)), abs=2e-5)
    assert share_mean_interval(ones, ones) == pytest.approx((30 ** (-1 / units), 1.0), abs=2e-5)


@pytest.mark.parametrize("units", [5, 20, 100, 300])
def test_zeros_and_ones_have_the_mixture_of_two_betas(units: int) -> None:
    for ones in range(1, units, max(1, units // 7)):
        low, high = share_mean_interval([1.0] * ones + [0.0] * (units - ones), np.ones(units))
        failing, passing = scipy_stats.beta(ones, units - ones + 1), scipy_stats.beta(ones + 1, units - ones)
        assert 0.75 * failing.cdf(low) + 0.25 * passing.cdf(low) == pytest.approx(0.025, abs=2e-5)
        assert 0.25 * failing.cdf(high) + 0.75 * passing.cdf(high) == pytest.approx(0.975, abs=2e-5)


SHARES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=15)


@given(SHARES, st.randoms(use_true_random=False), st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=examples(40), deadline=None)
def test_laws_of_shares(units: list[tuple[int, int]], random: st.DataObject, level: float) -> None:
    """Inside the bounds, around the estimate, the same in any order, and turned round for failures."""
    num, den = np.array([(right, right + wrong) for right, wrong in units], float).T
    low, high = share_mean_interval(num, den, level)
    if not den.any():
        assert np.isnan(low) and np.isnan(high)
        return
    assert 0 <= low <= num.sum() / den.sum() <= high <= 1
    order = np.random.default_rng(random.randint(0, 999)).permutation(len(num))  # type: ignore[attr-defined]
    assert share_mean_interval(num[order], den[order], level) == (low, high)
    assert share_mean_interval(den - num, den, level) == pytest.approx((1 - high, 1 - low), abs=1e-7)


@given(st.lists(st.floats(0.01, 1000), min_size=2, max_size=20), st.floats(0.001, 1000))
@settings(max_examples=examples(40), deadline=None)
def test_laws_of_amounts(values: list[float], scale: float) -> None:
    """Not below 0, around the mean, and in whatever unit they are counted."""
    amounts = np.array(values)
    low, high = amount_mean_interval(amounts, np.ones(len(values)))
    if np.ptp(amounts) <= 1e-12 * amounts.max():
        assert np.isnan(low)
        return
    assert 0 <= low <= amounts.mean() * (1 + 1e-9) and high >= amounts.mean() * (1 - 1e-9)
    scaled = amount_mean_interval(scale * amounts, np.ones(len(values)))
    assert scaled == pytest.approx((scale * low, scale * high), rel=1e-5, abs=1e-7 * scale * high)


@given(st.lists(st.integers(-50, 90), min_size=6, max_size=20))
@settings(max_examples=examples(40), deadline=None)
def test_the_p_value_of_amounts_agrees_with_their_interval(differences: list[int]) -> None:
    p = amount_difference_p(differences)
    if np.ptp(differences) == 0:
        assert np.isnan(p) and np.isnan(amount_difference_interval(differences)).all()
        return
    low, high = amount_difference_interval(differences)
    if abs(p - 0.05) > 1e-4:
        assert (p < 0.05) == (low > 0 or high < 0)


def test_one_outlier_leaves_a_usable_interval() -> None:
    """Nineteen tasks of some 15 turns and one of 200, as in the airline file of tau2-bench: it was [0, 111] once."""
    turns = [*range(10, 29), 200]
    low, high = amount_mean_interval(turns, np.ones(20))
    assert 15 < low < np.mean(turns) < high < 90


def test_thousands_of_distinct_units_are_held_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(700)
    whole = share_mean_interval(values, np.ones(700))
    monkeypatch.setattr("dialgauge.stats.one_more_unit._CELLS", 4_000)
    assert share_mean_interval(values, np.ones(700)) == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("units", [1201, soak(5000)])
def test_very_many_differences_are_gathered_without_loss(units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    skewed = random.lognormal(0, 1.5, units) - random.lognormal(1, 0.5, units)
    gathered = amount_difference_p(skewed), *amount_difference_interval(skewed)
    monkeypatch.setattr("dialgauge.stats.one_more_unit._MANY", units)
    exact = amount_difference_p(skewed), *amount_difference_interval(skewed)
    assert gathered != exact
    assert gathered == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("chance", [soak(0.05), 0.3, soak(0.9)])
def test_intervals_of_ten_tasks_hold(chance: float) -> None:
    """The resampled ones held in as few as 85%."""
    random = np.random.default_rng(7)
    skill = random.beta(2 * chance, 2 * (1 - chance), (400, 10))
    passed = random.binomial(4, skill)
    truth = chance * (2 * chance + 1) / 3  # E p² of that beta
    ends = np.array([of_pass(row.tolist(), 2) for row in passed])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= 0.93
