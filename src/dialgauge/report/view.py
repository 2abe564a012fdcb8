"""The contract between a kind of run and everything that shows it.

A family writes one :class:`View` in its ``views.py`` and names it in the record of its kind. The functions in it turn a
stored run into tables and transcripts; terminals, files, pages and comparisons are made from these by this room alone.

    VIEW = View(
        verdict=verdict,
        tables={"by-slot": by_slot, "errors": errors},
        transcript=transcript,
    )
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from polars.exceptions import PolarsError

from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named
from dialgauge.report.table import Column, Table
from dialgauge.report.tables import score_cell
from dialgauge.report.transcript import Transcript, Turn

if TYPE_CHECKING:
    import polars

    from dialgauge.comparison import Comparison
    from dialgauge.dialogue import Dialogue
    from dialgauge.runs import Run

T = TypeVar("T")

#: What code runs into that takes a table for what it was: files may have been changed.
_ODD_CONTENT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, msgspec.MsgspecError, PolarsError)
#: Makes one table of a run; None if this run has nothing to fill it with.
TableMaker: TypeAlias = "Callable[[Run], Table | None]"


class Finding(Struct, frozen=True):
    """What is most worth knowing about a dialogue, in a sentence without its full stop, and the turn that shows it."""

    text: str
    turn: int | None = None


def plain_transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """What was said, and nothing else."""
    turns = [Turn(number=number, speaker=turn.speaker, text=turn.text) for number, turn in enumerate(dialogue.turns)]
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns)


@dataclass(frozen=True, kw_only=True)
class View:
    """How runs of one kind are shown. Only ``verdict`` and ``tables`` are required.

    Of a run:
        ``verdict``     what the run says, in one sentence
        ``warnings``    what puts all its numbers in doubt, such as missing conversations
        ``tables``      by name what there is to show beside scores, dialogues and provenance
        ``scores``      the measures that come first and that a terminal shows unasked; without any, all but parts
        ``screen``      the tables that ``show`` prints unless asked for others; files and pages have all

    Of its dialogues:
        ``transcript``  one dialogue, turn by turn
        ``columns``     the measures that head the list of dialogues
        ``findings``    by dialogue what is most worth knowing about it
        ``filters``     frames with ``dialogue``, maybe ``turn``, and one column of texts for each filter. Filters of
                        one frame hold for the same row: a *wrong value* of *hotel-area*, not one of each somewhere
        ``labels``      what filters are called on pages, if not by their names

    Of several runs:
        ``apart``       keys of the configuration or the details that tell several runs of one system apart
        ``compared``    by name what a comparison shows beside scores, differences and divergences
    """

    verdict: Callable[[Run], str]
    tables: Mapping[str, TableMaker]
    warnings: Callable[[Run], list[str]] = lambda run: []
    scores: Callable[[Run], Sequence[str]] = lambda run: ()
    screen: tuple[str, ...] = ()
    transcript: Callable[[Run, Dialogue], Transcript] = plain_transcript
    columns: tuple[str, ...] = ()
    findings: Callable[[Run], Mapping[str, Finding]] = lambda run: {}
    filters: Callable[[Run], Iterable[polars.DataFrame]] = lambda run: ()
    labels: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    compared: Mapping[str, Callable[[Comparison], Table | None]] = field(default_factory=dict)


def view_of(run: Run) -> View:
    """The view of a run's kind; a plain one where its package has none."""
    return kind_named(run.kind).part("view", View) or _PLAIN


def system_names(runs: Sequence[Run]) -> list[str]:
    """The names of the runs' systems; equal ones with what tells them apart: settings, the end of an id, a number."""
    names = [run.name for run in runs]
    known = [{**run.manifest.config, **run.details} for run in runs]
    settings = [
        [str(own[key]) for key in view_of(run).apart if key in own] for run, own in zip(runs, known, strict=True)
    ]
    ends = [[run.id.rpartition("-")[2]] if run.stored else [] for run in runs]
    for more in (settings, ends, [[str(place)] for place in range(1, len(runs) + 1)]):
        names = [
            f"{name} ({', '.join(own)})" if own and names.count(name) > 1 else name
            for name, own in zip(names, more, strict=True)
        ]
    return names


def plain_verdict(run: Run) -> str:
    """The measure that heads runs of this kind, in a sentence; empty if the run has none of them."""
    headline = next((name for name in (*kind_named(run.kind).headline, *run.scores) if name in run.scores), None)
    if headline is None:
        return ""
    cell = score_cell(run.scores[headline])
    column = Column(headline)
    percent = "%" if cell.number is not None and cell.number.percent else ""
    return f"{run.name}: {headline} {column.text(cell)}{percent} {column.interval(cell)}".rstrip() + "."


_PLAIN = View(verdict=plain_verdict, tables={})


@contextmanager
def stored_as_expected() -> Iterator[None]:
    """Turn any failure on the content of a run's tables into an error that says so."""
    try:
        yield
    except _ODD_CONTENT as error:
        if isinstance(error, DialgaugeError):
            raise
        reason = (str(error).splitlines() or [""])[0][:200]
        raise DialgaugeError(
            "this cannot be shown: a table or a detail of the run is not what this version of dialgauge writes "
            f"({type(error).__name__}: {reason}); score again, and if that does not help, it is a bug in dialgauge"
        ) from error


def made(make: Callable[[], T], otherwise: T) -> T:
    """``make()``, or ``otherwise`` if the stored tables are damaged, which the page says elsewhere."""
    try:
        with stored_as_expected():
            return make()
    except DialgaugeError:
        return otherwise
