"""What makes writing safe: bytes that are on the disk before they are named, and locks that end with their process.

The operating system drops a lock when its holder dies, however it dies. A lock that can be taken therefore proves
that nobody works behind it, and what lies there may be cleared away.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from filelock import BaseFileLock


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


def delete_tree(path: Path) -> None:
    """Delete a folder and all in it; a link is deleted, never what it points to."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def empty(folder: Path) -> None:
    """Delete all that lies in a folder."""
    for entry in folder.iterdir():
        delete_tree(entry)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Whatever the operating system reports while writing below a folder becomes one sentence."""
    try:
        yield
    except OSError as error:
        raise DialgaugeError(
            f"the run store cannot be written ({error.strerror or error}); check space and permission, "
            "or set DIALGAUGE_RUNS to another folder",
            file=str(place),
        ) from error


def try_lock(path: Path, patience: float) -> BaseFileLock | None:
    """Take a lock file, or ``None`` when a living process still holds it after ``patience`` seconds."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=patience)
    except Timeout:
        return None
    return lock


def drop_lock(lock: BaseFileLock) -> None:
    """Give up a lock and its file. The file goes first: whoever waits on it notices that its name is gone."""
    Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()
