"""A comparison as tables, ready for a terminal or a paper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dialgauge.comparison.difference import Difference
from dialgauge.comparison.missing import missing_sentences
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.spread import matrix_table, rank_agreement, spreads, swapped_pairs
from dialgauge.comparison.standing import Standing, order, standings
from dialgauge.measures import Signature
from dialgauge.rendering import BOLD, INTERVALS, SHARE, Cell, Column, Table, percent_note, score_column
from dialgauge.stats import discriminative_power
from dialgauge.text import Note, counted, note_kind, some_of, upper_first

#: Up to so many systems stand beside each other where there are more measures than systems.
_BESIDE = 3

#: How many contradicting pairs of measures are named.
_CONTRARY = 5

#: Up to so many letters each has its own place in a column, so that groups are seen at a glance.
_FEW_LETTERS = 6


def standing_tables(comparison: Comparison) -> list[Table]:
    """The systems, best first, by measures, with letters; then the ranks the tests leave them."""
    standing = standings(comparison)
    scores = [_score_cells(comparison, index, _aligned(ranking)) for index, ranking in enumerate(standing)]
    beside = _stand_beside(comparison)
    title = "Scores, best system first" if beside else "Systems by measures, best first"
    if not _directed(comparison, comparison.measures[:1]):
        title = f"{title.partition(',')[0]}, highest {comparison.measures[0]} first"
    tables = [_by_measures(comparison, title, scores)]
    _add_score_notes(tables[0], comparison, comparison.measures)
    tables[0].signature = comparison.signature
    if len(comparison.systems) > 2:
        ranks = [[Cell(ranking.ranks(system)) for system in range(len(comparison.systems))] for ranking in standing]
        tables.append(_by_measures(comparison, "Possible ranks", ranks))
        tables[-1].notes += _range_note(comparison, standing)
    return tables


def _directed(comparison: Comparison, measures: Sequence[str]) -> list[str]:
    """Those of some measures of which it is known whether more is better."""
    return [measure for measure in measures if comparison.scores.higher_is_better(measure) is not None]


def _stand_beside(comparison: Comparison) -> bool:
    """Whether a screen has a column for each system, so that all measures and their intervals find room."""
    return len(comparison.systems) <= _BESIDE and len(comparison.measures) > len(comparison.systems)


def _range_note(comparison: Comparison, standing: list[Standing]) -> list[str]:
    """What a range of ranks says, by the example of the first that occurs, and what rank 1 is."""
    directed = _directed(comparison, comparison.measures)
    undirected = [measure for measure in comparison.measures if measure not in directed]
    highest = [f"Rank 1 is the highest value of {', '.join(undirected)}."] if undirected else []
    ranges = [
        (ranking.ranks(system), ranking.best[system] - 1, ranking.worst[system] - 1, measure in directed)
        for measure, ranking in zip(comparison.measures, standing, strict=True)
        for system in range(len(ranking.best))
        if ranking.best[system] < ranking.worst[system]
    ]
    if not ranges:
        return highest
    shown, above, not_below, known = ranges[0]
    leading = f"{above or 'no'} {'system is' if above < 2 else 'systems are'}"
    others = f"{not_below} other {'system is' if not_below == 1 else 'systems are'}"
    better, worse = ("better", "worse") if known else ("higher", "lower")
    return [f"{shown}: {leading} significantly {better}, and {others} not significantly {worse}.", *highest]


def _by_measures(comparison: Comparison, title: str, columns: list[list[Cell]]) -> Table:
    if _stand_beside(comparison):
        rows = order(comparison)
        table = Table(title, ["measure", *(Column(comparison.systems[row], align="right") for row in rows)])
        for measure, cells in zip(comparison.measures, columns, strict=True):
            table.add(measure, *(cells[row] for row in rows))
        return table
    heads = [Column(measure, align="right") for measure in comparison.measures]
    table = Table(title, [Column("system"), *heads])
    for row in order(comparison):
        table.add(comparison.systems[row], *(column[row] for column in columns))
    return table


def score_table(comparison: Comparison, measures: Sequence[str] = ()) -> Table:
    """Systems by measures (all, unless some are chosen), best first: scores, intervals and letters.

    In bold are those that the test does not find worse than the best. Where nothing says whether more is better, the
    highest come first, and nothing is bold.
    """
    shown = measures or comparison.measures
    cells = [
        _score_cells(comparison, index, [f" {text}" for text in standing.letters])
        for index, standing in enumerate(standings(comparison))
        if comparison.measures[index] in shown
    ]
    table = Table("Systems by measures", ["system", *shown], signature=comparison.signature)
    for row in order(comparison):
        table.add(comparison.systems[row], *(column[row] for column in cells))
    table.notes.append(_scored_on(comparison))
    table.notes += [Note(note_kind(sentence), f"{sentence}.") for sentence in missing_sentences(comparison)]
    _add_score_notes(table, comparison, shown)
    return table


def rank_range_table(comparison: Comparison) -> Table:
    """The best and the worst rank that the tests leave each system, measure by measure."""
    table = Table("Possible ranks", ["measure", "system", "letters", "best rank", "worst rank"])
    for measure, standing in zip(comparison.measures, standings(comparison), strict=True):
        for row in order(comparison):
            table.add(measure, comparison.systems[row], standing.letters[row], standing.best[row], standing.worst[row])
    return table


def _aligned(standing: Standing) -> list[str]:
    """The letters as marks, each in a place of its own unless there are many."""
    used = sorted({letter for text in standing.letters for letter in text}, key=lambda mark: (mark.isupper(), mark))
    if len(used) > _FEW_LETTERS:
        return [f" {text}" for text in standing.letters]
    return [" " + "".join(name if name in text else "·" for name in used) for text in standing.letters]


def _scale_note(comparison: Comparison, shown: Sequence[str]) -> list[str]:
    """Which scale the numbers have, where any are shares."""
    scores = {measure: comparison.scores.run_score(measure) for measure in shown}
    others = [measure for measure, score in scores.items() if score is None or score.unit != SHARE]
    if len(others) == len(scores):
        return []
    exception = f", except {', '.join(others)}" if others else ""
    return [percent_note(f"In percent{exception}")]


def _scored_on(comparison: Comparison) -> str:
    """How many dialogues, and under which profile where all systems have the same one."""
    size = counted(len(comparison.dialogues), comparison.view.unit)
    profiles = {Signature.parse(run.signature).get("profile", "") for run in comparison.runs.values() if run.signature}
    named = profiles.pop().partition("@")[0] if len(profiles) == 1 else ""
    return f"{size}, profile {named}." if named else f"{size}."


def _score_cells(comparison: Comparison, column: int, marks: list[str]) -> list[Cell]:
    """The scores of one measure, by system."""
    measure = comparison.measures[column]
    look = score_column(measure, comparison.scores.run_score(measure))
    alike = _like_the_best(comparison, column)
    return [
        Cell(float(comparison.corpus_values[row, column]), low, high, marks[row], row in alike, like=look)
        for row, (low, high) in enumerate(comparison.intervals[:, column].tolist())
    ]


def _like_the_best(comparison: Comparison, column: int) -> set[int]:
    """The systems that the test does not find worse than the best; none where it could find nothing."""
    values = comparison.oriented[:, column]
    measure = comparison.measures[column]
    if np.isnan(values).all() or not _directed(comparison, [measure]) or comparison.too_few:
        return set()
    best = int(np.nanargmax(values))
    pairs = zip(comparison.pairs, comparison.significant[:, column], strict=True)
    others = {a + b - best for (a, b), significant in pairs if best in (a, b) and not significant}
    return {row for row in (best, *others) if not np.isnan(values[row])}


def _add_score_notes(table: Table, comparison: Comparison, shown: Sequence[str]) -> None:
    directed = _directed(comparison, shown)
    falling = [measure for measure in directed if not comparison.scores.higher_is_better(measure)]
    unknown = [measure for measure in shown if measure not in directed]
    table.notes.append(f"Systems that share a letter cannot be told apart: {_test(comparison)}.")
    table.notes += _each_by_itself(comparison)
    table.notes += amount_notes(comparison)
    table.explain(f"{comparison.basis}, {counted(comparison.resampling.resamples, 'resample')}.", INTERVALS)
    if directed and not comparison.too_few:
        table.explain("Bold: not worse than the best by this test.", BOLD)
    table.notes += [
        *_scale_note(comparison, shown),
        *([f"Lower is better: {', '.join(falling)}."] if falling else []),
        *([f"Nothing says whether more is better: {', '.join(unknown)}."] if unknown else []),
        *(
            Note(note_kind(note), upper_first(note).removesuffix(".") + ".")
            for note in (*comparison.scores.notes, *comparison.end_notes)
        ),
    ]


def amount_notes(comparison: Comparison) -> list[str]:
    """What else decides where amounts are compared, and what the randomisation by itself would have said."""
    if not comparison.amounts:
        return []
    unit = comparison.view.unit
    sentences = [
        f"{', '.join(comparison.amounts)}: skewed amounts mislead the randomisation test, so a difference must also "
        f"survive one more, extreme {unit}."
    ]
    alone = [
        f"{difference.measure} of {difference.first} and {difference.second} (p = {difference.p_randomisation:.3f}; "
        f"{difference.p:.3f} with one more {unit})"
        for difference in comparison.differences()
        if difference.randomisation_alone and not comparison.too_few
    ]
    if alone:
        sentences.append(f"The randomisation alone would have told apart: {'; '.join(alone)}.")
    return sentences


def _test(comparison: Comparison) -> str:
    corrected = f", step-down max-T over the {len(comparison.pairs):,} pairs" if len(comparison.systems) > 2 else ""
    return f"paired randomisation, p < {comparison.alpha:g}{corrected}"


def pair_table(comparison: Comparison) -> Table:
    """Every pair of systems on every measure: difference, tests, and on how many dialogues which one is better.

    Where nothing says which is better, it is which one is higher.
    """
    many = len(comparison.systems) > 2
    columns = [
        Column("measure"),
        Column("first"),
        Column("second"),
        Column("difference", signed=True),
        Column("p", drop=1),
        *([Column("p adjusted")] if many else []),
        Column("wins", drop=2),
        Column("ties", drop=4),
        Column("losses", drop=3),
        Column("verdict"),
    ]
    table = Table("Differences, first minus second", columns)
    for difference in comparison.differences():
        look = score_column("", comparison.scores.run_score(difference.measure), signed=True)
        table.add(
            difference.measure,
            difference.first,
            difference.second,
            Cell(difference.difference, difference.low, difference.high, like=look),
            difference.p,
            *([difference.adjusted] if many else []),
            difference.wins,
            difference.ties,
            difference.losses,
            verdict_words(difference),
        )
    together = " and hold for all pairs of a measure together, as the adjusted p-values do" if many else ""
    amounts = ", ".join(comparison.amounts)
    too = f"; {amounts} also with one more {comparison.view.unit}" if amounts else ""
    table.notes.append(f"Verdicts: {_test(comparison)}{too}.")
    table.notes += _each_by_itself(comparison)
    if not comparison.too_few:
        table.explain(
            f"Intervals are at {100 * comparison.level:g}%{together}; they exclude 0 exactly where the verdict names a "
            "system.",
            INTERVALS,
        )
    table.notes += _alike_note(comparison)
    all_directed = len(_directed(comparison, comparison.measures)) == len(comparison.measures)
    unknown = "" if all_directed else " (where nothing says whether more is better: higher, equal, or lower)"
    table.explain(
        f"Wins, ties and losses: {comparison.view.unit}s on which the first system scores better than the second, "
        f"equal, or worse{unknown}.",
        "wins",
        "ties",
        "losses",
    )
    if comparison.too_few:
        table.notes.append(
            f"No intervals: {counted(len(comparison.dialogues), comparison.view.unit)} are too few for one at "
            f"{100 * comparison.level:g}%, and for a verdict: even if all of them differed it would not be significant."
        )
    return table


def _alike_note(comparison: Comparison) -> list[str]:
    """Why some differences have no interval."""
    alike = (comparison.tested.error == 0) & np.isnan(comparison.tested.low)
    named = [measure for measure, some in zip(comparison.measures, alike.any(axis=0), strict=True) if some]
    if not named or comparison.too_few:
        return []
    unit = comparison.view.unit
    return [
        f"No interval where systems differ by the same amount on every {unit} ({', '.join(named)}): nothing varies, so "
        f"nothing says how much another {unit} would change."
    ]


def _each_by_itself(comparison: Comparison) -> list[str]:
    """What a reader must know where the verdict takes back what the table says of some measures."""
    lost, family = comparison.verdict.lost, comparison.verdict.family
    if not lost:
        return []
    which = some_of(lost) if len(lost) < len(family) else "all of them"
    return [
        f"Each measure is tested by itself; in a family of {counted(len(family), 'measure')}, the difference could be "
        f"noise for {which}."
    ]


def resample_note(comparison: Comparison) -> list[str]:
    """A warning where the resamples are too few to find anything."""
    needed = math.ceil(1 / comparison.alpha - 1e-9)
    if comparison.resamples >= needed:
        return []
    return [
        f"With so few resamples no p-value can be below {comparison.alpha:g}, so nothing can be significant: "
        f"use {needed:,} or more (--resamples)."
    ]


def verdict_words(difference: Difference) -> str:
    """The answer to "is it better?" in two or three words."""
    if difference.adjusted != difference.adjusted:
        return "undefined"
    if not difference.significant:
        return "could be noise"
    return f"{difference.better} is better" if difference.better else f"{difference.higher} is higher"


def floor_table(comparison: Comparison) -> Table:
    """What this set of dialogues can tell apart, under the correction that the verdicts have."""
    power = discriminative_power(comparison.tested.p, alpha=comparison.alpha)
    table = Table(
        "What this test set can resolve",
        [
            "measure",
            "noise floor",
            "resolved",
            "detectable (80% power)",
            Column("pairs separated (%)", digits=1, percent=True),
        ],
    )
    for index, measure in enumerate(comparison.measures):
        look = score_column("", comparison.scores.run_score(measure))
        numbers = (comparison.floor[index], comparison.resolved[index], comparison.detectable[index])
        table.add(measure, *(Cell(float(number), like=look) for number in numbers), power[index])
    table.notes.append(
        "No two systems that differ by less than the noise floor were told apart, and all that differ by more than "
        "'resolved' were. Detectable: the true difference that the same test finds with 80% power, for any "
        f"pair. Pairs separated: system pairs with uncorrected p < {comparison.alpha:g} (discriminative power)."
    )
    if np.isnan(comparison.floor).any():
        table.notes.append(
            f"–: unknown: the systems differ by the same amount on every {comparison.view.unit}, or there are too few "
            f"{comparison.view.unit}s or resamples."
        )
    table.notes += resample_note(comparison)
    return table


def spread_table(comparison: Comparison) -> Table:
    """How far each measure spreads the systems."""
    table = Table(
        "How far each measure spreads the systems", ["measure", "mean", "std (population)", "std (sample)", "range"]
    )
    for spread in spreads(comparison.measures, comparison.corpus_values):
        look = score_column("", comparison.scores.run_score(spread.measure))
        numbers = (spread.mean, spread.population_std, spread.sample_std, spread.range)
        table.add(spread.measure, *(Cell(number, like=look) for number in numbers))
    return table


def rank_table(comparison: Comparison) -> Table:
    """Kendall's tau-b between the orders of systems that two measures give."""
    swaps = swapped_pairs(comparison.oriented)
    agreement = rank_agreement(comparison.oriented)
    table = matrix_table("Do measures rank the systems alike? (Kendall's tau-b)", comparison.measures, agreement)
    pairs = len(comparison.pairs)
    contrary = sorted(
        (-swaps[a][b], f"{first} and {second} ({swaps[a][b]})")
        for a, first in enumerate(comparison.measures)
        for b, second in enumerate(comparison.measures)
        if a < b and swaps[a][b]
    )
    if contrary:
        shown = some_of((text for _, text in contrary), _CONTRARY)
        table.notes.append(f"These measures order some of the {pairs} system pairs oppositely: {shown}.")
    return table
