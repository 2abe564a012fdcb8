"""One table, many outputs: terminal, Markdown, LaTeX, HTML, CSV, JSON.

    table = Table("Scores", ["system", Column("JGA", percent=True, digits=2, best="max")])
    table.add("trade", 0.4862)
    table.render("markdown")

Every command prints through this, so a table in a paper and the one on the screen cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import atomic
from dialgauge.report.cells import Cell, Column, Value, is_number, is_undefined, mark_best

if TYPE_CHECKING:
    from rich.console import Group

TEXT_FORMATS = ("markdown", "latex", "html", "csv", "json")
FORMATS = ("terminal", *TEXT_FORMATS)

#: The format a file's ending asks for.
ENDINGS = {".md": "markdown", ".tex": "latex", ".html": "html", ".csv": "csv", ".json": "json"}

TextFormat = Literal["markdown", "latex", "html", "csv", "json"]


class Table:
    """A titled table with notes. Rows hold plain values or :class:`Cell`, columns are names or :class:`Column`."""

    def __init__(
        self,
        title: str,
        columns: Sequence[str | Column],
        rows: Iterable[Sequence[Value | Cell]] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.title = title
        self.columns = [column if isinstance(column, Column) else Column(column) for column in columns]
        self.notes = list(notes)
        self._rows: list[list[Cell]] = []
        for row in rows:
            self.add(*row)

    def add(self, *row: Value | Cell) -> None:
        """Append one row."""
        if len(row) != len(self.columns):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns")
        self._rows.append([cell if isinstance(cell, Cell) else Cell(cell) for cell in row])
        self.__dict__.pop("cells", None)

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The rows, with the best number of each column in bold."""
        columns = [mark_best(column, [row[place] for row in self._rows]) for place, column in enumerate(self.columns)]
        return [[column[place] for column in columns] for place in range(len(self._rows))]

    def __len__(self) -> int:
        return len(self._rows)

    def right_aligned(self, place: int) -> bool:
        """Whether a column reads as numbers."""
        column = self.columns[place]
        if column.align is not None:
            return column.align == "right"
        values = [row[place].value for row in self._rows]
        return any(map(is_number, values)) and all(is_number(value) or is_undefined(value) for value in values)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of raw values; intervals and marks as extra keys, undefined as None."""
        names = self.names()
        return [dict(zip(names, self._raw(row), strict=True)) for row in self.cells]

    def names(self) -> list[str]:
        """The names of the raw values of a row; a name that was used before gets a number."""
        wanted = [
            f"{column.title}{ending}"
            for place, column in enumerate(self.columns)
            for ending in ("", *self._endings(place))
        ]
        used: dict[str, None] = {}
        for name in wanted:
            number, unique = 1, name
            while unique in used:
                number += 1
                unique = f"{name} ({number})"
            used[unique] = None
        return list(used)

    def _endings(self, place: int) -> list[str]:
        interval = [" low", " high"] if self.has_interval(place) else []
        return [*interval, " mark"] if self.has_mark(place) else interval

    def _raw(self, row: list[Cell]) -> list[Value]:
        values: list[Value] = []
        for place, cell in enumerate(row):
            values.append(None if is_undefined(cell.value) else cell.value)
            if self.has_interval(place):
                values += [cell.low, cell.high] if cell.has_interval else [None, None]
            if self.has_mark(place):
                values.append(cell.mark)
        return values

    def has_interval(self, place: int) -> bool:
        """Whether any cell of the column carries an interval."""
        return any(row[place].has_interval for row in self._rows)

    def has_mark(self, place: int) -> bool:
        """Whether any cell of the column carries a mark."""
        return any(row[place].mark for row in self._rows)

    @overload
    def render(self, format: Literal["terminal"]) -> Group: ...
    @overload
    def render(self, format: TextFormat) -> str: ...
    @overload
    def render(self, format: str) -> str | Group: ...
    def render(self, format: str) -> str | Group:
        """The table in a format: ``terminal`` gives what rich prints, the others a text that ends in a line break."""
        if format == "terminal":
            from dialgauge.report.terminal import render_terminal

            return render_terminal(self)
        from dialgauge.report.texts import RENDERERS

        if format not in RENDERERS:
            raise DialgaugeError(f"there is no table format '{format}'.{nearest(format, FORMATS)}")
        return RENDERERS[format](self)

    def write(self, path: Path, format: str | None = None) -> None:
        """Write the table to a file, atomically; without a format, the ending decides."""
        write_tables([self], path, format)


def write_tables(tables: Sequence[Table], path: Path, format: str | None = None, *, title: str | None = None) -> None:
    """Write several tables into one file, atomically; JSON becomes a list when there are several.

    ``title`` is that of a web page; without one, the first table's.
    """
    content = render_tables(tables, format_of(path, format), title=title)
    with atomic(path) as scratch:
        scratch.write_text(content, encoding="utf-8", newline="")


def format_of(path: Path, format: str | None = None) -> str:
    """The format of a file of tables: the one named, else the one its ending asks for."""
    chosen = format or ENDINGS.get(path.suffix.lower())
    if chosen is None or chosen not in TEXT_FORMATS:
        raise DialgaugeError(f"a table is written as {', '.join(ENDINGS)}; choose such an ending", file=str(path))
    return chosen


def render_tables(tables: Sequence[Table], format: str, *, title: str | None = None) -> str:
    """Several tables as one text, an empty line between them; HTML becomes a page of its own."""
    if format == "html":
        from dialgauge.report.page import tables_page

        return tables_page(tables, title)
    if format == "json" and len(tables) != 1:
        inner = ",\n".join(table.render("json").rstrip() for table in tables)
        return f"[\n{inner}\n]\n"
    return "\n".join(str(table.render(format)) for table in tables)
