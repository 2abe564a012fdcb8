"""Lock files: held by one living process at a time, and given up by the system for one that dies."""

from __future__ import annotations

import errno
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.files import writing

if TYPE_CHECKING:
    from filelock import BaseFileLock

_LOCK_PAUSE = 0.05  # seconds


class FileLock:
    """A lock file that this process holds; the system gives it up for a process that dies."""

    def __init__(self, path: Path, held: int | BaseFileLock) -> None:
        self.path = path
        self._held = held

    def release(self) -> None:
        """Give the lock up. The file goes first: whoever waits for it finds another one, or none, and tries again."""
        if isinstance(self._held, int):
            import fcntl

            with suppress(OSError):
                if os.path.samestat(os.fstat(self._held), os.stat(self.path)):  # noqa: PTH116
                    self.path.unlink()
            fcntl.flock(self._held, fcntl.LOCK_UN)
            os.close(self._held)
        else:
            self._held.release()


def try_lock(path: Path, patience: float = 0.0) -> FileLock | None:
    """Take a lock file; None when a living process still holds it after ``patience`` seconds."""
    end = time.monotonic() + patience
    while (lock := _lock_now(path)) is None and time.monotonic() < end:
        time.sleep(_LOCK_PAUSE)
    return lock


def _lock_now(path: Path) -> FileLock | None:
    """Take a lock file if it is free: by the system's lock or, where it has none, as the package filelock does.

    That package takes the same locks where both can be used, but importing it takes longer than all that we lock.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_by_package(path)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116 - a holder removes the file before release
            return FileLock(path, handle)
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
            raise
        os.close(handle)
        return _lock_by_package(path)
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _lock_by_package(path: Path) -> FileLock | None:
    from filelock import FileLock as PackageLock, Timeout

    lock = PackageLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return FileLock(path, lock)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, whose folder is made if need be; waits for as long as another process has it."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = try_lock(path, math.inf)
    try:
        yield
    finally:
        if lock:
            lock.release()
