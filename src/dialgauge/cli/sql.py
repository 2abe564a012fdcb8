"""``dialgauge sql``: any question about the stored runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.common import (
    StoreOption,
    WideOption,
    err,
    frame_csv,
    frame_json,
    frame_parquet,
    frame_table,
    out,
    write_file,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store

if TYPE_CHECKING:
    import polars

app = application("SQL over all stored runs.")

_SHOWN = 100


@app.command()
def sql(
    query: Annotated[str, Argument(metavar="QUERY", help="One SELECT (DuckDB's SQL); - reads it from standard input.")],
    csv: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all rows as CSV.")] = None,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all rows as a JSON list.")] = None,
    parquet: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all rows as Parquet.")] = None,
    limit: Annotated[int | None, Option(min=0, help=f"Rows at most; the screen shows {_SHOWN}.")] = None,
    store: StoreOption = None,
    wide: WideOption = False,
) -> None:
    """Ask all stored runs with one SELECT.

    Every table of a run is a table here, with the run's id in the column **run**; **runs** has one row per run.
    SHOW TABLES lists them. A file named - is standard output.

    dialgauge sql "SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL"
    """
    out.wide = wide
    if store is not None and not store.exists():
        err.print(f"there is no run store at {store}, so all tables are empty")
    problems: list[DialgaugeError] = []
    frame = Store(store).sql(_asked() if query == "-" else query, on_problem=problems.append)
    if limit is not None:
        frame = frame.head(min(limit, frame.height))
    files = [(csv, frame_csv), (json, frame_json), (parquet, frame_parquet)]
    for file, encode in files:
        if file is not None:
            write_file(file, encode(frame))
    if not any(file for file, _ in files):
        _show(frame, _SHOWN if limit is None else limit)
    for problem in problems:
        err.print(f"left out: {problem}")
    if problems:
        raise SystemExit(EXIT_INCOMPLETE)


def _show(frame: polars.DataFrame, rows: int) -> None:
    out.print(frame_table("", frame.head(min(rows, frame.height))).render("terminal"))
    if frame.height > rows:
        err.print(f"{rows:,} of {frame.height:,} rows; --limit shows more, --csv, --json and --parquet write all")


def _asked() -> str:
    if sys.stdin is None:
        raise DialgaugeError("standard input is closed; give the query as an argument")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise DialgaugeError("the query on standard input is not UTF-8 text") from error
