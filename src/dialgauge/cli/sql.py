"""``dialgauge sql``: any question about the stored runs."""

from __future__ import annotations

import signal
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dialgauge import report, runs
from dialgauge.cli import writing
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.options import FILE, PATH, bundle
from dialgauge.cli.output import TablesOutput
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    import polars

#: Rows that the screen shows unasked.
_SHOWN = 100


@command("sql")
@click.argument("query", help="One SELECT (DuckDB SQL); - to read it from stdin.")
@click.option("--all", is_flag=True, help=f"Show all rows, not {_SHOWN}; files have all.")
@click.option("--parquet", type=FILE, help="Write all rows as Parquet; - for stdout.")
@click.option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
@bundle(output=TablesOutput)
def app(query: str, all: bool, parquet: Path | None, store: Path | None, output: TablesOutput) -> int:
    """Query all stored runs with one SELECT.

    Every table of a run is a table here, with the run id in the column **run**; **runs** has one row per run.
    SHOW TABLES lists them. The query runs with your rights.

    dialgauge sql "SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL"
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # DuckDB would run the handler when the query ends
    problems: list[DialgaugeError] = []
    frame = runs.Store(store).sql(_typed() if query == "-" else query, on_problem=problems.append)
    if parquet is not None:
        from dialgauge.files import parquet_bytes

        writing.write_file(parquet, parquet_bytes(frame))
    if str(parquet) != "-":
        warnings = [f"left out: {problem}" for problem in problems]
        output.present(report.Page(title="", tables={"answer": frame_table(frame)}, warnings=warnings), everything=all)
    return EXIT_INCOMPLETE if problems else 0


def _typed() -> str:
    if sys.stdin is None:
        raise DialgaugeError("standard input is closed; pass the query as an argument")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise DialgaugeError("the query on standard input is not UTF-8 text") from error


def frame_table(frame: polars.DataFrame) -> report.Table:
    """The rows of a frame; dates and nested values are texts."""
    columns = [report.Column(name, report.Number(4)) for name in frame.columns]
    answer = "" if frame.height else f"No rows of {', '.join(frame.columns)}."
    return report.Table("", columns, (map(_value, row) for row in frame.iter_rows()), answer=answer, first=_SHOWN)


def _value(cell: Any) -> report.Value:
    """SQL's sums of integers are decimals; dates are written as ISO 8601, nested values as JSON."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    if cell is None or isinstance(cell, str | int | float):
        return cell
    import msgspec

    return msgspec.json.encode(cell).decode().strip('"')
