"""How a memory network reads a batch: lines embedded, memories looked up, hops; one operation with its own gradient.

    memory = lines[line] + speakers[speaker] + times[time],    query = lines[line]
    p = softmax(M q),   o = Mᵀ p,   q ← q + R o      for every hop

It is one operation because at these sizes much of a step is what PyTorch does between the arithmetic. Left to automatic
differentiation, every hop would read and add up several tensors as large as the memories; here the gradient of the
memories is one product of what all hops left behind. Queries stand as rows (batch × 1 × dim): a product of a row and a
matrix is several times as fast on a CPU as the same product of a matrix and a column.

The gradient of a row of a table is the sum over the cells that hold it, added up in the order of the cells: the same on
every run, on a GPU too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dialgauge.rankers.neural.encoding import WordBags


class ReadingInput(NamedTuple):
    """The words of all lines, the lines of queries and memories, and which cells hold no memory (None: all do)."""

    lines: WordBags
    queries: Tensor
    memories: MemoryCells
    empty: Tensor | None


class MemoryWeights(NamedTuple):
    """The vectors of words, speakers and times, and the rotation between hops."""

    words: Tensor
    speakers: Tensor
    times: Tensor
    rotation: Tensor


def read(weights: MemoryWeights, batch: ReadingInput, count: int) -> tuple[Tensor, list[Tensor]]:
    """The query after ``count`` hops (batch × dim), and the attention of each (batch × memories)."""
    query, attention = _Read.apply(*weights, batch, count)  # type: ignore[no-untyped-call]
    return query, list(attention.unbind())


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        words, speakers, times, rotation, batch, count = inputs
        tables = VectorTables(batch.lines.summed(words), speakers, times)
        query, stored, ctx.rows = look_up(tables, batch.queries, batch.memories)
        query, ctx.trace = run_hops(query, stored, rotation, batch.empty, count)
        ctx.lines = batch.lines
        ctx.save_for_backward(rotation)
        attention = torch.cat(ctx.trace.shares, dim=1).transpose(0, 1)
        ctx.mark_non_differentiable(attention)
        return query, attention

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        (rotation,) = ctx.saved_tensors
        grad_query, grad_stored, grad_rotation = hop_gradients(ctx.trace, rotation, grads[0])
        grads_of = table_gradients(ctx.rows, grad_query, grad_stored)
        return ctx.lines.spread(grads_of.lines), grads_of.speakers, grads_of.times, grad_rotation, None, None


# Looking up: rows of tables, added.


class VectorTables(NamedTuple):
    """The vectors of lines, speakers and times (rows × dim)."""

    lines: Tensor
    speakers: Tensor
    times: Tensor


class MemoryCells(NamedTuple):
    """The line, speaker and time of each memory (batch × memories). No time may reach the number of memories."""

    lines: Tensor
    speakers: Tensor
    times: Tensor


class LookupRows(NamedTuple):
    """Where a batch was looked up: a line for each memory and then each query, a tag for each memory; all rows."""

    lines: Tensor
    tags: Tensor
    sizes: tuple[int, int, int]


def look_up(tables: VectorTables, queries: Tensor, cells: MemoryCells) -> tuple[Tensor, Tensor, LookupRows]:
    """The queries (batch × dim), the memories (batch × memories × dim), and the rows they came from."""
    kept = tables.times[: cells.times.shape[1]]
    tags = (tables.speakers.unsqueeze(1) + kept).flatten(end_dim=1)  # one look-up for speaker and time
    tagged = torch.add(cells.times, cells.speakers, alpha=kept.shape[0]).flatten()
    numbers = torch.cat([cells.lines.flatten(), queries])
    vectors = tables.lines.index_select(0, numbers)
    stored, query = torch.split(vectors, [tagged.shape[0], queries.shape[0]])
    stored.add_(tags.index_select(0, tagged))
    sizes = tables.lines.shape[0], tables.speakers.shape[0], tables.times.shape[0]
    return query, stored.view(*cells.lines.shape, -1), LookupRows(numbers, tagged, sizes)


def table_gradients(rows: LookupRows, grad_query: Tensor, grad_stored: Tensor) -> VectorTables:
    """The gradients of the tables from those of the queries and the memories."""
    lines, speakers, times = rows.sizes
    kept, grad_cells = min(times, grad_stored.shape[1]), grad_stored.flatten(end_dim=1)
    grad_lines = summed(torch.cat([grad_cells, grad_query]), rows.lines, lines)
    grad_tags = summed(grad_cells, rows.tags, speakers * kept).view(speakers, kept, -1)
    grad_times = functional.pad(grad_tags.sum(dim=0), (0, 0, 0, times - kept))
    return VectorTables(grad_lines, grad_tags.sum(dim=1), grad_times)


def summed(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """Values (cells × dim) added up by the row that each belongs to (``count`` × dim), in a fixed order."""
    if values.is_cuda:  # where index_add_ adds in whatever order its threads come
        return summed_by_row(values, rows, count)
    return values.new_zeros(count, values.shape[1]).index_add_(0, rows, values)


def summed_by_row(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """The same by sorting, so that the order of the additions never depends on threads."""
    starts = torch.zeros(count + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(torch.bincount(rows, minlength=count), dim=0, out=starts[1:])
    return functional.embedding_bag(torch.argsort(rows, stable=True), values, starts[:-1], mode="sum")


# Hops.


class HopTrace(NamedTuple):
    """The hops over some memories (batch × memories × dim): for each its query, its attention, and what it read."""

    memories: Tensor
    queries: list[Tensor]
    shares: list[Tensor]
    reads: list[Tensor]


def run_hops(
    query: Tensor, memories: Tensor, rotation: Tensor, empty: Tensor | None, hops: int
) -> tuple[Tensor, HopTrace]:
    """The query after all hops (batch × dim), and what each hop did.

    Cells marked ``empty`` (batch × memories; None: no cell is) get no attention, and where all are, the query stays.
    """
    mask = _Mask(empty, query.dtype) if empty is not None else None
    trace = HopTrace(memories, [], [], [])
    turned, rotated = memories.mT, rotation.T
    for _ in range(hops):
        row = query.unsqueeze(1)
        logits = torch.bmm(row, turned)
        share = torch.softmax(logits, dim=2) if mask is None else mask.softmax(logits)
        content = torch.bmm(share, memories).squeeze(1)
        trace.queries.append(row)
        trace.shares.append(share)
        trace.reads.append(content)
        query = torch.addmm(query, content, rotated)
    return query, trace


class _Mask:
    """A softmax over the cells that hold a memory; all zero where none does."""

    def __init__(self, empty: Tensor, dtype: torch.dtype) -> None:
        some = ~empty.all(dim=1, keepdim=True)
        hidden = torch.zeros_like(empty, dtype=dtype).masked_fill_(empty & some, float("-inf"))
        self._hidden, self._some = hidden.unsqueeze(1), some.unsqueeze(1)

    def softmax(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits.add_(self._hidden), dim=2).mul_(self._some)


def hop_gradients(trace: HopTrace, rotation: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From the gradient of the last query (batch × dim) those of the first one, of the memories and the rotation."""
    turned, grad_rotation = trace.memories.mT, torch.zeros_like(rotation)
    weights, rows = [], []
    for row, share, content in zip(reversed(trace.queries), reversed(trace.shares), reversed(trace.reads), strict=True):
        grad_rotation.addmm_(grad.T, content)
        grad_read = (grad @ rotation).unsqueeze(1)
        pulled = torch.bmm(grad_read, turned).mul_(share)
        grad_logits = torch.addcmul(pulled, share, pulled.sum(dim=2, keepdim=True), value=-1)
        weights += [grad_logits, share]
        rows += [row, grad_read]
        grad = torch.baddbmm(grad.unsqueeze(1), grad_logits, trace.memories).squeeze(1)
    return grad, torch.bmm(torch.cat(weights, dim=1).mT, torch.cat(rows, dim=1)), grad_rotation
