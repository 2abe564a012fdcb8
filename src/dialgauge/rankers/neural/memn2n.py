"""The end-to-end memory network (Sukhbaatar et al. 2015) as used by Bordes et al. 2017, with and without match types.

    m_i = A Φ(c_i),  q_1 = A Φ(x);   p = softmax(qᵀ m),  o = R Σ p_i m_i,  q ← q + o   (N hops)
    score(y) = qᵀ W Φ(y) + Σ_T match(x, y, T) qᵀ w_T

Φ is a bag of words; a memory's bag also has a word for its speaker and one for its time. One A for memories and query,
one R for all hops; W is the candidates' own matrix. Cells that hold no memory get no attention.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.rankers.episode import Point
from dialgauge.rankers.neural.config import TIMES, Hyperparameters, memory_preset
from dialgauge.rankers.neural.encoding import WordBags, padded
from dialgauge.rankers.neural.learned import Batch, LearnedRanker, MatchTyped, all_settings_but
from dialgauge.rankers.neural.reading import MemoryCells, MemoryWeights, ReadingInput, read
from dialgauge.rankers.neural.scoring import Extra, scored
from dialgauge.rankers.ranker import Attention


class MemN2N(LearnedRanker):
    """An end-to-end memory network over the lines of the dialog."""

    name = "memn2n"
    summary = "end-to-end memory network"
    settable = all_settings_but("history", "shared")

    def preset_config(self, task: int) -> Hyperparameters:
        return memory_preset(task, self.preset)

    def make_module(self, words: int, candidate_words: int, generator: torch.Generator) -> nn.Module:
        return MemoryNetwork(words, candidate_words, self.extra_rows, self.config, generator)

    def batch_scores(self, batch: Batch) -> Tensor:
        query, _ = self.read(batch)
        scores: Tensor = self.module(query, self.candidate_bags, self.shared_with(batch))
        return scores

    @torch.no_grad()
    def attention(self, point: Point) -> Attention:
        """Where the network looks before it answers at a point."""
        (batch,) = self.batches_of([point])
        _, hops = self.read(batch)
        chosen = self.candidates[int(self.batch_scores(batch)[0].argmax())]
        return Attention.of(self.view(point), chosen, [hop[0].tolist() for hop in hops])

    def read(self, batch: Batch) -> tuple[Tensor, list[Tensor]]:
        """The query after all hops, and the attention of each hop over the memories."""
        assert isinstance(self.module, MemoryNetwork)  # noqa: S101 - made by make_module
        memories, speakers, times = padded(batch.encoded, batch.rows)
        asked = batch.encoded.queries[batch.rows]
        lines, places = batch.lines_of(np.concatenate([asked[:, None], memories], axis=1))
        queries, stored, speaking, ages = map(self.tensor, (places[:, 0], places[:, 1:], speakers, times))
        return self.module.read(lines, queries, stored, speaking, ages, batch.kept)

    def batch_loss(self, batch: Batch) -> Tensor:
        if self.config.entity_dropout:  # leaves a share of the knowledge base's words out, drawn for every batch
            drawn = torch.rand(len(self.is_entity), generator=self.draws(batch), device=self.device)
            batch.kept = 1 - (self.is_entity & (drawn < self.config.entity_dropout)).float()
        return super().batch_loss(batch)


class MemN2NTypes(MatchTyped, MemN2N):
    """The same with match types."""

    name = "memn2n-type"
    summary = "end-to-end memory network with match types"


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
        batch = ReadingInput(lines, queries, MemoryCells(memories, speakers, times), None)
        if empty.any():  # seldom, because batches hold points of similar length
            batch = batch._replace(memories=MemoryCells(memories, speakers, times.clamp(min=0)), empty=empty)
        return read(weights, batch, self.hops)

    def forward(self, query: Tensor, candidates: WordBags, extra: Extra | None = None) -> Tensor:
        """Scores (batch × candidates) from the query after all hops; ``candidates`` holds their words."""
        scores = scored(query, self.candidates, candidates)
        if extra is None or self.extra is None:
            return scores
        return extra.added(scores, query @ self.extra.T)
