"""``dialgauge sql``: any question about the stored runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.common import (
    JsonOption,
    StoreOption,
    TableOption,
    WideOption,
    check_table,
    err,
    frame_csv,
    frame_json,
    frame_parquet,
    frame_table,
    out,
    write_file,
    write_table_file,
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
    query: Annotated[str, Argument(metavar="QUERY", help="One SELECT (DuckDB SQL); - to read it from stdin.")],
    csv: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all rows as CSV; - for stdout.")] = None,
    json: JsonOption = None,
    table: TableOption = None,
    parquet: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all rows as Parquet; - for stdout.")] = None,
    limit: Annotated[
        int | None, Option(min=0, help=f"Maximum number of rows. Default: all in files, {_SHOWN} on screen.")
    ] = None,
    store: StoreOption = None,
    wide: WideOption = False,
) -> None:
    """Query all stored runs with one SELECT.

    Every table of a run is a table here, with the run id in the column **run**; **runs** has one row per run.
    SHOW TABLES lists them.

    dialgauge sql "SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL"
    """
    out.wide = wide
    check_table(table)
    if store is not None and not store.exists():
        err.print(f"no run store at {store}; all tables are empty")
    problems: list[DialgaugeError] = []
    frame = Store(store).sql(_asked() if query == "-" else query, on_problem=problems.append)
    if limit is not None:
        frame = frame.head(min(limit, frame.height))
    files = [(csv, frame_csv), (json, _document), (parquet, frame_parquet)]
    for file, encode in files:
        if file is not None:
            write_file(file, encode(frame))
    write_table_file([frame_table("", frame)], table)
    if not any(file for file, _ in files) and table is None:
        _show(frame, _SHOWN if limit is None else limit)
    for problem in problems:
        err.print(f"left out: {problem}")
    if problems:
        raise SystemExit(EXIT_INCOMPLETE)


def _show(frame: polars.DataFrame, rows: int) -> None:
    out.print(frame_table("", frame.head(min(rows, frame.height))).render("terminal"))
    if frame.height > rows:
        err.print(
            f"{rows:,} of {frame.height:,} rows; show more with --limit, or write all with --csv, --json or --parquet"
        )


def _document(frame: polars.DataFrame) -> bytes:
    from dialgauge.schemas import schema_id

    return b'{"schema":"%s","rows":%s}\n' % (schema_id("sql").encode(), frame_json(frame).strip())


def _asked() -> str:
    if sys.stdin is None:
        raise DialgaugeError("standard input is closed; pass the query as an argument")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise DialgaugeError("the query on standard input is not UTF-8 text") from error
