"""Comparisons as pages: who is ahead, by how much, how sure, and in which dialogues the systems part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dialgauge.comparison import tables
from dialgauge.comparison.divergence import differing_units, divergences, unit_example
from dialgauge.report import Page, Table, made_tables, side_page, view_of
from dialgauge.text import REMARK, capitalised, note_kind, sentence

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison

#: The tables that a page opens with.
_OPEN = ("scores", "differences", "divergences")
#: Kinds of notes that do not put a comparison in doubt.
_REMARKS = (REMARK, "complete", "end_of_test", "no_sums", "not_paired", "not_shared", "trials_differ", "uneven_trials")


def compared_tables(
    comparison: Comparison, measure: str = "", better: str = ""
) -> dict[str, Callable[[], Table | None]]:
    """The tables by name; ``measure`` and ``better`` choose the dialogues that are listed."""
    runs = list(comparison.runs.values())
    own = view_of(runs[0]).compared if runs else {}
    return {
        "scores": partial(tables.scores, comparison),
        "differences": partial(tables.differences, comparison),
        "ranks": partial(tables.ranks, comparison),
        **{name: partial(make, comparison) for name, make in own.items()},
        **({"divergences": partial(divergences, comparison, measure, better)} if runs else {}),
        "resolution": partial(tables.resolution, comparison),
        "spread": partial(tables.spread, comparison),
        "agreement": partial(tables.agreement, comparison),
    }


def screen_tables(comparison: Comparison) -> list[str]:
    """The tables that a terminal shows unless asked for others: all differences only where there is one pair."""
    return ["scores", "differences"] if len(comparison.systems) == 2 else ["scores"]


def comparison_page(
    comparison: Comparison, names: Sequence[str] | None = None, measure: str = "", better: str = ""
) -> Page:
    """A comparison with some of its tables, or with all of them."""
    sentences: dict[bool, list[str]] = {True: [], False: []}
    for note in comparison.notes:
        write = sentence if note.startswith(comparison.systems) else capitalised
        sentences[note_kind(note) in _REMARKS].append(write(note))
    return Page(
        title=f"{', '.join(comparison.systems[:-1])} and {comparison.systems[-1]}",
        runs=[run.id for run in comparison.runs.values()],
        verdict=f"{comparison.verdict}.",
        warnings=sentences[False],
        tables=made_tables(compared_tables(comparison, measure, better), names),
        open=[] if names else _OPEN,
        notes=sentences[True],
        signature=comparison.signature,
    )


def telling_dialogues(comparison: Comparison, most: int) -> list[str]:
    """The dialogues that make most of the difference of the first two systems, for reading."""
    first, second = (comparison.runs[name] for name in comparison.systems[:2])
    examples = (unit_example(comparison, first, second, unit) for unit in differing_units(comparison))
    return list(dict.fromkeys(filter(None, examples)))[:most]


def comparison_report(comparison: Comparison, dialogues: Sequence[str]) -> Page:
    """Everything about a comparison, and some dialogues as the first two systems have them, for one file."""
    runs = [comparison.runs[name] for name in comparison.systems[:2]]
    readings = [side_page(runs, name).dialogues[0] for name in dialogues]
    return replace(comparison_page(comparison), dialogues=readings)
