"""A table for people at a terminal: through rich, which folds and colours it to fit.

A table that is too wide for the terminal even when long texts are folded is shown in blocks below each other, each with
the columns that name the rows.

In a pipe or a file a table takes the width it needs and has no colours. That is written here, with the same bytes that
rich would write, because importing rich takes longer than scoring a small file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dialgauge.report.table import Cell, Column
from dialgauge.text import plain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.table import Table as RichTable
    from rich.text import Text

    from dialgauge.report.table import Table

_GAP = "   "
_UNLIMITED = 100_000
#: A text longer than the first number of letters can be folded into lines as short as the second.
_LONG, _FOLDED = 32, 20
#: Characters that take one place each: Latin, Greek, punctuation, arrows and signs. Rich knows about all others.
NARROW = re.compile("[ -\u02ff\u0370-\u03ff\u2010-\u2027\u2190-\u22ff]*")


class TerminalTable:
    """What ``table.render("terminal")`` gives: rich prints it, and :meth:`text` is the same without a terminal."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def text(self) -> str:
        """Title, grid and notes, each line ended."""
        title = [plain(self.table.title)] if self.table.title else []
        return "".join(f"{line}\n" for line in (*title, *self._grid(), *map(plain, self.table.notes)))

    def _grid(self) -> list[str]:
        table = self.table
        rows = [[plain(column.title) for column in table.columns]]
        rows += [[_plain_cell(*pair) for pair in zip(table.columns, row, strict=True)] for row in table.cells]
        widths = [max(map(places, column)) for column in zip(*rows, strict=True)]
        right = [table.right_aligned(place) for place in range(len(widths))]
        head, *body = (_GAP.join(map(_padded, row, widths, right)) for row in rows)
        width = sum(widths) + len(_GAP) * (len(widths) - 1)
        return [head, "─" * width, *body] if width > 0 else []

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        title = [Text(plain(self.table.title), style="bold")] if self.table.title else []
        notes = [Text(plain(note), style="dim") for note in self.table.notes]
        return Group(*title, _RichGrid(self.table), *notes)


class _RichGrid:
    """The cells of a table through rich: no wider than a terminal, but as wide as they are in a file or a pipe."""

    def __init__(self, table: Table) -> None:
        from rich.text import Text

        self.titles = [Text(plain(column.title)) for column in table.columns]
        self.rows = [[_rich_cell(*pair) for pair in zip(table.columns, row, strict=True)] for row in table.cells]
        self.right = [table.right_aligned(place) for place in range(len(table.columns))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.measure import Measurement
        from rich.text import Text

        folding = options.update(no_wrap=False, overflow="fold")
        if not console.is_terminal:
            free = folding.update(width=_UNLIMITED, max_width=_UNLIMITED)
            grid = self._block(range(len(self.titles)))
            yield from console.render(grid, free.update_width(Measurement.get(console, free, grid).maximum))
            return
        for number, columns in enumerate(self._blocks(options.max_width)):
            if number:
                yield Text("")
            yield from console.render(self._block(columns), folding)

    def _blocks(self, width: int) -> list[list[int]]:
        """The columns of each block; all in one where they fit, or where no block would be wide enough."""
        gap = len(_GAP)
        needs = [self._needed(place) + gap for place in range(len(self.titles))]
        names = next((place for place, right in enumerate(self.right) if right), len(needs))
        space = width + gap - sum(needs[:names])
        if sum(needs) - gap <= width or any(need > space for need in needs[names:]):
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

    def _block(self, columns: Iterable[int]) -> RichTable:
        from rich import box
        from rich.table import Table as RichTable

        chosen = list(columns)
        grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for place in chosen:
            grid.add_column(self.titles[place], justify="right" if self.right[place] else "left", overflow="fold")
        for row in self.rows:
            grid.add_row(*(row[place] for place in chosen))
        return grid


def _rich_cell(column: Column, cell: Cell) -> Text:
    from rich.text import Text

    text = Text(plain(cell.text(column)), style="bold" if cell.bold else "")
    text.append(plain(cell.mark))
    if cell.has_interval:
        text.append(f" {cell.interval(column)}", style="dim")
    return text


def _plain_cell(column: Column, cell: Cell) -> str:
    interval = f" {cell.interval(column)}" if cell.has_interval else ""
    return f"{plain(cell.text(column))}{plain(cell.mark)}{interval}"


def _padded(text: str, width: int, right: bool) -> str:
    shown = text.rstrip() if right else text
    space = " " * (width - places(shown))
    return space + shown if right else shown + space


def places(text: str) -> int:
    """How many places of a terminal's line a text takes."""
    if NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
