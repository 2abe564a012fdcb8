"""Sums of word vectors over many texts at once.

Distinct texts are embedded once per batch of dialogs, however often they occur in it. The gradient is the same
operation the other way round, over the texts that hold each word, so neither direction sorts or scatters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional


class WordBags:
    """Texts as bags of word numbers, and for each word the texts that hold it."""

    def __init__(self, texts: Sequence[Sequence[int]], words: int, device: torch.device) -> None:
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        flat = np.array([word for text in texts for word in text], dtype=np.int64)
        by_word = np.argsort(flat, kind="stable")

        def tensor(values: NDArray[Any]) -> Tensor:
            return torch.from_numpy(values.astype(np.int32)).to(device)

        self.words, self.starts = tensor(flat), tensor(_starts(lengths))
        self.texts = tensor(np.repeat(np.arange(len(texts)), lengths)[by_word])
        self.word_starts = tensor(_starts(np.bincount(flat, minlength=words)))

    def sums(self, weights: Tensor) -> Tensor:
        """Σ of the words' vectors for every text (texts × dim); ``weights`` is words × dim."""
        summed: Tensor = _Sum.apply(weights, self)  # type: ignore[no-untyped-call]
        return summed

    def summed(self, weights: Tensor) -> Tensor:
        """The same without a gradient."""
        # Detached: for weights that want a gradient PyTorch would note which word belongs to which text.
        return functional.embedding_bag(self.words, weights.detach(), self.starts, mode="sum")

    def spread(self, grad: Tensor) -> Tensor:
        """The gradient of the weights (words × dim) from that of the sums (texts × dim)."""
        return functional.embedding_bag(self.texts, grad.contiguous(), self.word_starts, mode="sum")


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, dtype=np.int64)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, bags: WordBags) -> Tensor:
        ctx.bags = bags
        return bags.summed(weights)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None]:
        return ctx.bags.spread(grads[0]), None
