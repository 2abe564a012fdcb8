"""A comparison as tables, ready for a terminal or a paper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dialgauge.comparison.result import ALPHA, Comparison, Difference
from dialgauge.comparison.spread import rank_agreement, spreads, swapped_pairs
from dialgauge.report import Cell, Column, Table, mark_best
from dialgauge.stats import Matrix, discriminative_power

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


def _score_cells(comparison: Comparison) -> list[list[Cell]]:
    """By system and measure."""
    found = {
        (difference.second, difference.measure)
        for difference in comparison.differences()
        if difference.first == comparison.systems[0] and difference.found
    }
    columns = []
    for place, measure in enumerate(comparison.measures):
        column = [
            Cell(
                float(comparison.values[row, place]),
                float(comparison.intervals[row, place, 0]),
                float(comparison.intervals[row, place, 1]),
                MARK if (system, measure) in found else "",
            )
            for row, system in enumerate(comparison.systems)
        ]
        columns.append(mark_best(Column(measure, best="max"), column))
    return [list(row) for row in zip(*columns, strict=True)]


def _score_notes(comparison: Comparison) -> list[str]:
    corrected = " (Holm-corrected over the pairs of systems)" if len(comparison.systems) > 2 else ""
    return [
        f"{comparison.basis}. "
        f"Bold: highest. {MARK} differs from {comparison.systems[0]}: paired randomisation, p < {ALPHA:g}{corrected}.",
        f"Signature: {comparison.signature}",
        *(note[:1].upper() + note[1:] + "." for note in comparison.scores.notes),
    ]


def pair_table(comparison: Comparison) -> Table:
    """Every pair of systems on every measure: difference, tests, and on how many dialogues which one is higher."""
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
        table.add(
            difference.measure,
            difference.first,
            difference.second,
            Cell(difference.difference, difference.low, difference.high),
            difference.p_randomisation,
            *([difference.adjusted] if many else []),
            difference.p_bootstrap,
            difference.wins,
            difference.ties,
            difference.losses,
            verdict(difference),
        )
    table.notes.append(
        "Wins, ties and losses: dialogues on which the first system scores higher than the second, equal, or lower."
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
    if not difference.found:
        return "could be noise"
    return f"{difference.first if difference.difference > 0 else difference.second} is higher"


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
        table.add(
            spread.measure,
            float(comparison.floor[place]),
            float(comparison.detectable[place]),
            spread.mean,
            spread.population_std,
            spread.sample_std,
            spread.range,
            power[place],
        )
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
    swaps = swapped_pairs(comparison.values)
    table = matrix_table(
        "Do measures rank the systems alike? (Kendall's tau-b)", comparison.measures, rank_agreement(comparison.values)
    )
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


def matrix_table(title: str, names: Sequence[str], matrix: Matrix) -> Table:
    """A symmetric matrix of numbers with names on both sides; undefined cells are dashes."""
    table = Table(title, [Column(""), *(Column(name, digits=3) for name in names)])
    for name, row in zip(names, matrix, strict=True):
        table.add(name, *row)
    if any(value is None for row in matrix for value in row):
        table.notes.append("–: undefined, because one of the two is constant or there are fewer than two values.")
    return table
