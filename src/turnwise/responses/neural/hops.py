"""The hops of a memory network as one operation with its own gradient.

    p = softmax(M q),   o = Mᵀ p,   q ← q + R o      for every hop

Left to automatic differentiation, every hop would read and add up several tensors as large as the memories; here the
gradient of the memories is one product of what all hops left behind.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def read_memories(
    query: Tensor, memories: Tensor, rotation: Tensor, empty: Tensor, hops: int
) -> tuple[Tensor, list[Tensor]]:
    """The query after all hops (batch × dim) and each hop's attention (batch × memories).

    ``memories`` is batch × memories × dim; cells marked ``empty`` get no attention, and where all are, the query stays.
    """
    answer, *attention = _Hops.apply(query, memories, rotation, empty, hops)  # type: ignore[no-untyped-call]
    return answer, attention


class _Hops(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, memories: Tensor, rotation: Tensor, empty: Tensor, hops: int
    ) -> tuple[Tensor, ...]:
        queries, weights, reads = [], [], []
        some = ~empty.all(dim=1, keepdim=True)
        hidden = torch.zeros_like(empty, dtype=memories.dtype).masked_fill_(empty & some, float("-inf"))[:, None]
        turned, rotated, any_at_all = memories.mT, rotation.T, some[:, None]
        for _ in range(hops):
            share = torch.softmax(torch.baddbmm(hidden, query[:, None], turned), dim=2).mul_(any_at_all)
            read = torch.bmm(share, memories).squeeze(1)
            queries.append(query)
            weights.append(share.squeeze(1))
            reads.append(read)
            query = torch.addmm(query, read, rotated)
        ctx.hops = hops
        ctx.save_for_backward(memories, rotation, *queries, *weights, *reads)
        ctx.mark_non_differentiable(*weights)
        return query, *weights

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        memories, rotation, *kept = ctx.saved_tensors
        count = ctx.hops
        queries, weights, reads = kept[:count], kept[count : 2 * count], kept[2 * count :]
        grad, grad_rotation = grads[0], torch.zeros_like(rotation)
        columns, rows, turned = [], [], memories.mT
        for query, share, read in zip(reversed(queries), reversed(weights), reversed(reads), strict=True):
            grad_rotation.addmm_(grad.T, read)
            grad_read = grad @ rotation
            pulled = torch.bmm(grad_read[:, None], turned).squeeze(1)
            pulled *= share
            grad_logits = torch.addcmul(pulled, share, pulled.sum(dim=1, keepdim=True), value=-1)
            columns += [grad_logits, share]
            rows += [query, grad_read]
            grad = torch.baddbmm(grad[:, None], grad_logits[:, None], memories).squeeze(1)
        grad_memories = torch.bmm(torch.stack(columns, dim=1).mT, torch.stack(rows, dim=1))
        return grad, grad_memories, grad_rotation, None, None
