"""What a person sees: the two standard streams, progress and questions; and the files that commands write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic, reason
from dialgauge.report import Page, Terminal
from dialgauge.text import plain

if TYPE_CHECKING:
    from rich.console import Console


class Screen:
    """One of the two standard streams; rich draws bars on it where it is a terminal."""

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
    def is_terminal(self) -> bool:
        """Whether somebody looks at it."""
        return self.stream.isatty() or bool({"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys())

    def print(self, text: str = "", *, style: str = "") -> None:
        """Print a text, of which nothing acts on the terminal; a terminal folds long lines at spaces."""
        shown = _harmless(text)
        if self.is_terminal:
            shown = fold(shown, self.width)
        if self.stream.isatty() and style and "NO_COLOR" not in os.environ:
            shown = f"\x1b[{_STYLES[style]}m{shown}\x1b[0m"
        with self._writing():
            self.stream.write(f"{shown}\n")
            self.stream.flush()

    def page(self, page: Page, *, everything: bool = False, more: str = "--all") -> None:
        """Print a page; ``everything`` with all rows and folded texts, else ``more`` says how to get all rows."""
        colour = self.stream.isatty() and "NO_COLOR" not in os.environ
        text = Terminal(self.width or _ANY_WIDTH, everything=everything, colour=colour, more=more).page(page)
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        with self._writing():
            self.stream.write(text.encode(encoding, "replace").decode(encoding))
            self.stream.flush()

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
        if not self.is_terminal:
            return nullcontext()
        from rich.text import Text

        return self.console.status(Text(_harmless(what)))

    def input(self, prompt: str) -> str:
        """A line from the keyboard; EOFError where there is none."""
        if sys.stdin is None:
            raise EOFError
        return self.console.input(prompt, markup=False)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn a failed write into an error; a closed pipe is left to the caller."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise DialgaugeError(f"{_STREAMS[self.name]} cannot be written ({reason(error)})") from error


#: What a pipe or a file is taken for, and a terminal that does not say how wide it is; and the width of ``--wide``.
_COLUMNS, _ANY_WIDTH = 80, 10_000

#: Codes of terminals.
_STYLES = {"bold": "1", "dim": "2"}
_STREAMS = {"stdout": "standard output", "stderr": "standard error"}


def fold(text: str, width: int | None) -> str:
    """The text with its lines folded at spaces, as far in as they begin; longer words, such as paths, stay whole."""
    return text if width is None else "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    parts = wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(parts) if len(line) > width else line


def _harmless(text: str) -> str:
    """The lines of a text, each without what would act on a terminal."""
    return text if text.isprintable() else "\n".join(plain(line.expandtabs()) for line in text.split("\n"))


#: Results go to standard output, everything about the work to standard error.
out = Screen("stdout")
err = Screen("stderr")


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that appears on terminals only; call the yielded function with the steps done."""
    if not err.is_terminal:
        yield lambda steps: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err.console, transient=True, disable=not err.console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.update(task, advance=steps)


def confirm(question: str) -> None:
    """Go on only if the answer is yes."""
    if sys.stdin is None:
        raise DialgaugeError("standard input is closed, so the question cannot be answered; add --yes to skip it")
    err.write(f"{_harmless(question)} [y/N]: ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise DialgaugeError("stopped")


def line_reader(prompt: str) -> Callable[[], str]:
    """A function that asks for a line, with line editing where somebody sits at a terminal."""
    if sys.stdin is None or sys.stdin.closed:
        raise DialgaugeError("standard input is closed, so there is no one to talk to")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return lambda: out.input(prompt)
    with suppress(ImportError):  # Python on Windows has none
        import readline  # noqa: F401 - input() edits lines and keeps a history once it is loaded
    return lambda: input(prompt)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, atomically; ``-`` is standard output."""
    if str(path) == "-":
        out.write_bytes(content)
        return
    with atomic(path) as scratch:
        scratch.write_bytes(content)


def on_screen(json: Path | None) -> bool:
    """Whether tables are printed: not when JSON takes standard output."""
    return str(json) != "-"
