"""A comparison as pages and tables: scores with letters, differences, ranks, and what the test set can resolve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from dialgauge.comparison.divergence import differing_units, divergences, unit_example
from dialgauge.comparison.spread import spread_table
from dialgauge.comparison.standing import order, standings
from dialgauge.report import (
    BESIDE,
    PERCENT,
    Cell,
    Chart,
    Column,
    Link,
    Number,
    Page,
    Table,
    Tone,
    Value,
    made_tables,
    matrix_table,
    number_of,
    part_of,
    side_page,
    view_of,
)
from dialgauge.stats import correlation_matrix, discriminative_power
from dialgauge.text import REMARK, capitalised, counted, note_kind, sentence

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison, Difference

#: The tables that a page opens with.
_OPEN = ("scores", "differences", "divergences")
#: What else decides where amounts are compared.
_AMOUNTS = "skewed amounts, so a difference must also survive an added extreme value"


def compared_tables(
    comparison: Comparison, measure: str = "", better: str = ""
) -> dict[str, Callable[[], Table | None]]:
    """The tables by name; ``measure`` and ``better`` choose the dialogues that are listed."""
    runs = list(comparison.runs.values())
    own = view_of(runs[0]).compared if runs else {}
    return {
        "scores": partial(scores, comparison),
        "differences": partial(differences, comparison),
        "ranks": partial(ranks, comparison),
        **{name: partial(make, comparison) for name, make in own.items()},
        **({"divergences": partial(divergences, comparison, measure, better)} if runs else {}),
        "resolution": partial(resolution, comparison),
        "spread": partial(spread, comparison),
        "agreement": partial(agreement, comparison),
    }


def screen_tables(comparison: Comparison) -> list[str]:
    """The tables that a terminal shows unless asked for others: all differences only where there is one pair."""
    return ["scores", "differences"] if len(comparison.systems) == 2 else ["scores"]


def comparison_page(
    comparison: Comparison, names: Sequence[str] | None = None, measure: str = "", better: str = ""
) -> Page:
    """A comparison with some of its tables, or with all of them."""
    sentences: dict[bool, list[str]] = {True: [], False: []}
    systems = (*comparison.systems, *(run.name for run in comparison.runs.values()))
    for note in comparison.notes:
        write = sentence if note.startswith(systems) else capitalised
        sentences[note_kind(note) == REMARK].append(write(note))
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


def scores(comparison: Comparison) -> Table:
    """The scores of all systems, best first, with letters: systems that share one cannot be told apart."""
    standing, places = standings(comparison), order(comparison)
    cells = {
        measure: _scores_of(comparison, column, [standing[column].letters[place] for place in places], places)
        for column, measure in enumerate(comparison.measures)
    }
    cells = dict(sorted(cells.items(), key=lambda each: bool(part_of(each[0]))))  # parts come last
    whole = sum(not part_of(measure) for measure in cells)
    first = None if comparison.named else whole or None
    names = [comparison.systems[place] for place in places]
    directed = _directed(comparison, comparison.measures[:1])
    title = "Scores, best system first" if directed else f"Scores, highest {comparison.measures[0]} first"
    if len(names) > BESIDE or len(comparison.measures) < len(names):
        table = Table(title, ["system", *(Column(measure, spare=2 * bool(part_of(measure))) for measure in cells)])
        for place, name in enumerate(names):
            table.add(name, *(row[place] for row in cells.values()))
    else:
        table = Table(title, ["measure", *names], chart=Chart("intervals", tuple(names)), first=first)
        for measure, row in cells.items():
            table.add(measure, *row)
    falling = [
        measure
        for measure in _directed(comparison, comparison.measures)
        if not comparison.scores.higher_is_better(measure)
    ]
    unknown = [measure for measure in comparison.measures if not _directed(comparison, [measure])]
    table.notes = [
        f"Systems that share a letter do not differ significantly: {_test(comparison)}.",
        f"{comparison.basis}, {counted(comparison.resampling.resamples, 'resample')}.",
        *([f"Lower is better: {', '.join(falling)}."] if falling else []),
        *([f"Not known whether higher is better: {', '.join(unknown)}."] if unknown else []),
        *([f"{', '.join(comparison.amounts)}: {_AMOUNTS}."] if comparison.amounts else []),
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
            Column("p", Number(4), help="adjusted for all pairs of systems" if many else "", spare=1),
            Column("wins", help=f"{comparison.pairing.unit}s on which the first system scores better", spare=2),
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
            Cell(verdict_words(each), tone=tone),
        )
    unit = comparison.pairing.unit
    alike = (comparison.tested.error == 0) & np.isnan(comparison.tested.low)
    constant = [measure for measure, some in zip(comparison.measures, alike.any(axis=0), strict=True) if some]
    if comparison.too_few:
        table.notes.append(f"No intervals: {counted(len(comparison.dialogues), unit)} are too few.")
    elif constant:
        named = ", ".join(constant)
        table.notes.append(f"No interval where two systems differ by the same amount on every {unit} ({named}).")
    return table


def verdict_words(difference: Difference) -> str:
    """The answer to "is it better?" in two or three words."""
    if math.isnan(difference.adjusted):
        return "undefined"
    if not difference.significant:
        return "could be noise"
    return f"{difference.better} is better" if difference.better else f"{difference.higher} is higher"


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
    power = discriminative_power(comparison.tested.p, alpha=comparison.alpha)
    table = Table(
        "What this test set can resolve",
        [
            Column("measure"),
            Column("noise floor", help="no two systems that differ by less were told apart"),
            Column("resolved", help="all that differ by more were"),
            Column("detectable", help="the true difference that is found with 80% power, for any pair"),
            Column(
                "pairs separated", PERCENT, help=f"pairs of systems with uncorrected p < {comparison.alpha:g}", spare=1
            ),
        ],
    )
    for place, measure in enumerate(comparison.measures):
        number = number_of(comparison.scores.run_score(measure))
        sizes = (comparison.floor[place], comparison.resolved[place], comparison.detectable[place])
        table.add(measure, *(Cell(float(size), number=number) for size in sizes), power[place])
    return table


def spread(comparison: Comparison) -> Table:
    """How far each measure spreads the systems."""
    numbers = [number_of(comparison.scores.run_score(measure)) for measure in comparison.measures]
    title = "How far each measure spreads the systems"
    return spread_table(title, comparison.measures, comparison.corpus_values, numbers)


def agreement(comparison: Comparison) -> Table | None:
    """Kendall's tau-b between the orders of systems that two measures give."""
    if len(comparison.systems) < 3 or len(comparison.measures) < 2:
        return None
    title = "Do measures rank the systems alike? (Kendall's tau-b)"
    matrix = correlation_matrix(list(comparison.oriented.T), "kendall")
    return matrix_table(title, comparison.measures, matrix)


