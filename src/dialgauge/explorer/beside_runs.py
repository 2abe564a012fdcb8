"""What took long to compute from runs, kept as a file in the folder of the first of them.

Invariants
- A file is used only while code and runs are as they were: its name holds a checksum of both.
- It is no part of what was measured: a run without it is whole, and it goes with the run.
- It is believed as little as any file: its content is read into the type that was asked for, and what does not fit, or
  cannot be read or written, is computed again as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import msgspec
import numpy as np

from dialgauge._version import __version__
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.rendering import Cell, Column, Table
from dialgauge.runs import Run
from dialgauge.text import Note, note_kind

T = TypeVar("T")

#: Seconds from which on it pays to keep something.
_WORTH = 0.5
#: Files in one run's folder, the newest ones, and bytes of one.
_MOST_FILES = 32
_MOST_BYTES = 32 * 2**20
_BEGINNING, _ENDING = "explored-", ".msgpack"


class StoredTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table as pages show it, in a form that can be kept."""

    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    #: Kind and text.
    notes: list[tuple[str, str]]
    signature: str

    @classmethod
    def of(cls, table: Table) -> StoredTable:
        notes = [(note_kind(note), str(note)) for note in table.notes]
        return cls(table.title, table.columns, table.cells, notes, table.signature)

    def table(self) -> Table:
        return Table(self.title, self.columns, self.rows, [Note(*note) for note in self.notes], self.signature)

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a row has not as many cells as there are columns")


def kept_beside(runs: Sequence[Run], what: str, form: Any, make: Callable[[], T]) -> T:
    """What was made of stored runs before, as the type ``form``; else it is made, and kept where that took long."""
    path = _path(runs, what)
    if path is not None and (kept := _read(path, form)) is not None:
        value: T = kept
        return value
    start = perf_counter()
    made = make()
    if path is not None and perf_counter() - start >= _WORTH:
        _write(path, made)
    return made


def _path(runs: Sequence[Run], what: str) -> Path | None:
    """The file for it; None if a run is only in memory or one of its files is gone."""
    if not all(run.stored for run in runs):
        return None
    digest = sha256(f"{_code()}\0{what}".encode())
    try:
        for run in runs:
            digest.update(msgspec.json.encode(run.manifest))
            for name in sorted(run.files):  # a table that somebody changed is to be read, and refused
                for path in run.files[name]:
                    state = path.stat()
                    digest.update(f"\0{name} {state.st_size} {state.st_mtime_ns}".encode())
    except (OSError, DialgaugeError, UnicodeError, msgspec.MsgspecError):
        return None
    return runs[0].path / f"{_BEGINNING}{digest.hexdigest()[:32]}{_ENDING}"


def _read(path: Path, form: Any) -> Any:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        return msgspec.msgpack.decode(path.read_bytes(), type=form)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _write(path: Path, made: Any) -> None:
    """Keep it in the file; does nothing if the store cannot be written or the content cannot be encoded."""
    with suppress(OSError, DialgaugeError, msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        content = msgspec.msgpack.encode(made, enc_hook=_plain)
        if len(content) > _MOST_BYTES or path.is_symlink() or not path.parent.is_dir():
            return
        with atomic(path) as scratch:
            scratch.write_bytes(content)
        older = sorted(path.parent.glob(f"{_BEGINNING}*{_ENDING}"), key=lambda file: file.stat().st_mtime_ns)
        for file in older[:-_MOST_FILES]:
            file.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """A number of numpy's as one of Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no such form")


@cache
def _code() -> str:
    """A checksum of our code, so that results are computed again after any change to it."""
    digest = sha256(__version__.encode())
    root = Path(str(files("dialgauge")))
    for path in sorted(root.rglob("*.py")):
        state = path.stat()
        digest.update(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
