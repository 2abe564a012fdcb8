"""One table, many outputs: terminal, Markdown, LaTeX, HTML, CSV, JSON.

    table = Table("Scores", ["system", Column("JGA", percent=True, digits=2, best="max")])
    table.add("trade", 0.4862)
    table.render("markdown")

Every command prints through this, so a table in a paper and the one on the screen cannot differ.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import atomic
from dialgauge.text import Note, counted, note_kind

if TYPE_CHECKING:
    from dialgauge.rendering.terminal import TerminalTable


TEXT_FORMATS = ("markdown", "latex", "html", "csv", "json")
FORMATS = ("terminal", *TEXT_FORMATS)

#: The kind of a note on how to use this program, which a paper does not need.
USAGE = "usage"
#: The format a file's ending asks for.
ENDINGS = {".md": "markdown", ".tex": "latex", ".html": "html", ".csv": "csv", ".json": "json"}

TextFormat = Literal["markdown", "latex", "html", "csv", "json"]


class Table:
    """A titled table with notes. Rows hold plain values or :class:`Cell`, columns are names or :class:`Column`.

    ``signature`` is what the numbers depend on, in its long form: a screen shows it short, files have it in full.
    ``caption`` is what a paper says after the title, where neither notes nor columns do. The title ends with ``unit``.
    ``stacked``: where a screen is too narrow, intervals stand below their scores before any column goes.
    """

    def __init__(
        self,
        title: str,
        columns: Sequence[str | Column],
        rows: Iterable[Sequence[Value | Cell]] = (),
        notes: Sequence[str] = (),
        signature: str = "",
        *,
        stacked: bool = False,
        caption: str = "",
        unit: str = "",
        facts: Sequence[str] = (),
    ) -> None:
        beside = ", ".join(filter(None, [*facts, unit]))
        self.title, self.caption, self.unit = f"{title} ({beside})" if beside else title, caption, unit
        self.columns = [column if isinstance(column, Column) else Column(column) for column in columns]
        self.notes = list(notes)
        self.signature = signature
        self.stacked = stacked
        self._explained: dict[str, frozenset[str]] = {}
        self._instead: dict[str, list[str]] = {}
        self._rows: list[list[Cell]] = []
        for row in rows:
            self.add(*row)

    def add(self, *row: Value | Cell) -> None:
        """Append one row."""
        if len(row) != len(self.columns):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns")
        self._rows.append([cell if isinstance(cell, Cell) else Cell(cell) for cell in row])
        self.__dict__.pop("cells", None)

    def explain(self, note: str, *columns: str) -> None:
        """Add a note about columns, or about ``INTERVALS``: a screen that leaves all of them out leaves it out too."""
        self.notes.append(note)
        self._explained[note] = frozenset(columns)

    def instead(self, column: str, notes: Iterable[str]) -> None:
        """Say what a column says in sentences, which a screen shows where it leaves the column out."""
        self._instead[column] = list(notes)

    def notes_for(self, shown: Collection[str]) -> list[str]:
        """The notes but for those about columns of which none is shown, after those that stand for one left out."""
        stand_ins = [note for column, notes in self._instead.items() if column not in shown for note in notes]
        own = [note for note in self.notes if note not in self._explained or self._explained[note] & set(shown)]
        return [*stand_ins, *own]

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The rows, with the best number of each column in bold."""
        columns = [_mark_best(column, [row[index] for row in self._rows]) for index, column in enumerate(self.columns)]
        return [[column[index] for column in columns] for index in range(len(self._rows))]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def notes_in_full(self) -> list[str]:
        """What stands below the table in files: the notes, and the signature in its long form."""
        return [*self.notes, f"Signature: {self.signature}"] if self.signature else list(self.notes)

    @property
    def reading_notes(self) -> list[str]:
        """The notes for whoever reads the table, without those on how to use this program."""
        return [note for note in self.notes if note_kind(note) != USAGE]

    def is_about(self, note: str, column: str) -> bool:
        """Whether a note explains a column, or ``INTERVALS``, alone."""
        return self._explained.get(note) == frozenset({column})

    def right_aligned(self, index: int) -> bool:
        """Whether a column reads as numbers."""
        column = self.columns[index]
        if column.align is not None:
            return column.align == "right"
        values = [row[index].value for row in self._rows]
        return any(map(is_number, values)) and all(is_number(value) or is_undefined(value) for value in values)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of raw values; intervals and marks as extra keys, undefined as None."""
        names = self.names()
        return [dict(zip(names, self._raw(row), strict=True)) for row in self.cells]

    def names(self) -> list[str]:
        """The names of the raw values of a row; a name that was used before gets a number."""
        wanted = [
            f"{column.title}{ending}"
            for index, column in enumerate(self.columns)
            for ending in ("", *self._endings(index))
        ]
        used: dict[str, None] = {}
        for name in wanted:
            number, unique = 1, name
            while unique in used:
                number += 1
                unique = f"{name} ({number})"
            used[unique] = None
        return list(used)

    def _endings(self, index: int) -> list[str]:
        interval = [" low", " high"] if self.has_interval(index) else []
        return [*interval, " mark"] if self.has_mark(index) else interval

    def _raw(self, row: list[Cell]) -> list[Value]:
        values: list[Value] = []
        for index, cell in enumerate(row):
            values.append(None if is_undefined(cell.value) else cell.value)
            if self.has_interval(index):
                values += [cell.low, cell.high] if cell.has_interval else [None, None]
            if self.has_mark(index):
                values.append(cell.mark.strip())
        return values

    def has_interval(self, index: int) -> bool:
        """Whether any cell of the column carries an interval."""
        return any(row[index].has_interval for row in self._rows)

    def has_mark(self, index: int) -> bool:
        """Whether any cell of the column carries a mark."""
        return any(row[index].mark for row in self._rows)

    @overload
    def render(self, format: Literal["terminal"]) -> TerminalTable: ...
    @overload
    def render(self, format: TextFormat) -> str: ...
    @overload
    def render(self, format: str) -> str | TerminalTable: ...
    def render(self, format: str) -> str | TerminalTable:
        """The table in a format: ``terminal`` gives what rich prints, the others a text that ends in a line break."""
        if format == "terminal":
            from dialgauge.rendering.terminal import TerminalTable

            return TerminalTable(self)
        from dialgauge.rendering.render import RENDERERS

        if format not in RENDERERS:
            raise DialgaugeError(f"there is no table format '{format}'.{nearest(format, FORMATS)}")
        return RENDERERS[format](self)

    def __str__(self) -> str:
        return self.render("markdown").strip()

    def __repr__(self) -> str:
        return f"<Table '{self.title}': {counted(len(self), 'row')} of {counted(len(self.columns), 'column')}>"

    def _repr_html_(self) -> str:
        from dialgauge.rendering.notebook import notebook_html

        return notebook_html([self])

    def write(self, path: Path, format: str | None = None) -> None:
        """Write the table to a file, atomically; without a format, the ending decides."""
        write_tables([self], path, format)


def percent_note(scale: str = "In percent") -> Note:
    """Says that shares are shown in percent here, and not so where programs read them."""
    return Note(USAGE, f"{scale}; CSV and JSON have fractions.")


def write_tables(
    tables: Sequence[Table],
    path: Path,
    format: str | None = None,
    *,
    title: str | None = None,
    intervals: bool = False,
) -> None:
    """Write several tables into one file, atomically; JSON becomes a list when there are several, LaTeX has the first.

    ``title`` is that of a web page; without one, the first table's. ``intervals``: LaTeX has them too.
    """
    content = render_tables(tables, format_of(path, format), title=title, intervals=intervals)
    with atomic(path) as scratch:
        scratch.write_text(content, encoding="utf-8", newline="")


def format_of(path: Path, format: str | None = None) -> str:
    """The format of a file of tables: the one named, else the one its ending asks for."""
    chosen = format or ENDINGS.get(path.suffix.lower())
    if chosen is None or chosen not in TEXT_FORMATS:
        raise DialgaugeError(
            f"a table can be written as {', '.join(ENDINGS)}; use one of these endings", file=str(path)
        )
    return chosen


def render_tables(tables: Sequence[Table], format: str, *, title: str | None = None, intervals: bool = False) -> str:
    """Several tables as one text, an empty line between them; HTML becomes a page of its own, LaTeX has the first."""
    if format == "latex":
        from dialgauge.rendering.render import render_latex

        return "".join(render_latex(table, intervals=intervals) for table in tables[:1])
    if format == "html":
        from dialgauge.rendering.page import tables_page

        return tables_page(tables, title)
    if format == "json" and len(tables) != 1:
        inner = ",\n".join(table.render("json").rstrip() for table in tables)
        return f"[\n{inner}\n]\n"
    return "\n".join(str(table.render(format)) for table in tables)


#: What a cell may hold. ``None`` and NaN are *undefined* and print as a dash, never as a number.
Value: TypeAlias = str | int | float | bool | None

UNDEFINED = "–"
#: A percentage that is 100 to so many digits differs from it by the error of arithmetic.
_MOST_DIGITS = 8

#: The name of all intervals of a table among its columns, for :meth:`Table.explain`.
INTERVALS = "intervals"
#: The same for bold print, which a pipe does not have.
BOLD = "bold"


class Column(Struct, frozen=True):
    """A column's title and how its numbers look.

    ``percent`` prints 0.1234 as 12.34; ``best`` says which number is printed in bold; ``signed`` prints a plus sign.
    ``drop`` says how early the column goes where a screen is too narrow: the highest number first, and 0 only when
    nothing else helps. Files hold every column. ``whole``: it holds names to copy, such as ids of runs, which are
    shortened only when no column is left to go before them. ``exact``: its names are what the table is about, and are
    never shortened. ``group``: what several columns of one title belong to, for the sentence about those left out.
    """

    title: str
    digits: int = 4
    percent: bool = False
    signed: bool = False
    best: Literal["max", "min"] | None = None
    align: Literal["left", "right"] | None = None
    drop: int = 0
    whole: bool = False
    exact: bool = False
    group: str = ""

    def text(self, value: Value) -> str:
        """The value as people read it. Nearly all is never printed as all: it gets the digits that show the difference.

        >>> Column("JGA", digits=2, percent=True).text(0.48125)
        '48.12'
        >>> Column("fixed", digits=1, percent=True).text(0.9998)
        '99.98'
        """
        if is_undefined(value):
            return UNDEFINED
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, str):
            return value
        assert value is not None  # noqa: S101 - narrowed by is_undefined
        if isinstance(value, int) and not self.percent:
            return f"{value:+d}" if self.signed else f"{value:d}"
        number = 100.0 * value if self.percent else float(value)
        digits = _digits_below_all(number, self.digits) if self.percent and number < 100.0 else self.digits
        shown = f"{number:+.{digits}f}" if self.signed else f"{number:.{digits}f}"
        return shown.lstrip("-+") if not float(shown) and not self.signed else shown


def _digits_below_all(number: float, digits: int) -> int:
    return next((each for each in range(digits, _MOST_DIGITS) if float(f"{number:.{each}f}") < 100.0), digits)


class Cell(Struct, frozen=True):
    """A value with what goes with it: an interval, a significance mark, bold print.

    ``like`` says how its numbers look where that is not as in its column.
    """

    value: Value
    low: float | None = None
    high: float | None = None
    mark: str = ""
    bold: bool = False
    like: Column | None = None

    def text(self, column: Column) -> str:
        """The value as people read it, in this column."""
        return (self.like or column).text(self.value)

    @property
    def has_interval(self) -> bool:
        """Whether both ends of an interval are known."""
        return not (is_undefined(self.low) or is_undefined(self.high))

    def interval(self, column: Column) -> str:
        """``[low, high]`` in the value's number format, or nothing."""
        look = self.like or column
        return f"[{look.text(self.low)}, {look.text(self.high)}]" if self.has_interval else ""


def is_undefined(value: Value) -> bool:
    """Whether there is no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(value: Value) -> bool:
    """Whether the value is a defined number (a truth value is none)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and not is_undefined(value)


def _mark_best(column: Column, cells: Sequence[Cell]) -> list[Cell]:
    """The cells of one column with the best number in bold, and every number that prints the same."""
    if column.best is None:
        return list(cells)
    numbers = [float(cell.value) for cell in cells if is_number(cell.value)]  # type: ignore[arg-type]
    if not numbers:
        return list(cells)
    best = column.text(max(numbers) if column.best == "max" else min(numbers))
    return [
        structs.replace(cell, bold=True)
        if is_number(cell.value) and column.text(float(cell.value)) == best  # type: ignore[arg-type]
        else cell
        for cell in cells
    ]
