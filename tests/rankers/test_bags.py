"""Sparse matrices against the dense ones they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dialgauge.rankers import SparseRows


@st.composite
def matrices(draw: st.DrawFn, height: int | None = None) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Small matrices of whole numbers, most of them zero; rows, and all of them, may be empty."""
    rows = draw(st.integers(0, 5)) if height is None else height
    columns = draw(st.integers(0, 5))
    cells = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, -3]), min_size=rows * columns, max_size=rows * columns))
    return np.array(cells, np.float64).reshape(rows, columns)


def sparse(matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> SparseRows:
    rows, columns = np.nonzero(matrix)
    height, width = matrix.shape
    return SparseRows.summed(rows, columns, (height, width), matrix[rows, columns])


@given(st.data())
def test_products_are_those_of_dense_matrices(data: st.DataObject) -> None:
    first = data.draw(matrices())
    second = data.draw(matrices(first.shape[1]))
    one, other = sparse(first), sparse(second)
    assert one.times(other).tolist() == (first @ second).tolist()
    assert one.composed(other).dense().tolist() == (first @ second).tolist()


@given(matrices())
def test_all_else_is_that_of_a_dense_matrix(matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    one = sparse(matrix)
    factors = np.arange(matrix.shape[1], dtype=np.float64) - 1.5
    assert one.shape == matrix.shape
    assert one.dense().tolist() == matrix.tolist()
    assert one.transposed().dense().tolist() == matrix.T.tolist()
    assert one.scaled(factors).dense().tolist() == (matrix * factors).tolist()
    assert one.square_sums().tolist() == (matrix**2).sum(axis=1).tolist()
    assert one.sizes.tolist() == (matrix != 0).sum(axis=1).tolist()


@pytest.mark.parametrize(("terms", "rows"), [(1, 512), (7, 512), (1_000_000, 2)])
def test_the_size_of_blocks_does_not_matter(terms: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    first, second = (chance.integers(0, 3, shape).astype(np.float64) for shape in ((9, 6), (6, 4)))
    monkeypatch.setattr("dialgauge.rankers.bags._TERMS", terms)
    monkeypatch.setattr("dialgauge.rankers.bags._ROWS", rows)
    assert sparse(first).times(sparse(second)).tolist() == (first @ second).tolist()
