"""How far measures spread systems, also of a table of systems as papers print it, where only the numbers are known.

The file is CSV: a first column with the systems' names, then one column for each measure. Numbers may be written as
``0.5446`` or ``54.46%``; an empty cell is a score that is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from dialgauge.comparison.csv_files import check_names, parse_number, read_csv
from dialgauge.errors import DialgaugeError
from dialgauge.report import PERCENT, Cell, Chart, Column, Number, Page, Table, matrix_table
from dialgauge.stats import CORRELATIONS, Floats, correlation_matrix
from dialgauge.text import counted


def spread_table(title: str, measures: Sequence[str], values: Floats, numbers: Sequence[Number]) -> Table:
    """Mean, both standard deviations and range of each measure; ``values`` is (systems, measures), NaN left out."""
    columns = ["mean", "std (population)", "std (sample)", "lowest", "highest", "range"]
    heads = [Column(name, spare=int(name in ("std (sample)", "range"))) for name in columns]
    table = Table(title, ["measure", "systems", *heads], chart=Chart("intervals", ("lowest", "mean", "highest")))
    for measure, column, number in zip(measures, values.T, numbers, strict=True):
        known = column[~np.isnan(column)]
        shown: list[float | None] = [None] * len(columns)
        if len(known):
            sample = float(known.std(ddof=1)) if len(known) > 1 else None
            low, high = float(known.min()), float(known.max())
            shown = [float(known.mean()), float(known.std()), sample, low, high, high - low]
        table.add(measure, len(known), *(Cell(value, number=number) for value in shown))
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
    shares = [(np.isnan(each) | ((each >= 0) & (each <= 1))).all() for each in columns]
    numbers = [PERCENT if is_share else Number() for is_share in shares]
    title = f"Mean and spread of {counted(len(table.systems), 'system')}"
    tables = {"spread": spread_table(title, table.measures, table.values, numbers)}
    for kind in CORRELATIONS:
        matrix = correlation_matrix(columns, kind)
        tables[kind] = matrix_table(f"{kind.capitalize()} over systems", table.measures, matrix)
    return Page(title=title, tables=tables)
