"""``dialgauge sql``: any question about the stored runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from dialgauge import rendering
from dialgauge.cli import common, writing
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.options import FILE, PATH, Whole, bundle
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.runs import Store

if TYPE_CHECKING:
    import polars


_SHOWN = 100


@command("sql")
@click.argument("query", help="One SELECT (DuckDB SQL); - to read it from stdin.")
@click.option("--csv", "csv", type=FILE, help="Write all rows as CSV; - for stdout.")
@click.option("--parquet", "parquet", type=FILE, help="Write all rows as Parquet; - for stdout.")
@click.option("--limit", "limit", type=Whole(0), help="Rows to show of each list; 0 for all. Files have all.")
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@bundle(output=common.TableOutput)
def app(
    query: str,
    csv: Path | None,
    parquet: Path | None,
    limit: int | None,
    store: Path | None,
    output: common.TableOutput,
) -> None:
    """Query all stored runs with one SELECT.

    Every table of a run is a table here, with the run id in the column **run**; **runs** has one row per run.
    SHOW TABLES lists them. The screen shows 100 rows unless --limit says otherwise.

    dialgauge sql "SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL"
    """
    files = [(csv, frame_csv), (output.json, _document), (parquet, parquet_bytes)]
    to_files = output.table is not None or any(file for file, _ in files)
    if to_files and limit is not None:
        raise DialgaugeError(
            f"--limit only shortens what the screen shows; for a shorter file, write LIMIT {limit} in the query"
        )
    if store is not None and not store.exists():
        err.print(f"no run store at {store}; all tables are empty")
    problems: list[DialgaugeError] = []
    frame = Store(store).sql(_asked() if query == "-" else query, on_problem=problems.append)
    for file, encode in files:
        if file is not None:
            writing.write_file(file, encode(frame))
    if output.table is not None:
        writing.write_table_file([_written(frame)], output.table)
    if not to_files:
        _show(frame, _SHOWN if limit is None else common.row_limit(limit))
    for problem in problems:
        err.print(f"left out: {problem}")
    if problems:
        raise SystemExit(EXIT_INCOMPLETE)


def _show(frame: polars.DataFrame, rows: int) -> None:
    out.print(writing.frame_table("", frame.head(min(rows, frame.height))).render("terminal"))
    if frame.height > rows:
        err.print(
            f"{rows:,} of {frame.height:,} rows; show more with --limit, or write all with --csv, --json or --parquet"
        )


def _document(frame: polars.DataFrame) -> bytes:
    return b'{"schema":"%s","rows":%s}\n' % (writing.document_name("sql").encode(), frame_json(frame).strip())


def _asked() -> str:
    if sys.stdin is None:
        raise DialgaugeError("standard input is closed; pass the query as an argument")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise DialgaugeError("the query on standard input is not UTF-8 text") from error


def frame_csv(frame: polars.DataFrame) -> bytes:
    """The frame as CSV; dates as ISO 8601, nested values as JSON, nothing for null and NaN."""
    encode = _json_encoder()
    rows = ([_csv_cell(cell, encode) for cell in row] for row in frame.iter_rows())
    return rendering.csv_text(chain([map(rendering.inert, frame.columns)], rows)).encode()


def _written(frame: polars.DataFrame) -> rendering.Table:
    """The frame as a table for a file, whose dates and nested values are as in :func:`frame_csv`."""
    encode = _json_encoder()
    return rendering.Table("", frame.columns, ([_cell(cell, encode) for cell in row] for row in frame.iter_rows()))


def frame_json(frame: polars.DataFrame) -> bytes:
    """The frame as a JSON list of objects; null for NaN."""
    return _json_encoder()(frame.to_dicts()) + b"\n"


def _json_encoder() -> Callable[[Any], bytes]:
    return msgspec.json.Encoder(decimal_format="number").encode


def _csv_cell(cell: Any, encode: Callable[[Any], bytes]) -> str | int | float | None:
    written = _cell(cell, encode)
    return rendering.inert(written) if isinstance(written, str) else written


def _cell(cell: Any, encode: Callable[[Any], bytes]) -> str | int | float | None:
    if cell is None or cell != cell:
        return None
    return cell if isinstance(cell, str | int | float) else encode(cell).decode().strip('"')
