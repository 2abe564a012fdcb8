from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as scipy_stats

from dialgauge.stats import (
    INTERVAL_METHODS,
    bootstrap_weights,
    quantiles,
    ratio_intervals,
)
from support.soak import examples


def make(dialogues: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    den = random.integers(3, 12, size=(2, dialogues)).astype(float)
    return random.binomial(den.astype(int), 0.6).astype(float), den


def in_order(num: np.ndarray, den: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As dialogues are drawn: by denominator, then by numerator."""
    order = np.lexsort((num, den))
    return np.take_along_axis(num, order, axis=1), np.take_along_axis(den, order, axis=1)


def test_the_weights_draw_as_many_dialogues_as_there_are() -> None:
    weights = np.vstack(list(bootstrap_weights(17, 1203, seed=3)))
    assert weights.shape == (1203, 17)
    assert (weights.sum(axis=1) == 17).all()
    assert abs(weights.mean(axis=0) - 1).max() < 0.15


def test_the_same_resamples_give_the_plain_oracle() -> None:
    num, den = in_order(*make(30))
    weights = np.vstack(list(bootstrap_weights(30, 700, seed=5)))
    values = [[sum(w * n) / sum(w * d) for w in weights] for n, d in zip(num, den, strict=True)]
    oracle = [[np.quantile(v, 0.05), np.quantile(v, 0.95)] for v in values]
    ours = ratio_intervals(num, den, resamples=700, seed=5, level=0.9, method="percentile")
    np.testing.assert_allclose(ours, oracle, atol=1e-12)


def test_thirty_dialogues_without_a_mistake_are_no_proof_of_perfection() -> None:
    ones = np.ones((1, 30))
    assert ratio_intervals(ones, ones, method="percentile").tolist() == [[1.0, 1.0]]
    low, high = ratio_intervals(ones, ones, bounds=(0, 1))[0]
    assert (low, high) == (pytest.approx(30 ** (-1 / 30), abs=1e-12), 1.0)
    assert ratio_intervals(ones, ones).tolist() == [[1.0, 1.0]]  # nothing is known of a measure without bounds


@pytest.mark.parametrize(("share", "least"), [(0.6, 0.9), (0.95, 0.9)])
def test_intervals_of_30_dialogues_hold(share: float, least: float) -> None:
    """Near a bound the percentile interval held in 79% of the samples, not 95%."""
    random = np.random.default_rng(4)
    turns = random.integers(1, 9, size=(300, 30)).astype(float)
    skill = random.beta(3 * share, 3 * (1 - share), size=turns.shape)  # some dialogues are harder than others
    right = random.binomial(turns.astype(int), skill).astype(float)
    held = {
        method: np.mean(
            [low <= share <= high for low, high in ratio_intervals(right, turns, bounds=(0, 1), method=method)]
        )
        for method in INTERVAL_METHODS
    }
    assert least <= held["studentised"] <= 0.99
    assert held["percentile"] < held["studentised"]


@pytest.mark.parametrize("weight", [2.31, 4.5191, 5.6325, 7.0 - 1e-9])
@pytest.mark.parametrize("dialogues", [10, 30, 100])
def test_the_last_bits_of_equal_scores_do_not_decide_the_interval(weight: float, dialogues: int) -> None:
    den = np.full((2, dialogues), 7.0)
    num = np.stack([np.full(dialogues, weight), np.full(dialogues, 3.5)])
    low, high = ratio_intervals(num, den, bounds=(0, 1)).T
    share = weight / 7
    critical = scipy_stats.t.ppf(0.975, dialogues - 1)
    extra = critical**2 / dialogues
    half = np.sqrt(extra * share * (1 - share) + extra**2 / 4) / (1 + extra)
    middle = (share + extra / 2) / (1 + extra)
    assert [low[0], high[0]] == pytest.approx([middle - half, middle + half], abs=2e-3)


@given(st.integers(1, 1100), st.sampled_from([0.5, 0.9, 0.95, 0.99, 1 / 3]), st.integers(0, 10**6))
@settings(max_examples=examples(50), deadline=None)
def test_quantiles_are_those_of_numpy_to_the_bit(rows: int, level: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    samples = random.integers(0, 9, (rows, 3)) / random.integers(1, 7, (rows, 3))
    edges = [(1 - level) / 2, (1 + level) / 2]
    assert quantiles(samples, level).tolist() == np.quantile(samples, edges, axis=0).T.tolist()
    samples[1:][random.random((rows - 1, 3)) < 0.3] = np.nan
    assert quantiles(samples, level).tolist() == np.nanquantile(samples, edges, axis=0).T.tolist()


def test_a_measure_without_scores_is_undefined_and_others_are_not() -> None:
    num, den = make(20)
    num[1], den[1] = np.nan, np.nan
    interval = ratio_intervals(num, den)
    assert np.isfinite(interval[0]).all()
    assert np.isnan(interval[1]).all()


def test_resamples_without_a_score_are_left_out() -> None:
    num, den = np.zeros((1, 5)), np.zeros((1, 5))
    num[0, :2], den[0, :2] = 1.0, 2.0
    np.testing.assert_allclose(ratio_intervals(num, den), [[0.5, 0.5]])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30), st.integers(0, 5))
@settings(max_examples=examples(50), deadline=None)
def test_intervals_of_a_share_stay_between_0_and_1(pairs: list[tuple[int, int]], seed: int) -> None:
    num = np.array([[float(right) for right, _ in pairs]])
    den = np.array([[float(right + wrong) for right, wrong in pairs]])
    for method in INTERVAL_METHODS:
        low, high = ratio_intervals(num, den, resamples=60, seed=seed, bounds=(0, 1), method=method)[0]
        assert np.isnan(low) if (den > 0).sum() < 2 else 0 <= low <= high <= 1


def test_a_share_that_could_be_negative_has_an_honest_interval_near_its_top() -> None:
    """SA may fall below 0 in principle; 30 perfect dialogues are no proof of perfection all the same."""
    num = den = np.linspace(290, 310, 30)[None]
    [[low, high]] = ratio_intervals(num, den, bounds=(-np.inf, 1.0))
    assert (low, high) == tuple(ratio_intervals(num, den, bounds=(0.0, 1.0))[0])
    assert low < 0.95


def test_one_outlier_does_not_blow_up_the_interval_of_an_amount() -> None:
    """Nineteen tasks of some 15 turns and one of 200, as in the airline file of tau2-bench."""
    turns = np.array([[*range(10, 29), 200]], dtype=float)
    [[low, high]] = ratio_intervals(turns, np.ones_like(turns), bounds=(0, np.inf))
    [[_, old]] = ratio_intervals(turns, np.ones_like(turns))
    mean = turns.mean()
    assert 0 < low < turns[0, :19].mean() < mean < high < 3 * mean < old
    assert low * high == pytest.approx(mean**2)


def test_intervals_of_skewed_amounts_hold() -> None:
    random, held = np.random.default_rng(3), 0
    for seed in range(200):
        cost = np.exp(random.normal(0, 0.5, (1, 20)))
        [[low, high]] = ratio_intervals(cost, np.ones_like(cost), bounds=(0, np.inf), seed=seed)
        held += low <= np.exp(0.125) <= high
    assert held >= 180
