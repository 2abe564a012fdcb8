"""The hops of a memory network, and their gradient.

    p = softmax(M q),   o = Mᵀ p,   q ← q + R o      for every hop

Left to automatic differentiation, every hop would read and add up several tensors as large as the memories; here the
gradient of the memories is one product of what all hops left behind. Queries stand as rows (batch × 1 × dim): a product
of a row and a matrix is several times as fast on a CPU as the same product of a matrix and a column.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Walk(NamedTuple):
    """What the hops over some memories (batch × memories × dim) came by: per hop the query, its attention, its read."""

    memories: Tensor
    queries: list[Tensor]
    shares: list[Tensor]
    reads: list[Tensor]


def walk(query: Tensor, memories: Tensor, rotation: Tensor, empty: Tensor | None, hops: int) -> tuple[Tensor, Walk]:
    """The query after all hops (batch × dim), and the way there.

    Cells marked ``empty`` (batch × memories; None: no cell is) get no attention, and where all are, the query stays.
    """
    mask = _Mask(empty, query.dtype) if empty is not None else None
    way = Walk(memories, [], [], [])
    turned, rotated = memories.mT, rotation.T
    for _ in range(hops):
        row = query.unsqueeze(1)
        logits = torch.bmm(row, turned)
        share = torch.softmax(logits, dim=2) if mask is None else mask.softmax(logits)
        read = torch.bmm(share, memories).squeeze(1)
        way.queries.append(row)
        way.shares.append(share)
        way.reads.append(read)
        query = torch.addmm(query, read, rotated)
    return query, way


class _Mask:
    """A softmax over the cells that hold a memory; all zero where none does."""

    def __init__(self, empty: Tensor, dtype: torch.dtype) -> None:
        some = ~empty.all(dim=1, keepdim=True)
        hidden = torch.zeros_like(empty, dtype=dtype).masked_fill_(empty & some, float("-inf"))
        self._hidden, self._some = hidden.unsqueeze(1), some.unsqueeze(1)

    def softmax(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits.add_(self._hidden), dim=2).mul_(self._some)


def gradients(way: Walk, rotation: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From the gradient of the last query (batch × dim) those of the first one, of the memories and the rotation."""
    turned, grad_rotation = way.memories.mT, torch.zeros_like(rotation)
    weights, rows = [], []
    for row, share, read in zip(reversed(way.queries), reversed(way.shares), reversed(way.reads), strict=True):
        grad_rotation.addmm_(grad.T, read)
        grad_read = (grad @ rotation).unsqueeze(1)
        pulled = torch.bmm(grad_read, turned).mul_(share)
        grad_logits = torch.addcmul(pulled, share, pulled.sum(dim=2, keepdim=True), value=-1)
        weights += [grad_logits, share]
        rows += [row, grad_read]
        grad = torch.baddbmm(grad.unsqueeze(1), grad_logits, way.memories).squeeze(1)
    return grad, torch.bmm(torch.cat(weights, dim=1).mT, torch.cat(rows, dim=1)), grad_rotation
