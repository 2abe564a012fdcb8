"""The networks of Bordes et al. (2017): a reader turns a dialog into a vector, and candidates are scored against it.

    score(y) = Σ over words w of y: qᵀ W_w  +  Σ over entities e of y, over features f of e in the dialog: qᵀ v_f

    embeddings      q is the sum of the vectors of all words of the dialog, or of its last line (section 4.3)
    memory network  q begins as the last line; p = softmax(M q), q ← q + R Mᵀ p for every hop (appendix A)

A memory is one line of the history: the sum of the vectors of its words, its speaker and its age. Match types (section
4.5) are features: an entity of type T has feature T when the dialog mentions it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.rankers.neural.config import TIMES, Hyperparameters
from dialgauge.rankers.neural.encoding import Batch, Counts


class Sum(nn.Module):
    """Reads a dialog as the sum of its lines."""

    def forward(self, lines: Tensor, missing: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The dialogs as vectors (batch × dim) from their lines (batch × 1 + memories × dim)."""
        del missing  # a sum of no words
        return lines.sum(dim=1), []


class Hops(nn.Module):
    """Reads a dialog by looking at its memories, hop by hop."""

    def __init__(self, config: Hyperparameters) -> None:
        super().__init__()
        self.hops = config.hops
        self.times = nn.Parameter(torch.empty(TIMES, config.dim))
        self.rotation = nn.Parameter(torch.empty(config.dim, config.dim))

    def forward(self, lines: Tensor, missing: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The same, and the attention of each hop (batch × memories)."""
        last, memories = torch.split(lines, [1, missing.shape[1]], dim=1)
        ages = torch.arange(missing.shape[1], device=lines.device).clamp(max=TIMES - 1)
        memories = memories + self.times.index_select(0, ages)
        there = (~missing).to(lines.dtype).unsqueeze(1)
        query, hidden, attention = last.squeeze(1), 1e9 * (there - 1), []
        for _ in range(self.hops):
            share = torch.softmax(torch.bmm(query.unsqueeze(1), memories.mT) + hidden, dim=2) * there
            query = torch.addmm(query, torch.bmm(share, memories).squeeze(1), self.rotation.T)
            attention.append(share.detach().squeeze(1))
        return query, attention


class Network(nn.Module):
    """Scores candidates for dialogs that a reader turns into vectors."""

    def __init__(
        self, reader: nn.Module, config: Hyperparameters, words: int, candidate_words: int, features: int
    ) -> None:
        super().__init__()
        self.reader = reader
        self.words = nn.Parameter(torch.empty(words, config.dim))
        self.candidates = self.words if config.shared else nn.Parameter(torch.empty(candidate_words, config.dim))
        self.features = nn.Parameter(torch.empty(features, config.dim)) if features else None

    def read(self, batch: Batch) -> tuple[Tensor, list[Tensor]]:
        """The dialogs as vectors (batch × dim), and the attention of each hop."""
        distinct = functional.embedding_bag(
            batch.words, self.words, batch.begins, mode="sum", per_sample_weights=batch.weights
        )
        lines = distinct.index_select(0, batch.lines.flatten()).view(*batch.lines.shape, -1)
        vectors: tuple[Tensor, list[Tensor]] = self.reader(lines, batch.missing)
        return vectors

    def forward(self, batch: Batch, words: Counts, entities: Counts) -> Tensor:
        """Scores (batch × candidates); ``words`` and ``entities`` are those of the candidates."""
        query, _ = self.read(batch)
        if len(query) > query.shape[1]:  # one product of three matrices, in the order that is less work
            scores = query @ (words @ self.candidates).T
        else:
            scores = (words @ (self.candidates @ query.T)).T
        if self.features is None:
            return scores
        worth = (self.features @ query.T)[batch.feature, batch.dialog]
        of_entities = worth.new_zeros(entities.words, len(query))
        of_entities = of_entities.index_put((batch.entity, batch.dialog), worth, accumulate=True)
        return scores + (entities @ of_entities).T


def margin_loss(scores: Tensor, gold: Tensor, others: Tensor, margin: float) -> Tensor:
    """Σ max(0, m − f(x, y) + f(x, ȳ)) over the other ȳ, averaged over the batch (section 4.3)."""
    own = scores.gather(1, gold[:, None])
    return functional.relu(margin - own + scores.gather(1, others)).sum(dim=1).mean()
