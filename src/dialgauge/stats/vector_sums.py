"""Values that are functions of several sums over dialogues, such as BLEU: intervals and paired tests.

What is resampled is the same as for ratios: dialogues drawn with replacement, or changing sides. Each resample's sums
then go through the function, so nothing is assumed about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dialgauge.stats.randomisation import CELLS, PairedRandomisation, PairSwaps, tested_pairs
from dialgauge.stats.resampling import Floats, bootstrap_weights, check_level, quantiles, swap_masks, weighted_sums


@dataclass(frozen=True)
class VectorSums:
    """``sums`` are (systems, sums, dialogues), all 0 where a system lacks a dialogue; ``of`` makes values of totals,
    whose last axis holds the sums."""

    sums: Floats
    of: Callable[[Floats], Floats]

    @property
    def values(self) -> Floats:
        """The value of each system."""
        return self.of(self.sums.sum(axis=2))

    @property
    def by_dialogue(self) -> Floats:
        """What each dialogue would reach by itself, (systems, dialogues); NaN where a system lacks it."""
        alone = self.of(self.sums.transpose(0, 2, 1))
        return np.where(self.sums.any(axis=1), alone, np.nan)

    @property
    def contributions(self) -> Floats:
        """What each dialogue adds: the value of all dialogues less the value without it, (systems, dialogues)."""
        without = self.sums.sum(axis=2)[:, None] - self.sums.transpose(0, 2, 1)
        return self.values[:, None] - self.of(without)

    def without(self, dialogues: Sequence[int]) -> VectorSums:
        """The same where no system has some of the dialogues."""
        sums = self.sums.copy()
        sums[:, :, list(dialogues)] = 0.0
        return replace(self, sums=sums)

    def at(self, dialogues: Sequence[int]) -> VectorSums:
        """The same of some of the dialogues."""
        return replace(self, sums=self.sums[:, :, list(dialogues)])


def sums_interval(
    sums: Floats, of: Callable[[Floats], Floats], *, resamples: int, seed: int, level: float
) -> tuple[float, float]:
    """The percentile interval of a system's value; ``sums`` are (sums, dialogues), in whatever order these come.

    NaN where fewer than two dialogues have sums: one shows no variation, and resampling it would promise certainty.
    """
    if sums.any(axis=0).sum() < 2:
        return np.nan, np.nan
    (drawn,) = weighted_sums(bootstrap_weights(sums.shape[1], resamples, seed), sums[:, np.lexsort(sums)])
    low, high = quantiles(of(drawn)[:, None], level)[0].tolist()
    return low, high


def randomise_several(several: VectorSums, *, resamples: int, seed: int, level: float) -> PairedRandomisation:
    """The paired randomisation of :func:`~dialgauge.stats.paired_randomisation`, with the same swaps, for one measure.

    p-values and their correction are exact in the same sense. The interval asks in addition how a true difference
    would shrink where dialogues change sides; here it is taken to shrink with the share of the dialogues that do.
    """
    check_level(level)
    systems, size, dialogues = several.sums.shape
    masks = swap_masks(dialogues, resamples, seed)
    moved, swapped = weighted_sums(masks, several.sums.reshape(-1, dialogues), np.full((1, dialogues), 1 / dialogues))
    pairs = tuple(combinations(range(systems), 2))
    swaps = _SumSwaps(
        np.array(pairs).T, several.sums.sum(axis=2), moved.reshape(-1, systems, size), swapped, several.of
    )
    return PairedRandomisation(pairs, *(part[:, None] for part in tested_pairs(swaps, round(1 - level, 12))))


@dataclass(frozen=True)
class _SumSwaps(PairSwaps):
    """Each system's totals, what leaves it in each resample, and the share of the dialogues that does."""

    totals: Floats
    moved: Floats
    swapped: Floats
    of: Callable[[Floats], Floats]

    @property
    def resamples(self) -> int:
        return len(self.moved)

    @property
    def cells(self) -> int:
        return max(1, CELLS // (4 * len(self.totals[0])))

    @cached_property
    def all_differences(self) -> Floats | None:
        everyone = np.arange(self.pairs.shape[1])
        if self.resamples * len(everyone) > CELLS:
            return None
        return np.concatenate([block for block, _ in self.blocks(everyone)])

    def scores(self) -> tuple[Floats, Floats]:
        values = self.of(self.totals)
        return values[self.pairs[0]], values[self.pairs[1]]

    def slopes(self, rows: slice) -> Floats:
        return 1.0 - 2.0 * self.swapped[rows]

    def differences(self, rows: slice, a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
        shift = self.moved[rows][:, b] - self.moved[rows][:, a]
        return self.of(self.totals[a] + shift) - self.of(self.totals[b] - shift)
