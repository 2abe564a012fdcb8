"""What every command shares: how an application is made, where tables go, and how progress shows."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dialgauge.files import atomic
from dialgauge.report import Table, Value

if TYPE_CHECKING:
    import polars


T = TypeVar("T")


class _Console(Console):
    """A console that leaves a closed pipe to the command line, where it is no error."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


#: Results go to standard output, everything about the work to standard error.
out = _Console(highlight=False, soft_wrap=True)
err = _Console(stderr=True, highlight=False)


def application(help: str) -> typer.Typer:
    """A command group in the house's manner."""
    return typer.Typer(help=help, add_completion=False, no_args_is_help=True, rich_markup_mode="markdown")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically; ``-`` is standard output."""
    import orjson

    content = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n"
    if str(path) == "-":
        sys.stdout.write(content.decode())
        return
    with atomic(path) as scratch:
        scratch.write_bytes(content)


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that appears on terminals only; call the yielded function with the steps done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.update(task, advance=steps)


def tracked(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a progress bar while they pass."""
    with progress_bar(what, total) as advance:
        for item in items:
            yield item
            advance(1)


# Options that several commands take, each worded once.

StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FOLDER", help="The run store; without it, $DIALGAUGE_RUNS or ./runs.")
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON; - is standard output, without tables.")
]
FiguresOption = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also draw the figures into this folder.")]
FigureFormatOption = Annotated[str, typer.Option(help="svg, png, pdf or json (Vega-Lite).")]

# Gold files and predictions.
CoverageOption = Annotated[
    str, typer.Option(help="Turns without prediction: 'intersection' leaves them out, 'empty' scores them as empty.")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Leave out a dialogue (PMUL1455 for published numbers).")
]
GoldFormatOption = Annotated[str | None, typer.Option(metavar="NAME", help="The format of GOLD, if not recognised.")]
PredFormatOption = Annotated[str | None, typer.Option(metavar="NAME", help="The format of PRED, if not recognised.")]

# Simulated worlds.
WorldOption = Annotated[str, typer.Option(help="A world file (YAML), or restaurant or bakery.")]
AcceptOption = Annotated[float, typer.Option(help="Probability that the user accepts an option (tasks 3, 5).")]
MinResultsOption = Annotated[int, typer.Option(help="Least number of results of a shown query (tasks 3, 5).")]


def on_screen(json: Path | None) -> bool:
    """Whether tables are printed: not when JSON takes standard output."""
    return str(json) != "-"


# Polars frames on the screen and in files.


def frame_table(title: str, frame: polars.DataFrame) -> Table:
    """The frame as a table: numbers and texts as they are, dates and nested values as text."""
    return Table(title, frame.columns, ([_shown(cell) for cell in row] for row in frame.iter_rows()))


def frame_csv(frame: polars.DataFrame) -> bytes:
    """The frame as CSV; dates as ISO 8601, nested values as JSON, nothing for null and NaN."""
    import csv

    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    encode = _json_encoder()
    writer.writerow(frame.columns)
    writer.writerows([_csv_cell(cell, encode) for cell in row] for row in frame.iter_rows())
    return buffer.getvalue().encode()


def frame_json(frame: polars.DataFrame) -> bytes:
    """The frame as a JSON list of objects; null for NaN."""
    return _json_encoder()(frame.to_dicts()) + b"\n"


def frame_parquet(frame: polars.DataFrame) -> bytes:
    """The frame as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _json_encoder() -> Callable[[Any], bytes]:
    import msgspec

    return msgspec.json.Encoder(decimal_format="number").encode


def _shown(cell: Any) -> Value:
    """SQL's sums of integers are decimals; people read them as integers."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _csv_cell(cell: Any, encode: Callable[[Any], bytes]) -> str | int | float | None:
    if cell is None or cell != cell:
        return None
    return cell if isinstance(cell, str | int | float) else encode(cell).decode().strip('"')
