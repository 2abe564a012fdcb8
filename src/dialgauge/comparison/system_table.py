"""A table of systems as papers print it: what can be said about measures when only the numbers are known.

The file is CSV: a first column with the systems' names, then one column for each measure. Numbers may be written as
``0.5446`` or ``54.46%``; an empty cell is a score that is not known.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dialgauge.comparison.ratings import check_names, parse_number, read_sheet
from dialgauge.comparison.spread import spreads
from dialgauge.comparison.tables import matrix_table
from dialgauge.errors import DialgaugeError
from dialgauge.report import Table
from dialgauge.stats import CORRELATIONS, Floats, correlation_matrix


@dataclass(frozen=True)
class SystemTable:
    """``values`` is (systems, measures), NaN where a score is not known."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats


def read_system_table(path: str | Path) -> SystemTable:
    """A table of systems from a CSV file."""
    source = Path(path)
    lines = read_sheet(source)
    if len(lines) < 2 or len(lines[0][1]) < 2:
        raise DialgaugeError(
            "a table of systems has a line of names (system, then the measures) and a line for each system",
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


def system_tables(table: SystemTable) -> list[Table]:
    """The spread of each measure, and how measures go together over systems."""
    spread = Table(
        f"Mean and spread of {len(table.systems)} systems",
        ["measure", "systems", "mean", "std (population)", "std (sample)", "lowest", "highest", "range"],
    )
    for one in spreads(table.measures, table.values):
        spread.add(
            one.measure, one.systems, one.mean, one.population_std, one.sample_std, one.lowest, one.highest, one.range
        )
    columns = list(table.values.T)
    matrices = [
        matrix_table(f"{kind.capitalize()} over systems", table.measures, correlation_matrix(columns, kind))
        for kind in CORRELATIONS
    ]
    return [spread, *matrices]


def system_table_json(table: SystemTable) -> dict[str, Any]:
    """The same as plain values."""
    columns = list(table.values.T)
    return {
        "systems": list(table.systems),
        "measures": list(table.measures),
        "spread": [asdict(one) | {"range": one.range} for one in spreads(table.measures, table.values)],
        "correlations": {kind: correlation_matrix(columns, kind) for kind in CORRELATIONS},
    }


def spread_figure(table: SystemTable) -> Any:
    """Mean and spread of each measure, every system a dot."""
    from dialgauge.report import mean_spread

    known = [one for one in spreads(table.measures, table.values) if one.mean is not None]
    return mean_spread(
        [one.measure for one in known],
        [one.mean or 0.0 for one in known],
        [one.population_std or 0.0 for one in known],
        points={
            name: [float(value) for value in table.values[:, place] if not math.isnan(value)]
            for place, name in enumerate(table.measures)
        },
        note=f"{len(table.systems)} systems, population standard deviation",
    )
