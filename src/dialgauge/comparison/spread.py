"""Measures about measures: how far does a measure spread systems, do measures rank them alike, do they go together?

All of it can also be said of a table of systems as papers print it, where only the numbers are known. The file is CSV:
a first column with the systems' names, then one column for each measure. Numbers may be written as ``0.5446`` or
``54.46%``; an empty cell is a score that is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from dialgauge.comparison.csv_files import check_names, parse_number, read_csv
from dialgauge.errors import DialgaugeError
from dialgauge.report import PERCENT, Cell, Chart, Column, Number, Page, Table, matrix_table
from dialgauge.stats import CORRELATIONS, Floats, Matrix, correlation_matrix
from dialgauge.text import counted


class Spread(Struct, frozen=True):
    """One measure over systems. The sample standard deviation needs two systems; it is None with fewer."""

    measure: str
    systems: int
    mean: float | None
    population_std: float | None
    sample_std: float | None
    lowest: float | None
    highest: float | None

    @property
    def range(self) -> float | None:
        return None if self.highest is None or self.lowest is None else self.highest - self.lowest


def spreads(measures: Sequence[str], values: ArrayLike) -> list[Spread]:
    """Mean, both standard deviations and range of each measure; ``values`` is (systems, measures), NaN left out."""
    table = np.asarray(values, dtype=np.float64)
    return [_spread(name, table[:, index]) for index, name in enumerate(measures)]


def _spread(name: str, column: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Spread:
    known = column[~np.isnan(column)]
    if not len(known):
        return Spread(name, 0, None, None, None, None, None)
    sample = float(known.std(ddof=1)) if len(known) > 1 else None
    return Spread(
        name, len(known), float(known.mean()), float(known.std()), sample, float(known.min()), float(known.max())
    )


def rank_agreement(values: ArrayLike) -> Matrix:
    """Kendall's tau-b between the orders in which two measures put the systems; ``values`` is (systems, measures)."""
    table = np.asarray(values, dtype=np.float64)
    return correlation_matrix(list(table.T), "kendall")


def swapped_pairs(values: ArrayLike) -> list[list[int]]:
    """For two measures, how many pairs of systems they put into opposite orders; ``values`` is (systems, measures)."""
    table = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(len(table), 1)
    signs = np.sign(np.nan_to_num(table[first] - table[second]))
    return [[int((signs[:, a] * signs[:, b] < 0).sum()) for b in range(signs.shape[1])] for a in range(signs.shape[1])]


def spread_table(title: str, measures: Sequence[str], values: Floats, numbers: Sequence[Number]) -> Table:
    """How far each measure spreads the systems; ``values`` is (systems, measures)."""
    columns = ["mean", "std (population)", "std (sample)", "lowest", "highest", "range"]
    heads = [Column(name, spare=int(name in ("std (sample)", "range"))) for name in columns]
    table = Table(title, ["measure", "systems", *heads], chart=Chart("intervals", ("lowest", "mean", "highest")))
    for each, number in zip(spreads(measures, values), numbers, strict=True):
        shown = (each.mean, each.population_std, each.sample_std, each.lowest, each.highest, each.range)
        table.add(each.measure, each.systems, *(Cell(value, number=number) for value in shown))
    return table


class SystemTable(Struct, frozen=True):
    """``values`` is (systems, measures), NaN where a score is not known."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats


def read_system_table(path: str | Path) -> SystemTable:
    """A table of systems from a CSV file."""
    source = Path(path)
    lines = read_csv(source)
    if len(lines) < 2 or len(lines[0][1]) < 2:
        raise DialgaugeError(
            "a table of systems needs a header line (system, then the measures) and a line for each system",
            file=str(path),
        )
    (heading, (_, *measures)), *rest = lines
    systems = [row[0] for _, row in rest]
    check_names(measures, "column", source, heading)
    check_names(systems, "system", source)
    if len(systems) < 2:
        raise DialgaugeError("a comparison needs at least two systems", file=str(path))
    values = np.array([[_score(cell, source, line) for cell in row[1:]] for line, row in rest])
    return SystemTable(tuple(systems), tuple(measures), values)


def _score(text: str, path: Path, line: int) -> float:
    if not text:
        return math.nan
    number = parse_number(text.removesuffix("%").rstrip())
    if number is None:
        raise DialgaugeError(f"the score '{text}' is not a number", file=str(path), line=line)
    return number / 100 if text.endswith("%") else number


def printed_page(table: SystemTable) -> Page:
    """The spread of each measure over printed scores, and how measures go together over systems."""
    columns = list(table.values.T)
    numbers = [PERCENT if _is_share(each) else Number() for each in spreads(table.measures, table.values)]
    title = f"Mean and spread of {counted(len(table.systems), 'system')}"
    tables = {"spread": spread_table(title, table.measures, table.values, numbers)}
    for kind in CORRELATIONS:
        matrix = correlation_matrix(columns, kind)
        tables[kind] = matrix_table(f"{kind.capitalize()} over systems", table.measures, matrix)
    return Page(title=title, tables=tables)


def _is_share(spread: Spread) -> bool:
    """Whether all scores of a measure may be shares: such as papers print as percentages."""
    return (spread.lowest or 0) >= 0 and (spread.highest or 0) <= 1
