"""Supervised embeddings as rankers: plain, with match types, with word pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from dialgauge.dialogue import Fact
from dialgauge.responses.episodes import Point
from dialgauge.responses.neural.config import Config, embedding_preset
from dialgauge.responses.neural.embedding_model import EmbeddingModel
from dialgauge.responses.neural.encoding import Encoded, Ints, padded, words_and_pairs
from dialgauge.responses.neural.match_types import MatchTypes
from dialgauge.responses.neural.memory_network import Extra
from dialgauge.responses.neural.ranker import Batch, LearnedRanker, all_settings_but


class Embeddings(LearnedRanker):
    """Input and candidate as sums of word vectors; the score is their product."""

    name = "embeddings"
    summary = "supervised embeddings"
    settable = all_settings_but("hops", "entity_dropout")

    #: Rows of weights for match types.
    extra_rows = 0

    def preset_config(self, task: int) -> Config:
        return embedding_preset(task, self.preset)

    def make_module(self, words: int, candidate_words: int, generator: torch.Generator) -> nn.Module:
        return EmbeddingModel(words, candidate_words, self.extra_rows, self.config, generator)

    def batch_lengths(self, encoded: Encoded) -> Ints:
        return encoded.lengths if self.config.history else np.zeros(len(encoded), dtype=np.int64)

    def shared_with(self, batch: Batch) -> Extra | None:
        """Match types, for the variant that has them."""
        del batch
        return None

    def batch_scores(self, batch: Batch) -> Tensor:
        inputs = batch.encoded.queries[batch.rows][:, None]
        if self.config.history:
            memories, _, _ = padded(batch.encoded, batch.rows)
            inputs = np.concatenate([memories, inputs], axis=1)
        scores: Tensor = self.module(batch.lines, self.tensor(inputs), self.candidate_bags, self.shared_with(batch))
        return scores


class EmbeddingsTypes(Embeddings):
    """The same with match types; without history a candidate has the words of all its types, matched or not."""

    name = "embeddings-type"
    summary = "supervised embeddings with match types"

    def learn_world(self, facts: Sequence[Fact]) -> None:
        self._types = MatchTypes(facts, self.schema, self.candidates)
        self.extra_rows = self._types.kinds

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        matcher = self._types.matcher
        return matcher.present(points) if self.config.history else matcher.everything(points)

    def shared_with(self, batch: Batch) -> Extra | None:
        return self._types.matches(batch.contexts, self.tensor)


class EmbeddingsBigrams(Embeddings):
    """The same with pairs of adjacent words in both bags."""

    name = "embeddings-bigrams"
    summary = "supervised embeddings with word pairs"

    def split_line(self, text: str) -> list[str]:
        return words_and_pairs(text)

    def split_candidate(self, text: str) -> list[str]:
        return words_and_pairs(text)
