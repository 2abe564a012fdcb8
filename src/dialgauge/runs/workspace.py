"""``.work`` in the store: where runs are built, out of everybody's sight, until they are whole.

Invariants
- What lies in ``.work/NAME`` belongs to whoever holds the lock ``.work/NAME.lock``; the lock is taken before the
  folder is made and given up after the folder is gone (renamed into the store, or deleted).
- A folder whose lock can be taken has lost its writer. Sweeping deletes it, unless it is resumable work.
- A run enters the store by one rename, after all of its bytes are on the disk.

The operating system drops a lock when its holder dies, however it dies. A lock that can be taken therefore proves that
nobody works behind it, and what lies there may be cleared away.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge import files
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.locks import FileLock, try_lock
from dialgauge.runs.tables import TableInfo, table_files

if TYPE_CHECKING:
    from dialgauge.columns import GivenTable

WORK = ".work"
RESUMABLE = "resume-"
REMOVED = "removed-"

_LOCK = ".lock"
_PATIENCE = 1.0  # seconds; a sweep holds the lock of resumable work for a moment, a writer for long


def sync_file(path: Path) -> None:
    """Return when the file's bytes are on the disk."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def sync_folder(path: Path) -> None:
    """Return when the folder's entries are on the disk (systems that cannot open folders need no such step)."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path: Path, content: bytes) -> None:
    """Write a file of a folder that nobody else sees yet."""
    path.write_bytes(content)
    sync_file(path)


def write_table(frame: GivenTable, path: Path) -> TableInfo:
    """Write a table of a folder that nobody else sees yet; what it must be when it is read again."""
    from dialgauge.columns import PiecedTable

    columns = {column: str(kind) for column, kind in frame.schema.items()}
    if isinstance(frame, PiecedTable):
        with path.open("wb+") as stream:
            frame.write_parquet(stream)
            stream.flush()
            os.fsync(stream.fileno())
            stream.seek(0)
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return TableInfo(frame.height, columns, path.stat().st_size, digest)
    try:
        content = parquet_bytes(frame)
    except Exception as error:
        if type(error).__module__ != "polars.exceptions":
            raise
        raise DialgaugeError(f"the table cannot be written ({error})", file=str(path)) from error
    write_durably(path, content)
    return TableInfo(frame.height, columns, len(content), hashlib.sha256(content).hexdigest())


def write_parts(name: str, parts: Sequence[bytes], folder: Path) -> TableInfo:
    """Write a table that comes in pieces, each into a file of its own; what it must be when it is read again."""
    import polars

    number = len(parts) if len(parts) > 1 else 0
    rows, size, lines, columns = 0, 0, "", {}
    for file, part in zip(table_files(name, number), parts, strict=True):
        write_durably(folder / file, part)
        columns = {column: str(kind) for column, kind in polars.read_parquet_schema(io.BytesIO(part)).items()}
        rows += int(polars.scan_parquet(io.BytesIO(part)).select(polars.len()).collect().item())
        size += len(part)
        lines += f"{hashlib.sha256(part).hexdigest()}  {file}\n"
    digest = hashlib.sha256(lines.encode() if number else parts[0]).hexdigest()
    return TableInfo(rows, columns, size, digest, number)


def delete_tree(path: Path) -> None:
    """Delete a folder and all in it; a link is deleted, never what it points to."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        import shutil

        shutil.rmtree(path)


def empty(folder: Path) -> None:
    """Delete all that lies in a folder."""
    for entry in folder.iterdir():
        delete_tree(entry)


def writing(path: Path) -> AbstractContextManager[None]:
    """Whatever the operating system reports while writing below a folder becomes one sentence."""
    advice = "; check space and permission, or set DIALGAUGE_RUNS to another folder"
    return files.writing(path, "the run store", advice)


