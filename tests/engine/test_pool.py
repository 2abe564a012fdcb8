from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine import cores, map_ordered
from turnwise.errors import TurnwiseError


@pytest.mark.parametrize("workers", [None, 1, 2, 0])
@pytest.mark.parametrize("chunk", [1, 7])
def test_results_keep_the_order_whatever_the_workers(workers: int | None, chunk: int) -> None:
    assert list(map_ordered(math.isqrt, range(40), workers=workers, chunk=chunk)) == [math.isqrt(n) for n in range(40)]


@given(st.lists(st.integers(min_value=0)), st.integers(1, 5))
def test_one_process_is_map(items: list[int], chunk: int) -> None:
    assert list(map_ordered(math.isqrt, items, chunk=chunk)) == [math.isqrt(n) for n in items]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_function_is_raised_here(workers: int) -> None:
    with pytest.raises(ValueError, match="nonnegative"):
        list(map_ordered(math.isqrt, [4, 1, -1, 9], workers=workers))


def test_items_are_taken_as_needed() -> None:
    taken = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            taken.append(number)
            yield number
            number += 1

    results = map_ordered(math.isqrt, endless(), workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 1]
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 20


@pytest.mark.parametrize(("workers", "chunk"), [(-1, 1), (2, 0)])
def test_impossible_settings_are_refused(workers: int, chunk: int) -> None:
    with pytest.raises(TurnwiseError, match="workers must be 0 or more"):
        list(map_ordered(math.isqrt, [1], workers=workers, chunk=chunk))


def test_there_is_a_core() -> None:
    assert cores() >= 1
