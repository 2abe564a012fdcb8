"""A table for the terminal, through rich.

In a pipe it takes the width it needs: nothing is cut off. On a terminal long texts go on in the next line; a table that
is too wide even so is shown in blocks below each other, each with the columns that name the rows.
"""

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

#: Letters between two columns.
_GAP = 3
#: A text longer than this can be folded into lines, down to the second number.
_LONG, _FOLDED = 32, 20


class _Grid:
    """The cells of a table: in a pipe as wide as they are, on a terminal no wider than that."""

    def __init__(self, table: Table) -> None:
        self.titles = [Text(plain(column.title)) for column in table.columns]
        self.rows = [[_cell(*pair) for pair in zip(table.columns, row, strict=True)] for row in table.cells]
        self.right = [table.right_aligned(place) for place in range(len(table.columns))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        folding = options.update(no_wrap=False, overflow="fold")
        everything = list(range(len(self.titles)))
        if not console.is_terminal:
            free = folding.update(width=_UNLIMITED, max_width=_UNLIMITED)
            grid = self._block(everything)
            yield from console.render(grid, free.update_width(Measurement.get(console, free, grid).maximum))
            return
        for number, places in enumerate(self._blocks(options.max_width)):
            if number:
                yield Text("")
            yield from console.render(self._block(places), folding)

    def _blocks(self, width: int) -> list[list[int]]:
        """The columns of each block; all in one where they fit, or where no block would be wide enough."""
        needs = [self._needed(place) + _GAP for place in range(len(self.titles))]
        names = next((place for place, right in enumerate(self.right) if right), len(needs))
        space = width + _GAP - sum(needs[:names])
        if sum(needs) - _GAP <= width or any(need > space for need in needs[names:]):
            return [list(range(len(needs)))]
        blocks: list[list[int]] = []
        left = 0
        for place in range(names, len(needs)):
            if needs[place] > left:
                blocks.append(list(range(names)))
                left = space
            blocks[-1].append(place)
            left -= needs[place]
        return blocks

    def _needed(self, place: int) -> int:
        widest = max([self.titles[place].cell_len, *(row[place].cell_len for row in self.rows)])
        return _FOLDED if widest > _LONG else widest

    def _block(self, places: list[int]) -> RichTable:
        grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for place in places:
            grid.add_column(self.titles[place], justify="right" if self.right[place] else "left", overflow="fold")
        for row in self.rows:
            grid.add_row(*(row[place] for place in places))
        return grid


def render_terminal(table: Table) -> Group:
    """Title, grid and notes."""
    title = [Text(plain(table.title), style="bold")] if table.title else []
    notes = [Text(plain(note), style="dim") for note in table.notes]
    return Group(*title, _Grid(table), *notes)


def _cell(column: Column, cell: Cell) -> Text:
    text = Text(plain(cell.text(column)), style="bold" if cell.bold else "")
    text.append(plain(cell.mark))
    if cell.has_interval:
        text.append(f" {cell.interval(column)}", style="dim")
    return text
