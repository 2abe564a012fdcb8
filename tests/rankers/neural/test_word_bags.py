from __future__ import annotations

import torch
from hypothesis import given, strategies as st

from dialgauge.rankers.neural import WordBags
from support.tensors import assert_close

CPU = torch.device("cpu")


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=6))
def test_sums_and_gradients_against_a_loop(texts: list[list[int]]) -> None:
    weights = torch.arange(18, dtype=torch.float32).reshape(6, 3).requires_grad_()
    found = WordBags(texts, 6, CPU).sums(weights)
    loop = torch.stack([sum((weights[word] for word in text), 0 * weights[0]) for text in texts])
    assert_close(found, loop)
    pull = torch.randn(found.shape, generator=torch.Generator().manual_seed(0))
    (ours,) = torch.autograd.grad((found * pull).sum(), weights)
    (theirs,) = torch.autograd.grad((loop * pull).sum(), weights)
    assert_close(ours, theirs)


def test_texts_without_words() -> None:
    weights = torch.ones(2, 3, requires_grad=True)
    found = WordBags([[], []], 2, CPU).sums(weights)
    assert found.tolist() == [[0.0] * 3] * 2
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert weights.grad is not None
    assert not weights.grad.any()
