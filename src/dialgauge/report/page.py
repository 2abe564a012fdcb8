"""A stand-alone HTML page of tables and figures: one file, no script, nothing fetched, readable in light and dark."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dialgauge.files import atomic
from dialgauge.report.render import escape, render_html
from dialgauge.report.table import Table

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; padding-bottom: .2rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #8884; white-space: nowrap; }
.long { white-space: normal; min-width: 16rem; }
th { border-bottom: 2px solid #8888; } .n { text-align: right; } td small { opacity: .65; font-size: .8rem; }
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
    """A heading, a few words, then tables and figures; those that bear the section's title do not repeat it."""

    title: str = ""
    text: str = ""
    parts: Sequence[Table | Figure] = ()


def write_page(path: Path, title: str, sections: Sequence[Section], *, footer: str = "") -> None:
    """Write the page, atomically. Every text in it is escaped."""
    content = page(title, sections, footer=footer)
    with atomic(path) as scratch:
        scratch.write_text(content, encoding="utf-8")


def tables_page(tables: Sequence[Table], title: str | None = None) -> str:
    """A page of tables alone; without a title of its own it has the first table's."""
    return page(title or (tables[0].title if tables else "dialgauge"), [Section(parts=tables)])


def page(title: str, sections: Sequence[Section], *, footer: str = "") -> str:
    """The text of the page."""
    body = "\n".join(_section(section) for section in sections)
    end = f"<footer><p>{escape(footer)}</p></footer>" if footer else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{body}\n{end}</body></html>\n"
    )


def _section(section: Section) -> str:
    title = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    text = f"<p>{escape(section.text)}</p>" if section.text else ""
    return "\n".join([title, text, *(_part(part, section.title) for part in section.parts)])


def _part(part: Table | Figure, heading: str) -> str:
    if isinstance(part, Figure):
        return _figure(part, captioned=part.caption != heading)
    return f'<div class="scroll">{render_html(part, captioned=part.title != heading)}</div>'


def _figure(figure: Figure, *, captioned: bool) -> str:
    """The figure inside the page, as an image: an SVG from a file cannot run anything there."""
    content = base64.b64encode(figure.path.read_bytes()).decode()
    caption = escape(figure.caption)
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{content}">'
    return f"<figure>{image}{f'<figcaption>{caption}</figcaption>' if captioned else ''}</figure>"
