"""Supervised embeddings (Bai et al. 2009; Bordes et al. 2017, section 4.3): the input is a bag of words."""

from __future__ import annotations

from torch import nn

from dialgauge.rankers.features import tokens, words_and_pairs
from dialgauge.rankers.neural.config import Hyperparameters, embedding_preset
from dialgauge.rankers.neural.entities import Entities, MatchTypes
from dialgauge.rankers.neural.learned import LearnedRanker, all_settings_but
from dialgauge.rankers.neural.networks import Sum


class Embeddings(LearnedRanker):
    """Words alone: no speakers and no order."""

    name = "embeddings"
    summary = "supervised embeddings"
    settable = all_settings_but("hops", "entity_dropout")

    def preset_config(self, task: int, preset: str) -> Hyperparameters:
        return embedding_preset(task, preset)

    def reader(self) -> nn.Module:
        return Sum()

    def memory_words(self, kind: str, text: str) -> list[str]:
        return self.line_words(text)


class EmbeddingsTypes(Embeddings):
    """The same with match types; without history a candidate has words for all its types, matched or not."""

    name = "embeddings-type"
    summary = "supervised embeddings with match types"

    def learn_world(self) -> Entities:
        self._types = MatchTypes(self.facts, self.schema)
        return self._types if self.config.history else Entities()

    def candidate_words(self, text: str) -> list[str]:
        types = [] if self.config.history else [f"type {kind}" for _, kind in self._types.mentioned(text)]
        return [*tokens(text), *dict.fromkeys(types)]


class EmbeddingsBigrams(Embeddings):
    """The same with pairs of adjacent words on both sides."""

    name = "embeddings-bigrams"
    summary = "supervised embeddings with word pairs"

    def line_words(self, text: str) -> list[str]:
        return words_and_pairs(text)

    def candidate_words(self, text: str) -> list[str]:
        return words_and_pairs(text)
