from __future__ import annotations

import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor

from dialgauge.rankers.neural import (
    MemoryCells,
    MemoryWeights,
    ReadingInput,
    VectorTables,
    WordBags,
    hop_gradients,
    look_up,
    read,
    run_hops,
    scored,
    summed,
    summed_by_row,
    table_gradients,
)
from support.tensors import assert_close

TEXTS = [[], [0, 1], [2], [1, 1, 3]]
BAGS = WordBags(TEXTS, 4, torch.device("cpu"))
QUERIES = torch.tensor([1, 3])
MEMORIES = MemoryCells(torch.tensor([[2, 3], [1, 0]]), torch.tensor([[0, 1], [1, 0]]), torch.tensor([[1, 0], [0, 0]]))
EMPTY = torch.tensor([[False, False], [False, True]])


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).requires_grad_()


def plain(weights: MemoryWeights, row: int, hops: int) -> Tensor:
    """One point from the formulas of ``memn2n``."""
    embedded = [sum((weights.words[word] for word in text), torch.zeros(3)) for text in TEXTS]
    lines, speakers, times = (column[row][~EMPTY[row]].tolist() for column in MEMORIES)
    cells = zip(lines, speakers, times, strict=True)
    stored = torch.stack([embedded[line] + weights.speakers[who] + weights.times[when] for line, who, when in cells])
    query = embedded[int(QUERIES[row])]
    for _ in range(hops):
        query = query + weights.rotation @ (stored.T @ torch.softmax(stored @ query, dim=0))
    return query


def test_reading_against_the_formulas() -> None:
    weights = MemoryWeights(drawn(4, 3), drawn(2, 3), drawn(5, 3), drawn(3, 3))
    query, attention = read(weights, ReadingInput(BAGS, QUERIES, MEMORIES, EMPTY), 3)
    expected = torch.stack([plain(weights, row, 3) for row in range(2)])
    assert_close(query, expected)
    assert [share.shape for share in attention] == [(2, 2)] * 3
    assert not any(share.requires_grad for share in attention)
    pull = drawn(2, 3).detach()
    ours = torch.autograd.grad((query * pull).sum(), list(weights))
    assert_close(ours, torch.autograd.grad((expected * pull).sum(), list(weights)))


def test_scores_against_the_formula() -> None:
    query, words = drawn(2, 3), drawn(4, 3)
    scores = scored(query, words, BAGS)
    expected = query @ torch.stack([words[text].sum(dim=0) for text in TEXTS]).T
    assert_close(scores, expected)
    pull = drawn(2, 4).detach()
    ours = torch.autograd.grad((scores * pull).sum(), [query, words])
    assert_close(ours, torch.autograd.grad((expected * pull).sum(), [query, words]))


def doubles(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


SOME_EMPTY = torch.tensor([[False] * 4, [False, False, True, True], [True] * 4])


def plain_hops(query: Tensor, memories: Tensor, rotation: Tensor, empty: Tensor, hops: int) -> Tensor:
    """Point by point and without padding, from the formulas."""
    answers = []
    for row in range(len(query)):
        one, kept = query[row], memories[row][~empty[row]]
        for _ in range(hops):
            if len(kept):
                one = one + rotation @ (kept.T @ torch.softmax(kept @ one, dim=0))
        answers.append(one)
    return torch.stack(answers)


@pytest.mark.parametrize("hops", [1, 3])
@pytest.mark.parametrize("empty", [SOME_EMPTY, None])
def test_hops_against_the_formulas(hops: int, empty: Tensor | None) -> None:
    inputs = [one.requires_grad_() for one in (doubles(3, 5), doubles(3, 4, 5), doubles(5, 5))]
    query, memories, rotation = inputs
    theirs = plain_hops(query, memories, rotation, torch.zeros_like(SOME_EMPTY) if empty is None else empty, hops)
    pull = doubles(3, 5)
    expected = torch.autograd.grad((theirs * pull).sum(), inputs)
    with torch.no_grad():
        ours, trace = run_hops(query, memories, rotation, empty, hops)
        assert_close(ours, theirs)
        assert_close(hop_gradients(trace, rotation, pull), expected)


def test_attention_is_on_memories_only() -> None:
    _, trace = run_hops(doubles(3, 5), doubles(3, 4, 5), doubles(5, 5), SOME_EMPTY, 3)
    assert len(trace.shares) == 3
    for share in trace.shares:
        assert_close(share.sum(dim=2)[:, 0], torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))
        assert not share[:, 0][SOME_EMPTY].any()


def numbers(below: int, *shape: int) -> Tensor:
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(below + sum(shape)))


def test_look_up_against_plain_indexing() -> None:
    """Fewer times than memories is what a history beyond the last time index looks like."""
    for kept in (2, 4, 9):
        tables = [table.requires_grad_() for table in (doubles(6, 3), doubles(2, 3), doubles(kept, 3))]
        lines, speakers, times = tables
        queries, memories, speaker = numbers(6, 5), numbers(6, 5, 4), numbers(2, 5, 4)
        time = numbers(min(kept, 4), 5, 4)
        plain = lines[queries], lines[memories] + speakers[speaker] + times[time]
        with torch.no_grad():
            query, stored, rows = look_up(
                VectorTables(lines, speakers, times), queries, MemoryCells(memories, speaker, time)
            )
        assert_close((query, stored), plain)
        pulls = doubles(5, 3), doubles(5, 4, 3)
        pulled = sum(((one * pull).sum() for one, pull in zip(plain, pulls, strict=True)), start=torch.zeros(()))
        assert_close(tuple(table_gradients(rows, *pulls)), torch.autograd.grad(pulled, tables))


@given(st.lists(st.integers(0, 6), max_size=20))
def test_both_ways_to_add_up_by_row(rows: list[int]) -> None:
    values, where = doubles(len(rows), 3), torch.tensor(rows, dtype=torch.int64)
    loop = torch.zeros(7, 3, dtype=torch.float64)
    for value, row in zip(values, rows, strict=True):
        loop[row] += value
    assert_close(summed(values, where, 7), loop)
    assert_close(summed_by_row(values, where, 7), loop)
