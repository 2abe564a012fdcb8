"""Scores of all candidates and their cross entropy, each one operation with its own gradient.

    s = q Cᵀ, where C holds the sums of the candidates' words
    loss = mean over the batch of  log Σ_y exp(s_y) − s_gold,    ∂loss/∂s = (softmax(s) − [gold]) / batch

Scores are the largest tensor of a step. Taking the gradient from the shares that the loss needs anyhow spares a pass
over them in each direction.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from dialgauge.rankers.neural.encoding import WordBags


def scored(query: Tensor, weights: Tensor, candidates: WordBags) -> Tensor:
    """Scores (batch × candidates) of queries (batch × dim); ``weights`` are the vectors of the candidates' words."""
    operation = _ScoredOne if len(query) == 1 and torch.is_grad_enabled() else _Scored
    scores: Tensor = operation.apply(query, weights, candidates)  # type: ignore[no-untyped-call]
    return scores


class _ScoredOne(torch.autograd.Function):
    """For one query: s = Φ (W q), so that no candidate is embedded and the gradient of W is one outer product."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, weights: Tensor, candidates: WordBags) -> Tensor:
        ctx.candidates = candidates
        ctx.save_for_backward(query, weights)
        return candidates.counts.mv(weights.detach().mv(query[0]))[None]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, Tensor, None]:
        query, weights = ctx.saved_tensors
        by_word = ctx.candidates.counts_by_word.mv(grads[0][0])
        return by_word[None] @ weights, torch.outer(by_word, query[0]), None


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


class Extra(Protocol):
    """What candidates share with the dialogs of a batch besides words."""

    def added(self, scores: Tensor, by_row: Tensor) -> Tensor:
        """The scores with each share added (``by_row``: batch × rows of extra weights)."""


#: A share below this has lost digits, or all of them; its logarithm must come from the scores.
_TINY = 1e-30


def cross_entropy(scores: Tensor, gold: Tensor) -> Tensor:
    """The mean cross entropy (a scalar) of scores (batch × candidates) and the places of the gold candidates."""
    loss: Tensor = _CrossEntropy.apply(scores, gold[:, None])  # type: ignore[no-untyped-call]
    return loss


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, gold: Tensor) -> Tensor:
        shares = torch.softmax(scores, dim=1)
        own = shares.gather(1, gold)
        ctx.excess = shares.scatter_(1, gold, own - 1)
        if (own < _TINY).any():
            return -torch.log_softmax(scores, dim=1).gather(1, gold).mean()
        return -own.log_().mean()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None]:
        if ctx.excess is None:
            raise RuntimeError("the gradient of this cross entropy can be asked for only once")
        # Scaled in place: another tensor of that size would cost more than the arithmetic.
        excess, ctx.excess = ctx.excess, None
        return excess.mul_(grads[0] / excess.shape[0]), None
