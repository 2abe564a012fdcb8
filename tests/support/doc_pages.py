"""The documentation as tests: every block of a page that a reader could run is run, in the order of the page.

Blocks of the kind ``console`` or ``bash`` hold commands: lines that begin with ``$`` (in ``bash`` every line), joined
where they end with a backslash. Blocks of the kind ``python`` are run one after the other in one namespace. A block
with a title is a file, which is there from the start. The lines below a command, and a block of plain text (of the kind
``text``, or of none) after the block that printed it, are output: support/shown_output.py compares it with what was
printed. So are comments that begin like a value, after an expression in Python. A comment right before a block says
what is not plain:

    <!-- exit: 1 -->            the exit code of its last command
    <!-- needs: data -->        it reads the real data: skipped where that is absent
    <!-- prints: pattern -->    what it prints has this regular expression in it
    <!-- slow: how slow -->     it is run by ``make docs-blocks`` only
    <!-- serves: what -->       its last command is a server: it runs until the page is done, then gets Ctrl-C
    <!-- not run: reason -->    it is never run; the reason begins with one of NEVER
    <!-- not output: what -->   plain text that no program printed
"""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from support.commands import Outcome, dialgauge_in
from support.shown_output import difference, statements, steps, value_differs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(
    r"(?P<markers>(?:^[ \t]*<!--[^\n]*-->[ \t]*\n+)*)^(?P<indent>[ \t]*)"
    r"```(?P<info>[^\n`]*)\n(?P<body>.*?)^[ \t]*```[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_MARKER = re.compile(r"<!--\s*(exit|needs|prints|slow|serves|not run|not output):\s*(.*?)\s*-->")
_TITLE = re.compile(r'title="([^"]+)"')
#: What a block may need that no test has.
NEVER = ("network", "install", "cluster", "key", "keyboard")
#: What only a shell understands, or reads what it is given by one.
_SHELL = re.compile(r"[|&;<>$*?`~#(){}\n]| - ")
#: What means nothing to a shell, and what a shell puts in before the command runs.
_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_INSERTED = re.compile(r"\$\(((?:ls|dialgauge data get) [^()]*)\)")
#: Where servers of the pages listen.
PORT = "8765"
#: Set by ``make docs-blocks``.
SLOW_TOO = "DIALGAUGE_SLOW_BLOCKS"
#: Kinds of blocks that a reader could run.
RUN = frozenset({"console", "bash", "sh", "shell", "python", "pycon"})
#: Kinds of blocks that show what a block before them printed.
OUTPUT = frozenset({"", "text"})


class Printed(NamedTuple):
    """What a command printed on its two streams."""

    out: str
    notes: str = ""

    def check(self, shown: str, where: str) -> None:
        """An assertion fails where a page shows something else. It may leave out the notes (standard error)."""
        found = [difference(shown, text) for text in (self.out, self.notes + self.out, self.out + self.notes)]
        assert None in found, f"{where}: {found[1]}\nThe page shows:\n{shown}\nIt prints:\n{self.notes}{self.out}"


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
        return [command for command, _ in self.steps]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The command lines of the block, each with the output shown below it."""
        if self.kind == "console":
            return list(steps(self.body))
        joined = re.sub(r"\\\n\s*", "", self.body)
        return [(line, "") for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]

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
    for dataset in (one for one in data.iterdir() if (one / "SHA256SUMS").is_file()):  # not a store that lies there
        if not (folder / dataset.name).exists():
            (folder / dataset.name).symlink_to(dataset)
        for file in dataset.iterdir() if dataset.name != "babi" else ():
            if not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)


class _Server(NamedTuple):
    """A server of a page: what it printed until it served, and what the page shows of it."""

    command: str
    process: subprocess.Popen[str]
    printed: str
    shown: str
    line: int


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
        self._servers: list[_Server] = []

    def run(self, block: Block) -> Printed:
        """Run a block; what its last command printed.

        An assertion fails where its exit code is not the announced one, or what it shows not what was printed.
        """
        if block.kind in ("python", "pycon"):
            return self._python(block)
        printed = Printed("")
        pattern, everything = block.markers.get("prints", ""), ""
        commands = block.steps
        if "serves" in block.markers:
            self._serve(*commands.pop(), block.line)
        for number, (command, shown) in enumerate(commands):
            printed = self._command(command, block.exit if number == len(commands) - 1 else 0, block.line)
            everything += printed.out
            if shown.strip():
                printed.check(shown, f"line {block.line}")
        assert re.search(pattern, everything), (
            f"line {block.line}: no '{pattern}' in what it prints:\n{everything[-2000:]}"
        )
        return printed

    def _command(self, command: str, expected: int, line: int) -> Printed:
        typed = _INSERTED.sub(lambda found: " ".join(self._in_a_shell(found[1]).out.split()), self._free(command))
        here = typed.startswith("dialgauge ") and not _SHELL.search(_QUOTED.sub("", typed))
        done = dialgauge_in(self.folder, self.environment, shlex.split(typed)[1:]) if here else self._in_a_shell(typed)
        assert done.code == expected, (
            f"line {line}: '{command}' ended with {done.code}, not {expected}:\n{done.out[-2000:]}{done.err[-2000:]}"
        )
        return Printed(self._anywhere(done.out), self._anywhere(done.err))

    def _in_a_shell(self, command: str) -> Outcome:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def _serve(self, command: str, shown: str, line: int) -> None:
        """Start a server, and wait until it names its address."""
        command = self._free(command)
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
            read = started.stdout.readline()
            assert read, f"'{command}' ended before it served anything:\n{printed}"
            printed += read
        self._servers.append(_Server(command, started, printed, shown, line))

    def close(self) -> None:
        """Stop the servers as Ctrl-C does. An assertion fails where one does not end well."""
        while self._servers:
            server = self._servers.pop()
            server.process.send_signal(signal.SIGINT)
            printed = self._anywhere(server.printed + server.process.communicate()[0])
            code = server.process.returncode
            assert code in (0, 130), f"'{server.command}' ended with {code}:\n{printed}"
            Printed(printed).check(f"{server.shown}...\n", f"line {server.line}")

    def _python(self, block: Block) -> Printed:
        name = f"<line {block.line}>"
        with chdir(self.folder), redirect_stdout(io.StringIO()) as out:
            for node, shown in statements(block.body):
                if isinstance(node, ast.Expr) and shown is not None:
                    value = eval(compile(ast.Expression(node.value), name, "eval"), self._names)
                    wrong = value_differs(shown, value)
                    assert not wrong, f"line {block.line + node.lineno}: {wrong}"
                else:
                    exec(compile(ast.Module([node], []), name, "exec"), self._names)
        return Printed(out.getvalue())

    def _anywhere(self, text: str) -> str:
        """Paths in the folder become relative, as they are for a reader."""
        return text.replace(f"{self.folder}{os.sep}", "")

    def _free(self, text: str) -> str:
        """The port of the pages' servers becomes one that is free: tests run side by side."""
        return text.replace(PORT, self._port)

    def write(self, block: Block) -> None:
        """Write a block that is a file."""
        assert block.title
        path = self.folder / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._free(block.body), encoding="utf-8")
