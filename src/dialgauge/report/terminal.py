"""Pages as text, for a terminal, a pipe or a log.

A table that is too wide loses its spare columns, then its intervals. What is still too wide continues in a second
block below the first. Numbers are never cut, texts are folded at spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent
from unicodedata import east_asian_width

from dialgauge.report.page import Page
from dialgauge.report.table import SIGNS, Cell, Column, Table, Tone
from dialgauge.report.transcript import Mark, Transcript, Turn
from dialgauge.text import counted, plain

#: Column gap, and the tighter gap that is tried if a table does not fit.
_GAP, _CLOSE = 3, 2
#: Columns of text are folded to no less than this; longer words of a head are broken.
_NARROW, _HEAD = 16, 24
#: ANSI codes by style.
_STYLES = {"title": "1", "strong": "1", "dim": "2", "good": "32", "bad": "31", "warn": "33"}

#: Widths of letters that take two places of a terminal, as Chinese ones do.
_WIDE = ("W", "F")


class Terminal:
    """Writes pages as text. ``everything`` prints all rows and folded texts; ``colour`` adds ANSI styles.

    ``more`` tells the reader how to get the rows that are not shown.
    """

    def __init__(self, width: int = 80, *, everything: bool = False, colour: bool = False, more: str = "--all") -> None:
        self.width = width
        self.everything = everything
        self.colour = colour
        self.more = more

    def page(self, page: Page) -> str:
        """The whole page: what puts its numbers in doubt, its verdict, then the rest."""
        blocks = ["".join(self._paragraph(warning, "warn") for warning in page.warnings)]
        blocks.append(self._paragraph(page.verdict, "strong"))
        blocks += map(self.table, page.tables.values())
        blocks += [self.transcript(transcript) for reading in page.dialogues for transcript in reading]
        blocks.append("".join(self._paragraph(note, "dim") for note in page.notes))
        if page.signature and self.everything:
            blocks.append(self._paragraph(f"Signature: {page.signature}", "dim"))
        return "\n".join(filter(None, blocks))

    def table(self, table: Table) -> str:
        """A table with its title, answer and legend."""
        rows = table.rows if self.everything or table.first is None else table.rows[: table.first]
        grids = self._grids(table, rows) if rows else []
        shown = [column for column in table.columns if any(column in grid.columns for grid in grids)]
        left_out = [plain(table.columns[index].name) for index in table.shown if table.columns[index] not in shown]
        left_out += ["intervals"] if _has_intervals(rows) and not grids[0].intervals else []
        notes = [f"{counted(len(table) - len(rows), 'more row')} ({self.more})"] if len(rows) < len(table) else []
        notes += table.legend(shown)
        notes += [f"Left out to fit {self.width} columns: {', '.join(left_out)} (--wide)"] if left_out and rows else []
        return "".join(
            [
                self._paragraph(table.title, "title"),
                self._paragraph(_signed(table.answer, table.tone) if table.answer else "", table.tone),
                *(f"{line}\n" for grid in grids for line in self._lines(grid)),
                *(self._paragraph(note, "dim") for note in notes),
            ]
        )

    def transcript(self, transcript: Transcript) -> str:
        """A dialogue: what is known about all of it, then turn by turn."""
        head = self._marked(f"{transcript.run}: {transcript.dialogue}", "title", transcript.marks)
        return "\n".join([head, *map(self.table, transcript.tables.values()), *map(self._turn, transcript.turns)])

    def _turn(self, turn: Turn) -> str:
        inner = Terminal(self.width - 4, everything=self.everything, colour=self.colour, more=self.more)
        head = self._marked(f"{turn.message} {turn.speaker}", "dim", turn.marks)
        words = [inner._paragraph(line) or "\n" for line in turn.text.splitlines()]
        parts = [*map(inner.table, turn.before), *words, *map(inner.table, turn.beside)]
        return head + indent("".join(parts), "    ")

    def _marked(self, text: str, style: str, marks: Sequence[Mark]) -> str:
        """A head with its marks, on one line if they fit."""
        pieces = [(text, style), *((_signed(mark.text, mark.tone), mark.tone) for mark in marks)]
        if width_of("   ".join(text for text, _ in pieces)) > self.width:
            return "".join(self._paragraph(text, style) for text, style in pieces)
        return "   ".join(self._styled(plain(text), style) for text, style in pieces) + "\n"

    def _paragraph(self, text: str, style: str = "") -> str:
        return "".join(f"{self._styled(line, style)}\n" for line in folded(plain(text), self.width))

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and style in _STYLES else text

    def _grids(self, table: Table, rows: Sequence[Sequence[Cell]]) -> list[_Grid]:
        """The table as one grid if that fits; else as several, each beginning with the first column."""
        every = [table.columns[index] for index in table.shown]
        for gap in (_GAP, _CLOSE):
            if (grid := _Grid(table, every, rows, self.width, intervals=True, gap=gap)).least <= self.width:
                return [grid]
        for intervals in (True, False):
            columns = every
            while (grid := _Grid(table, columns, rows, self.width, intervals=intervals)).least > self.width:
                spare = max(column.spare for column in columns)
                if not spare:
                    break
                columns = [column for column in columns if column.spare < spare]
            else:
                return [grid]
        return list(self._blocks(table, columns, rows))

    def _blocks(self, table: Table, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Iterator[_Grid]:
        block = list(columns[:1])
        for column in columns[1:]:
            if len(block) > 1 and _Grid(table, [*block, column], rows, self.width, intervals=False).least > self.width:
                yield _Grid(table, block, rows, self.width, intervals=False)
                block = list(columns[:1])
            block.append(column)
        yield _Grid(table, block, rows, self.width, intervals=False)

    def _lines(self, grid: _Grid) -> Iterator[str]:
        widths = grid.widths()
        heads = [folded(plain(column.name), width) for column, width in zip(grid.columns, widths, strict=True)]
        height = max(map(len, heads))
        yield from self._row([[""] * (height - len(head)) + head for head in heads], grid, widths, "title")
        yield "─" * (sum(widths) + len(grid.gap) * (len(widths) - 1))
        for cells, texts in zip(grid.cells, grid.texts, strict=True):
            lines = [
                [text] if right else folded(text, width)
                for text, width, right in zip(texts, widths, grid.right, strict=True)
            ]
            styles = ("strong" if cell.strong else cell.tone for cell in cells)
            yield from self._row(lines, grid, widths, *styles)
            if self.everything:
                yield from (f"    {plain(line)}" for cell in cells for line in cell.fold.splitlines())

    def _row(self, cells: Sequence[Sequence[str]], grid: _Grid, widths: Sequence[int], *styles: str) -> Iterator[str]:
        """The lines of one row; its cells may be folded, and share one style or have one each."""
        for number in range(max(map(len, cells))):
            pieces = []
            for place, (lines, width) in enumerate(zip(cells, widths, strict=True)):
                text = lines[number] if number < len(lines) else ""
                spaces = " " * (width - width_of(text))
                padded = spaces + text if grid.right[place] else text + spaces
                pieces.append(self._styled(padded, styles[place % len(styles)]) if text else padded)
            yield grid.gap.join(pieces).rstrip()


class _Grid:
    """Some columns of a table as texts, and how wide they must and could be."""

    def __init__(
        self,
        table: Table,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        room: int,
        *,
        intervals: bool,
        gap: int = _GAP,
    ) -> None:
        places = [table.columns.index(column) for column in columns]
        texts = [_texts(table.columns[place], [row[place] for row in rows], intervals) for place in places]
        self.columns = list(columns)
        self.room = room
        self.gap = " " * gap
        self.intervals = intervals
        self.right = [table.is_numeric(place) for place in places]
        self.cells = [[row[place] for place in places] for row in rows]
        self.texts = [list(row) for row in zip(*texts, strict=True)]
        self._natural = [max(map(width_of, [column.name, *own])) for column, own in zip(columns, texts, strict=True)]
        longest = (room - _GAP) // 2  # longer words are broken, so that two columns always fit
        self._least = [
            max(
                1,
                min(_HEAD, max(map(width_of, column.name.split()), default=0)),
                *(width_of(text) if right else _narrowest(text, longest) for text in own),
            )
            for column, own, right in zip(columns, texts, self.right, strict=True)
        ]

    @property
    def least(self) -> int:
        """The narrowest width that all columns fit into."""
        return sum(self._least) + len(self.gap) * (len(self._least) - 1)

    def widths(self) -> list[int]:
        """The widths of the columns: what the narrowest layout leaves is given to those that are folded most."""
        widths = list(self._least)
        for _ in range(max(0, self.room - self.least)):
            lacking = [natural - width for natural, width in zip(self._natural, widths, strict=True)]
            if max(lacking) <= 0:
                break
            widths[lacking.index(max(lacking))] += 1
        return widths


def _texts(column: Column, cells: Sequence[Cell], intervals: bool) -> list[str]:
    """The cells of a column as texts; numbers and their intervals are each aligned."""
    heads = [_head(column, cell) for cell in cells]
    tails = [column.interval(cell) if intervals else "" for cell in cells]
    if not any(tails):
        return heads
    left, right = max(map(width_of, heads)), max(map(len, tails))
    return [f"{' ' * (left - width_of(head))}{head} {tail:<{right}}" for head, tail in zip(heads, tails, strict=True)]


def _head(column: Column, cell: Cell) -> str:
    """The value of a cell with its sign and mark."""
    if isinstance(cell.value, bool):
        return SIGNS["good" if cell.value else "bad"]
    text = plain(column.text(cell))
    signed = _signed(text, cell.tone) if isinstance(cell.value, str) and text else text
    return f"{signed} {cell.mark}" if cell.mark else signed


def _narrowest(text: str, most: int) -> int:
    """How narrow a text can be folded; ``most`` is the longest word that is not broken."""
    longest = max(map(width_of, text.split()), default=0)
    return max(min(longest, most), min(width_of(text), _NARROW))


def width_of(text: str) -> int:
    """The places of a terminal that a text takes.

    >>> width_of("hotel"), width_of("酒店")
    (5, 4)
    """
    return len(text) if text.isascii() else sum(1 + (east_asian_width(letter) in _WIDE) for letter in text)


def folded(text: str, width: int) -> list[str]:
    """The lines of a text of which none is wider; words that are wider themselves are broken.

    >>> folded("a cheap hotel", 7)
    ['a cheap', 'hotel']
    """
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += f" {word}"
        elif width_of(word) <= width:
            lines.append(word)
        else:
            lines.append("")
            for letter in word:
                if lines[-1] and width_of(lines[-1]) + width_of(letter) > width:
                    lines.append("")
                lines[-1] += letter
    return lines


def _signed(text: str, tone: Tone) -> str:
    return f"{SIGNS[tone]} {text}" if SIGNS[tone] else text


def _has_intervals(rows: Sequence[Sequence[Cell]]) -> bool:
    return any(cell.low is not None for row in rows for cell in row)
