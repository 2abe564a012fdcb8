"""Matrices of which most cells are zero, as far as bags of words need them, in numpy alone.

Sums are made term by term in the order of the columns, on one core: a library of linear algebra would start threads
for products as small as these, and its order of summation is its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Terms and rows of a product that are worked on at once, to bound the memory.
_TERMS, _ROWS = 1_000_000, 512


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Row by row the columns that are not zero, in rising order, and their values.

    The cells of row ``i`` stand at ``starts[i]`` up to ``starts[i + 1]``.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    width: int

    @classmethod
    def summed(
        cls,
        rows: Sequence[int] | NDArray[np.int64],
        columns: Sequence[int] | NDArray[np.int64],
        shape: tuple[int, int],
        values: NDArray[np.float64] | None = None,
    ) -> SparseRows:
        """Cells in any order; those named several times are summed. Without values each counts 1."""
        height, width = shape
        keys = np.asarray(rows, np.int64) * width + np.asarray(columns, np.int64)
        cells, which = np.unique(keys, return_inverse=True)
        sums = np.bincount(which.ravel(), weights=values, minlength=len(cells)).astype(np.float64)
        of_row = cells // max(width, 1)
        starts = np.searchsorted(of_row, np.arange(height + 1))
        return cls(starts, cells - of_row * width, sums, width)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.starts) - 1, self.width

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many cells of each row are not zero."""
        return np.diff(self.starts)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each cell."""
        return np.repeat(np.arange(self.shape[0]), self.sizes)

    def scaled(self, factors: NDArray[np.float64]) -> SparseRows:
        """Every column times its factor."""
        return SparseRows(self.starts, self.columns, self.values * factors[self.columns], self.width)

    def square_sums(self) -> NDArray[np.float64]:
        """Row by row the sum of squares."""
        return _added(self.rows, self.values**2, self.shape[0])

    def transposed(self) -> SparseRows:
        """Columns as rows."""
        return SparseRows.summed(self.columns, self.rows, (self.width, self.shape[0]), self.values)

    def dense(self) -> NDArray[np.float64]:
        """All rows with their zeros."""
        filled = np.zeros(self.shape)
        filled[self.rows, self.columns] = self.values
        return filled

    def composed(self, other: SparseRows) -> SparseRows:
        """The product with another one, sparse again."""
        places, owners = other._cells_of(self.columns)
        values = self.values[owners] * other.values[places]
        return SparseRows.summed(self.rows[owners], other.columns[places], (self.shape[0], other.width), values)

    def times(self, other: SparseRows) -> NDArray[np.float64]:
        """The product with another one, dense."""
        product = np.zeros((self.shape[0], other.width))
        for first, last in self._blocks(other):
            cells = slice(self.starts[first], self.starts[last])
            rows = np.repeat(np.arange(last - first), self.sizes[first:last])
            places, owners = other._cells_of(self.columns[cells])
            values = self.values[cells][owners] * other.values[places]
            targets = rows[owners] * other.width + other.columns[places]
            part = product[first:last]
            part += _added(targets, values, part.size).reshape(part.shape)
        return product

    def _blocks(self, other: SparseRows) -> Iterator[tuple[int, int]]:
        """Stretches of rows, each short enough that the terms of its product fit into memory."""
        terms = np.concatenate([[0], np.cumsum(other.sizes[self.columns])])[self.starts]
        first = 0
        while first < self.shape[0]:
            last = int(np.searchsorted(terms, terms[first] + _TERMS, side="right")) - 1
            last = min(max(last, first + 1), first + _ROWS, self.shape[0])
            yield first, last
            first = last

    def _cells_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the cells of some rows, one row after the other, and which of these rows each belongs to."""
        sizes = self.sizes[rows]
        owners = np.repeat(np.arange(len(rows)), sizes)
        before = np.cumsum(sizes) - sizes
        return np.arange(len(owners)) - before[owners] + self.starts[rows][owners], owners


def _added(places: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the values of each place, in the order in which they come."""
    return np.bincount(places, weights=values, minlength=size).astype(np.float64, copy=False)
