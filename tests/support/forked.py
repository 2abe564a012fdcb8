"""Processes that begin with what stored runs need imported, as forks of one that has: a hundredth of the time.

They are processes like any other: they have limits of their own, are killed, and say with which signal. Only how a
program is started is left out, which other tests look at. No table is read before the fork, as the threads of polars
do not survive it.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, forkserver, get_context
from multiprocessing.connection import Connection

_CONTEXT = get_context("forkserver")


@contextmanager
def forks(*modules: str) -> Iterator[None]:
    """As long as this holds, :class:`Forked` starts with these modules imported."""
    _CONTEXT.set_forkserver_preload(list(modules))
    try:
        yield
    finally:
        forkserver._forkserver._stop()  # type: ignore[attr-defined]  # by itself it would end with this process


class Forked:
    """A program with its arguments: it reads what is ``given``, and what it prints can be read here."""

    def __init__(self, program: str, *arguments: object, given: bytes = b"") -> None:
        theirs, ours = _CONTEXT.Pipe(duplex=False)
        printed, printing = _CONTEXT.Pipe(duplex=False)
        words = [str(argument) for argument in arguments]
        self._process = _CONTEXT.Process(target=_run, args=(program, words, theirs, printing), daemon=True)
        self._process.start()
        self._left = printed
        self.stdout = io.FileIO(os.dup(printed.fileno()))
        for end in (theirs, printing):
            end.close()
        os.write(ours.fileno(), given)
        ours.close()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        self._process.kill()

    def communicate(self, timeout: float | None = None) -> bytes:
        """All that it still prints, when it has ended; a :class:`TimeoutError` where that takes too long."""
        end = None if timeout is None else time.monotonic() + timeout
        parts = []
        while True:
            if not connection.wait([self.stdout.fileno()], None if end is None else max(0, end - time.monotonic())):
                raise TimeoutError
            if not (part := self.stdout.read(2**16)):
                break
            parts.append(part)
        self._process.join()
        self.stdout.close()
        self._left.close()
        return b"".join(parts)


def _run(program: str, words: list[str], given: Connection, printing: Connection) -> None:
    os.dup2(given.fileno(), 0)
    os.dup2(printing.fileno(), 1)
    printing.close()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    sys.argv = ["", *words]
    sys.modules["__main__"].__file__ = __file__  # without a file DuckDB takes it for a session, and shows its progress
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
