"""Pages: what one command prints, one file holds, or one address shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dialgauge.report.table import Cell, Link, Table
from dialgauge.report.transcript import Transcript


class Choice(Struct, frozen=True, kw_only=True):
    """A filter that a page offers, and what it is set to.

    ``values`` has the number of dialogues with each value, 0 where that says nothing, as of an order. Without values it
    is a field for words.
    """

    name: str
    label: str
    values: Mapping[str, int] = {}
    chosen: str = ""


class Remark(Struct, frozen=True):
    """What people noted about a run or a dialogue."""

    labels: Sequence[str] = ()
    note: str = ""


class Headline(Struct, frozen=True):
    """The number that counts, with its name and what it is in a few words."""

    name: str
    cell: Cell
    meaning: str = ""


class Page(Struct, frozen=True, kw_only=True):
    """A page: its answer in a sentence and a number, then the tables and dialogues that the answer rests on.

    ``runs``       the ids of the runs it is about
    ``headline``   the number that counts
    ``warnings``   what puts its numbers in doubt; never folded
    ``open``       the tables that a page shows at once, others folded below them; none: all
    ``dialogues``  each as one run has it, or several beside each other
    ``choices``    filters of a list
    ``ways``       other pages by what they are to this one: previous, next, the list that it belongs to
    ``remark``     what people noted; None where nothing can be noted
    ``notes``      how the numbers were made; comes last
    """

    title: str
    runs: Sequence[str] = ()
    verdict: str = ""
    headline: Headline | None = None
    warnings: Sequence[str] = ()
    tables: Mapping[str, Table] = {}
    open: Sequence[str] = ()
    dialogues: Sequence[tuple[Transcript, ...]] = ()
    choices: Sequence[Choice] = ()
    ways: Mapping[str, Link] = {}
    remark: Remark | None = None
    notes: Sequence[str] = ()
    signature: str = ""

    def __str__(self) -> str:
        from dialgauge.report.formats import markdown_page

        return markdown_page(self)

    def _repr_html_(self) -> str:
        from dialgauge.report.html import notebook_html

        return notebook_html(self)
