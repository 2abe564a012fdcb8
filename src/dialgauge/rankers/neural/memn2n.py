"""Memory networks as rankers, with and without match types."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dialgauge.dialogue import Fact
from dialgauge.rankers.episode import Point
from dialgauge.rankers.neural.config import Hyperparameters, memory_preset
from dialgauge.rankers.neural.encoding import Ints, padded
from dialgauge.rankers.neural.learned import Batch, LearnedRanker, all_settings_but
from dialgauge.rankers.neural.matching import MatchTypes
from dialgauge.rankers.neural.memory_network import Extra, MemoryNetwork
from dialgauge.responses import Attention


class MemN2N(LearnedRanker):
    """An end-to-end memory network over the lines of the dialog."""

    name = "memn2n"
    summary = "end-to-end memory network"
    settable = all_settings_but("history", "shared")

    #: Rows of weights for what candidates share with the dialog besides words.
    extra_rows = 0

    def preset_config(self, task: int) -> Hyperparameters:
        return memory_preset(task, self.preset)

    def make_module(self, words: int, candidate_words: int, generator: torch.Generator) -> nn.Module:
        return MemoryNetwork(words, candidate_words, self.extra_rows, self.config, generator)

    def shared_with(self, batch: Batch) -> Extra | None:
        """What candidates share with each dialog of the batch besides words."""
        del batch
        return None

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
        columns = (batch.encoded.queries[batch.rows], *padded(batch.encoded, batch.rows))
        queries, memories, speakers, times = (self.tensor(column) for column in columns)
        return self.module.read(batch.lines, queries, memories, speakers, times, batch.kept)

    def batch_loss(self, batch: Batch) -> Tensor:
        batch.kept = self._kept_words(batch)
        return super().batch_loss(batch)

    def _kept_words(self, batch: Batch) -> Tensor | None:
        """Per word 0 where the batch leaves it out: a share of the knowledge base's words, drawn for every batch."""
        if not self.config.entity_dropout:
            return None
        drawn = torch.rand(len(self.is_entity), generator=self.draws(batch), device=self.device)
        return 1 - (self.is_entity & (drawn < self.config.entity_dropout)).float()


class MemN2NTypes(MemN2N):
    """The same with a word for every type in which candidate and dialog share an entity."""

    name = "memn2n-type"
    summary = "end-to-end memory network with match types"

    def learn_world(self, facts: Sequence[Fact]) -> None:
        self._types = MatchTypes(facts, self.schema, self.candidates)
        self.extra_rows = self._types.kinds

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        return self._types.matcher.present(points)

    def shared_with(self, batch: Batch) -> Extra | None:
        return self._types.matches(batch.contexts, self.tensor)
