"""The pages of ``docs/extend`` and ``docs/howto`` as tests: their files are written or installed, their commands run.

A page shows files in code blocks with a title (``python title="call_centre.py"``), or has them in the folder of its
name; one is ``pyproject.toml`` with the entry points. What happens is in blocks of the kind ``console``: lines that
begin with ``$`` are commands (``dialgauge`` or ``python``), the lines below are what they print, compared by
support/shown_output.py.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from support.commands import dialgauge_in
from support.doc_pages import Printed
from support.packages import install, on_the_path
from support.shown_output import steps

DOCS = Path(__file__).parents[2] / "docs" / "extend"
HOWTO = DOCS.parent / "howto"

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Command(NamedTuple):
    """A command line of a page, and what the page says that it prints."""

    line: str
    printed: str


class ExtendPage:
    """One page: its files by name, and its commands in order."""

    def __init__(self, name: str, folder: Path = DOCS) -> None:
        self.path = folder / f"{name}.md"
        blocks = _BLOCK.findall(self.path.read_text("utf-8"))
        self.files: dict[str, str] = {title: content for _, title, content in blocks if title}
        self.files |= {file.name: file.read_text("utf-8") for file in (folder / name).glob("*.*")}
        consoles = [content for kind, _, content in blocks if kind == "console"]
        self.code = [content for kind, title, content in blocks if kind == "python" and not title]
        self.commands = [Command(*found) for content in consoles for found in steps(content)]

    def install(self, folder: Path) -> None:
        """Install the page's package into the folder, with its other files beside it."""
        project = tomllib.loads(self.files["pyproject.toml"])["project"]
        lines = []
        for group, entries in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
        modules = [name for name in self.files if name.endswith(".py")]
        self.write(folder)
        install(folder, modules[0].removesuffix(".py"), self.files[modules[0]], "\n".join(lines) + "\n")

    def write(self, folder: Path) -> None:
        """Write the page's files into the folder."""
        for name, content in self.files.items():
            (folder / name).write_text(content, encoding="utf-8")

    def run(self, folder: Path) -> None:
        """Run every command, then the Python, where the package is installed; it must print what the page says."""
        for command in self.commands:
            program, *arguments = shlex.split(command.line)
            printed = {"dialgauge": self._dialgauge, "python": self._python}[program](arguments, folder)
            if command.printed.strip():
                printed.check(command.printed, f"{self.path.name}: {command.line}")
        for code in self.code:
            self._python(["-c", code], folder)

    def _dialgauge(self, words: list[str], folder: Path) -> Printed:
        with on_the_path(folder):
            done = dialgauge_in(folder, {"COLUMNS": "80"}, words)
        assert done.code == 0, f"{self.path.name}: {words}\n{done.out}{done.err}"
        return Printed(done.out, done.err)

    def _python(self, words: list[str], folder: Path) -> Printed:
        done = subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "80"},
            check=False,
        )
        assert done.returncode == 0, f"{self.path.name}: {words}\n{done.stdout}{done.stderr}"
        return Printed(done.stdout, done.stderr)
