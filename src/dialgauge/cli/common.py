"""What every command shares: the options that several take, and what these come to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Struct

from dialgauge import engine, formats, rendering, runs
from dialgauge.cli.choices import FORMATS, TOOL_DOMAINS, names_of
from dialgauge.cli.options import AlwaysOn, Argument, Option, OutputFile, OutputFolder, WholeNumber
from dialgauge.cli.screen import err, out
from dialgauge.cli.writing import on_screen, print_tables, write_document, write_table_file
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.engine import WorkPlace


# Options that several commands take, each worded once.

#: What shows results that exist already, where options of scoring have no use.
SCORED = ("--from", "--systems")
_STORED = "--from shows a run that is already scored"

ViewOption = Annotated[
    bool, Option(not_with=("--systems",), help="Store the results and open them in the explorer (Ctrl-C stops it).")
]
RunOption = Annotated[
    bool, Option(not_with=SCORED, help="Store the results in the run store, one run per system. --store implies it.")
]
AlwaysRunOption = Annotated[
    bool, AlwaysOn(help="Store the results in the run store. This command always does, with or without --run.")
]
StoreOption = Annotated[
    Path | None, Option(metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs.")
]
WideOption = Annotated[bool, Option(help="Show every column, however wide the table gets.")]
FromOption = Annotated[
    str | None,
    Option(
        "--from",
        metavar="RUN",
        alone=_STORED,
        help="Show a stored run instead of scoring (id, system, tag or latest).",
    ),
]
FromRunsOption = Annotated[
    list[str] | None,
    Option(
        "--from",
        metavar="RUN",
        alone=_STORED,
        help="Show a stored run instead of scoring (id, system, tag or latest); repeatable.",
    ),
]
RunArgument = Annotated[str, Argument(help="Run id, system, tag or latest.")]
JsonOption = Annotated[Path | None, OutputFile(help="Write JSON to FILE; - for stdout, without tables.")]
TableOption = Annotated[
    Path | None,
    OutputFile(help="Write tables to FILE: .md, .html, .csv or .json; .tex: the first (--wide: with intervals)."),
]
FiguresOption = Annotated[Path | None, OutputFolder(help="Draw figures into FOLDER, as SVG and PDF.")]
RedactOption = Annotated[
    bool,
    Option(help="Replace personal data, found by its shape, by field names in tool calls, and by what users know."),
]
ReplayDomainOption = Annotated[
    str | None,
    Option(
        metavar="NAME|FOLDER",
        known=TOOL_DOMAINS,
        help="Tool domain to replay calls in. Default: airline or retail, if the log is from there.",
    ),
]
JudgedTasksOption = Annotated[Path | None, Option(help="Tasks to judge by. Default: those of the log or domain.")]
FormatOption = Annotated[
    str | None,
    Option(metavar="NAME", known=FORMATS, not_with=("--from",), help="Input format; overrides format detection."),
]
_LIMIT = Option(min=0, help="Rows to show of each list; 0 for all. Files have all.")
LimitOption = Annotated[int, _LIMIT]
#: For a command that has to know whether it was given.
GivenLimitOption = Annotated[int | None, _LIMIT]
ResamplesOption = Annotated[
    int,
    WholeNumber(of="resamples", min=0, not_with=SCORED, help="Bootstrap resamples for the 95% intervals; 0 for none."),
]
WorstOption = Annotated[int, Option(min=0, help="Show the N worst dialogues, and what is wrong in each.")]
SeedOption = Annotated[int, Option(min=0, not_with=("--from",), help="Random seed for resampling.")]

# Where the work runs.
#: Options that send the work to others, and what does not fit to them.
DISTRIBUTED = ("--engine", "--address", "--workers")
_SUMS = "with --engine only sums come back from the workers"
EngineOption = Annotated[
    str | None,
    Option(
        metavar="NAME",
        known=names_of("engine", "ENGINES"),
        alone=_SUMS,
        help="Where the work runs: local (this process), pool (processes of this machine) or ray (a Ray cluster).",
    ),
]
AddressOption = Annotated[
    str | None,
    Option(
        metavar="HOST:PORT",
        alone=_SUMS,
        help="The Ray cluster: HOST:PORT, ray://HOST:PORT, or auto for a running one. Default: this machine alone.",
    ),
]
_WORKERS = WholeNumber(
    of="workers", min=0, alone=_SUMS, help="Number of workers; 0 for one per core. Results do not depend on it."
)
WorkersOption = Annotated[int | None, _WORKERS]
#: For commands that work here, in processes.
ProcessesOption = Annotated[int, _WORKERS]


def working_store(store: Path | None) -> runs.Store:
    """The store for unfinished work of a command that stores no run: the one named, or one in the user's cache."""
    import platformdirs

    return runs.Store(store if store is not None else Path(platformdirs.user_cache_dir("dialgauge")) / "work")


