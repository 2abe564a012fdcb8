"""Resampling of dialogues: where its random numbers come from, and sums over what was drawn.

Resamples are made in blocks, each block from its own stream of one seed. So the numbers depend on the seed and on the
number of units alone: not on the number of workers, on how many measures or systems are looked at, or on the hash seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialgauge.errors import DialgaugeError

Floats: TypeAlias = NDArray[np.float64]

#: Resamples per block, fewer where units are so many that a block would not fit the memory. Part of the definition of
#: the numbers, so never a setting.
BLOCK, BLOCK_CELLS = 500, 4_000_000

#: Units drawn at a time, which changes no number: what stays in the processor's cache.
_CACHED = 1 << 16
#: Cells of weights that are kept for the next measures.
_KEPT_CELLS = 2_000_000

_BOOTSTRAP, _SWAPS = 0, 1


def bootstrap_weights(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of a (resamples, units) matrix: how often each unit is drawn when ``units`` are drawn with replacement."""
    if units * resamples > _KEPT_CELLS:
        return _drawn_weights(units, resamples, seed)
    return iter(_kept_weights(units, resamples, seed))


@lru_cache(1)
def _kept_weights(units: int, resamples: int, seed: int) -> tuple[Floats, ...]:
    """The weights, cached: measures of several families of one run resample the same units."""
    blocks = tuple(_drawn_weights(units, resamples, seed))
    for block in blocks:
        block.flags.writeable = False
    return blocks


def _drawn_weights(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    few = max(1, _CACHED // units)
    for rows, generator in _blocks(units, resamples, seed, _BOOTSTRAP):
        weights = np.empty((rows, units))
        for start in range(0, rows, few):
            some = weights[start : start + few]
            drawn = generator.integers(0, units, size=some.shape, dtype=np.int64)
            drawn += np.arange(len(some), dtype=np.int64)[:, None] * units
            some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
        yield weights


def swap_masks(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of a (resamples, units) matrix of fair coins: 1 where the two systems change places on that unit."""
    for rows, generator in _blocks(units, resamples, seed, _SWAPS):
        # What ``generator.integers(0, 2, dtype=uint8)`` gives, at a quarter of the time: the highest bit of each byte.
        drawn = generator.bit_generator.random_raw(-(-rows * units // 8)).astype("<u8", copy=False).view(np.uint8)
        masks = np.empty((rows, units))
        np.right_shift(drawn[: rows * units].reshape(rows, units), 7, out=masks, dtype=np.uint8, casting="unsafe")
        yield masks


def _blocks(units: int, resamples: int, seed: int, purpose: int) -> Iterator[tuple[int, np.random.Generator]]:
    if resamples < 1:
        raise DialgaugeError(f"the number of resamples must be at least 1 (got {resamples})")
    if seed < 0:
        raise DialgaugeError(f"the seed must be a whole number ≥ 0 (got {seed})")
    size = max(1, min(BLOCK, BLOCK_CELLS // units))
    for number, start in enumerate(range(0, resamples, size)):
        sequence = np.random.SeedSequence(seed, spawn_key=(purpose, number))
        yield min(size, resamples - start), np.random.Generator(np.random.PCG64(sequence))


def block_sums(masks: Iterator[Floats], *columns: Floats) -> Iterator[list[Floats]]:
    """``mask @ column.T`` of each block: a (resamples, k) array for each (k, units) array given."""
    sizes = np.cumsum([column.shape[0] for column in columns])[:-1]
    together = np.ascontiguousarray(np.vstack(columns).T)
    return (np.split(block @ together, sizes, axis=1) for block in masks)


def weighted_sums(masks: Iterator[Floats], *columns: Floats) -> list[Floats]:
    """The same of all blocks, stacked."""
    return [np.vstack(parts) for parts in zip(*block_sums(masks, *columns), strict=True)]


def distinct_rows(rows: Floats) -> tuple[Floats, list[int]]:
    """The different rows of an array, and for each row which of them it is."""
    places: dict[bytes, int] = {}
    which = [places.setdefault(row.tobytes(), len(places)) for row in rows]
    first = [which.index(index) for index in range(len(places))]
    return rows[first], which


def checked(num: ArrayLike, den: ArrayLike, axes: int) -> tuple[Floats, Floats]:
    """The two arrays as floats of equal shape; a unit without a score (NaN) becomes 0 / 0, which adds nothing."""
    numerators, denominators = np.asarray(num, dtype=np.float64), np.asarray(den, dtype=np.float64)
    if numerators.shape != denominators.shape or numerators.ndim != axes:
        raise ValueError(f"num {numerators.shape} and den {denominators.shape} must be equal and of {axes} axes")
    if numerators.shape[-1] == 0:
        raise DialgaugeError("there is nothing to resample: no dialogue has a score")
    missing = np.isnan(numerators) | np.isnan(denominators)
    return np.where(missing, 0.0, numerators), np.where(missing, 0.0, denominators)


def varied(den: Floats) -> NDArray[np.bool_]:
    """Whether two units or more have a score; fewer show no variation, and resampling them would promise certainty."""
    enough: NDArray[np.bool_] = (den != 0).sum(axis=-1) >= 2
    return enough


def divide(num: Floats, den: Floats) -> Floats:
    """``num / den``, NaN where ``den`` is 0."""
    if np.all(den):
        return num / den
    ratio: Floats = np.full(np.broadcast_shapes(num.shape, den.shape), np.nan)
    np.divide(num, den, out=ratio, where=den != 0)
    return ratio


def check_level(level: float) -> None:
    """A level of intervals, a number between 0 and 1."""
    if not 0 < level < 1:
        raise DialgaugeError(f"the interval level must be between 0 and 1, such as 0.95 (got {level})")


def quantiles(samples: Floats, level: float) -> Floats:
    """The central interval of each column, (columns, 2); undefined samples are left out, NaN where all are."""
    check_level(level)
    edges = np.array([(1 - level) / 2, (1 + level) / 2])
    result = np.full((samples.shape[1], 2), np.nan)
    undefined = np.isnan(samples)
    whole = ~undefined.any(axis=0)
    if whole.any():
        result[whole] = np.quantile(samples[:, whole], edges, axis=0).T
    for column in np.flatnonzero(~whole & ~undefined.all(axis=0)):
        result[column] = np.quantile(samples[~undefined[:, column], column], edges)
    return result
