"""Tables as parts of a web page: everything from data is escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from dialgauge.report.cells import Cell, Column
from dialgauge.report.escape import plain

if TYPE_CHECKING:
    from dialgauge.report.table import Table


#: Letters from which on a text is a sentence and no name.
_LONG = 40


def render_html(table: Table, *, captioned: bool = True) -> str:
    """One table with its title as caption (unless that stands above it already) and its notes below."""
    right = [table.right_aligned(place) for place in range(len(table.columns))]
    titles = "".join(f"<th{_kind(n)}>{escape(c.title)}</th>" for n, c in zip(right, table.columns, strict=True))
    rows = [
        "".join(
            f"<td{_kind(n, column.text(cell.value))}>{_cell(column, cell)}</td>"
            for n, column, cell in zip(right, table.columns, row, strict=True)
        )
        for row in table.cells
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in table.notes)
    caption = f"<caption>{escape(table.title)}</caption>\n" if table.title and captioned else ""
    return f"<table>\n{caption}<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n{notes}"


def _kind(right: bool, text: str = "") -> str:
    """Numbers stand on the right, and sentences may be broken into lines."""
    return ' class="n"' if right else ' class="long"' if len(text) > _LONG else ""


def _cell(column: Column, cell: Cell) -> str:
    text = escape(column.text(cell.value))
    mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
    interval = f" <small>{escape(cell.interval(column))}</small>" if cell.has_interval else ""
    return f"{f'<strong>{text}</strong>' if cell.bold else text}{mark}{interval}"


def escape(text: str) -> str:
    """The text without control characters, and with every character escaped that HTML would act upon."""
    return html.escape(plain(text))
