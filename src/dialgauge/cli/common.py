"""What every command shares: where tables go, how progress shows, and the options that several commands take."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeVar

from dialgauge.cli.options import Argument, Option, OutputFile, OutputFolder
from dialgauge.text import plain

if TYPE_CHECKING:
    import polars
    from rich.console import Console

    from dialgauge.engine import Place
    from dialgauge.report import Table, TerminalTable, Value
    from dialgauge.runs import Store


T = TypeVar("T")


class Screen:
    """One of the two standard streams: a terminal's through rich, a pipe or a file's plainly and without rich."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wide = False

    @property
    def width(self) -> int | None:
        """The columns that a table may take: a terminal's, 80 in a pipe or a file, or with ``--wide`` any number."""
        if self.wide:
            return None
        if not self.stream.isatty():
            return _COLUMNS
        import shutil

        return shutil.get_terminal_size((_COLUMNS, 24)).columns or _COLUMNS

    @property
    def stream(self) -> TextIO:
        stream: TextIO = getattr(sys, self.name)
        return stream

    @cached_property
    def console(self) -> Console:
        """The stream as rich has it."""
        from rich.console import Console

        class PipeConsole(Console):
            """A console that leaves a closed pipe to the command line, where it is no error."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError

        return PipeConsole(stderr=self.name == "stderr", highlight=False, markup=False, emoji=False)

    @property
    def plain(self) -> bool:
        """Whether rich would add nothing: no terminal, nobody who wants one, and an encoding for all characters."""
        wanted = "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ
        encoding = (getattr(self.stream, "encoding", None) or "utf-8").lower()
        return not wanted and not self.stream.isatty() and encoding.startswith("utf")

    def print(self, item: str | TerminalTable = "", *, style: str | None = None) -> None:
        """Print a text or a table. Text is never markup, and nothing acts on the terminal.

        A terminal folds long lines at spaces; in a pipe or a file, one line of text stays one line.
        """
        shown = _harmless(item) if isinstance(item, str) else item.fitted(self.width)
        if self.plain:
            self.write(f"{shown}\n" if isinstance(shown, str) else shown.text())
        else:
            with self._writing():
                text = self._folded(shown) if isinstance(shown, str) else shown
                self.console.print(text, style=style, soft_wrap=True)

    def _folded(self, text: str) -> str:
        from dialgauge.report import fold_sentence

        width = self.width
        if width is None:
            return text
        return "\n".join(part for line in text.split("\n") for part in fold_sentence(line, width))

    def write(self, text: str) -> None:
        """Write a text exactly as it is; on a terminal, without what would act on it."""
        with self._writing():
            self.stream.write(_harmless(text) if self.stream.isatty() else text)
            self.stream.flush()

    def write_bytes(self, content: bytes) -> None:
        """Write what programs read, in UTF-8 whatever the terminal speaks."""
        buffer = getattr(self.stream, "buffer", None)
        if buffer is None or self.stream.isatty():  # such as a notebook's stream, which takes no bytes
            self.write(content.decode("utf-8", "replace"))
            return
        with self._writing():
            self.stream.flush()
            buffer.write(content)
            buffer.flush()

    def status(self, what: str) -> AbstractContextManager[object]:
        """Say what is going on, on a terminal, while it lasts."""
        if self.plain:
            return nullcontext()
        from rich.text import Text

        return self.console.status(Text(_harmless(what)))

    def input(self, prompt: str) -> str:
        """A line from the keyboard; its end where there is none."""
        if sys.stdin is None:
            raise EOFError
        return self.console.input(prompt, markup=False)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A stream that takes no more is an error; one whose reader has left is for the command line to judge."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            from dialgauge.errors import DialgaugeError

            raise DialgaugeError(f"{_STREAMS[self.name]} cannot be written ({error.strerror})") from error


#: What a pipe or a file is taken for, and a terminal that does not say how wide it is.
_COLUMNS = 80

_STREAMS = {"stdout": "standard output", "stderr": "standard error"}


def _harmless(text: str) -> str:
    """The lines of a text, each without what would act on a terminal."""
    return text if text.isprintable() else "\n".join(plain(line.expandtabs()) for line in text.split("\n"))


#: Results go to standard output, everything about the work to standard error.
out = Screen("stdout")
err = Screen("stderr")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically; ``-`` is standard output."""
    write_file(path, _json(value))


def write_document(path: Path | None, schema: str, value: Mapping[str, Any]) -> None:
    """Write what ``--json`` asks for, if it does; the field ``schema`` says which published schema it follows."""
    if path is not None:
        from dialgauge.schemas import schema_id

        write_json(path, {"schema": schema_id(schema), **value})


