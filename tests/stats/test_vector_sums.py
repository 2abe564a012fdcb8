"""Values of several sums: swaps and draws against a plain loop; verdicts that agree with intervals."""

from __future__ import annotations

import numpy as np
import pytest

from dialgauge.stats import (
    Floats,
    VectorSums,
    bootstrap_weights,
    randomise_several,
    sums_interval,
    swap_masks,
)

RESAMPLES, SEED, LEVEL = 400, 3, 0.95


def curved(sums: Floats) -> Floats:
    """Like BLEU: a mean of logarithms and a penalty."""
    share = np.divide(sums[..., 0], sums[..., 1], out=np.ones(sums.shape[:-1]), where=sums[..., 1] > 0)
    return np.asarray(100 * np.exp(np.log(share) / 2) + np.minimum(sums[..., 2], 20.0))


@pytest.fixture
def several() -> VectorSums:
    chance = np.random.default_rng(2)
    below = chance.integers(5, 20, (2, 40)).astype(np.float64)
    above = np.stack([np.floor(below[0] * chance.random(40)), np.floor(below[1] * chance.random(40) ** 0.6)])
    return VectorSums(np.stack([above + 1, below, chance.random((2, 40))], axis=1), curved)


def test_swaps_and_draws_are_those_of_a_plain_loop(several: VectorSums) -> None:
    first, second = several.sums
    observed = curved(first.sum(axis=1)) - curved(second.sum(axis=1))
    extreme = 0
    for mask in np.concatenate(list(swap_masks(40, RESAMPLES, SEED))):
        mine, theirs = np.where(mask, second, first).sum(axis=1), np.where(mask, first, second).sum(axis=1)
        extreme += bool(abs(curved(mine) - curved(theirs)) >= abs(observed) - 1e-9)
    tested = randomise_several(several, resamples=RESAMPLES, seed=SEED, level=LEVEL)
    assert tested.difference[0, 0] == pytest.approx(observed, abs=1e-12)
    assert tested.p[0, 0] == tested.adjusted[0, 0] == (1 + extreme) / (1 + RESAMPLES)
    ordered = first[:, np.lexsort(first)]
    drawn = [
        curved((ordered * weights).sum(axis=1))
        for weights in np.concatenate(list(bootstrap_weights(40, RESAMPLES, SEED)))
    ]
    for sums in (first, first[:, ::-1]):
        ends = sums_interval(sums, curved, resamples=RESAMPLES, seed=SEED, level=LEVEL)
        np.testing.assert_allclose(ends, np.quantile(drawn, [0.025, 0.975]), atol=1e-12)


def test_intervals_agree_with_verdicts(several: VectorSums) -> None:
    for level in (0.5, 0.9, 0.95, 0.99, 0.999):
        tested = randomise_several(several, resamples=RESAMPLES, seed=SEED, level=level)
        significant = tested.adjusted < round(1 - level, 12)
        assert (((tested.low > 0) | (tested.high < 0)) == significant).all()


def test_blocks_do_not_change_the_numbers(several: VectorSums, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = randomise_several(several, resamples=RESAMPLES, seed=SEED, level=LEVEL)
    for module in ("randomisation", "vector_sums"):
        monkeypatch.setattr(f"dialgauge.stats.{module}.CELLS", 70)
    parts = randomise_several(several, resamples=RESAMPLES, seed=SEED, level=LEVEL)
    for part in ("p", "adjusted", "low", "high", "error", "reach"):
        np.testing.assert_allclose(getattr(parts, part), getattr(whole, part), rtol=1e-12)


def test_dialogues_that_are_not_there(several: VectorSums) -> None:
    fewer = several.without([0, 5])
    rest = [place for place in range(40) if place not in (0, 5)]
    np.testing.assert_allclose(fewer.values, several.at(rest).values, atol=1e-12)
    assert np.isnan(fewer.by_dialogue[:, [0, 5]]).all()
    assert not np.isnan(fewer.by_dialogue[:, rest]).any()
    np.testing.assert_allclose(several.contributions[:, 0], several.values - several.without([0]).values, atol=1e-12)
    alone = several.without(range(1, 40))
    assert np.isnan(sums_interval(alone.sums[0], curved, resamples=20, seed=0, level=0.95)).all()
