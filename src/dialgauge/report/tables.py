"""Tables that every kind of run shares: of scores, of counted dialogues, and of gold and predicted states.

Counts are made from the frames of a view's filters, and every number leads to its list: both come from the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score, measure_of_kind
from dialgauge.report.table import PERCENT, Cell, Chart, Column, Link, Number, Table, Tone
from dialgauge.text import counted, some_of

if TYPE_CHECKING:
    from dialgauge.dialogue import State, Turn
    from dialgauge.runs import Run

#: Up to so many systems stand beside each other; more stand below each other.
BESIDE = 3
_DIGITS = {"dollars": 4}
#: By slot the gold value, the predicted value, and what happened to it: ``right`` or a kind of error.
Slots: TypeAlias = Mapping[str, tuple[str, str, str]]

RIGHT = "right"
#: What happens to slots, and how it is coloured.
ERRORS: Mapping[str, str] = {"wrong": "wrong value", "missed": "missed", "spurious": "spurious"}
_TONES: Mapping[str, Tone] = {RIGHT: "good", "wrong": "bad", "missed": "bad", "spurious": "bad"}
#: What some sources put before the slots of a booking.
_BOOKING = "book"


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


def count_table(
    title: str,
    frame: pl.DataFrame,
    by: str,
    *,
    split: str = "",
    tones: Mapping[str, Tone] | None = None,
    only: Mapping[str, str] | None = None,
    first: int | None = 12,
) -> Table:
    """How many dialogues have each value of the filter ``by``, the most frequent first, as numbers and as bars.

    ``split`` is another filter of the frame: its values become columns, those of ``tones`` first, and parts of the
    bars. ``only`` restricts the dialogues.
    """
    only, tones = only or {}, tones or {}
    rows = frame.filter(*(pl.col(name) == value for name, value in only.items()))
    heads = _values(rows, split, tones) if split else ["dialogues"]
    columns = [Column(head, tone=tones.get(head, "plain")) for head in heads]
    table = Table(title, [by, *columns], first=first, chart=Chart("bars", tuple(heads)))
    for value in _values(rows, by):
        parts = [{split: head} if split else {} for head in heads]
        table.add(value, *(count_cell(rows, {**only, by: value, **part}) for part in parts))
    return table


def count_cell(frame: pl.DataFrame, only: Mapping[str, str]) -> Cell:
    """How many dialogues of a filter's frame pass, leading to their list."""
    count = frame.filter(*(pl.col(name) == value for name, value in only.items()))["dialogue"].n_unique()
    return Cell(count, link=Link(only=only) if count else None)


def _values(frame: pl.DataFrame, name: str, order: Iterable[str] = ()) -> list[str]:
    """The values of a filter: those of the order first, then the most frequent."""
    counts = frame.drop_nulls(name).group_by(name).agg(pl.col("dialogue").n_unique())
    found = [value for value, _ in sorted(counts.iter_rows(), key=lambda row: (-row[1], row[0]))]
    return [*(value for value in order if value in found), *(value for value in found if value not in set(order))]


def state_table(slots: Slots, before: Slots) -> Table:
    """Both states: slots that are new or changed first, the others folded; errors among these are named."""
    news = {slot for slot, values in slots.items() if values != before.get(slot)}
    table = Table("", ["slot", "gold", "predicted", "verdict"], first=len(news))
    if carried := [slot for slot in sorted(slots) if slot not in news and slots[slot][2] not in (RIGHT, "")]:
        table.notes.append(f"{counted(len(carried), 'error')} carried over: {some_of(carried)}.")
    for slot in sorted(slots, key=lambda name: (name not in news, name)):
        gold, predicted, kind = slots[slot]
        table.add(
            slot, gold or None, predicted or None, Cell(ERRORS.get(kind, kind) or None, tone=_TONES.get(kind, "plain"))
        )
    return table


def recorded_slots(turn: Turn) -> Slots | None:
    """The states that a turn records, compared as they are written; None if it has none."""
    if turn.state is None and turn.predicted is None:
        return None
    gold, predicted = dict(_flat(turn.state or {})), dict(_flat(turn.predicted or {}))
    both = turn.state is not None and turn.predicted is not None
    return {
        name: (" | ".join(right), " | ".join(given), _kind(right, given) if both else "")
        for name in sorted(gold | predicted)
        for right, given in [(gold.get(name, ()), predicted.get(name, ()))]
    }


def _flat(state: State) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Slots with their domain. Some write ``bookday`` where others write ``day``: they are shown as one."""
    for domain, slots in state.items():
        for slot, values in slots.items():
            short = slot.removeprefix(_BOOKING)
            yield f"{domain}-{slot if not short or short in slots else short}", values


def _kind(gold: tuple[str, ...], predicted: tuple[str, ...]) -> str:
    if not gold:
        return "spurious"
    if not predicted:
        return "missed"
    known = {value.lower() for value in gold}
    return RIGHT if any(value.lower() in known for value in predicted) else "wrong"
