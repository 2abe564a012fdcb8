"""Verdicts, intervals, power and floor of many pairs: one correction, and no row that contradicts another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from dialgauge.stats import PairedRandomisation, detectable, holm, paired_randomisation
from support.soak import examples

Array = NDArray[np.float64]


def make(systems: int, dialogues: int, seed: int, step: float = 0.0, own_sizes: bool = False) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    den = random.integers(2, 9, size=(systems if own_sizes else 1, 1, dialogues)).repeat(
        1 if own_sizes else systems, axis=0
    )
    hard = random.normal(0, 0.2, size=dialogues)  # some dialogues are hard for all systems
    share = np.clip(0.5 + hard + step * np.arange(systems)[:, None, None], 0.02, 0.98)
    return random.binomial(den, share).astype(float), den.astype(float)


def excludes_zero(result: PairedRandomisation) -> NDArray[np.bool_]:
    return (result.low > 0) | (result.high < 0)


systems_scores = st.integers(2, 6).flatmap(
    lambda systems: st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=systems, max_size=systems),
        min_size=2,
        max_size=25,
    )
)


@given(systems_scores, st.sampled_from([0.8, 0.9, 0.95]), st.integers(30, 120), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_an_interval_excludes_0_exactly_where_the_verdict_does(
    rows: list[list[tuple[int, int]]], level: float, resamples: int, same_sizes: bool
) -> None:
    """Whatever the scores: ties, empty dialogues, equal systems, sizes of their own."""
    table = np.array(rows, dtype=float).transpose(2, 1, 0)
    num, den = table[0][:, None], (table[0] + table[1])[:, None]
    if same_sizes:
        den = np.full_like(den, 4.0)
    result = paired_randomisation(num, den, resamples=resamples, level=level)
    significant = result.adjusted < 1 - level - 1e-9
    known = ~np.isnan(result.low)
    np.testing.assert_array_equal(significant[known], excludes_zero(result)[known])
    inside = known & (result.low <= result.difference) & (result.difference <= result.high)
    np.testing.assert_array_equal(inside, known)
    assert (result.adjusted[known] >= result.p[known] - 1e-12).all()
    reach = np.where(result.difference < 0, result.high - result.difference, result.difference - result.low)[known]
    told, untold = np.abs(result.difference)[known & significant], np.abs(result.difference)[known & ~significant]
    if len(reach):  # the noise floor and what is resolved, as a comparison prints them
        assert not len(told) or told.min() >= reach.min()
        assert not len(untold) or untold.max() <= reach.max() + 1e-12


def test_fifty_systems_can_still_be_told_apart() -> None:
    """Holm's smallest p over 1,225 pairs is 0.12 at 10,000 resamples: whatever the scores, all could be noise."""
    num, den = make(50, 60, seed=1)
    num[0] = den[0]  # one system without a mistake
    result = paired_randomisation(num, den, resamples=1000)
    assert holm(result.p[:, 0]).min() > 0.05
    best = [row for row, pair in enumerate(result.pairs) if 0 in pair]
    assert (result.adjusted[best] < 0.05).all()
    assert (np.delete(result.adjusted, best) < 0.05).mean() < 0.01


def test_false_findings_among_equal_systems_stay_near_nominal() -> None:
    """Eight equal systems, 28 pairs: even one false finding in at most about 5% of the comparisons."""
    wrong, uncorrected, repetitions = 0, 0, 150
    for seed in range(repetitions):
        result = paired_randomisation(*make(8, 60, seed), resamples=300, seed=seed)
        wrong += bool((result.adjusted < 0.05).any())
        uncorrected += bool((result.p < 0.05).any())
    assert 0.005 <= wrong / repetitions <= 0.11
    assert uncorrected / repetitions > 0.3


@pytest.mark.parametrize("systems", [2, 4, 10])
def test_found_8_times_in_10_whatever_the_number_of_systems(systems: int) -> None:
    """A true difference as large as the printed one is found about 8 times in 10, not 3 times as with ten before."""
    random = np.random.default_rng(systems)
    dialogues, found, repetitions = 120, 0, 120
    errors = np.sqrt(2 / dialogues)  # of a difference of two independent scores with variance 1
    first = paired_randomisation(*_normal(random, systems, dialogues, 0.0), resamples=2000)
    target = float(detectable(first.reach, first.error).mean() / first.error.mean() * errors)
    for seed in range(repetitions):
        result = paired_randomisation(*_normal(random, systems, dialogues, target), resamples=400, seed=seed)
        found += bool(result.adjusted[0, 0] < 0.05)  # the first system against the second
    assert 0.68 <= found / repetitions <= 0.92


def _normal(random: np.random.Generator, systems: int, dialogues: int, better: float) -> tuple[Array, Array]:
    """Systems of equal noise, the first better by so much than all others."""
    num = random.normal(size=(systems, 1, dialogues)) + random.normal(size=dialogues)
    num[0] += better
    return num, np.ones_like(num)


def test_intervals_of_all_pairs_cover_together() -> None:
    """Five systems, half of the pairs truly different: all ten intervals cover in at least about nine of ten runs."""
    covered, repetitions = 0, 120
    truth = np.array([0.0, 0.0, 0.3, 0.3, 0.6])
    random = np.random.default_rng(8)
    for seed in range(repetitions):
        num, den = _normal(random, 5, 80, 0.0)
        num += truth[:, None, None]
        result = paired_randomisation(num, den, resamples=400, seed=seed)
        true = np.array([truth[a] - truth[b] for a, b in result.pairs])
        covered += bool(((result.low[:, 0] <= true) & (true <= result.high[:, 0])).all())
    assert covered / repetitions >= 0.86


def test_blocks_do_not_change_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty systems are worked off in blocks of resamples; how large these are must not matter."""
    num, den = make(5, 40, seed=4, step=0.03, own_sizes=True)
    whole = paired_randomisation(num, den, resamples=333)
    monkeypatch.setattr("dialgauge.stats.randomisation.CELLS", 70)
    parts = paired_randomisation(num, den, resamples=333)
    np.testing.assert_array_equal(whole.adjusted, parts.adjusted)
    np.testing.assert_allclose(whole.low, parts.low, rtol=1e-12)
