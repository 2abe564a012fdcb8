from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional

from dialgauge.rankers.neural import cross_entropy
from support.tensors import assert_close

SCORES = st.lists(
    st.lists(st.floats(-200, 200, width=32), min_size=3, max_size=3),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(SCORES, st.integers(0, 2), st.sampled_from([1.0, -0.5]))
def test_value_and_gradient_against_pytorch(rows: list[list[float]], gold: int, pull: float) -> None:
    ours, theirs = (torch.tensor(rows, requires_grad=True) for _ in range(2))
    right = torch.full((len(rows),), gold)
    found, expected = cross_entropy(ours, right), functional.cross_entropy(theirs, right)
    assert_close(found, expected)
    (found * pull).backward()  # type: ignore[no-untyped-call]
    (expected * pull).backward()  # type: ignore[no-untyped-call]
    assert_close(ours.grad, theirs.grad)


def test_a_gold_share_too_small_for_a_float_still_has_a_loss() -> None:
    assert cross_entropy(torch.tensor([[0.0, 500.0]]), torch.tensor([0])).item() == 500.0


def test_scores_that_are_no_numbers_give_no_number() -> None:
    assert math.isnan(cross_entropy(torch.tensor([[math.nan, 1.0]]), torch.tensor([1])).item())


def test_a_second_gradient_is_refused_rather_than_wrong() -> None:
    scores = torch.zeros(1, 2, requires_grad=True)
    loss = cross_entropy(scores, torch.tensor([0]))
    loss.backward(retain_graph=True)  # type: ignore[no-untyped-call]
    with pytest.raises(RuntimeError, match="once"):
        loss.backward()  # type: ignore[no-untyped-call]
