"""Paired differences of amounts and of pass^k: verdicts and intervals that agree, and tests that hold under skew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.stats import (
    PairedRandomisation,
    amount_difference_p,
    decide_amounts,
    holm,
    limit_shares,
    paired_randomisation,
    unit_differences,
)
from support.soak import examples, soak


def randomised(values: np.ndarray, seed: int = 0) -> PairedRandomisation:
    return paired_randomisation(values[:, None], np.ones_like(values)[:, None], resamples=1000, seed=seed)


def decided(amounts: np.ndarray, seed: int = 0) -> PairedRandomisation:
    found = randomised(amounts, seed)
    decide_amounts(found, 0, unit_differences(amounts, np.ones_like(amounts), found.pairs), 0.95)
    return found


@pytest.mark.parametrize("units", [20, soak(50)])
def test_skewed_amounts_with_equal_means_are_told_apart_as_seldom_as_promised(units: int) -> None:
    """The randomisation alone calls 13 and 11% of these different."""
    random, found, alone = np.random.default_rng(units), 0, 0
    for seed in range(300):
        amounts = np.stack([np.exp(random.normal(-(sd**2) / 2, sd, units)) for sd in (1.25, 0.5)])
        alone += randomised(amounts, seed).p[0, 0] < 0.05
        found += decided(amounts, seed).adjusted[0, 0] < 0.05
    assert found / 300 < 0.075 < alone / 300


@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]), st.sampled_from([0.0, 0.8]))
@settings(max_examples=examples(25), deadline=None)
def test_intervals_and_verdicts_agree(seed: int, systems: int, apart: float) -> None:
    """Of amounts and of shares: 0 is outside exactly where a difference is significant, the difference inside."""
    random = np.random.default_rng(seed)
    shift = apart * np.arange(systems)[:, None]
    amounts = np.exp(random.normal(shift, 0.7, (systems, 15)))
    passed = random.binomial(4, np.clip(random.random(15) * 0.6 + 0.3 * shift, 0, 1)) / 4
    shares = randomised(passed, seed)
    before = shares.copy()
    limit_shares(shares, 0, unit_differences(passed, np.ones_like(passed), shares.pairs), 0.95)
    assert shares.adjusted.tolist() == before.adjusted.tolist() and shares.p.tolist() == before.p.tolist()
    for found in (decided(amounts, seed), shares):
        excluded = (found.low > 0) | (found.high < 0)
        assert (excluded == (found.adjusted < 0.05)).all()
        inside = (found.low <= found.difference + 1e-9) & (found.difference - 1e-9 <= found.high)
        assert (inside | np.isnan(found.low)).all()


def test_of_several_pairs_both_corrections_must_agree() -> None:
    random = np.random.default_rng(4)
    amounts = np.exp(random.normal([[0.0], [0.1], [1.2]], 0.6, (3, 25)))
    alone, both = randomised(amounts), decided(amounts)
    assert (both.adjusted >= alone.adjusted - 1e-12).all() and (both.p >= alone.p - 1e-12).all()
    one_more = np.array([amount_difference_p(amounts[a] - amounts[b]) for a, b in both.pairs])
    assert (both.adjusted[:, 0] >= holm(one_more) - 1e-12).all()
    assert (both.reach >= alone.reach - 1e-12).all()


def test_agents_that_never_differ_have_an_interval_that_says_so_little() -> None:
    """Ten tasks on which both fail: the test turned round has nothing to say."""
    nothing = np.zeros((2, 10))
    found = randomised(nothing)
    assert np.isnan(found.low[0, 0])
    limit_shares(found, 0, unit_differences(nothing, np.ones_like(nothing), found.pairs), 0.95)
    assert -0.35 < found.low[0, 0] < -0.2 and found.high[0, 0] == pytest.approx(-found.low[0, 0], abs=1e-7)


def test_units_of_other_lengths_differ_by_the_ratios_on_average() -> None:
    num, den = np.array([[3.0, 8.0, 0.0, 5.0], [2.0, 1.0, 7.0, 0.0]]), np.array([[1.0, 2, 1, 4], [2.0, 2, 4, 0]])
    [differences] = unit_differences(num, den, [(0, 1)])
    assert differences.mean() == pytest.approx(16 / 8 - 10 / 8)
    [same] = unit_differences(num[[0, 0]], den[[0, 0]], [(0, 1)])
    assert same.tolist() == [0.0] * 4
