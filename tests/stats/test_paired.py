from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dialgauge.stats import bootstrap_weights, paired_randomisation

Array = NDArray[np.float64]


def make(systems: int, dialogues: int, seed: int = 0, better: float = 0.0) -> tuple[Array, Array]:
    """Scores of one measure whose sizes differ between systems, so that ratios and not only means are tested."""
    random = np.random.default_rng(seed)
    den = random.integers(2, 9, size=(systems, 1, dialogues))
    share = 0.5 + better * np.arange(systems)[:, None, None]
    return random.binomial(den, share).astype(float), den.astype(float)


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
