"""Tables as parts of a web page: everything from data is escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from turnwise.report.cells import Cell, Column
from turnwise.report.escape import plain

if TYPE_CHECKING:
    from turnwise.report.table import Table


def render_html(table: Table) -> str:
    """One table with its title as caption and its notes below."""
    classes = [' class="n"' if table.right_aligned(place) else "" for place in range(len(table.columns))]
    titles = "".join(f"<th{kind}>{escape(c.title)}</th>" for kind, c in zip(classes, table.columns, strict=True))
    rows = [
        "".join(
            f"<td{kind}>{_cell(column, cell)}</td>"
            for kind, column, cell in zip(classes, table.columns, row, strict=True)
        )
        for row in table.cells
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in table.notes)
    caption = f"<caption>{escape(table.title)}</caption>\n" if table.title else ""
    return f"<table>\n{caption}<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n{notes}"


def _cell(column: Column, cell: Cell) -> str:
    text = escape(column.text(cell.value))
    mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
    interval = f" <small>{escape(cell.interval(column))}</small>" if cell.has_interval else ""
    return f"{f'<strong>{text}</strong>' if cell.bold else text}{mark}{interval}"


def escape(text: str) -> str:
    """The text without control characters, and with every character escaped that HTML would act upon."""
    return html.escape(plain(text))