def _scores_of(comparison: Comparison, column: int, letters: Sequence[str], places: Sequence[int]) -> list[Cell]:
    """The scores of one measure; strong are those that the test does not find worse than the best."""
    number = number_of(comparison.scores.run_score(comparison.measures[column]))
    strong = _like_the_best(comparison, column)
    cells = []
    for place, mark in zip(places, letters, strict=True):
        low, high = comparison.intervals[place, column].tolist()
        value = float(comparison.corpus_values[place, column])
        cells.append(Cell(value, low, high, mark=mark, strong=place in strong, number=number))
    return cells


def _like_the_best(comparison: Comparison, column: int) -> set[int]:
    """The systems that the test does not find worse than the best; none where it could find nothing."""
    values = comparison.oriented[:, column]
    if np.isnan(values).all() or not _directed(comparison, [comparison.measures[column]]) or comparison.too_few:
        return set()
    best = int(np.nanargmax(values))
    pairs = zip(comparison.pairs, comparison.significant[:, column], strict=True)
    others = {a + b - best for (a, b), significant in pairs if best in (a, b) and not significant}
    return {place for place in (best, *others) if not np.isnan(values[place])}


def _directed(comparison: Comparison, measures: Sequence[str]) -> list[str]:
    """Those of some measures of which it is known whether more is better."""
    return [measure for measure in measures if comparison.scores.higher_is_better(measure) is not None]


def _test(comparison: Comparison) -> str:
    corrected = f", step-down max-T over the {len(comparison.pairs):,} pairs" if len(comparison.systems) > 2 else ""
    return f"paired randomisation, p < {comparison.alpha:g}{corrected}"


def _pair(comparison: Comparison, difference: Difference) -> Link | None:
    """The comparison of two systems alone."""
    if not comparison.runs:
        return None
    return Link(runs=(comparison.runs[difference.first].id, comparison.runs[difference.second].id))


def _list_cell(comparison: Comparison, difference: Difference, count: int, better: str) -> Cell:
    """How many units one of two systems wins, leading to their list; among more, the comparison of the pair has it."""
    link = _pair(comparison, difference)
    if link is None or not count or len(comparison.systems) > 2:
        return Cell(count)
    return Cell(count, link=replace(link, only={"measure": difference.measure, "better": better}))
