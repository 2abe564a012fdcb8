"""Supervised embeddings (Bai et al. 2009; Bordes et al. 2017, section 4.2): f(x, y) = (A Φ(x))ᵀ (B Φ(y)).

Φ is a bag of words; A and B may be one matrix. The input is the last utterance, or the whole history with it. With
match types a candidate's bag also has the words of its types (w_T): of those that match when the history is read, of
all it has when only the last utterance is.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.responses.neural.config import Config
from dialgauge.responses.neural.memory_network import Extra
from dialgauge.responses.neural.scoring import scored
from dialgauge.responses.neural.word_bags import WordBags


class EmbeddingModel(nn.Module):
    """Scores all candidates for a batch of inputs, each a bag of lines."""

    def __init__(
        self, words: int, candidate_words: int, extra: int, config: Config, generator: torch.Generator
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
