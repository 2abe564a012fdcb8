"""What a notebook shows of tables, corpora and dialogues: HTML that brings its own few rules of style.

Colours are shades of grey that let the page's own show through, so that it reads in light and in dark notebooks.
Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable

from dialgauge.rendering.render import escape, render_html
from dialgauge.rendering.table import Table

_STYLE = """<style>
.dialgauge { overflow-x: auto; margin: .5em 0 1em; color: inherit; }
.dialgauge table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; margin: 0;
  border: 0; color: inherit; }
.dialgauge caption { text-align: left; font-weight: 600; padding: .3em 0; color: inherit; caption-side: top; }
.dialgauge th, .dialgauge td { text-align: left; vertical-align: top; padding: .2em .8em .2em 0; border: 0;
  border-bottom: 1px solid #8884; background: transparent; white-space: nowrap; }
.dialgauge th { border-bottom: 2px solid #8888; }
.dialgauge th.n, .dialgauge td.n { text-align: right; }
.dialgauge td.long, .dialgauge td.said { white-space: normal; min-width: 16em; max-width: 34em; }
.dialgauge td small { opacity: .7; }
.dialgauge p.note, .dialgauge p.about { font-size: 12px; opacity: .75; overflow-wrap: anywhere; margin: .3em 0; }
.dialgauge tr.system td { background: #8881; }
.dialgauge tr:nth-child(n) { background: transparent; }
.dialgauge td.state { white-space: normal; min-width: 12em; }
.dialgauge summary { cursor: pointer; font-size: 12px; opacity: .75; }
</style>"""


def notebook_html(parts: Iterable[Table | str], folded: Iterable[Table] = ()) -> str:
    """Tables and texts as a notebook shows them; tables that are ``folded`` open at a click."""
    blocks = [_block(_text_html(part) if isinstance(part, str) else render_html(part)) for part in parts]
    for table in folded:
        inner = f"<details><summary>{escape(table.title)}</summary>{render_html(table, captioned=False)}</details>"
        blocks.append(_block(inner))
    return "\n".join([_STYLE, *blocks])


def _text_html(text: str) -> str:
    return "<pre>" + "\n".join(map(escape, text.splitlines())) + "</pre>"


def _block(html: str) -> str:
    return f'<div class="dialgauge">{html}</div>'
