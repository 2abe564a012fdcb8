"""Tables as a web page of its own: no script, nothing loaded, everything from data escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from turnwise.report.cells import Cell, Column

if TYPE_CHECKING:
    from turnwise.report.table import Table

_LOOK = (
    "body{font:14px/1.4 'Liberation Sans',Arial,sans-serif;color:#1a1a1a;margin:2em}"
    "table{border-collapse:collapse;margin:1em 0 2em}"
    "caption{text-align:left;font-weight:bold;padding:.4em 0}"
    "th,td{padding:.25em .7em;text-align:left;white-space:nowrap}"
    "thead th{border-top:2px solid;border-bottom:1px solid}tbody tr:last-child td{border-bottom:2px solid}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}small,.note{color:#6b6b6b}"
)


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


def html_page(tables: Sequence[Table]) -> str:
    """A whole page with the tables below each other."""
    title = escape(tables[0].title) if tables else "turnwise"
    body = "\n".join(map(render_html, tables))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_LOOK}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