# Gold files and predictions.
CoverageOption = Annotated[
    Literal["intersection", "empty"],
    Option(
        metavar="HOW", help="Turns without predictions: 'intersection' skips them, 'empty' scores them as empty states."
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    Option(metavar="ID", help="Leave out a dialogue; repeatable. Published numbers leave out PMUL1455."),
]
GoldFormatOption = Annotated[
    str | None, Option(metavar="NAME", known=FORMATS, help="Format of GOLD; overrides format detection.")
]
PredFormatOption = Annotated[
    str | None, Option(metavar="NAME", known=FORMATS, help="Format of PRED; overrides format detection.")
]
TurnsOption = Annotated[
    str | None,
    Option(
        metavar="HOW",
        help="How PRED numbers turns: shift=1 (from 1), step=2 (the system's turns count).",
    ),
]
RenameOption = Annotated[
    Path | None, Option(help="YAML file that maps slots, domains and dialogues of PRED to those of GOLD.")
]
AcceptFindingOption = Annotated[
    list[str] | None,
    Option(
        metavar="KIND",
        known=names_of("tracking", "STOPS"),
        help="Score although the turns look shifted (turns), GOLD and PRED swapped (roles), or few ids meet (ids).",
    ),
]

# Bundles: what several commands take together. Making one checks it, before the command begins its work.


class TableOutput(Struct, frozen=True):
    """Where tables go: to the screen, into a file, and as JSON."""

    json: JsonOption = None
    table: TableOption = None
    wide: WideOption = False

    def __post_init__(self) -> None:
        out.wide = self.wide
        if self.table is not None:
            rendering.format_of(self.table)  # an ending that says no format is refused

    @property
    def on_screen(self) -> bool:
        """Whether tables are printed: not when JSON takes standard output."""
        return on_screen(self.json)

    def show(self, tables: Sequence[rendering.Table], *, in_file: Sequence[rendering.Table] | None = None) -> None:
        """Tables on the screen, unless JSON takes it, and into a file, if one was named; files may have longer ones."""
        if self.on_screen:
            print_tables(tables)
        write_table_file(tables if in_file is None else in_file, self.table)

    def document(self, schema: str, value: Mapping[str, Any]) -> None:
        """Write what ``--json`` asks for, if it does."""
        write_document(self.json, schema, value)


class DrawnOutput(TableOutput, frozen=True):
    """The same for commands that also draw."""

    figures: FiguresOption = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.figures is not None and (missing := rendering.missing_drawer()) is not None:
            raise missing

    def draw(self, figures: Mapping[str, Callable[[], Any]]) -> None:
        """Draw figures, if a folder was named for them, and say which."""
        if self.figures is None:
            return
        for path in rendering.save_all(self.figures, figures):
            err.print(f"drew {path}")


class Inputs(Struct, frozen=True):
    """How gold files and predictions are read, and which of their turns count."""

    not_with: ClassVar = SCORED
    coverage: CoverageOption = "intersection"
    exclude: ExcludeOption = None
    gold_format: GoldFormatOption = None
    pred_format: PredFormatOption = None
    turns: TurnsOption = None
    rename: RenameOption = None
    accept: AcceptFindingOption = None


class Placement(Struct, frozen=True):
    """Where the work runs."""

    engine: EngineOption = None
    address: AddressOption = None
    workers: WorkersOption = None

    def __post_init__(self) -> None:
        engine.checked_place(self.place)

    @property
    def place(self) -> WorkPlace:
        return engine.WorkPlace(self.engine, self.workers, self.address)


class AlwaysStored(Struct, frozen=True):
    """The store of a command that always stores its runs and ignores ``--run``."""

    run: AlwaysRunOption = False
    store: StoreOption = None


def row_limit(limit: int) -> int:
    """How many rows a list may have, where 0 is no limit."""
    return limit or sys.maxsize


def named_systems(arguments: Sequence[str]) -> list[str] | dict[str, str]:
    """Files of systems; a mapping of names to files if any is given as NAME=FILE."""
    parts = [_name_and_file(text) for text in arguments]
    if not any(name for name, _ in parts):
        return list(arguments)
    own = formats.system_names([file for _, file in parts])
    names = [name or usual for (name, _), usual in zip(parts, own, strict=True)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DialgaugeError(f"two systems are called '{twice}'; give each a name of its own (NAME=FILE)")
    return {name: file for name, (_, file) in zip(names, parts, strict=True)}


def _name_and_file(text: str) -> tuple[str, str]:
    """A system's name, empty where none is given, and its file."""
    from glob import glob

    name, _, file = text.partition("=")
    named = name.strip() and file and "/" not in name and not Path(text).exists() and not glob(text)
    return (name.strip(), file) if named else ("", text)
