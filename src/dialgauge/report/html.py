"""Pages as HTML: one template for all of them, whatever kind of run they are about.

A page carries its style sheet and a few lines of script, and loads nothing else. Where its links lead is up to
:class:`Links`: to other pages of the explorer, to other parts of the same file, or nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from dialgauge.report.charts import RowChart, figure, has_picture, heat_range, row_chart, shade_of
from dialgauge.report.page import Page
from dialgauge.report.table import SIGNS, Cell, Chart, Column, Link, Table
from dialgauge.report.transcript import Transcript, calls_apart, first_difference, say_the_same, side_by_side
from dialgauge.text import plain

#: Rows of a table that a page holds; a page of its own has the others, files have all.
_MOST_ROWS = 500
#: Letters of all columns of a table that stands beside another one, and those that a chart takes.
_HALF_PAGE, _CHART = 75, 25
#: Up to so many columns have their intervals beside the values, more of them below.
_BESIDE = 4
#: Names up to this length are never broken, nor words of heads up to that one; words up to the last never coloured.
_LONG_NAME, _LONG_WORD, _SHORT_WORD = 36, 14, 2
#: Labels of links to other pages, and of those to the pages above, which stand over the title.
_WAYS = {"previous": "← previous", "next": "next →"}
_CRUMBS = {"the run": "run", "the comparison": "comparison", "its list": "list"}
#: Where a long name may be broken.
_JOINT = re.compile(r"(?<=\w)(?=\()|(?<=[=_/])(?=\w)")
#: Bold and code within a line of what was said.
_INLINE = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")


class Links(Protocol):
    """Where links lead."""

    def address(self, link: Link, page: Page) -> str:
        """The address of a link on a page; empty if it leads nowhere."""

    def files(self, page: Page) -> Mapping[str, str]:
        """The addresses of what a page can be had as, by name."""

    def choice(self, link: Link | None, page: Page) -> tuple[str, str, str]:
        """The form's target, and name and value of the checkbox of a row with this link."""


class FileLinks:
    """Links inside one file: to the dialogues that it holds, and to their turns."""

    def address(self, link: Link, page: Page) -> str:
        held = {transcript.dialogue: place for place, reading in enumerate(page.dialogues) for transcript in reading}
        if link.beside or link.table:
            return ""
        if link.dialogue in held:
            return f"#{anchor(page, held[link.dialogue], link.turn)}"
        on_page = link.turn is not None and not link.dialogue and len(page.dialogues) == 1
        return f"#{anchor(page, 0, link.turn)}" if on_page else ""

    def choice(self, link: Link | None, page: Page) -> tuple[str, str, str]:
        return "", "", ""

    def files(self, page: Page) -> Mapping[str, str]:
        return {}


def anchor(page: Page, place: int, turn: int | None = None) -> str:
    """The anchor of a dialogue on a page, or of a turn of it; short ones if the page has one dialogue."""
    dialogue = f"dialogue-{place}" if len(page.dialogues) > 1 or turn is None else ""
    return "-".join(filter(None, [dialogue, "" if turn is None else f"turn-{turn}"]))


def html_page(page: Page, links: Links | None = None, *, home: str = "") -> str:
    """The page as one HTML document; without ``links``, as a file that stands alone. ``home`` is the list of runs."""
    return _rendered("page.html", page, links or FileLinks(), home=home)


def html_pages(pages: Sequence[Page], title: str) -> str:
    """Several pages as one file that stands alone, such as a report on runs of several kinds."""
    if len(pages) == 1:
        return html_page(pages[0])
    links = FileLinks()
    parts = [_rendered("body.html", page, links, prefix=f"part-{place}-") for place, page in enumerate(pages)]
    return _rendered("page.html", Page(title=title), links, parts=[Markup(part) for part in parts])  # noqa: S704


def notebook_html(page: Page) -> str:
    """The page as a notebook shows it: no head, no script, and a style sheet that touches nothing else."""
    return _rendered("notebook.html", page, FileLinks())


@cache
def content_policy() -> str:
    """What a browser may do with a page: its own style and script, known by their checksums, and nothing else."""
    style, script = (f"'sha256-{_checksum(_asset(name))}'" for name in ("page.css", "page.js"))
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


def _checksum(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return files("dialgauge.report").joinpath("templates", name).read_text(encoding="utf-8")


def _rendered(template: str, page: Page, links: Links, prefix: str = "", **more: object) -> str:
    def address(link: Link | None) -> str:
        target = links.address(link, page) if link is not None else ""
        return f"#{prefix}{target[1:]}" if prefix and target.startswith("#") else target

    return _environment().get_template(template).render(
        page=page,
        address=address,
        files=links.files(page),
        choice=lambda link: links.choice(link, page),
        anchor=lambda place, turn=None: prefix + anchor(page, place, turn),
        prefix=prefix,
        headed=template != "notebook.html",  # a notebook shows no title of the page
        **more,
    )  # fmt: skip


@cache
def _environment() -> Environment:
    loader = PackageLoader("dialgauge.report")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"plain": plain, "said": said, "breakable": breakable}
    environment.globals |= {
        "signs": SIGNS,
        "grid_of": Grid,
        "picture": picture,
        "has_picture": has_picture,
        "value_text": value_text,
        "is_narrow": is_narrow,
        "headline_chart": headline_chart,
        "side_by_side": side_by_side,
        "say_the_same": say_the_same,
        "first_difference": first_difference,
        "calls_apart": calls_apart,
        "way_words": _WAYS,
        "crumbs": _CRUMBS,
        "link": Link,
        "style": Markup(_asset("page.css")),  # noqa: S704 - ours
        "script": Markup(_asset("page.js")),  # noqa: S704 - ours
        "policy": content_policy().partition("; frame-ancestors")[0],
    }
    return environment


