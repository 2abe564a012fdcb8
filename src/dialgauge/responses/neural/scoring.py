"""Scores of all candidates as one operation with its own gradient: s = q Cᵀ, where C holds the sums of their words."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dialgauge.responses.neural.word_bags import WordBags


def scored(query: Tensor, weights: Tensor, candidates: WordBags) -> Tensor:
    """Scores (batch × candidates) of queries (batch × dim); ``weights`` are the vectors of the candidates' words."""
    scores: Tensor = _Scored.apply(query, weights, candidates)  # type: ignore[no-untyped-call]
    return scores


class _Scored(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, weights: Tensor, candidates: WordBags) -> Tensor:
        embedded = candidates.summed(weights)
        ctx.embedded, ctx.candidates = embedded, candidates
        ctx.save_for_backward(query)
        return query @ embedded.T

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, Tensor, None]:
        (query,) = ctx.saved_tensors
        return grads[0] @ ctx.embedded, ctx.candidates.spread(grads[0].T @ query), None
