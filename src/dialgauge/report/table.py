"""Tables: what every screen, file and page shows.

    table = Table("Scores", ["system", Column("JGA", PERCENT)])
    table.add("trade", Cell(0.4862, low=0.4701, high=0.5023))

A table holds values and what is known about them: an interval, a tone, where they lead. It never holds text that was
laid out for one output. Terminals, pages, papers and programs write the same cells, each in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

#: What a cell may hold. None and NaN are undefined, and are shown as a dash.
Value: TypeAlias = str | int | float | bool | None

#: What a value means to the reader. Outputs show it by a sign as well as by colour.
Tone: TypeAlias = Literal["plain", "good", "bad", "warn"]
SIGNS: Mapping[Tone, str] = {"plain": "", "good": "✓", "bad": "✗", "warn": "~"}

UNDEFINED = "–"


class Number(Struct, frozen=True):
    """How a number is written. Whole numbers have no digits after the point unless they are shares.

    >>> PERCENT.text(0.48125), Number(digits=2, signed=True).text(0.5), Number().text(1164)
    ('48.12', '+0.50', '1,164')
    """

    digits: int = 2
    percent: bool = False
    signed: bool = False

    def text(self, value: float) -> str:
        """The number as people read it."""
        digits = 0 if isinstance(value, int) and not self.percent else self.digits
        rounded = round(100 * value if self.percent else value, digits)
        return f"{rounded or 0.0:{'+' if self.signed else ''},.{digits}f}"


PERCENT = Number(percent=True)


class Link(Struct, frozen=True):
    """Where a value leads. Which address that is, if any, is up to whoever writes the page.

    ``Link(only={"slot": "hotel-area"})``        the dialogues of this run that pass the filter
    ``Link(dialogue="MUL0484", turn=6)``         a dialogue, at a turn
    ``Link(turn=6)``                             a turn of the dialogue on this page
    ``Link(table="confusions")``                 a table of this run with all of its rows
    ``Link(dialogue="7#0", beside=("7#1",))``    dialogues of this run, side by side
    ``Link(runs=(a, b))``                        the comparison of two runs
    ``Link(runs=(a, b), dialogue="MUL0484")``    a dialogue as both runs have it, side by side

    Without ``runs``, the runs that the page is about are meant.
    """

    runs: tuple[str, ...] = ()
    dialogue: str = ""
    turn: int | None = None
    beside: tuple[str, ...] = ()
    table: str = ""
    only: Mapping[str, str] = {}


class Cell(Struct, frozen=True):
    """A value, and what is known about it.

    ``mark``    significance letters
    ``strong``  the best value among several
    ``fold``    a longer text behind the value, such as the JSON of a tool call; pages fold it away, ``--all`` prints it
    ``number``  how the number is written, where its column does not say: with measures down, each row has its own unit
    """

    value: Value
    low: float | None = None
    high: float | None = None
    mark: str = ""
    tone: Tone = "plain"
    strong: bool = False
    link: Link | None = None
    fold: str = ""
    number: Number | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return self.value == "" or is_undefined(self.value)


class Column(Struct, frozen=True):
    """A column. Its name heads it on every screen and is its key in CSV and JSON, so it is unique in its table.

    ``help``   what the values are; stands below the table wherever the column is shown
    ``tone``   the colour of the column's part of a bar
    ``spare``  how early a narrow screen leaves the column out: those with the highest number first, 0 never
    """

    name: str
    number: Number = Number()
    help: str = ""
    tone: Tone = "plain"
    spare: int = 0

    def text(self, cell: Cell) -> str:
        """The value of a cell as people read it, without tone, mark and interval."""
        value = cell.value
        if value is None or is_undefined(value):
            return UNDEFINED
        if isinstance(value, bool):
            return "yes" if value else "no"
        return value if isinstance(value, str) else (cell.number or self.number).text(value)

    def interval(self, cell: Cell) -> str:
        """``[low, high]`` as people read it; empty if the cell has no interval."""
        if cell.low is None or cell.high is None or math.isnan(cell.low) or math.isnan(cell.high):
            return ""
        number = cell.number or self.number
        return f"[{number.text(float(cell.low))}, {number.text(float(cell.high))}]"


class Chart(Struct, frozen=True):
    """A chart of a table's own rows.

    ``bars``       one bar for each row, made up of these columns
    ``intervals``  one line for each row, from low to high, with a dot at the value
    ``lines``      one curve for each column, over the first column of the table
    ``strips``     a strip of points for each column, over the first column: amounts of different units
    ``heat``       cells shaded by their values, from the least to the largest of all these columns
    """

    kind: Literal["bars", "intervals", "lines", "strips", "heat"]
    columns: tuple[str, ...]


class Table:
    """A titled table.

    ``answer`` is the sentence that the rows support, and ``tone`` says whether it is good news. The first ``first``
    rows are shown; the others are there on request (``--all``, a fold on a page) and always in files. On a page of the
    explorer the rows of a table that is ``chosen_from`` can be chosen, to stand side by side or to be compared.
    """

    def __init__(
        self,
        title: str,
        columns: Iterable[Column | str],
        rows: Iterable[Iterable[Cell | Value]] = (),
        *,
        answer: str = "",
        tone: Tone = "plain",
        notes: Iterable[str] = (),
        first: int | None = None,
        chart: Chart | None = None,
        chosen_from: bool = False,
    ) -> None:
        self.title = title
        self.columns = [column if isinstance(column, Column) else Column(column) for column in columns]
        self.rows: list[list[Cell]] = []
        self.answer = answer
        self.tone = tone
        self.notes = list(notes)
        self.first = first
        self.chart = chart
        self.chosen_from = chosen_from
        for row in rows:
            self.add(*row)

    def add(self, *values: Cell | Value) -> None:
        """Append a row."""
        if len(values) != len(self.columns):
            raise ValueError(f"'{self.title}': {len(values)} cells for {len(self.columns)} columns")
        self.rows.append([value if isinstance(value, Cell) else Cell(value) for value in values])

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        from dialgauge.report.formats import markdown_table

        return markdown_table(self)

    def _repr_html_(self) -> str:
        from dialgauge.report.html import notebook_html
        from dialgauge.report.page import Page

        return notebook_html(Page(title="", tables={"table": self}))

    def __repr__(self) -> str:
        return f"<Table '{self.title}': {len(self.rows)} rows, {', '.join(column.name for column in self.columns)}>"

    @property
    def shown(self) -> list[int]:
        """The places of the columns that people see: those in which any row has something to show."""
        return [
            index
            for index in range(len(self.columns))
            if any(not row[index].is_empty for row in self.rows) or not index
        ]

    def is_numeric(self, index: int) -> bool:
        """Whether a column holds numbers, and so is aligned to the right."""
        values = [row[index].value for row in self.rows if not row[index].is_empty]
        return bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)

    def legend(self, columns: Sequence[Column] | None = None) -> list[str]:
        """What stands below the table: what its columns are, then its notes."""
        shown = [self.columns[index] for index in self.shown] if columns is None else columns
        explained = [column for column in shown if column.help]
        return [*(f"{column.name}: {column.help}." for column in explained), *self.notes]

    def records(self) -> list[dict[str, Value]]:
        """The rows as plain values, for programs; intervals and marks get keys of their own."""
        parts = self._parts()
        return [{key: _raw(row[index], part) for key, (index, part) in parts.items()} for row in self.rows]

    def keys(self) -> list[str]:
        """The keys of :meth:`records`."""
        return list(self._parts())

    def _parts(self) -> dict[str, tuple[int, str]]:
        """By key the place of a column, and which part of its cells the key holds."""
        parts = {}
        for index, column in enumerate(self.columns):
            cells = [row[index] for row in self.rows]
            parts[column.name] = (index, "value")
            if any(cell.low is not None for cell in cells):
                parts |= {f"{column.name} {end}": (index, end) for end in ("low", "high")}
            if any(cell.mark for cell in cells):
                parts[f"{column.name} mark"] = (index, "mark")
        return parts


def is_undefined(value: Value) -> bool:
    """Whether there is no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _raw(cell: Cell, part: str) -> Value:
    value: Value = getattr(cell, part)
    return None if is_undefined(value) else value
