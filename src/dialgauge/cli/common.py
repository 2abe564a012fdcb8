"""What every command shares: the options that several take, and what these come to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from dialgauge import engine, formats, rendering
from dialgauge.cli.options import FILE, FOLDER, FORMATS, PATH, Advanced, Whole, names_of, option, options
from dialgauge.cli.screen import err, out
from dialgauge.cli.writing import on_screen, print_tables, write_document, write_table_file
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.engine import WorkPlace


# Options that several commands take, each worded once.

#: What shows results that exist already, where options of scoring have no use.
SCORED = ("--from", "--systems")
_STORED = "--from shows a run that is already scored"

#: For a command that has to know whether it was given.

# Gold files and predictions.

# Bundles: what several commands take together. Making one checks it, before the command begins its work.


@options
class TableOutput:
    """Where tables go: to the screen, into a file, and as JSON."""

    json: Path | None = option("--json", type=FILE, help="Write JSON to FILE; - for stdout, without tables.")
    table: Path | None = option(
        "--table",
        type=FILE,
        help="Write tables to FILE: .md, .html, .csv or .json; .tex: the first (--wide: with intervals).",
    )
    wide: bool = option("--wide", is_flag=True, help="Show every column, however wide the table gets.")

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


@options
class DrawnOutput(TableOutput):
    """The same for commands that also draw."""

    figures: Path | None = option("--figures", type=FOLDER, help="Draw figures into FOLDER, as SVG and PDF.")

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


@options
class Inputs:
    """How gold files and predictions are read, and which of their turns count."""

    coverage: Literal["intersection", "empty"] = option(
        "--coverage",
        type=click.Choice(["intersection", "empty"]),
        default="intersection",
        help="Turns without prediction: skip them, or score them as empty.",
    )
    exclude: tuple[str, ...] = option(
        "--exclude",
        multiple=True,
        metavar="ID",
        cls=Advanced,
        help="Leave out this dialogue; repeatable.",
    )
    gold_format: str | None = option(
        "--gold-format", metavar="NAME", shell_complete=FORMATS, cls=Advanced, help="Format of GOLD."
    )
    pred_format: str | None = option(
        "--pred-format", metavar="NAME", shell_complete=FORMATS, cls=Advanced, help="Format of PRED."
    )
    turns: str | None = option("--turns", metavar="HOW", cls=Advanced, help="How PRED numbers turns: shift=1, step=2.")
    rename: Path | None = option("--rename", type=PATH, cls=Advanced, help="YAML: names in PRED to names in GOLD.")
    accept: tuple[str, ...] = option(
        "--accept",
        multiple=True,
        metavar="KIND",
        shell_complete=names_of("tracking", "STOPS"),
        cls=Advanced,
        help="Score in spite of a check: turns, roles or ids.",
    )


@options
class Placement:
    """Where the work runs."""

    engine: str | None = option(
        "--engine",
        metavar="NAME",
        shell_complete=names_of("engine", "ENGINES"),
        cls=Advanced,
        help="Where work runs: local, pool (processes) or ray.",
    )
    address: str | None = option(
        "--address",
        metavar="HOST:PORT",
        cls=Advanced,
        help="Ray cluster: HOST:PORT, or auto.",
    )
    workers: int | None = option(
        "--workers", type=Whole(0, 512), cls=Advanced, help="Number of workers; 0 for one per core."
    )

    def __post_init__(self) -> None:
        engine.checked_place(self.place)

    @property
    def place(self) -> WorkPlace:
        return engine.WorkPlace(self.engine, self.workers, self.address)


@options
class AlwaysStored:
    """The store of a command that always stores its runs and ignores ``--run``."""

    run: bool = option(
        "--run",
        is_flag=True,
        help="Store the results in the run store. This command always does, with or without --run.",
    )
    store: Path | None = option(
        "--store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
    )


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
