"""A table for people: fitted to the width of a terminal, or to 80 columns in a pipe or a file.

Both look alike; a terminal adds bold and dim print. Rich is imported for a terminal alone, because importing it takes
longer than scoring a small file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from dialgauge.measures import screen_form
from dialgauge.rendering.fitting import (
    GAP,
    AskingColumn,
    Fit,
    LongNames,
    fit,
    fold,
    fold_sentence,
    needs,
    places,
    with_short_names,
)
from dialgauge.rendering.table import BOLD, INTERVALS, Cell, Column, is_number
from dialgauge.text import plain

if TYPE_CHECKING:
    from rich.console import Group

    from dialgauge.rendering.table import Table

#: The width where there is no terminal to ask.
SCREEN = 80

#: A line in pieces: text, and the style it has on a terminal.
Line = list[tuple[str, str]]
#: A space that no line is broken at.
_GLUE = "\xa0"
_EMPTY: list[Line] = [[]]
_SHORTENED = "Some names are shortened (…); --wide shows them whole."
_SHORTENED_IDS = "Shortened ids (…) can be typed as shown; --wide shows them whole."


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
        return "".join(f"{line}\n" for line in (*self._title, *map(_joined, self._grid()), *self._notes()))

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        title = (Text(line, style="bold") for text in self._title for line in self._folded(text))
        grid = (Text.assemble(*line) for line in self._grid())
        notes = (Text(line, style="dim") for text in self._notes(BOLD) for line in self._folded(text))
        return Group(*title, *grid, *notes)

    def _folded(self, text: str) -> list[str]:
        return fold_sentence(text, self.width) if self.width else [text]

    @property
    def _title(self) -> list[str]:
        return [plain(self.table.title)] if self.table.title else []

    def _notes(self, *looks: str) -> list[str]:
        """What stands below the grid; ``looks`` are the kinds of print that there are."""
        columns, layout = self.table.columns, self._layout
        left_out = [_full_title(column) for index, column in enumerate(columns) if index not in layout.fit.places]
        left_out += [INTERVALS] if layout.bare else []
        shown = [columns[index].title for index in layout.fit.places] + ([] if layout.bare else [INTERVALS])
        shown += looks
        ids = any(columns[index].whole for index in layout.fit.places)
        cut = [_SHORTENED_IDS if ids else _SHORTENED] if layout.shortened else []
        notes = [*self.table.notes_for(shown), *self._signature]
        return [*map(plain, notes), *_left_out(left_out, self.width), *cut]

    @property
    def _signature(self) -> list[str]:
        """The signature on one line, shortened to the width of a terminal."""
        if not self.table.signature:
            return []
        label = "Signature: "
        room = self.width - len(label) if self.width else None
        return [f"{label}{screen_form(self.table.signature, room)}"]

    @cached_property
    def _layout(self) -> _Layout:
        """The layout with intervals; if they would cost whole columns, with them below the scores, or without them."""
        columns = self.table.columns
        rows = [
            [
                _cell_text(column, cell, first=not index)
                for index, (column, cell) in enumerate(zip(columns, row, strict=True))
            ]
            for row in self.table.cells
        ]
        whole = _Layout.of(columns, rows, self.width)
        crowded = self.table.stacked and len(whole.fit.places) < len(columns)
        if not (whole.fit.forced or crowded) or not any(cell.tail for row in rows for cell in row):
            return whole
        below = [[cell._replace(below=bool(cell.tail)) for cell in row] for row in rows]
        stacked = _Layout.of(columns, below, self.width)
        if not stacked.fit.forced:
            return stacked
        bare = [[cell._replace(tail="") for cell in row] for row in rows]
        return _Layout.of(columns, bare, self.width)._replace(bare=True)

    def _grid(self) -> Iterator[Line]:
        fit = self._layout.fit
        right = [self.table.right_aligned(index) for index in fit.places]
        head, *body = (
            [row[index].lines(width) for index, width in zip(fit.places, fit.widths, strict=True)]
            for row in self._layout.rows
        )
        body = [part for row in body for part in _hung(row, fit.widths[0])]
        widths = [
            max(places(_joined(line)) for lines in column for line in lines if places(_joined(line)) <= width)
            for column, width in zip(zip(head, *body, strict=True), fit.widths, strict=True)
        ]
        if not sum(widths):
            return
        height = max(map(len, head))
        hanging = [[*_EMPTY * (height - len(lines)), *lines] for lines in head]
        yield from _row(hanging, widths, right)
        yield [("─" * (sum(widths) + GAP * (len(widths) - 1)), "")]
        for row in body:
            yield from _row(row, widths, right)


class _Layout(NamedTuple):
    """The titles and the rows as they are printed, and what of them fits.

    ``bare``: without their intervals; ``shortened``: with long names that lack their middle.
    """

    rows: list[list[_CellText]]
    fit: Fit
    bare: bool = False
    shortened: bool = False

    @classmethod
    def of(cls, columns: Sequence[Column], rows: list[list[_CellText]], width: int | None) -> _Layout:
        titles = [_CellText(plain(column.title), "", "bold") for column in columns]
        whole = [titles, *rows]
        nameable = (cell.text for row in whole for cell in row if not cell.solid and not cell.exact)
        names = LongNames.of(nameable) if width else LongNames()
        asked = [
            AskingColumn(
                title.text,
                [(text, cell.solid) for cell in cells for text in cell.texts()],
                column.drop,
                column.whole,
                column.exact,
                hanging=column.exact and not index,
            )
            for index, (column, (title, *cells)) in enumerate(zip(columns, zip(*whole, strict=True), strict=True))
        ]
        chosen = fit(needs(asked, names), width)
        shown = _with_short_names(whole, chosen, names)
        return cls(shown, chosen, shortened=shown != whole)


class _CellText(NamedTuple):
    """A cell's text and its interval; a ``solid`` one stays on one line: a number with its mark and its interval.

    ``below``: the interval stands on a line of its own; ``exact``: the names in it are never shortened; ``hanging``:
    it is not folded either, but stands above its row where it is too long.
    """

    text: str
    tail: str
    style: str
    solid: bool = False
    below: bool = False
    exact: bool = False
    hanging: bool = False

    def texts(self) -> list[str]:
        """The lines of the cell before any is folded: one, or two if the interval stands below."""
        return [self.text, self.tail.strip()] if self.below else [f"{self.text}{self.tail}"]

    def lines(self, width: int) -> list[Line]:
        if self.hanging:
            return [[(self.text, self.style)]]
        if self.below:
            interval = [[(line, "dim")] for line in fold(self.tail.strip(), width)]
            return [*([(line, self.style)] for line in fold(self.text, width)), *interval]
        whole = f"{self.text}{self.tail}"
        if self.tail and places(whole) <= width:
            return [[(self.text, self.style), (self.tail, "dim")]]
        return [[(line, self.style)] for line in fold(whole, width, joints=self.exact)]


def _with_short_names(rows: list[list[_CellText]], fit: Fit, names: LongNames) -> list[list[_CellText]]:
    """The rows with every name that its column cannot hold in the same shorter form, in whichever column it is."""
    widths = dict(zip(fit.places, fit.widths, strict=True))
    tight = [
        widths[index]
        for row in rows
        for index, cell in enumerate(row)
        if index in widths
        and not cell.solid
        and not cell.exact
        and any(places(word) > widths[index] for word in cell.text.split(" "))
    ]
    if not names.words or not tight:
        return rows
    shorter = names.shortened(min(tight))
    return [
        [
            cell
            if cell.solid or cell.exact or index not in widths
            else cell._replace(text=with_short_names(cell.text, widths[index], shorter))
            for index, cell in enumerate(row)
        ]
        for row in rows
    ]


def _cell_text(column: Column, cell: Cell, *, first: bool) -> _CellText:
    interval = f" {cell.interval(column)}" if cell.has_interval else ""
    text = _glued(f"{plain(cell.text(column))}{plain(cell.mark)}")
    solid = bool(interval) or is_number(cell.value)
    exact = column.exact and not solid
    return _CellText(text, interval, "bold" if cell.bold else "", solid, exact=exact, hanging=exact and first)


def _glued(text: str) -> str:
    """The text with the mark at its end on the line of its last word."""
    return f"{text[:-2]}{_GLUE}*" if text.endswith(" *") else text


def _hung(row: list[list[Line]], width: int) -> list[list[list[Line]]]:
    """A row whose first cell is longer than its column as two: that cell, and the others."""
    first, *others = row
    if all(places(_joined(line)) <= width for line in first):
        return [row]
    return [[first, *([_EMPTY] * len(others))], [_EMPTY, *others]]


def _row(cells: Sequence[list[Line]], widths: Sequence[int], right: Sequence[bool]) -> Iterator[Line]:
    """The lines of a row whose cells may have several."""
    for pieces in zip_longest(*cells, fillvalue=_EMPTY[0]):
        yield _spaced(pieces, widths, right)


def _spaced(pieces: Sequence[Line], widths: Sequence[int], right: Sequence[bool]) -> Line:
    """The pieces of a line at their places, without spaces at its end."""
    line: Line = []
    owed = 0
    for piece, width, at_the_right in zip(pieces, widths, right, strict=True):
        free = width - places(_joined(piece))
        shown = bool(_joined(piece))
        if shown:
            printed = [(text.replace(_GLUE, " "), style) for text, style in piece]
            line += [(" " * (owed + free * at_the_right), ""), *printed]
            owed = 0
        owed += GAP + (0 if shown and at_the_right else free)
    return line


def _full_title(column: Column) -> str:
    return f"{column.group} {column.title}" if column.group else column.title


def _joined(line: Line) -> str:
    return "".join(text for text, _ in line)


def _left_out(titles: Sequence[str], width: int | None) -> list[str]:
    """The sentence about what did not fit."""
    names = ", ".join(plain(title) or "a column without a title" for title in titles)
    return [f"Left out to fit {width} columns: {names} (--wide shows all)."] if titles else []