class Claim:
    """A folder in ``.work`` that is ours alone while we live."""

    def __init__(self, folder: Path, lock: FileLock, on_discard: Callable[[Path], None]) -> None:
        self.folder = folder
        self._lock = lock
        self._on_discard = on_discard

    @property
    def name(self) -> str:
        """The folder's name; for a run in the making, its id."""
        return self.folder.name

    def publish(self, target: Path) -> None:
        """Move the folder into the store: the moment a run begins to exist."""
        sync_folder(self.folder)
        self.folder.rename(target)
        sync_folder(target.parent)
        self._lock.release()

    def discard(self) -> None:
        """Delete the folder and give up the claim."""
        self._on_discard(self.folder)
        delete_tree(self.folder)
        self._lock.release()

    def leave(self) -> None:
        """Give up the claim and keep the folder for whoever comes next."""
        self._lock.release()


class Workspace:
    """The scratch area of one store. ``on_discard`` is called with each folder that is about to be deleted."""

    def __init__(self, store: Path, on_discard: Callable[[Path], None]) -> None:
        self._store = store
        self._on_discard = on_discard
        self._folder = store / WORK

    def reserve(self, make_name: Callable[[], str]) -> Claim:
        """An empty folder under a fresh name that no run of the store bears, after sweeping what the dead left."""
        with writing(self._store):
            self._folder.mkdir(parents=True, exist_ok=True)
            self.sweep()
            while True:
                claim = self._claim(make_name(), must_be_new=True)
                if claim is None:
                    continue
                # Names enter the store through their claim alone, so this answer cannot change while we hold it.
                if not os.path.lexists(self._store / claim.name):
                    return claim
                claim.discard()

    def resume(self, name: str) -> Claim:
        """The folder of resumable work, new or as an earlier process left it; an error while another works in it."""
        claim = self.resume_if_free(name)
        if claim is None:
            raise DialgaugeError(
                "another process is working on the same run; wait for it or stop it", file=str(self._folder / name)
            )
        return claim

    def resume_if_free(self, name: str) -> Claim | None:
        """The same; None while another process works in it."""
        with writing(self._store):
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._claim(name, must_be_new=False, patience=_PATIENCE)

    def remove(self, name: str, before: Callable[[Path], None]) -> None:
        """Take a run out of the store by one rename, then delete it; ``before`` prepares the folder it is moved to."""
        with writing(self._store):
            claim = self.reserve(lambda: f"{REMOVED}{name}-{os.getpid()}-{os.urandom(4).hex()}")
            try:
                before(claim.folder)
                (self._store / name).rename(claim.folder / name)
                sync_folder(self._store)
            finally:
                claim.discard()

    @contextmanager
    def locked(self, name: str, patience: float) -> Iterator[None]:
        """Hold the lock of a name that has no folder; an error while another process has it for long."""
        with writing(self._store):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = try_lock(self._folder / f"{name}{_LOCK}", patience)
        if lock is None:
            raise DialgaugeError("another process holds the lock; wait for it", file=str(self._folder / name))
        try:
            yield
        finally:
            lock.release()

    def sweep(self) -> None:
        """Delete what dead processes left; of resumable work, only a lock whose folder is gone."""
        for name in sorted({entry.name.removesuffix(_LOCK) for entry in self._folder.iterdir()}):
            if claim := self._claim(name, must_be_new=name.startswith(RESUMABLE)):
                claim.discard()

    def resumable(self) -> list[str]:
        """The names of unfinished resumable work."""
        if not self._folder.is_dir():
            return []
        return sorted(
            entry.name for entry in self._folder.iterdir() if entry.name.startswith(RESUMABLE) and entry.is_dir()
        )

    def _claim(self, name: str, *, must_be_new: bool, patience: float = 0.0) -> Claim | None:
        folder = self._folder / name
        lock = try_lock(self._folder / f"{name}{_LOCK}", patience)
        if lock is None:
            return None
        try:
            folder.mkdir(exist_ok=not must_be_new)
        except FileExistsError:
            lock.release()
            return None
        return Claim(folder, lock, self._on_discard)