def write_file(path: Path, content: bytes) -> None:
    """Write a file, atomically; ``-`` is standard output."""
    if str(path) == "-":
        out.write_bytes(content)
        return
    from dialgauge.files import atomic

    with atomic(path) as scratch:
        scratch.write_bytes(content)


def _json(value: Any) -> bytes:
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY
    try:
        return orjson.dumps(value, option=options) + b"\n"
    except orjson.JSONEncodeError:  # a name that is no UTF-8, or a number of more than 64 bits
        import msgspec

        from dialgauge.runs import plain as as_json

        return msgspec.json.format(msgspec.json.encode(as_json(value)), indent=2) + b"\n"


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that appears on terminals only; call the yielded function with the steps done."""
    if err.plain:
        yield lambda steps: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err.console, transient=True, disable=not err.console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.update(task, advance=steps)


def tracked(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a progress bar while they pass."""
    with progress_bar(what, total) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def kept_for_good() -> Iterator[None]:
    """While a command reads what it keeps to its end: the garbage collector need never look at that."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()


def confirm(question: str) -> None:
    """Go on only if the answer is yes."""
    import typer

    from dialgauge.errors import DialgaugeError

    if sys.stdin is None:
        raise DialgaugeError("standard input is closed, so nobody can answer; add --yes to skip the question")
    try:
        typer.confirm(_harmless(question), abort=True, err=True)
    except typer.Abort:
        raise DialgaugeError("stopped") from None


def line_reader(prompt: str) -> Callable[[], str]:
    """A function that asks for a line, with line editing where somebody sits at a terminal."""
    from dialgauge.errors import DialgaugeError

    if sys.stdin is None or sys.stdin.closed:
        raise DialgaugeError("standard input is closed, so there is nobody to talk to")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return lambda: _typed(lambda: out.input(prompt))
    with suppress(ImportError):  # Python on Windows has none
        import readline  # noqa: F401 - input() edits lines and keeps a history once it is loaded
    return lambda: _typed(lambda: input(prompt))


def _typed(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except UnicodeDecodeError as error:
        from dialgauge.errors import DialgaugeError

        raise DialgaugeError(f"the input is not valid {error.encoding}; use a terminal with that encoding") from error


# Options that several commands take, each worded once.

ViewOption = Annotated[
    bool, Option("--view", help="Store the results and open them in the explorer (Ctrl-C stops it).")
]
RunOption = Annotated[bool, Option("--run", help="Store the results in the run store, one run per system.")]
StoreOption = Annotated[
    Path | None, Option("--store", metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs.")
]
WideOption = Annotated[bool, Option("--wide", help="Show every column, however wide the table gets.")]
FromOption = Annotated[
    str | None, Option("--from", metavar="RUN", help="Show a stored run instead of scoring (id or unique prefix).")
]
FromRunsOption = Annotated[
    list[str] | None,
    Option("--from", metavar="RUN", help="Show a stored run instead of scoring (id or unique prefix); repeatable."),
]
RunArgument = Annotated[str, Argument(metavar="RUN", help="Run id or unique prefix.")]
JsonOption = Annotated[
    Path | None, OutputFile("--json", metavar="FILE", help="Write JSON to FILE; - for stdout, without tables.")
]
TableOption = Annotated[
    Path | None, OutputFile("--table", metavar="FILE", help="Write tables to FILE: .md, .tex, .html, .csv or .json.")
]
FiguresOption = Annotated[Path | None, OutputFolder("--figures", metavar="FOLDER", help="Draw figures into FOLDER.")]
FigureFormatOption = Annotated[
    str,
    Option("--figure-format", metavar="FORMAT", help="svg, png, pdf or json (Vega-Lite); several, comma-separated."),
]
FormatOption = Annotated[
    str | None, Option("--format", metavar="NAME", help="Input format; overrides format detection.")
]
SeedOption = Annotated[int, Option(min=0, help="Random seed for resampling.")]

# Where the work runs.
EngineOption = Annotated[
    str | None,
    Option(
        "--engine",
        metavar="NAME",
        help="Where the work runs: local (this process), pool (processes of this machine) or ray (a Ray cluster).",
    ),
]
AddressOption = Annotated[
    str | None,
    Option(
        "--address",
        metavar="HOST:PORT",
        help="The Ray cluster: HOST:PORT, ray://HOST:PORT, or auto for a running one. Default: this machine alone.",
    ),
]
WorkersOption = Annotated[
    int | None,
    Option("--workers", min=0, help="Number of workers; 0 for one per core. Results do not depend on it."),
]


def place_from(engine: str | None, workers: int | None, address: str | None) -> Place:
    """Where the work runs, checked before anything is read."""
    from dialgauge.engine import Place, checked_place

    given = Place(engine, workers, address)
    checked_place(given)
    return given


def working_store(store: Path | None) -> Store:
    """Where half-done work is kept that no run was asked for: the store that was named, or the user's cache."""
    import platformdirs

    from dialgauge.runs import Store

    return Store(store if store is not None else Path(platformdirs.user_cache_dir("dialgauge")) / "work")


