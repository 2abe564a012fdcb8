from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dialgauge.rankers.neural.lookup import Cells, Tables, _summed, _summed_by_row, gradients, look_up


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def numbers(below: int, *shape: int) -> Tensor:
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(below + sum(shape)))


def test_values_and_gradients_against_plain_indexing() -> None:
    """Fewer times than memories is what a history beyond the last time index looks like."""
    for kept in (2, 4, 9):
        tables = [table.requires_grad_() for table in (drawn(6, 3), drawn(2, 3), drawn(kept, 3))]
        lines, speakers, times = tables
        queries, memories, speaker = numbers(6, 5), numbers(6, 5, 4), numbers(2, 5, 4)
        time = numbers(min(kept, 4), 5, 4)
        plain = lines[queries], lines[memories] + speakers[speaker] + times[time]
        with torch.no_grad():
            query, stored, places = look_up(Tables(lines, speakers, times), queries, Cells(memories, speaker, time))
        torch.testing.assert_close((query, stored), plain)
        pulls = drawn(5, 3), drawn(5, 4, 3)
        torch.testing.assert_close(tuple(gradients(places, *pulls)), torch.autograd.grad(plain, tables, pulls))


@given(st.lists(st.integers(0, 6), max_size=20))
def test_both_ways_to_add_up_by_row(rows: list[int]) -> None:
    values, where = drawn(len(rows), 3), torch.tensor(rows, dtype=torch.int64)
    loop = torch.zeros(7, 3, dtype=torch.float64)
    for value, row in zip(values, rows, strict=True):
        loop[row] += value
    torch.testing.assert_close(_summed(values, where, 7), loop)
    torch.testing.assert_close(_summed_by_row(values, where, 7), loop)
