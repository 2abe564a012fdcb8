"""The end-to-end memory network (Sukhbaatar et al. 2015) as used by Bordes et al. 2017, appendix A.

    m_i = A Φ(c_i),  q_1 = A Φ(x);   p = softmax(qᵀ m),  o = R Σ p_i m_i,  q ← q + o   (N hops)
    score(y) = qᵀ W Φ(y) + Σ_T match(x, y, T) qᵀ w_T

Φ is a bag of words; a memory's bag also has a word for its speaker and one for its time. One A for memories and query,
one R for all hops; W is the candidates' own matrix. Cells that hold no memory get no attention.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.rankers.neural import hops
from dialgauge.rankers.neural import lookup as cells
from dialgauge.rankers.neural.config import Hyperparameters
from dialgauge.rankers.neural.encoding import TIMES, WordBags
from dialgauge.rankers.neural.lookup import Cells
from dialgauge.rankers.neural.scoring import scored


class MemoryNetwork(nn.Module):
    """Scores all candidates for a batch of points."""

    def __init__(
        self, words: int, candidate_words: int, extra: int, config: Hyperparameters, generator: torch.Generator
    ) -> None:
        super().__init__()
        dim = config.dim

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, generator=generator) * config.std)

        self.hops = config.hops
        self.words = drawn(words, dim)
        self.speakers = drawn(2, dim)
        self.times = drawn(TIMES, dim)
        self.rotation = drawn(dim, dim)
        self.candidates = drawn(candidate_words, dim)
        self.extra = drawn(extra, dim) if extra else None

    def read(
        self,
        lines: WordBags,
        queries: Tensor,
        memories: Tensor,
        speakers: Tensor,
        times: Tensor,
        kept: Tensor | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        """The query after all hops (batch × dim), and the attention of each hop (batch × memories).

        ``lines`` holds the words of all lines; ``kept`` (one number per word) is 0 for words to leave out; the others
        are line numbers, speakers and times (-1: no memory).
        """
        words = self.words if kept is None else self.words * kept[:, None]
        if not memories.shape[1]:
            return functional.embedding(queries, lines.sums(words)), []
        weights = MemoryWeights(words, self.speakers, self.times, self.rotation)
        empty = times < 0
        story = Story(lines, queries, Cells(memories, speakers, times), None)
        if empty.any():  # seldom, because batches hold points of similar length
            story = story._replace(memories=Cells(memories, speakers, times.clamp(min=0)), empty=empty)
        return read(weights, story, self.hops)

    def forward(self, query: Tensor, candidates: WordBags, extra: Extra | None = None) -> Tensor:
        """Scores (batch × candidates) from the query after all hops; ``candidates`` holds their words."""
        scores = scored(query, self.candidates, candidates)
        if extra is None or self.extra is None:
            return scores
        return extra.added(scores, query @ self.extra.T)


class Extra(Protocol):
    """What candidates share with the dialogs of a batch besides words."""

    def added(self, scores: Tensor, by_row: Tensor) -> Tensor:
        """The scores with each share added (``by_row``: batch × rows of extra weights)."""


class Matches:
    """Which (candidate, type) pairs match for each point of a batch: ``present`` is batch × entities."""

    def __init__(self, present: Tensor, candidate: Tensor, kind: Tensor, entities: Tensor) -> None:
        self._candidate, self._kind = candidate, kind
        self._matched = present[:, entities].amax(dim=2)

    def added(self, scores: Tensor, by_row: Tensor) -> Tensor:
        """The scores with each matching pair's share (``by_row``: batch × types) added to its candidate."""
        return scores.index_add(1, self._candidate, self._matched * by_row[:, self._kind])


class MarkedMemory:
    """Marks on entities (see ``entity_marks``) in place of match types.

    The marks of a batch are three columns: point, entity, row of extra weights; ``pairs`` says which entities each
    candidate names.
    """

    def __init__(self, marks: tuple[Tensor, Tensor, Tensor], count: int, pairs: tuple[Tensor, Tensor]) -> None:
        self._point, self._entity, self._row = marks
        self._count = count
        self._candidate, self._named = pairs

    def added(self, scores: Tensor, by_row: Tensor) -> Tensor:
        """The scores with the weight of each entity's marks added to the candidates that name it."""
        worth = scores.new_zeros(len(scores), self._count)
        worth = worth.index_put((self._point, self._entity), by_row[self._point, self._row], accumulate=True)
        return scores.index_add(1, self._candidate, worth[:, self._named])


# How a memory network reads a batch: lines embedded, memories looked up, hops; one operation with its own gradient.
#
# It is one operation because at these sizes much of a step is what PyTorch does between the arithmetic.


class Story(NamedTuple):
    """The words of all lines, the lines of queries and memories, and which cells hold no memory (None: all do)."""

    lines: WordBags
    queries: Tensor
    memories: cells.Cells
    empty: Tensor | None


class MemoryWeights(NamedTuple):
    """The vectors of words, speakers and times, and the rotation between hops."""

    words: Tensor
    speakers: Tensor
    times: Tensor
    rotation: Tensor


def read(weights: MemoryWeights, story: Story, count: int) -> tuple[Tensor, list[Tensor]]:
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
