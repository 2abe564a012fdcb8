"""A table for people at a terminal: through rich, which folds and colours it to fit.

In a pipe or a file a table takes the width it needs and has no colours. That is written here, with the same bytes that
rich would write, because importing rich takes longer than scoring a small file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dialgauge.report.escape import plain
from dialgauge.report.table import Cell, Column

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.table import Table as RichTable
    from rich.text import Text

    from dialgauge.report.table import Table

_GAP = "   "
_UNLIMITED = 100_000
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
        from rich import box
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        table = self.table
        grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for place, column in enumerate(table.columns):
            right = table.right_aligned(place)
            grid.add_column(Text(plain(column.title)), justify="right" if right else "left", overflow="fold")
        for row in table.cells:
            grid.add_row(*(_rich_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)))
        title = [Text(plain(table.title), style="bold")] if table.title else []
        notes = [Text(plain(note), style="dim") for note in table.notes]
        return Group(*title, _FullWidth(grid), *notes)


class _FullWidth:
    """A rich table that shrinks to a terminal but never to a file or a pipe."""

    def __init__(self, grid: RichTable) -> None:
        self.grid = grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.measure import Measurement

        folding = options.update(no_wrap=False, overflow="fold")
        if not console.is_terminal:
            free = folding.update(width=_UNLIMITED, max_width=_UNLIMITED)
            folding = free.update_width(Measurement.get(console, free, self.grid).maximum)
        yield from console.render(self.grid, folding)


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
