"""A stand-alone HTML page of tables and figures: one file, no script, nothing fetched, readable in light and dark."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from turnwise.files import atomic
from turnwise.report.cells import Cell, Column
from turnwise.report.table import Table

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; padding-bottom: .2rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #8884; white-space: nowrap; }
th { border-bottom: 2px solid #8888; } .number { text-align: right; } .interval { opacity: .65; font-size: .8rem; }
.note, footer { font-size: .85rem; opacity: .75; overflow-wrap: anywhere; }
img { max-width: 100%; background: white; border-radius: 4px; padding: .5rem; box-sizing: border-box; }
pre { overflow-x: auto; background: #8882; padding: .7rem; border-radius: 4px; }
"""


@dataclass(frozen=True)
class Figure:
    """An SVG file and what it shows."""

    path: Path
    caption: str


@dataclass(frozen=True)
class Section:
    """A heading, a few words, then tables and figures."""

    title: str
    text: str = ""
    parts: Sequence[Table | Figure] = ()


def write_page(path: Path, title: str, sections: Sequence[Section], *, footer: str = "") -> None:
    """Write the page, atomically. Every text in it is escaped."""
    body = "\n".join(_section(section) for section in sections)
    content = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{body}\n"
        f"<footer><p>{escape(footer)}</p></footer></body></html>\n"
    )
    with atomic(path) as scratch:
        scratch.write_text(content, encoding="utf-8")


def table_html(table: Table) -> str:
    """The table as HTML, notes below."""
    right = [table.right_aligned(place) for place in range(len(table.columns))]
    head = "".join(
        f"<th{_number(is_right)}>{escape(column.title)}</th>"
        for column, is_right in zip(table.columns, right, strict=True)
    )
    rows = "\n".join(
        "<tr>" + "".join(_cell(*pair) for pair in zip(table.columns, row, right, strict=True)) + "</tr>"
        for row in table.cells
    )
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes)
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return f'<div class="scroll"><table>{caption}{body}</table></div>{notes}'


def _section(section: Section) -> str:
    text = f"<p>{escape(section.text)}</p>" if section.text else ""
    parts = "\n".join(table_html(part) if isinstance(part, Table) else _figure(part) for part in section.parts)
    return f"<h2>{escape(section.title)}</h2>\n{text}\n{parts}"


def _figure(figure: Figure) -> str:
    """The figure inside the page, as an image: an SVG from a file cannot run anything there."""
    content = base64.b64encode(figure.path.read_bytes()).decode()
    caption = escape(figure.caption)
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{content}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _cell(column: Column, cell: Cell, is_right: bool) -> str:
    text = escape(column.text(cell.value))
    text = f"<strong>{text}</strong>" if cell.bold else text
    mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
    interval = f' <span class="interval">{escape(cell.interval(column))}</span>' if cell.has_interval else ""
    return f"<td{_number(is_right)}>{text}{mark}{interval}</td>"


def _number(is_right: bool) -> str:
    return ' class="number"' if is_right else ""