# Gold files and predictions.
CoverageOption = Annotated[
    str, Option(help="Turns without predictions: 'intersection' skips them, 'empty' scores them as empty states.")
]
ExcludeOption = Annotated[
    list[str] | None,
    Option(metavar="ID", help="Leave out a dialogue; repeatable. Published numbers leave out PMUL1455."),
]
GoldFormatOption = Annotated[str | None, Option(metavar="NAME", help="Format of GOLD; overrides format detection.")]
PredFormatOption = Annotated[str | None, Option(metavar="NAME", help="Format of PRED; overrides format detection.")]

# Simulated worlds.
WorldOption = Annotated[str, Option(help="restaurant, bakery, or a world file (YAML).")]
AcceptOption = Annotated[float, Option(help="Probability that the user accepts an offer (tasks 3, 5).")]
MinResultsOption = Annotated[int, Option(help="Minimum number of results for a query (tasks 3, 5).")]


def on_screen(json: Path | None) -> bool:
    """Whether tables are printed: not when JSON takes standard output."""
    return str(json) != "-"


def print_tables(tables: Iterable[Table]) -> None:
    """Tables on the screen, a line apart."""
    for place, each in enumerate(tables):
        if place:
            out.print()
        out.print(each.render("terminal"))


def write_table_file(tables: Sequence[Table], path: Path | None) -> None:
    """Tables into a file, if one was named."""
    if path is not None:
        from dialgauge.report import write_tables

        write_tables(tables, path)


def present_tables(tables: Sequence[Table], path: Path | None, json: Path | None) -> None:
    """Tables on the screen, unless JSON takes it, and into a file, if one was named."""
    if on_screen(json):
        print_tables(tables)
    write_table_file(tables, path)


def check_table(path: Path | None) -> None:
    """Refuse a file of tables whose ending says no format, before any work is done."""
    if path is not None:
        from dialgauge.report import format_of

        format_of(path)


def figure_kinds(text: str, folder: Path | None = None) -> list[str]:
    """The formats that ``--figure-format`` names and what draws them, checked before any work is done."""
    from dialgauge.errors import DialgaugeError, nearest
    from dialgauge.report import ENDINGS, check_ending

    known = [ending.removeprefix(".") for ending in ENDINGS]
    kinds = list(dict.fromkeys(kind.strip() for kind in text.split(",")))
    for kind in kinds:
        if kind not in known:
            raise DialgaugeError(f"unknown --figure-format '{kind}'.{nearest(kind, known)}")
        if folder is not None:
            check_ending(folder / f"figure.{kind}")
    return kinds


def draw_figures(figures: Mapping[str, Callable[[], Any]], folder: Path | None, figure_format: str) -> None:
    """Draw figures into a folder, if one was named, and say which."""
    if folder is None:
        return
    from dialgauge.report import save_all

    kinds = figure_kinds(figure_format)
    files = {folder / f"{name}.{kind}": draw for name, draw in figures.items() for kind in kinds}
    for path in save_all(files):
        err.print(f"drew {path}")


def tables_document(tables: Iterable[Table]) -> dict[str, Any]:
    """Tables as JSON, for commands whose answer is nothing but tables."""
    return {"tables": [{"title": one.title, "rows": one.records()} for one in tables]}


# Polars frames on the screen and in files.


def frame_table(title: str, frame: polars.DataFrame) -> Table:
    """The frame as a table: numbers and texts as they are, dates and nested values as text."""
    from dialgauge.report import Table

    return Table(title, frame.columns, ([_shown(cell) for cell in row] for row in frame.iter_rows()))


def frame_csv(frame: polars.DataFrame) -> bytes:
    """The frame as CSV; dates as ISO 8601, nested values as JSON, nothing for null and NaN."""
    import csv

    from dialgauge.report import inert

    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    encode = _json_encoder()
    writer.writerow(map(inert, frame.columns))
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
    from decimal import Decimal

    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _csv_cell(cell: Any, encode: Callable[[Any], bytes]) -> str | int | float | None:
    from dialgauge.report import inert

    if cell is None or cell != cell:
        return None
    if isinstance(cell, str):
        return inert(cell)
    return cell if isinstance(cell, int | float) else encode(cell).decode().strip('"')
