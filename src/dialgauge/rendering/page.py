"""A stand-alone HTML page of tables: one file, no script, nothing fetched, readable in light and dark."""

from __future__ import annotations

from collections.abc import Sequence

from dialgauge.rendering.render import escape, render_html
from dialgauge.rendering.table import Table

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #8884; white-space: nowrap; }
.long { white-space: normal; min-width: 16rem; }
th { border-bottom: 2px solid #8888; } .n { text-align: right; } td small { opacity: .65; font-size: .8rem; }
.note { font-size: .85rem; opacity: .75; overflow-wrap: anywhere; }
"""


def tables_page(tables: Sequence[Table], title: str | None = None) -> str:
    """The text of the page, everything in it escaped; without a title of its own it has the first table's."""
    heading = escape(title or (tables[0].title if tables else "dialgauge"))
    body = "\n".join(f'<div class="scroll">{render_html(table)}</div>' for table in tables)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{heading}</h1>\n{body}\n</body></html>\n"
    )
