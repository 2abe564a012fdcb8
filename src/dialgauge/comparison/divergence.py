"""The dialogues that make the difference of two systems, and where the systems part in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import (
    Cell,
    Column,
    Link,
    Number,
    Table,
    Turn,
    first_difference,
    number_of,
    side_by_side,
    transcript_of,
    view_of,
)
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison
    from dialgauge.runs import Run

#: Dialogues in which systems part that are listed, and letters of what each has there.
_LISTED, _LETTERS = 20, 100
#: Values that differ by no more are equal, as in the counts of wins and losses.
_TIE = 1e-12


def divergences(comparison: Comparison, measure: str = "", better: str = "") -> Table | None:
    """The dialogues or tasks that make the difference of the first two systems, and what each system has there."""
    first, second = comparison.systems[:2]
    chosen = measure or comparison.measures[0]
    if chosen not in comparison.measures:
        raise DialgaugeError(f"these runs share no measure '{chosen}'.{nearest(chosen, comparison.measures)}")
    sizes = differing_units(comparison, chosen, better)
    if not sizes:
        return None
    number = number_of(comparison.scores.run_score(chosen))
    unit = comparison.pairing.unit
    table = Table(
        f"Where {first} and {second} differ in {chosen}",
        [
            unit,
            Column(first, number),
            Column(second, number),
            Column("adds", Number(number.digits, number.percent, signed=True), help="to the difference", spare=1),
            Column("message", help="the first in which they differ"),
            Column(f"{first} there", spare=2),
            Column(f"{second} there", spare=2),
        ],
        answer=f"{counted(len(sizes), unit)} {f'on which {better} is better' if better else 'with different scores'}.",
    )
    runs = comparison.runs[first], comparison.runs[second]
    values = comparison.scores.by_dialogue[:, comparison.scores.place_of_measure(chosen)]
    places = {name: place for place, name in enumerate(comparison.dialogues)}
    for name in list(sizes)[:_LISTED]:
        dialogue, turn, *contents = _parting(comparison, *runs, name)
        link = Link(runs=(runs[0].id, runs[1].id), dialogue=dialogue, turn=turn) if dialogue else None
        scored = [float(values[system, places[name]]) for system in (0, 1)]
        table.add(Cell(name, link=link), *scored, sizes[name], turn, *contents)
    if len(sizes) > _LISTED:
        table.notes.append(f"The {_LISTED} that make most of the difference; {len(sizes) - _LISTED:,} more differ.")
    return table


def differing_units(comparison: Comparison, measure: str = "", better: str = "") -> dict[str, float]:
    """What each dialogue or task adds to the difference of the first two systems, those that add most first.

    A dialogue adds ``num_a / sum(den_a) - num_b / sum(den_b)``; over all dialogues that makes the difference. Where a
    value comes from several sums, such as BLEU, it adds what the difference would lose without it. With ``better`` only
    those on which this system scores better: a system can win a dialogue that lowers its total.
    """
    scores, chosen = comparison.scores, measure or comparison.measures[0]
    added = scores.contributions(chosen)
    sizes = dict(zip(scores.dialogues, (added[0] - added[1]).round(12).tolist(), strict=True))
    units = [unit for unit, size in sizes.items() if size]
    if better:
        own, other = scores.by_dialogue[:2, scores.place_of_measure(chosen)]
        falls = scores.higher_is_better(chosen) is False
        sign = 1 if (better == comparison.systems[0]) != falls else -1
        won = sign * (own - other) > _TIE
        units = [unit for unit, is_won in zip(scores.dialogues, won.tolist(), strict=True) if is_won]
    return {unit: sizes[unit] for unit in sorted(units, key=lambda unit: (-abs(sizes[unit]), unit))}


def _parting(comparison: Comparison, first: Run, second: Run, unit: str) -> tuple[str, int | None, str, str]:
    """A dialogue of the unit, the first turn in which two runs differ, and what each has there.

    Conversations of their own differ at once: of these, how each ended.
    """
    dialogue = unit_example(comparison, first, second, unit)
    if not dialogue:
        return "", None, "", ""
    transcripts = [transcript_of(run, dialogue) for run in (first, second)]
    pairs = side_by_side(transcripts)
    row = first_difference(pairs)
    if row is None:
        return dialogue, None, "", ""
    own, other = pairs[row]
    if own is None or other is None or own.text != other.text:
        found = [view_of(run).findings(run).get(dialogue) for run in (first, second)]
        marked = [transcript.marks[0].text if transcript.marks else "" for transcript in transcripts]
        ends = [finding.text if finding else mark for finding, mark in zip(found, marked, strict=True)]
        return dialogue, None, ends[0], ends[1]
    return dialogue, own.number, _facts_alone(own, other), _facts_alone(other, own)


def unit_example(comparison: Comparison, first: Run, second: Run, unit: str) -> str:
    """A dialogue of both runs to look at for a unit: itself, or a trial of the task that they judge differently.

    Empty if they have none in common.
    """
    units, others = (comparison.pairing.units(run) for run in (first, second))
    if not units:
        return unit
    shared = [name for name, own in units.items() if own == unit and name in others]
    values, other_values = map(_dialogue_values, (first, second))
    return max(shared, key=lambda name: values.get(name) != other_values.get(name), default="")


def _dialogue_values(run: Run) -> Mapping[str, float]:
    """Each dialogue's value of the measure that heads the list of dialogues."""
    head = next((name for name in view_of(run).columns if name in run.scores), "")
    frame = run.table("dialogue_scores").filter(pl.col("measure") == head)
    return {name: num / den for name, _, num, den in frame.iter_rows() if den}


def _facts_alone(turn: Turn, other: Turn) -> str:
    """What stands around the words of a turn and not around the other's."""
    rows = [row for row in turn.facts if row not in other.facts]
    return "; ".join(" · ".join(str(value) for value in row if value) for row in rows)[:_LETTERS]
