"""Comparisons as pages and tables: who is ahead, by how much, how sure, and in which dialogues the systems part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.comparison.divergence import divergence_sizes
from dialgauge.comparison.missing import MISSING_OPTIONS
from dialgauge.comparison.standing import order, standings
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import (
    BESIDE,
    Cell,
    Chart,
    Column,
    Link,
    Number,
    Page,
    Table,
    Tone,
    Turn,
    Value,
    first_difference,
    made_tables,
    number_of,
    side_by_side,
    side_page,
    transcript_of,
    view_of,
)
from dialgauge.text import REMARK, counted, note_kind

if TYPE_CHECKING:
    from dialgauge.comparison.difference import Difference
    from dialgauge.comparison.result import Comparison
    from dialgauge.runs import Run

#: Dialogues in which systems part that are listed, and letters of what each has there.
_LISTED, _LETTERS = 20, 100
#: Values that differ by no more are equal, as in the counts of wins and losses.
_TIE = 1e-12
#: Kinds of notes that do not put a comparison in doubt.
_REMARKS = (REMARK, "complete", "end_of_test", "no_sums", "not_paired", "not_shared", "trials_differ", "uneven_trials")


def compared_tables(
    comparison: Comparison, measure: str = "", better: str = ""
) -> dict[str, Callable[[], Table | None]]:
    """The tables by name; ``measure`` and ``better`` choose the dialogues that are listed."""
    view = view_of(next(iter(comparison.runs.values())))
    return {
        "scores": partial(scores, comparison),
        "differences": partial(differences, comparison),
        "ranks": partial(ranks, comparison),
        **{name: partial(make, comparison) for name, make in view.compared.items()},
        "divergences": partial(divergences, comparison, measure, better),
        "resolution": partial(resolution, comparison),
    }


def comparison_page(
    comparison: Comparison, names: Sequence[str] | None = None, measure: str = "", better: str = ""
) -> Page:
    """A comparison with some of its tables, or with all of them."""
    notes = [note for note in comparison.notes if note_kind(note) != MISSING_OPTIONS]
    return Page(
        title=f"{', '.join(comparison.systems[:-1])} and {comparison.systems[-1]}",
        runs=[run.id for run in comparison.runs.values()],
        verdict=f"{comparison.verdict}.",
        warnings=[note for note in notes if note_kind(note) not in _REMARKS],
        tables=made_tables(compared_tables(comparison, measure, better), names),
        notes=[note for note in notes if note_kind(note) in _REMARKS],
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


def scores(comparison: Comparison) -> Table:
    """The scores of all systems, best first, with letters: systems that share one cannot be told apart."""
    standing, places = standings(comparison), order(comparison)
    cells = {
        measure: [_score(comparison, place, column, standing[column].letters[place]) for place in places]
        for column, measure in enumerate(comparison.measures)
    }
    names = [comparison.systems[place] for place in places]
    title = "Scores, best system first"
    if len(names) > BESIDE:
        table = Table(title, ["system", *cells])
        for place, name in enumerate(names):
            table.add(name, *(row[place] for row in cells.values()))
    else:
        table = Table(title, ["measure", *names], chart=Chart("intervals", tuple(names)))
        for measure, row in cells.items():
            table.add(measure, *row)
    corrected = f", step-down max-T over {len(comparison.pairs):,} pairs" if len(names) > 2 else ""
    table.notes = [
        f"Systems that share a letter cannot be told apart: paired randomisation, p < {comparison.alpha:g}{corrected}.",
        f"{comparison.basis}, {counted(comparison.resamples, 'resample')}.",
    ]
    return table


def differences(comparison: Comparison) -> Table:
    """Every pair of systems on every measure; wins and losses lead to the dialogues or tasks they count."""
    many = len(comparison.systems) > 2
    table = Table(
        "Differences, first minus second" if many else f"Differences: {' minus '.join(comparison.systems)}",
        [
            Column("measure"),
            *([Column("first"), Column("second")] if many else []),
            Column("difference"),
            Column("p", Number(4), help="adjusted for all pairs" if many else "", spare=1),
            Column("wins", help=f"{comparison.view.unit}s on which the first system scores better", spare=2),
            Column("ties", spare=2),
            Column("losses", spare=2),
            Column("verdict"),
        ],
        chart=Chart("intervals", ("difference",)),
    )
    for each in comparison.differences():
        pair: list[Cell | Value] = [Cell(each.first, link=_pair(comparison, each)), each.second] if many else []
        number = number_of(comparison.scores.run_score(each.measure), signed=True)
        low, high = (None, None) if comparison.too_few else (each.low, each.high)
        tone: Tone = "plain" if each.significant else "warn"
        table.add(
            each.measure,
            *pair,
            Cell(each.difference, low, high, tone=tone, number=number),
            each.adjusted,
            _list_cell(comparison, each, each.wins, each.first),
            each.ties,
            _list_cell(comparison, each, each.losses, each.second),
            Cell(_verdict(each), tone=tone),
        )
    if comparison.too_few:
        table.notes.append(f"No intervals: {counted(len(comparison.dialogues), comparison.view.unit)} are too few.")
    return table


def ranks(comparison: Comparison) -> Table | None:
    """The best and the worst rank that the tests leave each of more than two systems."""
    if len(comparison.systems) < 3:
        return None
    standing = standings(comparison)
    table = Table("Possible ranks", ["system", *comparison.measures])
    for place in order(comparison):
        table.add(comparison.systems[place], *(each.ranks(place) for each in standing))
    table.notes.append("1-2: no system is significantly better, and one other is not significantly worse.")
    return table


def resolution(comparison: Comparison) -> Table:
    """How small a difference this test set can resolve."""
    table = Table(
        "What this test set can resolve",
        [
            "measure",
            Column("noise floor", help="no two systems that differ by less were told apart"),
            Column("resolved", help="all that differ by more were"),
            Column("detectable", help="the true difference that is found with 80% power, for any pair"),
        ],
    )
    for place, measure in enumerate(comparison.measures):
        number = number_of(comparison.scores.run_score(measure))
        sizes = (comparison.floor[place], comparison.resolved[place], comparison.detectable[place])
        table.add(measure, *(Cell(float(size), number=number) for size in sizes))
    return table


def divergences(comparison: Comparison, measure: str = "", better: str = "") -> Table:
    """The dialogues or tasks that make the difference of the first two systems, and what each system has there."""
    first, second = comparison.systems[:2]
    chosen = measure or comparison.measures[0]
    if chosen not in comparison.measures:
        raise DialgaugeError(f"these runs share no measure '{chosen}'.{nearest(chosen, comparison.measures)}")
    sizes = differing_units(comparison, chosen, better)
    number = number_of(comparison.scores.run_score(chosen))
    unit = comparison.view.unit
    table = Table(
        f"Where {first} and {second} part by {chosen}",
        [
            unit,
            Column(first, number),
            Column(second, number),
            Column("part", Number(number.digits, number.percent, signed=True), help="of the difference", spare=1),
            Column("message", help="the first that differs"),
            Column(f"{first} there", spare=2),
            Column(f"{second} there", spare=2),
        ],
        answer=f"{counted(len(sizes), unit)} {f'on which {better} is better' if better else 'with different scores'}.",
    )
    runs = comparison.runs[first], comparison.runs[second]
    values = comparison.scores.by_dialogue[:, comparison.scores.place_of_measure(chosen)]
    places = {name: place for place, name in enumerate(comparison.dialogues)}
    for name in list(sizes)[:_LISTED]:
        parting = _parting(comparison, *runs, name)
        link = Link(runs=(runs[0].id, runs[1].id), dialogue=parting.dialogue, turn=parting.turn)
        scored = [float(values[system, places[name]]) for system in (0, 1)]
        table.add(
            Cell(name, link=link if parting.dialogue else None), *scored, sizes[name], parting.turn, *parting.contents
        )
    if len(sizes) > _LISTED:
        table.notes.append(f"The {_LISTED} that make most of the difference; {len(sizes) - _LISTED:,} more differ.")
    return table


def differing_units(comparison: Comparison, measure: str = "", better: str = "") -> dict[str, float]:
    """What each dialogue or task adds to the difference of the first two systems, those that add most first.

    ``better``: only those on which this system scores better. In a ratio of sums that need not be those that add to it.
    """
    first, second = comparison.systems[:2]
    chosen = measure or comparison.measures[0]
    sizes = divergence_sizes(comparison, first, second, chosen)
    if not better:
        return sizes
    own, other = comparison.scores.by_dialogue[:2, comparison.scores.place_of_measure(chosen)].tolist()
    falls = comparison.scores.higher_is_better(chosen) is False
    sign = 1 if (better == first) != falls else -1
    ahead = [
        unit for unit, *ends in zip(comparison.dialogues, own, other, strict=True) if sign * (ends[0] - ends[1]) > _TIE
    ]
    return {unit: sizes.get(unit, 0.0) for unit in sorted(ahead, key=lambda unit: -abs(sizes.get(unit, 0.0)))}


def _score(comparison: Comparison, place: int, column: int, letters: str) -> Cell:
    """A score; strong if no other is significantly better."""
    low, high = comparison.intervals[place, column].tolist()
    number = number_of(comparison.scores.run_score(comparison.measures[column]))
    value = float(comparison.corpus_values[place, column])
    return Cell(value, low, high, mark=letters, strong="a" in letters, number=number)


def _verdict(difference: Difference) -> str:
    if not difference.significant:
        return "could be noise"
    if difference.better is None:
        return f"{difference.higher} is higher"
    return f"{difference.better} is better"


def _pair(comparison: Comparison, difference: Difference) -> Link:
    """The comparison of two systems alone."""
    return Link(runs=(comparison.runs[difference.first].id, comparison.runs[difference.second].id))


def _list_cell(comparison: Comparison, difference: Difference, count: int, better: str) -> Cell:
    """How many units one of two systems wins, leading to their list; among more, the comparison of the pair has it."""
    if not count or len(comparison.systems) > 2:
        return Cell(count)
    only = {"measure": difference.measure, "better": better}
    return Cell(count, link=replace(_pair(comparison, difference), only=only))


class _Parting(Struct, frozen=True):
    """Where two runs part in a dialogue, and what each has there."""

    dialogue: str = ""
    turn: int | None = None
    contents: tuple[str, str] = ("", "")


def _parting(comparison: Comparison, first: Run, second: Run, unit: str) -> _Parting:
    """The first turn in which two runs differ. Conversations of their own differ at once: there, what came of them."""
    dialogue = unit_example(comparison, first, second, unit)
    if not dialogue:
        return _Parting()
    transcripts = [transcript_of(run, dialogue) for run in (first, second)]
    pairs = side_by_side(*transcripts)
    row = first_difference(pairs)
    if row is None:
        return _Parting(dialogue)
    own, other = pairs[row]
    if own is None or other is None or own.text != other.text:
        found = [view_of(run).findings(run).get(dialogue) for run in (first, second)]
        marked = [transcript.marks[0].text if transcript.marks else "" for transcript in transcripts]
        outcomes = [finding.text if finding else mark for finding, mark in zip(found, marked, strict=True)]
        return _Parting(dialogue, None, (outcomes[0], outcomes[1]))
    return _Parting(dialogue, own.number, (_facts_alone(own, other), _facts_alone(other, own)))


def unit_example(comparison: Comparison, first: Run, second: Run, unit: str) -> str:
    """A dialogue of both runs to look at for a unit: itself, or a trial of the task that they judge differently.

    Empty if they have none in common.
    """
    units, others = (comparison.view.units(run) for run in (first, second))
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
    return "; ".join(" ".join(str(value) for value in row if value) for row in rows)[:_LETTERS]
