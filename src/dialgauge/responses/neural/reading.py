"""How a memory network reads a batch: lines embedded, memories looked up, hops; one operation with its own gradient.

It is one operation because at these sizes much of a step is what PyTorch does between the arithmetic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from dialgauge.responses.neural import cells, hops
from dialgauge.responses.neural.word_bags import WordBags


class Story(NamedTuple):
    """The words of all lines, the lines of queries and memories, and which cells hold no memory (None: all do)."""

    lines: WordBags
    queries: Tensor
    memories: cells.Cells
    empty: Tensor | None


class Weights(NamedTuple):
    """The vectors of words, speakers and times, and the rotation between hops."""

    words: Tensor
    speakers: Tensor
    times: Tensor
    rotation: Tensor


def read(weights: Weights, story: Story, count: int) -> tuple[Tensor, list[Tensor]]:
    """The query after ``count`` hops (batch × dim), and the attention of each (batch × memories)."""
    query, attention = _Read.apply(*weights, story, count)  # type: ignore[no-untyped-call]
    return query, list(attention.unbind())


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        words, speakers, times, rotation, story, count = inputs
        tables = cells.Tables(story.lines.summed(words), speakers, times)
        query, stored, ctx.places = cells.look_up(tables, story.queries, story.memories)
        query, ctx.way = hops.walk(query, stored, rotation, story.empty, count)
        ctx.lines = story.lines
        ctx.save_for_backward(rotation)
        attention = torch.cat(ctx.way.shares, dim=1).transpose(0, 1)
        ctx.mark_non_differentiable(attention)
        return query, attention

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        (rotation,) = ctx.saved_tensors
        grad_query, grad_stored, grad_rotation = hops.gradients(ctx.way, rotation, grads[0])
        found = cells.gradients(ctx.places, grad_query, grad_stored)
        return ctx.lines.spread(found.lines), found.speakers, found.times, grad_rotation, None, None
