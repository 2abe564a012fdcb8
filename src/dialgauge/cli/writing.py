"""Output of commands: sentences and tables on the screen; tables, JSON and bytes in files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge import rendering, runs
from dialgauge.cli.screen import Screen, out

if TYPE_CHECKING:
    import polars


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically; ``-`` is standard output."""
    write_file(path, _json(value))


def document_name(kind: str) -> str:
    """The field ``schema`` of a document: its kind, and the version of its layout.

    >>> document_name("score")
    'dialgauge/score/1'
    """
    return f"dialgauge/{kind}/1"


def write_document(path: Path | None, kind: str, value: Mapping[str, Any]) -> None:
    """Write what ``--json`` asks for, if it does."""
    if path is not None:
        write_json(path, {"schema": document_name(kind), **value})


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
        return msgspec.json.format(msgspec.json.encode(runs.plain(value)), indent=2) + b"\n"


def on_screen(json: Path | None) -> bool:
    """Whether tables are printed: not when JSON takes standard output."""
    return str(json) != "-"


def print_tables(tables: Iterable[rendering.Table]) -> None:
    """Tables on the screen, a line apart."""
    for index, each in enumerate(tables):
        if index:
            out.print()
        out.print(each.render("terminal"))


def print_sentence(text: str, screen: Screen = out) -> None:
    """A sentence of any length, folded so that a pipe shows it as a terminal does."""
    for line in rendering.fold_sentence(text, 80):
        screen.print(line)


def typed_command(command: str, folder: Path = Path()) -> str:
    """A command of this program as it works when typed: with the program's path where the shell would not find it.

    ``folder`` is the one it is to be typed in.
    """
    from shutil import which

    program = Path(sys.argv[0])
    if program.name != "dialgauge" or which("dialgauge") == str(program.absolute()):
        return command
    absolute = program.absolute()
    if absolute.is_relative_to(Path.cwd()):
        return command.replace("dialgauge", os.path.relpath(absolute, folder.absolute()), 1)
    return command.replace("dialgauge", str(program if folder == Path() else absolute), 1)


def write_table_file(tables: Sequence[rendering.Table], path: Path | None, title: str | None = None) -> None:
    """Tables into a file, if one was named."""
    if path is not None:
        rendering.write_tables(tables, path, title=title, intervals=out.wide)


def tables_document(tables: Iterable[rendering.Table]) -> dict[str, Any]:
    """Tables as JSON, for commands whose answer is nothing but tables."""
    return {"tables": [{"title": table.title, "rows": table.records()} for table in tables]}


def frame_table(title: str, frame: polars.DataFrame) -> rendering.Table:
    """The frame as a table: numbers and texts as they are, dates and nested values as text."""
    return rendering.Table(title, frame.columns, ([_shown(cell) for cell in row] for row in frame.iter_rows()))


def _shown(cell: Any) -> rendering.Value:
    """SQL's sums of integers are decimals; people read them as integers. Lists of texts are joined by commas."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    if isinstance(cell, list) and all(isinstance(item, str) for item in cell):
        return ", ".join(cell)
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)
