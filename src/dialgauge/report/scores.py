"""Tables of scores, the same for every kind of run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score, measure_of_kind
from dialgauge.report.table import PERCENT, Cell, Chart, Column, Number, Table

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: Up to so many systems stand beside each other; more stand below each other.
BESIDE = 3
_DIGITS = {"dollars": 4}


def number_of(score: Score | None, *, signed: bool = False) -> Number:
    """How the values of a measure are written: shares in percent."""
    unit = score.unit if score is not None else None
    return Number(_DIGITS.get(unit or "", 2), percent=unit == "share", signed=signed)


def score_cell(score: Score | None) -> Cell:
    """A score with its interval."""
    return Cell(None) if score is None else Cell(score.value, score.low, score.high, number=number_of(score))


def score_table(runs: Sequence[Run], names: Sequence[str] = (), heads: Sequence[str] = ()) -> Table:
    """All scores of some runs but those of parts: measures down, or systems down if there are many.

    ``names`` are those of the systems; ``heads``, parts among them too, come first and are all that is shown unasked.
    """
    title, names = "Scores", names or [run.name for run in runs]
    every = dict.fromkeys(name for run in runs for name in run.scores if name in heads or not part_of(name))
    first = [name for name in heads if name in every] or list(every)
    measures = [*first, *(name for name in every if name not in first)]
    if len(runs) > BESIDE:
        columns = [Column(name, spare=int(name not in first)) for name in measures]
        table = Table(title, ["system", *columns])
        for name, run in zip(names, runs, strict=True):
            table.add(name, *(score_cell(run.scores.get(measure)) for measure in measures))
        return table
    columns = [Column("measure"), *map(Column, names), Column("unit", spare=1), Column("meaning", spare=2)]
    shown = len(first) if len(first) < len(measures) else None
    table = Table(title, columns, first=shown, chart=Chart("intervals", tuple(names)))
    for name in measures:
        unit = next((run.scores[name].unit for run in runs if name in run.scores), None)
        row = [score_cell(run.scores.get(name)) for run in runs]
        table.add(name, *row, "%" if unit == "share" else unit, meaning_of(name, runs[0].kind)[0])
    return table


def part_table(title: str, head: str, scores: Mapping[str, Score], dialogues: Mapping[str, Cell]) -> Table:
    """The scores of parts, such as ``JGA[hotel]``: parts down, measures across, the first of them on any screen.

    ``dialogues`` has the parts in their order, each with its number of dialogues.
    """
    measures = dict.fromkeys(name.partition("[")[0] for name in scores if part_of(name) in dialogues)
    columns = [Column(name, PERCENT, spare=place) for place, name in enumerate(measures)]
    table = Table(title, [head, *columns, "dialogues"], chart=Chart("intervals", tuple(measures)[:1]))
    for part, count in dialogues.items():
        label = int(part) if part.isdecimal() else part
        table.add(label, *(score_cell(scores.get(f"{name}[{part}]")) for name in measures), count)
    return table


def matrix_table(title: str, names: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> Table:
    """A symmetric matrix of numbers, such as correlations, with names on both sides."""
    table = Table(title, [Column(""), *(Column(name) for name in names)], chart=Chart("heat", tuple(names)))
    for name, row in zip(names, matrix, strict=True):
        table.add(name, *row)
    if any(value is None for row in matrix for value in row):
        table.notes.append("–: undefined, because one of the two is constant or there are fewer than two values.")
    return table


def part_of(measure: str) -> str:
    """The part that a measure is about: ``hotel`` of ``JGA[hotel]``; empty for a measure of everything."""
    return measure.partition("[")[2].removesuffix("]")


def meaning_of(measure: str, kind: str) -> tuple[str, str]:
    """What a measure is, in a few words and in a sentence; both empty if no card says it."""
    with suppress(DialgaugeError):
        card = measure_of_kind(measure, kind).card
        return card.title, card.summary
    return "", ""
