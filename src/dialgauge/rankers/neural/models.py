"""The learned models: end-to-end memory networks, supervised embeddings, and our own ``typed``."""

from __future__ import annotations

import msgspec
import numpy as np
import torch
from torch import nn

from dialgauge.formats import NO_RESULT
from dialgauge.rankers.bags import tokens, words_and_pairs
from dialgauge.rankers.episode import Line, Point
from dialgauge.rankers.neural.config import Hyperparameters, embedding_preset, memory_preset
from dialgauge.rankers.neural.entities import Entities, MatchTypes, TypedEntities
from dialgauge.rankers.neural.learned import LearnedRanker, all_settings_but
from dialgauge.rankers.neural.networks import Hops, Sum
from dialgauge.rankers.ranker import Attention


class MemN2N(LearnedRanker):
    """An end-to-end memory network over the lines of the dialog (Sukhbaatar et al. 2015; Bordes et al. 2017, appendix
    A)."""

    name = "memn2n"
    summary = "end-to-end memory network"
    settable = all_settings_but("history", "shared")

    def preset_config(self, task: int, preset: str) -> Hyperparameters:
        return memory_preset(task, preset)

    def reader(self) -> nn.Module:
        return Hops(self.config)

    @torch.no_grad()
    def attention(self, point: Point) -> Attention:
        """Where the network looks before it answers at a point."""
        _, hops = self.module.read(self._batch(self._encoded([point]), np.zeros(1, dtype=np.int64)))
        looks = [tuple(hop[0].flip(0).tolist()) for hop in hops] if point.history else []
        return Attention(self.view(point).history, tuple(looks))


class MemN2NTypes(MemN2N):
    """A memory network with match types."""

    name = "memn2n-type"
    summary = "end-to-end memory network with match types"

    def learn_world(self) -> Entities:
        return MatchTypes(self.facts, self.schema)


class Embeddings(LearnedRanker):
    """Supervised embeddings (Bai et al. 2009; Bordes et al. 2017, section 4.3) of words: no speakers and no order."""

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
    """Embeddings with match types; without history a candidate has words for all its types, matched or not."""

    name = "embeddings-type"
    summary = "supervised embeddings with match types"

    def learn_world(self) -> Entities:
        self._types = MatchTypes(self.facts, self.schema)
        return self._types if self.config.history else Entities()

    def candidate_words(self, text: str) -> list[str]:
        types = [] if self.config.history else [f"type {kind}" for _, kind in self._types.mentioned(text)]
        return [*tokens(text), *dict.fromkeys(types)]


class EmbeddingsBigrams(Embeddings):
    """Supervised embeddings with pairs of adjacent words on both sides."""

    name = "embeddings-bigrams"
    summary = "supervised embeddings with word pairs"

    def line_words(self, text: str) -> list[str]:
        return words_and_pairs(text)

    def candidate_words(self, text: str) -> list[str]:
        return words_and_pairs(text)


#: What a list of facts reads as.
SOME_FACTS = Line("fact", "<facts>")


class Typed(MemN2N):
    """A memory network over typed entities that knows what the dialog says of each.

    Words of the dialog that are entities of the knowledge base are replaced by a word for their kind, and left out of
    the candidates, so nothing can be learned about a particular restaurant or town. What a candidate's entities have to
    do with the dialog comes in as features (``TypedEntities``), each with a learned weight. What facts say is in the
    features, so facts that follow each other are one memory, however many they are.
    """

    name = "typed"
    summary = "memory network over typed entities (ours)"
    settable = all_settings_but("history", "shared", "entity_dropout", "preset")
    entities: TypedEntities

    def preset_config(self, task: int, preset: str) -> Hyperparameters:
        return Hyperparameters(dim=32, hops=3)

    def learn_world(self) -> TypedEntities:
        return TypedEntities(self.facts, self.schema)

    def line_words(self, text: str) -> list[str]:
        return self.entities.typed(text)

    def candidate_words(self, text: str) -> list[str]:
        return self.entities.bare(text)

    def view(self, point: Point) -> Point:
        """Facts that follow each other, except "no result", become one line."""
        history: list[Line] = []
        for line in point.history:
            shown = SOME_FACTS if line.kind == "fact" and line.text != NO_RESULT else line
            if shown is not SOME_FACTS or history[-1:] != [SOME_FACTS]:
                history.append(shown)
        return msgspec.structs.replace(point, history=tuple(history))
