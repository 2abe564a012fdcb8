from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dialgauge.errors import DialgaugeError
from dialgauge.stats import bootstrap_weights, quantiles, ratio_intervals


def make(dialogues: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    den = random.integers(3, 12, size=(2, dialogues)).astype(float)
    return random.binomial(den.astype(int), 0.6).astype(float), den


def test_the_weights_draw_as_many_dialogues_as_there_are() -> None:
    weights = np.vstack(list(bootstrap_weights(17, 1203, seed=3)))
    assert weights.shape == (1203, 17)
    assert (weights.sum(axis=1) == 17).all()
    assert abs(weights.mean(axis=0) - 1).max() < 0.15


def test_the_same_resamples_give_the_plain_oracle() -> None:
    num, den = make(30)
    weights = np.vstack(list(bootstrap_weights(30, 700, seed=5)))
    values = [[sum(w * n) / sum(w * d) for w in weights] for n, d in zip(num, den, strict=True)]
    oracle = [[np.quantile(v, 0.05), np.quantile(v, 0.95)] for v in values]
    np.testing.assert_allclose(ratio_intervals(num, den, resamples=700, seed=5, level=0.9), oracle, atol=1e-12)


@given(st.integers(1, 1100), st.sampled_from([0.5, 0.9, 0.95, 0.99, 1 / 3]), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_quantiles_are_those_of_numpy_to_the_bit(rows: int, level: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    samples = random.integers(0, 9, (rows, 3)) / random.integers(1, 7, (rows, 3))
    edges = [(1 - level) / 2, (1 + level) / 2]
    assert quantiles(samples, level).tolist() == np.quantile(samples, edges, axis=0).T.tolist()
    samples[1:][random.random((rows - 1, 3)) < 0.3] = np.nan
    assert quantiles(samples, level).tolist() == np.nanquantile(samples, edges, axis=0).T.tolist()


def test_it_agrees_with_scipy_within_monte_carlo_error() -> None:
    num, den = make(200)
    theirs = scipy_stats.bootstrap(
        (num[0], den[0]),
        lambda n, d, axis: n.sum(axis=axis) / d.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=9999,
        random_state=np.random.default_rng(0),
    ).confidence_interval
    np.testing.assert_allclose(ratio_intervals(num, den, resamples=10_000)[0], theirs, atol=2e-3)


def test_measures_and_resamples_do_not_disturb_each_other() -> None:
    num, den = make(50)
    both = ratio_intervals(num, den)
    np.testing.assert_array_equal(both[1:], ratio_intervals(num[1:], den[1:]))
    np.testing.assert_array_equal(both, ratio_intervals(num, den, seed=0))
    assert (both != ratio_intervals(num, den, seed=1)).any()


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


def test_one_dialogue_has_no_interval() -> None:
    num, den = np.zeros((2, 5)), np.zeros((2, 5))
    num[:, 0], den[:, 0] = 1.0, 2.0
    num[1, 1], den[1, 1] = 0.0, 2.0
    intervals = ratio_intervals(num, den)
    assert np.isnan(intervals[0]).all()
    np.testing.assert_allclose(intervals[1], [0.0, 0.5])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30), st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_intervals_of_a_share_stay_between_0_and_1(pairs: list[tuple[int, int]], seed: int) -> None:
    num = np.array([[float(right) for right, _ in pairs]])
    den = np.array([[float(right + wrong) for right, wrong in pairs]])
    low, high = ratio_intervals(num, den, resamples=60, seed=seed)[0]
    assert np.isnan(low) if (den > 0).sum() < 2 else 0 <= low <= high <= 1


@pytest.mark.parametrize(
    ("keywords", "message"),
    [({"resamples": 0}, "at least 1"), ({"seed": -1}, "not negative"), ({"level": 1.0}, "between 0 and 1")],
)
def test_bad_settings_are_sentences(keywords: dict[str, float], message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        ratio_intervals([[1.0]], [[1.0]], **keywords)  # type: ignore[arg-type]


def test_no_dialogues_is_a_sentence() -> None:
    with pytest.raises(DialgaugeError, match="no dialogue"):
        ratio_intervals(np.zeros((2, 0)), np.zeros((2, 0)))
