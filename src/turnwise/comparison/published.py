"""A table of systems as papers print it: what can be said about measures when only the numbers are known.

The file is CSV: a first column with the systems' names, then one column for each measure. Numbers may be written as
``0.5446`` or ``54.46%``; an empty cell is a score that is not known.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.comparison.spread import spreads
from turnwise.comparison.tables import matrix_table
from turnwise.errors import TurnwiseError
from turnwise.report import Table
from turnwise.stats import CORRELATIONS, correlation_matrix
from turnwise.stats.resample import Floats


@dataclass(frozen=True)
class SystemTable:
    """``values`` is (systems, measures), NaN where a score is not known."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats


def read_system_table(path: str | Path) -> SystemTable:
    """A table of systems from a CSV file."""
    rows = _rows(Path(path))
    if len(rows) < 2 or len(rows[0]) < 2:
        raise TurnwiseError(
            "a table of systems has a line of names (system, then the measures) and a line for each system",
            file=str(path),
        )
    measures, systems, values = tuple(name.strip() for name in rows[0][1:]), [], []
    if len(set(measures)) < len(measures):
        raise TurnwiseError("two columns have the same name", file=str(path), line=1)
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise TurnwiseError(
                f"it has {len(row)} cells where the first line has {len(rows[0])}", file=str(path), line=line
            )
        systems.append(row[0].strip())
        values.append([_score(cell.strip(), path, line) for cell in row[1:]])
    if len(systems) < 2:
        raise TurnwiseError("a comparison needs at least two systems", file=str(path))
    return SystemTable(tuple(systems), measures, np.array(values))


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TurnwiseError(f"it cannot be read as CSV ({reason})", file=str(path)) from error


def _score(text: str, path: str | Path, line: int) -> float:
    if not text:
        return math.nan
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise TurnwiseError(f"the score '{text}' is not a number", file=str(path), line=line)
    return number


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


def as_json(table: SystemTable) -> dict[str, Any]:
    """The same as plain values."""
    columns = list(table.values.T)
    return {
        "systems": list(table.systems),
        "measures": list(table.measures),
        "spread": [
            {
                "measure": one.measure,
                "systems": one.systems,
                "mean": one.mean,
                "population_std": one.population_std,
                "sample_std": one.sample_std,
                "range": one.range,
            }
            for one in spreads(table.measures, table.values)
        ],
        "correlations": {kind: correlation_matrix(columns, kind) for kind in CORRELATIONS},
    }


def spread_figure(table: SystemTable) -> Any:
    """Mean and spread of each measure, every system a dot."""
    from turnwise.report.figures import mean_spread

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
