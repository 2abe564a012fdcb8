from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from dialgauge.errors import DialgaugeError
from dialgauge.stats import bootstrap_weights, paired_randomisation, swap_masks
from support.soak import examples

Array = NDArray[np.float64]


def make(systems: int, dialogues: int, seed: int = 0, better: float = 0.0) -> tuple[Array, Array]:
    """Scores of one measure whose sizes differ between systems, so that ratios and not only means are tested."""
    random = np.random.default_rng(seed)
    den = random.integers(2, 9, size=(systems, 1, dialogues))
    share = 0.5 + better * np.arange(systems)[:, None, None]
    return random.binomial(den, share).astype(float), den.astype(float)


def ratio(num: Array, den: Array, weights: Array) -> float:
    return float((num * weights).sum() / (den * weights).sum())


def test_randomisation_equals_the_formula_on_the_same_resamples() -> None:
    num, den = make(2, 25, better=0.05)
    masks = np.vstack(list(swap_masks(25, 600, seed=4))).astype(bool)
    observed = abs(num[0].sum() / den[0].sum() - num[1].sum() / den[1].sum())
    extreme = 0
    for mask in masks:
        first_num, first_den = np.where(mask, num[1, 0], num[0, 0]), np.where(mask, den[1, 0], den[0, 0])
        second_num, second_den = np.where(mask, num[0, 0], num[1, 0]), np.where(mask, den[0, 0], den[1, 0])
        swapped = first_num.sum() / first_den.sum() - second_num.sum() / second_den.sum()
        extreme += abs(swapped) >= observed - 1e-12
    assert paired_randomisation(num, den, resamples=600, seed=4).p[0, 0] == pytest.approx((1 + extreme) / 601)


def test_randomisation_agrees_with_scipy_permutation_test() -> None:
    num, den = make(2, 12, seed=3, better=0.1)
    flat_num, flat_den = num.reshape(-1), den.reshape(-1)

    def statistic(a: Array, b: Array, axis: int) -> Array:
        one, two = a.astype(int), b.astype(int)
        first: Array = flat_num[one].sum(axis=axis) / flat_den[one].sum(axis=axis)
        second: Array = flat_num[two].sum(axis=axis) / flat_den[two].sum(axis=axis)
        return first - second

    exact = scipy_stats.permutation_test(
        (np.arange(12.0), np.arange(12.0, 24.0)), statistic, permutation_type="samples", vectorized=True
    ).pvalue
    assert paired_randomisation(num, den, resamples=40_000).p[0, 0] == pytest.approx(exact, abs=0.01)


def test_false_positives_are_near_nominal() -> None:
    """Two random halves of one system's errors: no difference exists, so 5% of the tests may find one."""
    random = np.random.default_rng(11)
    turns = random.integers(3, 12, size=80)
    errors = random.binomial(turns, 0.5)
    found, repetitions = 0, 600
    for seed in range(repetitions):
        half = random.binomial(errors, 0.5)
        num = np.stack([turns - half, turns - (errors - half)]).astype(float)[:, None, :]
        den = np.broadcast_to(turns.astype(float), num.shape)
        found += paired_randomisation(num, den, resamples=300, seed=seed).p[0, 0] < 0.05
    assert 0.025 <= found / repetitions <= 0.08


def test_a_real_difference_is_found() -> None:
    num, den = make(2, 300, better=0.15)
    assert paired_randomisation(num, den, resamples=1000).p[0, 0] < 0.01


scores = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12
)


@given(scores, st.integers(0, 3))
@settings(max_examples=examples(60), deadline=None)
def test_properties(rows: list[tuple[int, int, int, int]], seed: int) -> None:
    right = np.array(rows, dtype=float).T
    num = right[[0, 2]][:, None, :]
    den = num + right[[1, 3]][:, None, :]
    there = paired_randomisation(num, den, resamples=40, seed=seed)
    back = paired_randomisation(num[::-1], den[::-1], resamples=40, seed=seed)
    same = paired_randomisation(num[[0, 0]], den[[0, 0]], resamples=40, seed=seed)
    if (den > 0).sum(axis=2).min() < 1:
        assert np.isnan(there.p[0, 0])
        return
    assert 1 / 41 <= there.p[0, 0] <= 1
    assert there.p[0, 0] == back.p[0, 0]
    assert there.difference[0, 0] == pytest.approx(-back.difference[0, 0])
    assert same.p[0, 0] == 1


def test_an_undefined_measure_stays_undefined_beside_defined_ones() -> None:
    num, den = make(2, 20)
    num, den = np.concatenate([num, num * np.nan], axis=1), np.concatenate([den, den * np.nan], axis=1)
    p = paired_randomisation(num, den, resamples=50).p
    assert np.isfinite(p[0, 0])
    assert np.isnan(p[0, 1])


def test_other_systems_and_measures_do_not_change_a_pair() -> None:
    num, den = make(4, 40)
    alone = paired_randomisation(num[:2], den[:2], resamples=700)
    assert paired_randomisation(num, den, resamples=700).p[0, 0] == alone.p[0, 0]


def test_one_system_is_a_sentence() -> None:
    num, den = make(1, 5)
    with pytest.raises(DialgaugeError, match="at least two systems"):
        paired_randomisation(num, den)


def test_one_dialogue_has_a_difference_but_no_spread() -> None:
    num, den = np.array([[[1.0]], [[0.0]]]), np.ones((2, 1, 1))
    swapped = paired_randomisation(num, den, resamples=50)
    assert swapped.difference[0, 0] == 1.0
    assert swapped.p[0, 0] == swapped.adjusted[0, 0] == 1.0
    assert np.isnan([swapped.low[0, 0], swapped.high[0, 0]]).all()


def test_ties_count_as_extreme() -> None:
    """Two of three dialogues tie, so a swap of the third gives the same size: no sign of a difference."""
    num = np.array([[[1.0, 1.0, 1.0]], [[1.0, 1.0, 0.0]]])
    assert paired_randomisation(num, np.ones_like(num), resamples=200).p[0, 0] == 1.0


def test_a_system_that_is_constant_is_compared_like_any_other() -> None:
    random = np.random.default_rng(1)
    other = random.integers(0, 2, size=60).astype(float)
    num = np.stack([np.ones(60), other])[:, None, :]
    swapped = paired_randomisation(num, np.ones_like(num), resamples=500)
    assert swapped.low[0, 0] > 0
    assert swapped.p[0, 0] == pytest.approx(1 / 501)


def test_many_dialogues_fit_the_memory() -> None:
    blocks = list(bootstrap_weights(3_000_000, 2, seed=0))
    assert [block.shape for block in blocks] == [(1, 3_000_000)] * 2
    assert (blocks[0] != blocks[1]).any()


@pytest.mark.parametrize("amount", [1.0, 0.1, -70.3])
def test_a_difference_that_never_varies_has_no_interval(amount: float) -> None:
    """The test turned round ends at the difference itself: certainty from twenty dialogues."""
    first = np.random.default_rng(0).normal(3, 1, 20)
    num = np.stack([first + amount, first])[:, None]
    swapped = paired_randomisation(num, np.ones_like(num), resamples=500)
    assert np.isnan([swapped.low[0, 0], swapped.high[0, 0]]).all() and swapped.error[0, 0] == 0
    assert swapped.adjusted[0, 0] < 0.05
