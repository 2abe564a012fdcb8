"""``.work`` in the store: where runs are built, out of everybody's sight, until they are whole.

Invariants
- What lies in ``.work/NAME`` belongs to whoever holds the lock ``.work/NAME.lock``; the lock is taken before the
  folder is made and given up after the folder is gone (renamed into the store, or deleted).
- A folder whose lock can be taken has lost its writer. Sweeping deletes it, unless it is resumable work.
- A run enters the store by one rename, after all of its bytes are on the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError
from dialgauge.runs.durable import delete_tree, drop_lock, sync_folder, try_lock, writing

if TYPE_CHECKING:
    from filelock import BaseFileLock

WORK = ".work"
RESUMABLE = "resume-"
REMOVED = "removed-"

_LOCK = ".lock"
_PATIENCE = 1.0  # seconds; a sweep holds the lock of resumable work for a moment, a writer for long


class Claim:
    """A folder in ``.work`` that is ours alone while we live."""

    def __init__(self, folder: Path, lock: BaseFileLock) -> None:
        self.folder = folder
        self._lock = lock

    @property
    def name(self) -> str:
        """The folder's name; for a run in the making, its id."""
        return self.folder.name

    def publish(self, target: Path) -> None:
        """Move the folder into the store: the moment a run begins to exist."""
        sync_folder(self.folder)
        self.folder.rename(target)
        sync_folder(target.parent)
        drop_lock(self._lock)

    def discard(self) -> None:
        """Delete the folder and give up the claim."""
        delete_tree(self.folder)
        drop_lock(self._lock)

    def leave(self) -> None:
        """Give up the claim and keep the folder for whoever comes next."""
        self._lock.release()


class Workspace:
    """The scratch area of one store."""

    def __init__(self, store: Path) -> None:
        self._store = store
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
                "another process is at work on the same run; wait for it or stop it", file=str(self._folder / name)
            )
        return claim

    def resume_if_free(self, name: str) -> Claim | None:
        """The same, or None while another works in it."""
        with writing(self._store):
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._claim(name, must_be_new=False, patience=_PATIENCE)

    def remove(self, name: str) -> None:
        """Take a run out of the store by one rename, then delete it."""
        with writing(self._store):
            claim = self.reserve(lambda: f"{REMOVED}{name}-{os.getpid()}-{os.urandom(4).hex()}")
            try:
                (self._store / name).rename(claim.folder / name)
                sync_folder(self._store)
            finally:
                claim.discard()

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
        return Claim(folder, lock)
