"""What every command shares: the options that several take, and what these come to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dialgauge import engine, formats
from dialgauge.cli.options import FORMATS, PATH, Advanced, Whole, names_of, option, options
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.engine import WorkPlace


# Options that several commands take, each worded once.


@options
class Inputs:
    """How gold files and predictions are read, and which of their turns count."""

    coverage: Literal["intersection", "empty"] = option(
        "--coverage",
        type=click.Choice(["intersection", "empty"]),
        metavar="HOW",
        default="intersection",
        show_default=False,
        help="Turns without prediction: intersection or empty.",
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
