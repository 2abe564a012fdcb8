from __future__ import annotations

import torch
from torch import Tensor

from dialgauge.rankers.neural.encoding import WordBags
from dialgauge.rankers.neural.lookup import Cells
from dialgauge.rankers.neural.memory_network import MemoryWeights, Story, read
from dialgauge.rankers.neural.scoring import scored

TEXTS = [[], [0, 1], [2], [1, 1, 3]]
BAGS = WordBags(TEXTS, 4, torch.device("cpu"))
QUERIES = torch.tensor([1, 3])
MEMORIES = Cells(torch.tensor([[2, 3], [1, 0]]), torch.tensor([[0, 1], [1, 0]]), torch.tensor([[1, 0], [0, 0]]))
EMPTY = torch.tensor([[False, False], [False, True]])


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).requires_grad_()


def plain(weights: MemoryWeights, row: int, hops: int) -> Tensor:
    """One point from the formulas of ``memory_network``."""
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
    query, attention = read(weights, Story(BAGS, QUERIES, MEMORIES, EMPTY), 3)
    expected = torch.stack([plain(weights, row, 3) for row in range(2)])
    torch.testing.assert_close(query, expected)
    assert [share.shape for share in attention] == [(2, 2)] * 3
    assert not any(share.requires_grad for share in attention)
    pull = drawn(2, 3).detach()
    ours = torch.autograd.grad(query, list(weights), pull)
    torch.testing.assert_close(ours, torch.autograd.grad(expected, list(weights), pull))


def test_scores_against_the_formula() -> None:
    query, words = drawn(2, 3), drawn(4, 3)
    scores = scored(query, words, BAGS)
    expected = query @ torch.stack([words[text].sum(dim=0) for text in TEXTS]).T
    torch.testing.assert_close(scores, expected)
    pull = drawn(2, 4).detach()
    ours = torch.autograd.grad(scores, [query, words], pull)
    torch.testing.assert_close(ours, torch.autograd.grad(expected, [query, words], pull))