def picture(table: Table) -> Markup:
    """The chart of a table as a picture."""
    return Markup(figure(table, styled=False))  # noqa: S704 - all texts in it are escaped


def headline_chart(cell: Cell) -> tuple[RowChart, list[Cell]] | None:
    """The number that counts on its scale, with its interval; None if it has none."""
    if cell.low is None or cell.number is None or not cell.number.percent:
        return None
    table = Table("", ["", "value"], [["", cell]], chart=Chart("intervals", ("value",)))
    chart = row_chart(table)
    return None if chart is None else (chart, table.rows[0])


def value_text(column: Column, cell: Cell) -> str:
    """The value of a cell; truth values are signs."""
    if isinstance(cell.value, bool):
        return SIGNS["good" if cell.value else "bad"]
    return plain(column.text(cell))


class Grid:
    """What the template needs to know of a table, worked out once: which columns and rows it shows, and how."""

    def __init__(self, table: Table) -> None:
        self.columns = [(index, table.columns[index]) for index in table.shown]
        self.numeric = {index for index in table.shown if table.is_numeric(index)}
        self.chart = row_chart(table)
        self.width = len(self.columns) + (self.chart is not None)
        self._table = table
        last = min(len(table), _MOST_ROWS)
        first = last if table.first is None else min(table.first, last)
        self.rows, self.folded = table.rows[:first], table.rows[first:last]
        self.more = len(table) - first
        self.cut = len(table) > last
        with_interval = [index for index in self.numeric if any(row[index].low is not None for row in table.rows)]
        self._heat = heat_range(table)
        self.dense = len(with_interval) > _BESIDE
        #: Whether heads would say nothing that the title of the table does not.
        self.bare = len(self.columns) == 1 or self.columns[0][1].name == "fact"

    def head(self, index: int) -> str:
        """The classes of a column: numbers, names that a narrow page breaks, how early it leaves the column out."""
        column = self._table.columns[index]
        kinds = {"number": index in self.numeric, f"spare-{min(column.spare, 3)}": column.spare > 0}
        kinds["long"] = max(map(len, column.name.split()), default=0) > _LONG_WORD
        return " ".join(kind for kind, is_so in kinds.items() if is_so)

    def look(self, index: int, cell: Cell) -> str:
        """The classes of a cell: its column's, names in one piece, the colour of its tone."""
        text = value_text(self._table.columns[index], cell)
        name = " " not in text and len(text) <= _LONG_NAME
        kind = "" if index in self.numeric else "sign" if isinstance(cell.value, bool) else "name" if name else "text"
        tone = {True: "good", False: "bad"}[cell.value] if isinstance(cell.value, bool) else cell.tone
        shade = shade_of(self._table, index, cell, self._heat)
        heat = [] if shade is None else [f"heat-{shade}"]
        return " ".join(filter(None, [self.head(index), kind, tone, "strong" if cell.strong else "", *heat]))


def is_narrow(table: Table) -> bool:
    """Whether a table is small enough to stand beside another one; curves have the size of a picture."""
    if table.chart is not None and table.chart.kind in ("lines", "strips"):
        return False
    widths = [
        max(len(word) for word in (table.columns[index].name, *_texts(table, index))) + 2 for index in table.shown
    ]
    return sum(widths) + (_CHART if table.chart else 0) <= _HALF_PAGE


def _texts(table: Table, index: int) -> list[str]:
    column = table.columns[index]
    return [f"{column.text(row[index])} {column.interval(row[index])}" for row in table.rows]


def breakable(text: str) -> Markup:
    """The text, with places where a narrow page may break a long name."""
    return Markup("<wbr>").join(_JOINT.split(plain(text)))


def said(text: str, transcript: Transcript) -> Markup:
    """What was said, line by line as it was written, with the words that matter coloured."""
    shown = str(escape("\n".join(map(plain, text.splitlines()))))
    words = sorted((word for word in transcript.words if len(word) > _SHORT_WORD), key=len, reverse=True)
    if words:
        pattern = "|".join(rf"(?<!\w){re.escape(str(escape(word)))}(?!\w)" for word in words)
        tones = {str(escape(word)): transcript.words[word] for word in words}
        shown = re.sub(pattern, lambda found: f'<mark class="{tones[found[0]]}">{found[0]}</mark>', shown)
    bold = _INLINE.sub(lambda found: f"<b>{found[1]}</b>" if found[1] else f"<code>{found[2]}</code>", shown)
    return Markup(bold)  # noqa: S704 - escaped above
