"""The documentation as tests: every block of a page that a reader could run is run, in the order of the page.

Blocks of the kind ``console`` or ``bash`` hold commands: lines that begin with ``$`` (in ``bash`` every line), joined
where they end with a backslash. Blocks of the kind ``python`` are run one after the other in one namespace. A block
with a title is a file, which is there from the start. A comment right before a block says what is not plain:

    <!-- exit: 1 -->            the exit code of its last command
    <!-- needs: data -->        it reads the real data: skipped where that is absent
    <!-- prints: pattern -->    what it prints has this regular expression in it
    <!-- slow: how slow -->     it is run by ``make docs-blocks`` only
    <!-- serves: what -->       its last command is a server: it runs until the page is done, then gets Ctrl-C
    <!-- not run: reason -->    it is never run; the reason begins with one of NEVER
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(
    r"(?P<markers>(?:^[ \t]*<!--[^\n]*-->[ \t]*\n+)*)^(?P<indent>[ \t]*)"
    r"```(?P<info>[^\n`]*)\n(?P<body>.*?)^[ \t]*```[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_MARKER = re.compile(r"<!--\s*(exit|needs|prints|slow|serves|not run):\s*(.*?)\s*-->")
_TITLE = re.compile(r'title="([^"]+)"')
#: What a block may need that no test has.
NEVER = ("network", "install", "cluster", "key", "keyboard")
#: Where servers of the pages listen.
PORT = "8765"
#: Set by ``make docs-blocks``.
SLOW_TOO = "DIALGAUGE_SLOW_BLOCKS"
#: Kinds of blocks that a reader could run.
RUN = frozenset({"console", "bash", "sh", "shell", "python", "pycon"})


@dataclass
class Block:
    """One fenced block: its kind, what it holds, the line it begins in, and its markers."""

    kind: str
    body: str
    line: int
    title: str | None = None
    markers: dict[str, str] = field(default_factory=dict)

    @property
    def commands(self) -> list[str]:
        """The command lines of the block."""
        joined = re.sub(r"\\\n\s*", "", self.body)
        if self.kind == "console":
            return [line.strip()[2:] for line in joined.splitlines() if line.strip().startswith("$ ")]
        return [line for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]

    @property
    def exit(self) -> int:
        """The exit code that the page announces."""
        return int(self.markers.get("exit", "0"))


def pages() -> list[Path]:
    """Every page that is written by hand."""
    return sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in their order."""
    return list(blocks_of(page.read_text("utf-8")))


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a text in Markdown."""
    for found in _FENCE.finditer(text):
        kind = (found["info"].split() or [""])[0]
        title = _TITLE.search(found["info"])
        indent = len(found["indent"])
        body = "".join(line[indent:] if line[:indent].isspace() else line for line in found["body"].splitlines(True))
        line = text.count("\n", 0, found.start("info")) + 1
        yield Block(kind, body, line, title[1] if title else None, dict(_MARKER.findall(found["markers"])))


def _link_data(folder: Path, data: Path) -> None:
    """The datasets by name, and the files of all but bAbI by their own names: ``test.json.gz``, ``augpt.json.gz``."""
    for dataset in (one for one in data.iterdir() if one.is_dir()):
        if not (folder / dataset.name).exists():
            (folder / dataset.name).symlink_to(dataset)
        for file in dataset.iterdir() if dataset.name != "babi" else ():
            if not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)


class Sandbox:
    """A folder with the example files, and the real data under the names that the pages use, where it is at hand."""

    def __init__(self, folder: Path, data: Path | None) -> None:
        self.folder, self.data = folder, data
        shutil.copytree(DOCS / "examples", folder, dirs_exist_ok=True)
        for name in ("docs", "tools"):
            (folder / name).symlink_to(ROOT / name)
        if data:
            _link_data(folder, data)
            (folder / "DATA").symlink_to(data)
        programs = folder / ".bin"
        programs.mkdir()
        for name, words in {"dialgauge": "-m dialgauge", "python": ""}.items():
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            (programs / name).chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "DIALGAUGE_RUNS": str(folder / "runs"),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "HOME": str(folder),
            "BROWSER": "true",  # the command, which opens nothing
        }
        self._names: dict[str, Any] = {"__name__": "__page__"}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = str(free.getsockname()[1])
        self._servers: list[tuple[str, subprocess.Popen[str]]] = []

    def run(self, block: Block) -> str:
        """Run a block; what it printed. An assertion fails where its exit code is not the announced one."""
        if block.kind in ("python", "pycon"):
            return self._python(block)
        printed = ""
        commands = [self._free(command) for command in block.commands]
        if "serves" in block.markers:
            self._serve(commands.pop())
        for number, command in enumerate(commands):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            expected = block.exit if number == len(commands) - 1 else 0
            printed += done.stdout
            assert done.returncode == expected, (
                f"line {block.line}: '{command}' ended with {done.returncode}, not {expected}:\n"
                f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        pattern = block.markers.get("prints", "")
        assert re.search(pattern, printed), f"line {block.line}: no '{pattern}' in what it prints:\n{printed[-2000:]}"
        return printed

    def _serve(self, command: str) -> None:
        """Start a server, and wait until it names its address."""
        started = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env=self.environment | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert started.stdout
        printed = ""
        while "http://" not in printed:
            line = started.stdout.readline()
            assert line, f"'{command}' ended before it served anything:\n{printed}"
            printed += line
        self._servers.append((command, started))

    def close(self) -> None:
        """Stop the servers as Ctrl-C does. An assertion fails where one does not end well."""
        while self._servers:
            command, started = self._servers.pop()
            started.send_signal(signal.SIGINT)
            printed, _ = started.communicate()
            assert started.returncode in (0, 130), f"'{command}' ended with {started.returncode}:\n{printed}"

    def _python(self, block: Block) -> str:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            exec(compile(block.body, f"<line {block.line}>", "exec"), self._names)
        finally:
            os.chdir(before)
        return ""

    def _free(self, text: str) -> str:
        """The port of the pages' servers becomes one that is free: tests run side by side."""
        return text.replace(PORT, self._port)

    def write(self, block: Block) -> None:
        """Write a block that is a file."""
        assert block.title
        path = self.folder / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._free(block.body), encoding="utf-8")
