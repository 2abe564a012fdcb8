"""``.work`` in the store: where runs are built and long work is kept, out of everybody's sight, until they are whole.

Invariants
- What lies in ``.work/NAME`` belongs to whoever holds the lock ``.work/NAME.lock``; the lock is taken before the
  folder is made and given up after the folder is gone (renamed into the store, or deleted).
- A folder whose lock can be taken has lost its writer, as the system drops a lock when its holder dies. Sweeping
  deletes it, unless it is resumable work.
- A run enters the store by one rename, after all of its bytes are on the disk.
- The name of resumable work is a digest of everything that determines its result, and a unit is done if and only if
  its file is there: files appear whole, and nothing else records progress.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from dialgauge import files
from dialgauge._version import __version__
from dialgauge.files import atomic
from dialgauge.locks import FileLock, try_lock

WORK = ".work"

_RESUMABLE, _REMOVED = "resume-", "removed-"
_LOCK = ".lock"
_UNIT, _DONE = "unit-", ".done"
_PATIENCE = 1.0  # seconds; a sweep holds the lock of resumable work for a moment, a writer for long


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
    """Write a file of a folder that nobody else sees yet; its bytes are on the disk when this returns."""
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def delete_tree(path: Path) -> None:
    """Delete a folder and all in it, which others may be deleting too; of a link only the link."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    while path.exists():
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            continue


def writing(path: Path) -> AbstractContextManager[None]:
    """Whatever the operating system reports while writing below a folder becomes one sentence."""
    advice = "; check space and permission, or set DIALGAUGE_RUNS to another folder"
    return files.writing(path, "the run store", advice)


class Claim:
    """A folder in ``.work`` that is ours alone while we live."""

    def __init__(self, folder: Path, lock: FileLock) -> None:
        self.folder = folder
        self._lock = lock

    def publish(self, target: Path) -> None:
        """Move the folder into the store: the moment a run begins to exist."""
        sync_folder(self.folder)
        self.folder.rename(target)
        sync_folder(target.parent)
        self._lock.release()

    def discard(self) -> None:
        """Delete the folder and give up the claim."""
        delete_tree(self.folder)
        self._lock.release()

    def leave(self) -> None:
        """Give up the claim and keep the folder for whoever comes next."""
        self._lock.release()


class Workspace:
    """The scratch area of one store."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._folder = store / WORK

    def reserve(self) -> Claim:
        """An empty folder for a run in the making."""
        with writing(self._store):
            self._folder.mkdir(parents=True, exist_ok=True)
            while (claim := self._claim(f"new-{os.urandom(8).hex()}", must_be_new=True)) is None:
                continue
            return claim

    def resume(self, name: str) -> Claim | None:
        """The folder of resumable work, new or as an earlier process left it; None while another works in it."""
        with writing(self._store):
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._claim(name, must_be_new=False, patience=_PATIENCE)

    def take_out(self, entry: Path) -> Path:
        """Move something out of the store by one rename, which needs no room on the disk; where it is to be deleted."""
        self._folder.mkdir(exist_ok=True)
        gone = self._folder / f"{_REMOVED}{entry.name}-{os.urandom(4).hex()}"
        entry.rename(gone)
        sync_folder(entry.parent)
        return gone

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold the lock of a name that has no folder, for a moment."""
        with writing(self._store):
            lock = try_lock(self._folder / f"{name}{_LOCK}", -1)
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def unfinished(self) -> list[str]:
        """The names of unfinished resumable work."""
        if not self._folder.is_dir():
            return []
        return sorted(
            entry.name for entry in self._folder.iterdir() if entry.name.startswith(_RESUMABLE) and entry.is_dir()
        )

    def sweep(self) -> bool:
        """Delete what dead processes left, of resumable work only a lock without a folder; True if there was any."""
        dead = []
        with writing(self._store):
            names = (
                {entry.name.removesuffix(_LOCK) for entry in self._folder.iterdir()} if self._folder.is_dir() else ()
            )
            for name in sorted(names):
                if claim := self._claim(name, must_be_new=name.startswith(_RESUMABLE)):
                    dead.append(claim)
            for claim in dead:
                claim.discard()
        return bool(dead)

    def remove_if_empty(self, *folders: Path) -> None:
        """Delete these folders and the scratch area, if nothing is in them."""
        for folder in (self._folder, *folders):
            with suppress(OSError):
                folder.rmdir()

    def _claim(self, name: str, *, must_be_new: bool, patience: float = 0.0) -> Claim | None:
        folder = self._folder / name
        lock = try_lock(self._folder / f"{name}{_LOCK}", patience)
        if lock is None:
            return None
        try:
            folder.mkdir(exist_ok=not must_be_new)
        except OSError as error:
            lock.release()
            if isinstance(error, FileExistsError):
                return None
            raise
        return Claim(folder, lock)


class Parts(MutableMapping[str, bytes]):
    """The finished units of one kind: names to bytes, each in a file of its own, listed in name order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def part(self, name: str) -> Parts:
        """The units of one of several steps of the work."""
        return Parts(self._folder / name)

    def __setitem__(self, unit: str, content: bytes) -> None:
        with atomic(self._file(unit)) as scratch:
            scratch.write_bytes(content)
        sync_folder(self._folder)

    def __getitem__(self, unit: str) -> bytes:
        try:
            return self._file(unit).read_bytes()
        except FileNotFoundError:
            raise KeyError(unit) from None

    def __delitem__(self, unit: str) -> None:
        try:
            self._file(unit).unlink()
        except FileNotFoundError:
            raise KeyError(unit) from None

    def __contains__(self, unit: object) -> bool:
        return isinstance(unit, str) and self._file(unit).exists()

    def __iter__(self) -> Iterator[str]:
        done = (path.name for path in self._folder.glob(f"{_UNIT}*{_DONE}"))
        return iter(sorted(unquote(name.removeprefix(_UNIT).removesuffix(_DONE)) for name in done))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _file(self, unit: str) -> Path:
        return self._folder / f"{_UNIT}{quote(unit, safe='')}{_DONE}"


def resumable_name(label: str, facts: Sequence[object]) -> str:
    """The name of the folder for half-done work that is determined by some facts."""
    digest = hashlib.sha256(msgspec.json.encode([*facts, __version__], order="deterministic")).hexdigest()[:16]
    return f"{_RESUMABLE}{label}-{digest}"
