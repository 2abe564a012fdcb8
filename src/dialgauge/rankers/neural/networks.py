"""The networks of Bordes et al. (2017): a reader turns a dialog into a vector, and candidates are scored against it.

    score(y) = Σ over words w of y: qᵀ W_w  +  Σ over entities e of y, over features f of e in the dialog: qᵀ v_f

    embeddings      q is the sum of the vectors of all words of the dialog, or of its last line (section 4.3)
    memory network  q begins as the last line; p = softmax(M q), q ← q + R Mᵀ p for every hop (appendix A)

A memory is one line of the history: the sum of the vectors of its words, its speaker and its age. Match types (section
4.5) are features: an entity of type T has feature T when the dialog mentions it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.rankers.neural.config import TIMES, Hyperparameters

# Dialogs as numbers: texts as lists of words, histories as lists of lines, and batches of them as tensors.

Ints = NDArray[np.int64]


class Ragged:
    """Lists of numbers, one after the other."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self.lengths: Ints = np.array([len(one) for one in lists], dtype=np.int64)
        self._values: Ints = np.array([*chain.from_iterable(lists)], dtype=np.int64)
        self._starts: Ints = np.cumsum(self.lengths) - self.lengths

    def joined(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of some lists, one list after the other, and where each begins."""
        lengths = self.lengths[rows]
        begins = np.cumsum(lengths) - lengths
        moved = np.repeat(self._starts[rows] - begins, lengths)
        return self._values[moved + np.arange(len(moved))], begins

    def backwards(self, rows: Ints) -> Ints:
        """Some lists as rows of a matrix, each from its last number to its first, filled up with 0."""
        lengths = self.lengths[rows][:, None]
        place = lengths - 1 - np.arange(lengths.max(initial=0))
        held = place >= 0
        matrix = np.zeros(place.shape, dtype=np.int64)
        matrix[held] = self._values[(self._starts[rows][:, None] + place)[held]]
        return matrix


class Counts:
    """How often each text holds each word: a sparse matrix (texts × words) that can only multiply.

    Words that more than one text in a hundred holds are columns of a dense matrix, the others are looked up one by one.
    PyTorch's sparse matrices and ``EmbeddingBag`` are as fast forward, but sort all words anew for every gradient.
    """

    def __init__(self, texts: Sequence[Sequence[int]], words: int, device: torch.device) -> None:
        self.words = words
        holding = Counter(word for text in texts for word in set(text))
        common = {word: column for column, word in enumerate(w for w in holding if holding[w] > len(texts) / 100)}
        dense = np.zeros((len(texts), len(common)), dtype=np.float32)
        rare: list[tuple[int, int]] = []
        for row, text in enumerate(texts):
            for word in text:
                if word in common:
                    dense[row, common[word]] += 1
                else:
                    rare.append((row, word))
        self._dense = torch.from_numpy(dense).to(device)
        self._common = torch.tensor(list(common), dtype=torch.long, device=device)
        self._rows, self._rare = torch.tensor(rare, dtype=torch.long, device=device).reshape(-1, 2).T.contiguous()

    def __matmul__(self, values: Tensor) -> Tensor:
        """For every text the sum of its words' values (words × n)."""
        summed = self._dense @ values.index_select(0, self._common)
        return summed.index_add_(0, self._rows, values.index_select(0, self._rare))


class Points(NamedTuple):
    """Dialogs to answer, in columns."""

    #: The words of all lines; line 0 has none.
    lines: Ragged
    #: For each dialog the lines of its history, oldest first, and its last line.
    memories: Ragged
    queries: Ints
    #: For each dialog what it says of entities: entity × number of features + feature.
    said: Ragged
    #: The place of the reply among the candidates (-1: not known).
    gold: Ints


class Batch(NamedTuple):
    """Some of them as tensors."""

    #: The words of the distinct lines, where each line begins, and the weight of each word (None: 1).
    words: Tensor
    begins: Tensor
    weights: Tensor | None
    #: For each dialog its last line and then its memories, newest first (batch × 1 + memories), and which are missing.
    lines: Tensor
    missing: Tensor
    #: Which entity has which feature in which dialog, in parallel columns.
    entity: Tensor
    feature: Tensor
    dialog: Tensor


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
        """The dialogs as vectors, and the attention of each hop (batch × memories)."""
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
