"""End-to-end memory networks (Sukhbaatar et al. 2015; Bordes et al. 2017, appendix A)."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from dialgauge.rankers.episode import Point
from dialgauge.rankers.neural.config import Hyperparameters, memory_preset
from dialgauge.rankers.neural.entities import Entities, MatchTypes
from dialgauge.rankers.neural.learned import LearnedRanker, all_settings_but
from dialgauge.rankers.neural.networks import Hops
from dialgauge.rankers.ranker import Attention


class MemN2N(LearnedRanker):
    """An end-to-end memory network over the lines of the dialog."""

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
        batch = self._batch(self._encoded([point]), np.zeros(1, dtype=np.int64))
        _, hops = self.module.read(batch)
        chosen = self.candidates[int(self._scores(batch)[0].argmax())]
        looks = [hop[0].flip(0).tolist() for hop in hops] if point.history else []
        return Attention.of(self.view(point), chosen, looks)


class MemN2NTypes(MemN2N):
    """The same with match types."""

    name = "memn2n-type"
    summary = "end-to-end memory network with match types"

    def learn_world(self) -> Entities:
        return MatchTypes(self.facts, self.schema)
