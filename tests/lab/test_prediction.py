"""How well a measure predicts success, against the definitions written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from dialgauge.lab import auc, auc_within, line_error, predictors, rank_agreement

outcomes = hnp.arrays(float, (3, 6), elements=st.sampled_from([0.0, 1.0]))
scores = hnp.arrays(float, (3, 6), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, math.nan]))


def slow_auc(success: list[float], values: list[float]) -> tuple[float, int]:
    won, pairs = 0.0, 0
    for one, score in zip(success, values, strict=True):
        for other, below in zip(success, values, strict=True):
            if one == 1 and other == 0 and not math.isnan(score) and not math.isnan(below):
                pairs += 1
                won += 1.0 if score > below else 0.5 if score == below else 0.0
    return won, pairs


@given(outcomes, scores)
def test_auc_counts_pairs(success: np.ndarray, values: np.ndarray) -> None:
    won, pairs = slow_auc(list(success.ravel()), list(values.ravel()))
    assert auc(success, values) == pytest.approx(won / pairs if pairs else math.nan, nan_ok=True)
    rows = [slow_auc(list(row), list(each)) for row, each in zip(success, values, strict=True)]
    total = sum(count for _, count in rows)
    expected = sum(each for each, _ in rows) / total if total else math.nan
    assert auc_within(success, values) == pytest.approx(expected, nan_ok=True)


@given(hnp.arrays(float, (5, 4), elements=st.sampled_from([0.0, 1.0])), st.randoms())
def test_rank_agreement_is_kendalls_tau_b(success: np.ndarray, random: object) -> None:
    from scipy.stats import kendalltau

    values = np.random.default_rng(3).integers(0, 4, success.shape) / 4
    expected = kendalltau(values.mean(axis=1), success.mean(axis=1)).statistic
    assert rank_agreement(success, values) == pytest.approx(float(expected), nan_ok=True)


def test_a_line_that_fits_has_no_error_and_one_that_does_not_has() -> None:
    success = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=float)
    assert line_error(success, success) == pytest.approx(0.0)
    assert line_error(success, 1 - success) == pytest.approx(0.0)
    assert line_error(success, success[[2, 0, 3, 1]]) > 0.1


def test_the_measure_that_knows_comes_first_and_noise_is_not_told_from_guessing() -> None:
    generator = np.random.default_rng(0)
    success = (generator.random((6, 80)) < np.linspace(0.2, 0.9, 6)[:, None]).astype(float)
    measures = {"noise": generator.random(success.shape), "oracle": success}
    first, second = predictors(success, measures, resamples=200)
    assert (first.measure, first.auc.value, first.auc_within.value, first.tau.value) == ("oracle", 1.0, 1.0, 1.0)
    assert second.auc.low < 0.5 < second.auc.high
    assert (first.behind.value, first.behind.high) == (0.0, 0.0)
    assert second.behind.low > 0.3
    assert predictors(success, measures, resamples=200) == [first, second], "the same seed"
