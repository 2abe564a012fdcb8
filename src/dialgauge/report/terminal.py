"""A table for the terminal, through rich. In a pipe it takes the width it needs: nothing is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from dialgauge.report.escape import plain
from dialgauge.report.table import Cell, Column

if TYPE_CHECKING:
    from dialgauge.report.table import Table

_UNLIMITED = 100_000


class _FullWidth:
    """A rich table that shrinks to a terminal but never to a file or a pipe."""

    def __init__(self, grid: RichTable) -> None:
        self.grid = grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        folding = options.update(no_wrap=False, overflow="fold")
        if not console.is_terminal:
            free = folding.update(width=_UNLIMITED, max_width=_UNLIMITED)
            folding = free.update_width(Measurement.get(console, free, self.grid).maximum)
        yield from console.render(self.grid, folding)


def render_terminal(table: Table) -> Group:
    """Title, grid and notes."""
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, column in enumerate(table.columns):
        right = table.right_aligned(place)
        grid.add_column(Text(plain(column.title)), justify="right" if right else "left", overflow="fold")
    for row in table.cells:
        grid.add_row(*(_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)))
    title = [Text(plain(table.title), style="bold")] if table.title else []
    notes = [Text(plain(note), style="dim") for note in table.notes]
    return Group(*title, _FullWidth(grid), *notes)


def _cell(column: Column, cell: Cell) -> Text:
    text = Text(plain(cell.text(column)), style="bold" if cell.bold else "")
    text.append(plain(cell.mark))
    if cell.has_interval:
        text.append(f" {cell.interval(column)}", style="dim")
    return text
