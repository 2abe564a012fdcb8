"""A table for people: fitted to the width of a terminal, or to 80 columns in a pipe or a file.

Both look alike; a terminal adds bold and dim print. Rich is imported for a terminal alone, because importing it takes
longer than scoring a small file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dialgauge.report.fitting import GAP, Fit, fit, fold, fold_sentence, needs, places
from dialgauge.report.table import Cell, Column
from dialgauge.text import plain

if TYPE_CHECKING:
    from rich.console import Group

    from dialgauge.report.table import Table

#: The width where there is no terminal to ask.
SCREEN = 80

#: A line in pieces: text, and the style it has on a terminal.
Line = list[tuple[str, str]]


class TerminalTable:
    """What ``table.render("terminal")`` gives: rich prints it, and :meth:`text` is the same without a terminal.

    ``width`` None is as wide as the table needs. Sentences fold on a terminal only: in a file, one is one line.
    """

    def __init__(self, table: Table, width: int | None = SCREEN) -> None:
        self.table = table
        self.width = width

    def fitted(self, width: int | None) -> TerminalTable:
        """The same table for another width."""
        return TerminalTable(self.table, width)

    def text(self) -> str:
        """Title, grid and notes, each line ended."""
        return "".join(f"{line}\n" for line in (*self._title, *map(_joined, self._grid()), *self._notes))

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        title = (Text(line, style="bold") for text in self._title for line in self._folded(text))
        grid = (Text.assemble(*line) for line in self._grid())
        notes = (Text(line, style="dim") for text in self._notes for line in self._folded(text))
        return Group(*title, *grid, *notes)

    def _folded(self, text: str) -> list[str]:
        return fold_sentence(text, self.width) if self.width else [text]

    @property
    def _title(self) -> list[str]:
        return [plain(self.table.title)] if self.table.title else []

    @property
    def _notes(self) -> list[str]:
        dropped = [column for place, column in enumerate(self.table.columns) if place not in self._fit.places]
        return [*map(plain, self.table.notes), *_left_out(dropped, self.width)]

    @cached_property
    def _rows(self) -> list[list[_CellText]]:
        columns = self.table.columns
        return [[_cell_text(*pair) for pair in zip(columns, row, strict=True)] for row in self.table.cells]

    @cached_property
    def _fit(self) -> Fit:
        columns = zip(self.table.columns, *self._rows, strict=True)
        asked = [
            needs(plain(column.title), [cell.whole for cell in cells], [bool(cell.tail) for cell in cells], column.drop)
            for column, *cells in columns
        ]
        return fit(asked, self.width)

    def _grid(self) -> Iterator[Line]:
        widths = self._fit.widths
        if not sum(widths):
            return
        titles = [_CellText(plain(self.table.columns[place].title), "", "bold") for place in self._fit.places]
        yield from self._row(titles, at_the_foot=True)
        yield [("─" * (sum(widths) + GAP * (len(widths) - 1)), "")]
        for row in self._rows:
            yield from self._row([row[place] for place in self._fit.places])

    def _row(self, cells: Sequence[_CellText], *, at_the_foot: bool = False) -> Iterator[Line]:
        """The lines of one row; those of short cells stand at the top, those of titles on the rule."""
        columns = [cell.lines(width) for cell, width in zip(cells, self._fit.widths, strict=True)]
        height = max(map(len, columns))
        empty: list[Line] = [[]]
        for place, column in enumerate(columns):
            missing = empty * (height - len(column))
            columns[place] = [*missing, *column] if at_the_foot else [*column, *missing]
        for pieces in zip(*columns, strict=True):
            yield _spaced(pieces, self._fit.widths, self._right)

    @cached_property
    def _right(self) -> list[bool]:
        return [self.table.right_aligned(place) for place in self._fit.places]


class _CellText(NamedTuple):
    """A cell's text, and its interval, which stays beside it on one line."""

    text: str
    tail: str
    style: str

    @property
    def whole(self) -> str:
        return f"{self.text}{self.tail}"

    def lines(self, width: int) -> list[Line]:
        if self.tail and places(self.whole) <= width:
            return [[(self.text, self.style), (self.tail, "dim")]]
        return [[(line, self.style)] for line in fold(self.whole, width)]


def _cell_text(column: Column, cell: Cell) -> _CellText:
    interval = f" {cell.interval(column)}" if cell.has_interval else ""
    return _CellText(f"{plain(cell.text(column))}{plain(cell.mark)}", interval, "bold" if cell.bold else "")


def _spaced(pieces: Sequence[Line], widths: Sequence[int], right: Sequence[bool]) -> Line:
    """The pieces of a line at their places, without spaces at its end."""
    line: Line = []
    owed = 0
    for piece, width, at_the_right in zip(pieces, widths, right, strict=True):
        free = width - places(_joined(piece))
        shown = bool(_joined(piece))
        if shown:
            line += [(" " * (owed + free * at_the_right), ""), *piece]
            owed = 0
        owed += GAP + (0 if shown and at_the_right else free)
    return line


def _joined(line: Line) -> str:
    return "".join(text for text, _ in line)


def _left_out(dropped: Sequence[Column], width: int | None) -> list[str]:
    """The sentence about columns that did not fit."""
    if not dropped:
        return []
    names = ", ".join(plain(column.title) or "a column without a title" for column in dropped)
    return [f"Left out to fit {width} columns: {names} (--wide shows all)."]
