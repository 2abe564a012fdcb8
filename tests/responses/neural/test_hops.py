from __future__ import annotations

import torch
from torch import Tensor

from turnwise.responses.neural.hops import read_memories


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


EMPTY = torch.tensor([[False] * 4, [False, False, True, True], [True] * 4])


def plain(query: Tensor, memories: Tensor, rotation: Tensor, hops: int) -> Tensor:
    """Point by point and without padding, from the formulas."""
    answers = []
    for row in range(len(query)):
        one, kept = query[row], memories[row][~EMPTY[row]]
        for _ in range(hops):
            if len(kept):
                one = one + rotation @ (kept.T @ torch.softmax(kept @ one, dim=0))
        answers.append(one)
    return torch.stack(answers)


def test_values_and_gradients_against_the_formulas() -> None:
    for hops in (1, 3):
        query, memories, rotation = drawn(3, 5), drawn(3, 4, 5), drawn(5, 5)
        inputs = [one.requires_grad_() for one in (query, memories, rotation)]
        ours, attention = read_memories(query, memories, rotation, EMPTY, hops)
        theirs = plain(query, memories, rotation, hops)
        torch.testing.assert_close(ours, theirs)
        pull = drawn(3, 5)
        mine = torch.autograd.grad((ours * pull).sum(), inputs)
        for found, expected in zip(mine, torch.autograd.grad((theirs * pull).sum(), inputs), strict=True):
            torch.testing.assert_close(found, expected)
        assert len(attention) == hops
        assert attention[0].sum(dim=1).tolist() == [1.0, 1.0, 0.0]
        assert not attention[-1][EMPTY].any()
