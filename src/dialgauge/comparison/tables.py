"""A comparison as tables, ready for a terminal or a paper."""

from __future__ import annotations

import math

import numpy as np

from dialgauge.comparison.result import ALPHA, Comparison, Difference
from dialgauge.comparison.spread import matrix_table, rank_agreement, spreads, swapped_pairs
from dialgauge.report import SHARE, Cell, Column, Table, mark_best, score_column
from dialgauge.stats import discriminative_power

#: Written after a score that differs from the first system's.
MARK = "*"

#: How many contradicting pairs of measures are named.
_CONTRARY = 5


def score_table(comparison: Comparison) -> Table:
    """Scores with intervals; the best in bold, a mark where a system differs from the first one.

    Systems stand below each other unless there are more measures than systems.
    """
    cells = _score_cells(comparison)
    if len(comparison.measures) > len(comparison.systems):
        table = Table("Measures by systems", ["measure", *comparison.systems])
        for measure, column in zip(comparison.measures, zip(*cells, strict=True), strict=True):
            table.add(measure, *column)
    else:
        table = Table("Systems by measures", ["system", *comparison.measures])
        for system, row in zip(comparison.systems, cells, strict=True):
            table.add(system, *row)
    table.notes += _score_notes(comparison)
    return table


def scale_note(comparison: Comparison) -> list[str]:
    """Which scale the numbers have, where any are shares."""
    scores = {measure: comparison.scores.run_score(measure) for measure in comparison.measures}
    others = [measure for measure, score in scores.items() if score is None or score.unit != SHARE]
    if len(others) == len(scores):
        return []
    exception = f", but for {', '.join(others)}" if others else ""
    return [f"In percent{exception}; CSV and JSON have fractions."]


def _score_cells(comparison: Comparison) -> list[list[Cell]]:
    """By system and measure."""
    differing = {
        (difference.second, difference.measure)
        for difference in comparison.differences()
        if difference.first == comparison.systems[0] and difference.significant
    }
    columns = []
    for place, measure in enumerate(comparison.measures):
        look = score_column(measure, comparison.scores.run_score(measure), best=True)
        column = [
            Cell(
                float(comparison.values[row, place]),
                float(comparison.intervals[row, place, 0]),
                float(comparison.intervals[row, place, 1]),
                MARK if (system, measure) in differing else "",
                like=look,
            )
            for row, system in enumerate(comparison.systems)
        ]
        columns.append(mark_best(look, column))
    return [list(row) for row in zip(*columns, strict=True)]


def _score_notes(comparison: Comparison) -> list[str]:
    corrected = " (Holm-corrected over the pairs of systems)" if len(comparison.systems) > 2 else ""
    falling = [measure for measure in comparison.measures if not comparison.scores.higher_is_better(measure)]
    return [
        f"{comparison.basis}. "
        f"Bold: best. {MARK} differs from {comparison.systems[0]}: paired randomisation, p < {ALPHA:g}{corrected}.",
        *scale_note(comparison),
        *([f"Lower is better: {', '.join(falling)}."] if falling else []),
        f"Signature: {comparison.signature}",
        *(note[:1].upper() + note[1:] + "." for note in comparison.notes),
    ]


def pair_table(comparison: Comparison) -> Table:
    """Every pair of systems on every measure: difference, tests, and on how many dialogues which one is better."""
    many = len(comparison.systems) > 2
    columns = [
        Column("measure"),
        Column("first"),
        Column("second"),
        Column("difference", signed=True),
        Column("p randomisation"),
        *([Column("p Holm")] if many else []),
        Column("p bootstrap"),
        Column("wins"),
        Column("ties"),
        Column("losses"),
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
            difference.p_randomisation,
            *([difference.adjusted] if many else []),
            difference.p_bootstrap,
            difference.wins,
            difference.ties,
            difference.losses,
            verdict(difference),
        )
    table.notes.append(
        "Wins, ties and losses: dialogues on which the first system scores better than the second, equal, or worse."
    )
    needed = math.ceil(len(comparison.bootstrap.pairs) / ALPHA)
    if comparison.resamples < needed:
        table.notes.append(
            f"With so few resamples no p-value can be below {ALPHA:g}, so nothing can be found: "
            f"use {needed:,} or more (--resamples)."
        )
    return table


def verdict(difference: Difference) -> str:
    """The answer to "is it better?" in two or three words."""
    if difference.adjusted != difference.adjusted:
        return "undefined"
    if not difference.significant:
        return "could be noise"
    return f"{difference.better} is better"


def floor_table(comparison: Comparison) -> Table:
    """What this set of dialogues can tell apart, and what each measure does with these systems."""
    power = discriminative_power(comparison.randomisation.p, alpha=ALPHA)
    table = Table(
        "What this test set can resolve, and how far each measure spreads the systems",
        [
            "measure",
            "noise floor",
            "found 8 times in 10",
            "mean",
            "std (population)",
            "std (sample)",
            "range",
            Column("pairs separated", digits=2),
        ],
    )
    for place, spread in enumerate(spreads(comparison.measures, comparison.values)):
        look = score_column("", comparison.scores.run_score(spread.measure))
        numbers = (
            float(comparison.floor[place]),
            float(comparison.detectable[place]),
            spread.mean,
            spread.population_std,
            spread.sample_std,
            spread.range,
        )
        table.add(spread.measure, *(Cell(number, like=look) for number in numbers), power[place])
    table.notes.append(
        "Noise floor: the half-width of the paired difference's interval (at 95% 1.96 standard errors; largest over "
        "pairs); smaller differences are within noise. "
        "Found 8 times in 10: the true difference a test on as many dialogues detects with 80% power. "
        f"Pairs separated: share of system pairs with uncorrected p < {ALPHA:g} (discriminative power)."
    )
    if np.isnan(comparison.floor).any():
        table.notes.append("–: unknown, because the systems differ alike on every dialogue, or there is only one.")
    return table


def rank_table(comparison: Comparison) -> Table:
    """Kendall's tau-b between the orders of systems that two measures give."""
    swaps = swapped_pairs(comparison.oriented)
    agreement = rank_agreement(comparison.oriented)
    table = matrix_table("Do measures rank the systems alike? (Kendall's tau-b)", comparison.measures, agreement)
    pairs = len(comparison.bootstrap.pairs)
    contrary = sorted(
        (-swaps[a][b], f"{first} and {second} ({swaps[a][b]})")
        for a, first in enumerate(comparison.measures)
        for b, second in enumerate(comparison.measures)
        if a < b and swaps[a][b]
    )
    if contrary:
        shown = ", ".join(text for _, text in contrary[:_CONTRARY])
        more = f", and {len(contrary) - _CONTRARY} more" if len(contrary) > _CONTRARY else ""
        table.notes.append(f"Of {pairs} pairs of systems, these measures put some into opposite orders: {shown}{more}.")
    return table
