from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dialgauge.rankers.neural.hops import gradients, walk


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


EMPTY = torch.tensor([[False] * 4, [False, False, True, True], [True] * 4])


def plain(query: Tensor, memories: Tensor, rotation: Tensor, empty: Tensor, hops: int) -> Tensor:
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
@pytest.mark.parametrize("empty", [EMPTY, None])
def test_values_and_gradients_against_the_formulas(hops: int, empty: Tensor | None) -> None:
    inputs = [one.requires_grad_() for one in (drawn(3, 5), drawn(3, 4, 5), drawn(5, 5))]
    query, memories, rotation = inputs
    theirs = plain(query, memories, rotation, torch.zeros_like(EMPTY) if empty is None else empty, hops)
    pull = drawn(3, 5)
    expected = torch.autograd.grad((theirs * pull).sum(), inputs)
    with torch.no_grad():
        ours, way = walk(query, memories, rotation, empty, hops)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(gradients(way, rotation, pull), expected)


def test_attention_is_on_memories_only() -> None:
    _, way = walk(drawn(3, 5), drawn(3, 4, 5), drawn(5, 5), EMPTY, 3)
    assert len(way.shares) == 3
    for share in way.shares:
        torch.testing.assert_close(share.sum(dim=2)[:, 0], torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))
        assert not share[:, 0][EMPTY].any()
