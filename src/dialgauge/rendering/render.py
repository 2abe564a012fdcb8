"""A table in every form: Markdown, LaTeX (booktabs), HTML, CSV, JSON. Everything from data is escaped."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from dialgauge.measures import without_intervals
from dialgauge.rendering.escape import latex, markdown
from dialgauge.rendering.table import INTERVALS, Cell, Column
from dialgauge.text import encodable, plain

if TYPE_CHECKING:
    from dialgauge.rendering.table import Table

#: Letters from which on a text is a sentence and no name.
_LONG = 40
#: What makes a spreadsheet compute a cell.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*(\.\d*)?|\.\d+)([eE][+-]?\d+)?%?|[+-]?(inf|nan)|[-–]")


def render_markdown(table: Table) -> str:
    """A pipe table under its title in bold, notes as paragraphs below."""
    titles = [markdown(column.title) for column in table.columns]
    rules = ["---:" if table.right_aligned(index) else ":---" for index in range(len(titles))]
    rows = [
        [_markdown_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)] for row in table.cells
    ]
    lines = [f"| {' | '.join(row)} |" for row in (titles, rules, *rows)]
    head = [f"**{markdown(table.title)}**", ""] if table.title else []
    notes = [line for note in table.notes_in_full for line in ("", markdown(note))]
    return "\n".join([*head, *lines, *notes]) + "\n"


def _markdown_cell(column: Column, cell: Cell) -> str:
    text = markdown(cell.text(column))
    parts = [f"**{text}**" if cell.bold else text, markdown(cell.mark)]
    return " ".join(filter(None, ["".join(parts), markdown(cell.interval(column))]))


def render_latex(table: Table, *, intervals: bool = False) -> str:
    """A ``table`` environment for the package booktabs, to be put into a paper by ``\\input``.

    What a reader of the paper needs stands in the caption; the signature, and notes on this program, are comments.
    """
    intervals = intervals and any(map(table.has_interval, range(len(table.columns))))
    shape = "".join("r" if table.right_aligned(index) else "l" for index in range(len(table.columns)))
    rows = [
        [_latex_cell(column, cell, intervals) for column, cell in zip(table.columns, row, strict=True)]
        for row in table.cells
    ]
    comments = [note for note in table.notes if note not in table.reading_notes]
    if table.signature:
        comments.append(f"Signature: {table.signature if intervals else without_intervals(table.signature)}")
    lines = [
        r"% needs \usepackage{booktabs}",
        *(f"% {plain(note)}" for note in comments),
        r"\begin{table}",
        r"\centering",
        *_caption(table, intervals),
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        " & ".join(latex(column.title) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _caption(table: Table, intervals: bool) -> list[str]:
    if not table.title:
        return []
    cells = [(cell.like or column) for row in table.cells for column, cell in zip(table.columns, row, strict=True)]
    unsaid = any(column.percent for column in cells) and not table.unit
    title = f"{table.title}, in percent" if unsaid else table.title
    notes = [note for note in table.reading_notes if intervals or not table.is_about(note, INTERVALS)]
    label = re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-") or "scores"
    caption = " ".join([f"{title}.", *([f"{table.caption}."] if table.caption else []), *notes])
    return [rf"\caption{{{latex(caption)}}}", rf"\label{{tab:{label}}}"]


def _latex_cell(column: Column, cell: Cell, intervals: bool) -> str:
    text = latex(cell.text(column))
    if text.startswith(("[", "*")):
        text = "{}" + text  # after \\ an opening bracket or an asterisk would be read as its argument
    bold = rf"\textbf{{{text}}}" if cell.bold else text
    mark = rf"\textsuperscript{{{latex(cell.mark.strip())}}}" if cell.mark.strip() else ""
    interval = rf" {{\scriptsize {latex(cell.interval(column))}}}" if intervals and cell.has_interval else ""
    return bold + mark + interval


def render_csv(table: Table) -> str:
    """Raw values with full precision; an interval is two more columns, a mark one more; undefined is empty.

    Line breaks inside a text become plain line feeds. A text that a spreadsheet would compute gets an apostrophe before
    it (:func:`inert`).
    """
    records = ([_csv_value(value) for value in record.values()] for record in table.records())
    return csv_text(chain([[_csv_value(name) for name in table.names()]], records))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as lines of CSV, each ended by a line feed.

    >>> csv_text([["a", "b"], ["two\\rlines", None]])
    'a,b\\n"two\\rlines",\\n'
    """
    lines = _Lines()
    # Before Python 3.13, the csv module quotes a line break only if lines end in it: a lone \r would begin a new row.
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(lines.written)


class _Lines:
    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> None:
        self.written.append(line.removesuffix("\r\n") + "\n")


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return inert(encodable(value).replace("\r\n", "\n").replace("\r", "\n"))
    return "" if value is None else value


def inert(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula; numbers stay as they are.

    >>> inert("=1+1"), inert("@x"), inert("-3.5"), inert("+12.0%"), inert("hotel")
    ("'=1+1", "'@x", '-3.5', '+12.0%', 'hotel')
    """
    risky = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if risky else text


def render_json(table: Table) -> str:
    """Title, column names, rows of raw values, notes."""
    import orjson

    return orjson.dumps(as_json(table), option=orjson.OPT_INDENT_2).decode() + "\n"


def as_json(table: Table) -> dict[str, Any]:
    """What :func:`render_json` writes, as plain Python values."""
    return {
        "title": encodable(table.title),
        "columns": [encodable(column.title) for column in table.columns],
        "rows": [{encodable(name): _json_value(value) for name, value in row.items()} for row in table.records()],
        "notes": [encodable(note) for note in table.notes_in_full],
    }


def _json_value(value: Any) -> Any:
    return encodable(value) if isinstance(value, str) else value


def render_html(table: Table, *, captioned: bool = True) -> str:
    """One table with its title as caption (unless that stands above it already) and its notes below."""
    right = [table.right_aligned(index) for index in range(len(table.columns))]
    titles = "".join(f"<th{_kind(n)}>{escape(c.title)}</th>" for n, c in zip(right, table.columns, strict=True))
    rows = [
        "".join(
            f"<td{_kind(n, cell.text(column))}>{_cell(column, cell)}</td>"
            for n, column, cell in zip(right, table.columns, row, strict=True)
        )
        for row in table.cells
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in table.notes_in_full)
    caption = f"<caption>{escape(table.title)}</caption>\n" if table.title and captioned else ""
    return f"<table>\n{caption}<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n{notes}"


def _kind(right: bool, text: str = "") -> str:
    """Numbers stand on the right, and sentences may be broken into lines."""
    return ' class="n"' if right else ' class="long"' if len(text) > _LONG else ""


def _cell(column: Column, cell: Cell) -> str:
    text = escape(cell.text(column))
    mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
    interval = f" <small>{escape(cell.interval(column))}</small>" if cell.has_interval else ""
    return f"{f'<strong>{text}</strong>' if cell.bold else text}{mark}{interval}"


def escape(text: str) -> str:
    """The text without control characters, and with every character escaped that HTML would act upon."""
    import html

    return html.escape(plain(text))


RENDERERS: dict[str, Callable[[Table], str]] = {
    "markdown": render_markdown,
    "latex": render_latex,
    "html": render_html,
    "csv": render_csv,
    "json": render_json,
}
