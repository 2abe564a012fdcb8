"""The memories and queries of a batch as rows of tables, looked up and added, and the gradient of the tables.

    memory = lines[line] + speakers[speaker] + times[time],    query = lines[line]

The gradient of a row is the sum over the cells that hold it, added up in the order of the cells: the same on every run,
on a GPU too.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Tables(NamedTuple):
    """The vectors of lines, speakers and times (rows × dim)."""

    lines: Tensor
    speakers: Tensor
    times: Tensor


class Cells(NamedTuple):
    """The line, speaker and time of each memory (batch × memories). No time may reach the number of memories."""

    lines: Tensor
    speakers: Tensor
    times: Tensor


class Places(NamedTuple):
    """Where a batch was looked up: a line for each memory and then each query, a tag for each memory; all rows."""

    lines: Tensor
    tags: Tensor
    sizes: tuple[int, int, int]


def look_up(tables: Tables, queries: Tensor, cells: Cells) -> tuple[Tensor, Tensor, Places]:
    """The queries (batch × dim), the memories (batch × memories × dim), and where they were found."""
    kept = tables.times[: cells.times.shape[1]]
    tags = (tables.speakers.unsqueeze(1) + kept).flatten(end_dim=1)  # one look-up for speaker and time
    tagged = torch.add(cells.times, cells.speakers, alpha=kept.shape[0]).flatten()
    numbers = torch.cat([cells.lines.flatten(), queries])
    found = tables.lines.index_select(0, numbers)
    stored, query = torch.split(found, [tagged.shape[0], queries.shape[0]])
    stored.add_(tags.index_select(0, tagged))
    sizes = tables.lines.shape[0], tables.speakers.shape[0], tables.times.shape[0]
    return query, stored.view(*cells.lines.shape, -1), Places(numbers, tagged, sizes)


def gradients(places: Places, grad_query: Tensor, grad_stored: Tensor) -> Tables:
    """The gradients of the tables from those of the queries and the memories."""
    lines, speakers, times = places.sizes
    kept, grad_cells = min(times, grad_stored.shape[1]), grad_stored.flatten(end_dim=1)
    grad_lines = _summed(torch.cat([grad_cells, grad_query]), places.lines, lines)
    grad_tags = _summed(grad_cells, places.tags, speakers * kept).view(speakers, kept, -1)
    grad_times = functional.pad(grad_tags.sum(dim=0), (0, 0, 0, times - kept))
    return Tables(grad_lines, grad_tags.sum(dim=1), grad_times)


def _summed(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """Values (cells × dim) added up by the row that each belongs to (``count`` × dim), in a fixed order."""
    if values.is_cuda:  # where index_add_ adds in whatever order its threads come
        return _summed_by_row(values, rows, count)
    return values.new_zeros(count, values.shape[1]).index_add_(0, rows, values)


def _summed_by_row(values: Tensor, rows: Tensor, count: int) -> Tensor:
    starts = torch.zeros(count + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(torch.bincount(rows, minlength=count), dim=0, out=starts[1:])
    return functional.embedding_bag(torch.argsort(rows, stable=True), values, starts[:-1], mode="sum")
