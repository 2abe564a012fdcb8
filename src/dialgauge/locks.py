"""Lock files: held by one living process at a time, and given up by the system for one that dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import filelock

from dialgauge.files import writing


class FileLock(NamedTuple):
    """A lock file that this process holds."""

    path: Path
    lock: filelock.BaseFileLock
    #: Whether the folder was made for the lock.
    made: bool

    def release(self) -> None:
        """Give the lock up. The file goes first: whoever waits for it notices, and makes another one."""
        self.path.unlink(missing_ok=True)
        self.lock.release()
        if self.made:
            with suppress(OSError):  # not empty
                self.path.parent.rmdir()


def try_lock(path: Path, patience: float = 0.0) -> FileLock | None:
    """Take a lock file, whose folder is made if need be; None when a living process still holds it after so many
    seconds (-1: wait for as long as it takes)."""
    made = not path.parent.exists()
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=patience)
        except filelock.Timeout:
            return None
    return FileLock(path, lock, made)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; waits for as long as another process has it."""
    lock = try_lock(path, -1)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()
