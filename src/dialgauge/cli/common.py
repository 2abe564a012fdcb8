"""What every command shares: how an application is made, where tables go, and how progress shows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dialgauge.files import atomic

T = TypeVar("T")


class _Console(Console):
    """A console that leaves a closed pipe to the command line, where it is no error."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


#: Results go to standard output, everything about the work to standard error.
out = _Console(highlight=False, soft_wrap=True)
err = _Console(stderr=True, highlight=False)


def application(help: str) -> typer.Typer:
    """A command group in the house's manner."""
    return typer.Typer(help=help, add_completion=False, no_args_is_help=True, rich_markup_mode="markdown")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically; ``-`` is standard output."""
    import orjson

    content = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n"
    if str(path) == "-":
        sys.stdout.write(content.decode())
        return
    with atomic(path) as scratch:
        scratch.write_bytes(content)


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that appears on terminals only; call the yielded function with the steps done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.update(task, advance=steps)


def tracked(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a progress bar while they pass."""
    with progress_bar(what, total) as advance:
        for item in items:
            yield item
            advance(1)
