"""Output of commands beside their pages: JSON and bytes in files, sentences, commands to type."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from dialgauge.cli.screen import fold, out


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically; ``-`` is standard output."""
    import msgspec

    from dialgauge import runs

    write_file(path, msgspec.json.format(msgspec.json.encode(runs.plain(value)), indent=2) + b"\n")


def write_file(path: Path, content: bytes) -> None:
    """Write a file, atomically; ``-`` is standard output."""
    if str(path) == "-":
        out.write_bytes(content)
        return
    from dialgauge.files import atomic

    with atomic(path) as scratch:
        scratch.write_bytes(content)


def on_screen(json: Path | None) -> bool:
    """Whether tables are printed: not when JSON takes standard output."""
    return str(json) != "-"


def print_sentence(text: str) -> None:
    """A sentence of any length, folded so that a pipe shows it as a terminal does."""
    out.print(fold(text, 80))


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
