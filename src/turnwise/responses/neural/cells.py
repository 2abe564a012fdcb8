"""The memories and queries of a batch: rows of tables, looked up and added, as one operation with its own gradient.

    memory = lines[line] + speakers[speaker] + times[time],    query = lines[line]

The gradient of a row is the sum over the cells that hold it, added up in the order of the cells: the same on every run,
on a GPU too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def look_up(
    tables: tuple[Tensor, Tensor, Tensor], queries: Tensor, cells: tuple[Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """The queries (batch × dim) and the memories (batch × memories × dim).

    ``tables`` are the vectors of lines, speakers and times (rows × dim); ``queries`` holds numbers of lines, ``cells``
    the line, speaker and time of each memory (batch × memories). No time may reach the longest history.
    """
    found: tuple[Tensor, Tensor] = _Cells.apply(*tables, queries, *cells)  # type: ignore[no-untyped-call]
    return found


class _Cells(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        lines, speakers, times, queries, memories, speaker, time = inputs
        kept = times[: memories.shape[1]]  # no memory is older than the longest history
        tags = (speakers[:, None] + kept).flatten(end_dim=1)
        tagged = torch.add(time, speaker, alpha=len(kept)).flatten()
        cells = torch.cat([memories.flatten(), queries])
        found = lines.index_select(0, cells)
        query, stored = found[len(tagged) :], found[: len(tagged)].add_(tags.index_select(0, tagged))
        ctx.rows = [len(table) for table in (lines, speakers, times)]
        ctx.save_for_backward(cells, tagged)
        return query, stored.view(*memories.shape, -1)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        cells, tagged = ctx.saved_tensors
        lines, speakers, times = ctx.rows
        grad_query, grad_stored = grads[0], grads[1].flatten(end_dim=1)
        grad_lines = _summed(torch.cat([grad_stored, grad_query]), cells, lines)
        kept = min(times, grads[1].shape[1])
        grad_tags = _summed(grad_stored, tagged, speakers * kept).view(speakers, kept, -1)
        grad_times = functional.pad(grad_tags.sum(dim=0), (0, 0, 0, times - kept))
        return grad_lines, grad_tags.sum(dim=1), grad_times, None, None, None, None


def _summed(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """Values (cells × dim) added up by the row that each belongs to (``count`` × dim), in a fixed order."""
    if values.is_cuda:  # where index_add_ adds in whatever order its threads come
        return _summed_by_row(values, rows, count)
    return values.new_zeros(count, values.shape[1]).index_add_(0, rows, values)


def _summed_by_row(values: Tensor, rows: Tensor, count: int) -> Tensor:
    starts = torch.zeros(count + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(torch.bincount(rows, minlength=count), dim=0, out=starts[1:])
    return functional.embedding_bag(torch.argsort(rows, stable=True), values, starts[:-1], mode="sum")
