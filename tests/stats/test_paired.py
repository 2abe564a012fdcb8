from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from dialgauge.stats import bootstrap_weights, paired_randomisation

Array = NDArray[np.float64]


def make(systems: int, dialogues: int, seed: int = 0, better: float = 0.0) -> tuple[Array, Array]:
    """Scores of one measure whose sizes differ between systems, so that ratios and not only means are tested."""
    random = np.random.default_rng(seed)
    den = random.integers(2, 9, size=(systems, 1, dialogues))
    share = 0.5 + better * np.arange(systems)[:, None, None]
    return random.binomial(den, share).astype(float), den.astype(float)


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


def test_an_undefined_measure_stays_undefined_beside_defined_ones() -> None:
    num, den = make(2, 20)
    num, den = np.concatenate([num, num * np.nan], axis=1), np.concatenate([den, den * np.nan], axis=1)
    p = paired_randomisation(num, den, resamples=50).p
    assert np.isfinite(p[0, 0])
    assert np.isnan(p[0, 1])


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


def test_many_dialogues_fit_the_memory() -> None:
    blocks = list(bootstrap_weights(3_000_000, 2, seed=0))
    assert [block.shape for block in blocks] == [(1, 3_000_000)] * 2
    assert (blocks[0] != blocks[1]).any()
