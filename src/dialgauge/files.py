"""Writing files so that a reader sees the old one or the new one, never half of one.

What is written goes to a scratch file beside the target, which then takes its place.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    import polars

#: What users call these; all else is told in the system's words.
DISK_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
#: Files that wait for others, see :func:`together`.
_group: ContextVar[list[_Pending] | None] = ContextVar("group", default=None)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A scratch file beside the target that takes its place when all went well and vanishes when not.

    A device or a pipe (``/dev/null``, bash's ``>(command)``) keeps its place and is given the bytes; a link stays one,
    and a file keeps its permissions.
    """
    group = _group.get()
    with ExitStack() as undo:
        with writing(path):
            pending = _Pending(path)
            undo.callback(pending.discard)
            yield pending.scratch
        if group is None:
            pending.sync()
            pending.publish()
        else:
            undo.pop_all()
            group.append(pending)


@contextmanager
def together() -> Iterator[None]:
    """Files that belong together: what :func:`atomic` writes within the block appears at its end, all of it or nothing.

    They appear in the order in which they were written.
    """
    group: list[_Pending] = []
    before = _group.set(group)
    try:
        try:
            yield
        finally:
            _group.reset(before)
        for pending in group:
            pending.sync()
        for pending in group:
            pending.publish()
    finally:
        for pending in reversed(group):  # the first of them made the folder
            pending.discard()


class _Pending:
    """A file in the making. Whatever becomes of it, it must be discarded in the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path)) if path.is_symlink() else path
        _refuse_folder(path)
        self._special = _is_special(path)
        self._made: list[Path] = []
        if self._special:
            handle, name = tempfile.mkstemp()
        else:
            folders = (self._target.parent, *self._target.parent.parents)
            self._made = [folder for folder in folders if not folder.exists()]
            self._target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(".part", ".", self._target.parent)
        os.close(handle)
        self.scratch = Path(name)

    def sync(self) -> None:
        """Bring the bytes to the disk: one that is full may say so only now."""
        with writing(self.path), self.scratch.open("rb+") as written:
            os.fsync(written.fileno())

    def publish(self) -> None:
        with writing(self.path):
            if self._special:
                with self.scratch.open("rb") as whole, self.path.open("wb", buffering=0) as out:
                    shutil.copyfileobj(whole, out)
            else:
                self.scratch.chmod(_permissions(self._target))
                self.scratch.replace(self._target)

    def discard(self) -> None:
        """Remove the scratch file, unless it has taken its place, and the folders made for it that are empty."""
        self.scratch.unlink(missing_ok=True)
        for folder in self._made:
            with suppress(OSError):
                folder.rmdir()


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write several files, all or none."""
    with together():
        for path, content in files.items():
            with atomic(path) as scratch:
                scratch.write_bytes(content)


def parquet_bytes(frame: polars.DataFrame) -> bytes:
    """A table as the bytes of a Parquet file; the same table gives the same bytes."""
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(buffer)
    return buffer.getvalue()


def check_output(path: Path) -> None:
    """An error now where writing the file would be one later; nothing is left behind. ``-`` is standard output."""
    if str(path) == "-":
        return
    with writing(path):
        _refuse_folder(path)
        if not _is_special(path):
            probe(Path(os.path.realpath(path)).parent)
        elif not os.access(path, os.W_OK):
            raise DialgaugeError("it cannot be written (no permission)", file=str(path))


def check_writable(folder: Path) -> None:
    """The same for a folder that files are to be written into."""
    try:
        probe(folder)
    except (OSError, ValueError) as error:
        raise DialgaugeError(f"nothing can be written there ({reason(error)})", file=str(folder)) from error


def probe(folder: Path) -> None:
    """Write a nameless file into the folder or, where it is still to be made, into the nearest one above it."""
    present = next(parent for parent in (folder, *folder.absolute().parents) if os.path.lexists(parent))
    with tempfile.TemporaryFile(dir=present):
        pass


def sha256_of(path: Path) -> str:
    """The checksum of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def writing(path: Path, what: str = "it", advice: str = "") -> Iterator[None]:
    """Whatever the operating system reports while a file is written becomes one sentence."""
    try:
        yield
    except OSError as error:
        raise DialgaugeError(f"{what} cannot be written ({reason(error)}){advice}", file=str(path)) from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise DialgaugeError("it cannot be written (a name cannot hold the character 0)", file=str(path)) from error


def reason(error: BaseException) -> str:
    """Why something could not be read or written, in a few words for a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return DISK_FULL.get(error.errno or 0, error.strerror)
    return (str(error).splitlines() or [type(error).__name__])[0]


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise DialgaugeError("this is a folder; name the file to write", file=str(path))


def _is_special(path: Path) -> bool:
    """Whether it is there and neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or what the system gives a new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
