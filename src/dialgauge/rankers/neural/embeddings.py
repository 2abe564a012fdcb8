"""Supervised embeddings (Bai et al. 2009; Bordes et al. 2017, section 4.3): f(x, y) = (A Φ(x))ᵀ (B Φ(y)).

Φ is a bag of words; A and B may be one matrix. The input is the last utterance, or the whole history with it. With
match types a candidate's bag also has the words of its types (w_T): of those that match when the history is read, of
all it has when only the last utterance is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.rankers.episode import Point
from dialgauge.rankers.features import words_and_pairs
from dialgauge.rankers.neural.config import Hyperparameters, embedding_preset
from dialgauge.rankers.neural.encoding import EncodedPoints, Ints, WordBags, padded
from dialgauge.rankers.neural.learned import Batch, LearnedRanker, MatchTyped, all_settings_but
from dialgauge.rankers.neural.scoring import Extra, scored


class Embeddings(LearnedRanker):
    """Input and candidate as sums of word vectors; the score is their product."""

    name = "embeddings"
    summary = "supervised embeddings"
    settable = all_settings_but("hops", "entity_dropout")

    def preset_config(self, task: int) -> Hyperparameters:
        return embedding_preset(task, self.preset)

    def make_module(self, words: int, candidate_words: int, generator: torch.Generator) -> nn.Module:
        return EmbeddingModel(words, candidate_words, self.extra_rows, self.config, generator)

    def batch_lengths(self, encoded: EncodedPoints) -> Ints:
        return encoded.lengths if self.config.history else np.zeros(len(encoded), dtype=np.int64)

    def batch_scores(self, batch: Batch) -> Tensor:
        inputs = batch.encoded.queries[batch.rows][:, None]
        if self.config.history:
            memories, _, _ = padded(batch.encoded, batch.rows)
            inputs = np.concatenate([memories, inputs], axis=1)
        lines, places = batch.lines_of(inputs)
        scores: Tensor = self.module(lines, self.tensor(places), self.candidate_bags, self.shared_with(batch))
        return scores


class EmbeddingsTypes(MatchTyped, Embeddings):
    """The same with match types; without history a candidate has the words of all its types, matched or not."""

    name = "embeddings-type"
    summary = "supervised embeddings with match types"

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        return super().contexts(points) if self.config.history else self.types.matcher.everything(points)


class EmbeddingsBigrams(Embeddings):
    """The same with pairs of adjacent words in both bags."""

    name = "embeddings-bigrams"
    summary = "supervised embeddings with word pairs"

    def split_line(self, text: str) -> list[str]:
        return words_and_pairs(text)

    def split_candidate(self, text: str) -> list[str]:
        return words_and_pairs(text)


class EmbeddingModel(nn.Module):
    """Scores all candidates for a batch of inputs, each a bag of lines."""

    def __init__(
        self, words: int, candidate_words: int, extra: int, config: Hyperparameters, generator: torch.Generator
    ) -> None:
        super().__init__()

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, generator=generator) * config.std)

        self.words = drawn(words, config.dim)
        self.candidates = self.words if config.shared else drawn(candidate_words, config.dim)
        self.extra = drawn(extra, config.dim) if extra else None

    def forward(self, lines: WordBags, inputs: Tensor, candidates: WordBags, extra: Extra | None) -> Tensor:
        """Scores (batch × candidates). ``lines`` holds the words of all lines, ``inputs`` line numbers (0 pads)."""
        query = functional.embedding_bag(inputs, lines.sums(self.words), mode="sum")
        scores = scored(query, self.candidates, candidates)
        if extra is None or self.extra is None:
            return scores
        return extra.added(scores, query @ self.extra.T)
