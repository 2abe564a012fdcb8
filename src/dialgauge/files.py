"""Writing files so that a reader sees the old one or the new one, never half of one.

What is written goes to a scratch file beside the target, which then takes its place.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    import polars

    from dialgauge.columns import ColumnTable

#: Bytes of the target's name that the scratch file's bears: a name has 255 at most.
_LONGEST = 100
#: What users call these; all else is told in the system's words.
DISK_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
#: Packages that pass on what the system reported in errors of their own.
_MESSENGERS = frozenset({"polars", "duckdb", "_duckdb"})
#: How polars tells what the system said to it, or to a file object of Python's.
_NUMBERED = re.compile(r"(?:\(os error |\[Errno )(\d+)")
#: What DuckDB repeats in the system's words alone.
_PASSED_ON = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EMFILE,
    errno.ENFILE, errno.ENOENT,
)  # fmt: skip
#: Files that wait for others, see :func:`together`.
_group: ContextVar[list[_Pending] | None] = ContextVar("group", default=None)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A scratch file beside the target that takes its place when all went well and vanishes when not.

    A device or a pipe (``/dev/null``, bash's ``>(command)``) keeps its place and is given the bytes; a link stays one,
    and a file keeps its permissions.
    """
    with writing(path):
        pending = _Pending(path)
    group = _group.get()
    with ExitStack() as held:
        held.callback(pending.discard)
        with writing(path):
            yield pending.scratch
        if group is None:
            pending.sync()
            pending.publish()
        else:
            held.pop_all()
            group.append(pending)


@contextmanager
def together(instead_of: Iterable[Path] = ()) -> Iterator[None]:
    """Files that belong together: what :func:`atomic` writes within the block appears at its end, all of it or nothing.

    They appear in the order in which they were written. ``instead_of``: files that go at the moment when these come.
    """
    group: list[_Pending] = []
    with ExitStack() as held:
        before = _group.set(group)
        try:
            yield
        finally:
            _group.reset(before)
            for pending in group:
                held.callback(pending.discard)
        for pending in group:
            pending.sync()
        for path in instead_of:
            with writing(path):
                path.unlink(missing_ok=True)
        for pending in group:
            pending.publish()


class _Pending:
    """A file in the making. Whatever becomes of it, it must be discarded in the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path)) if path.is_symlink() else path
        self._made: list[Path] = []
        _refuse_folder(self._target)
        self._special = _is_special(path)
        if self._special:
            self._handle, self.scratch = _beside_nothing()
            return
        self._made = _make_folders(self._target.parent)
        try:
            self._handle, self.scratch = _beside(self._target)
        except BaseException:
            self._remove_folders()
            raise

    def sync(self) -> None:
        """Bring the bytes to the disk: one that is full may say so only now."""
        if not self._special:
            with writing(self.path), self.scratch.open("rb+") as written:
                os.fsync(written.fileno())

    def publish(self) -> None:
        with writing(self.path):
            if self._special:
                _copy(self.scratch, self.path)
            else:
                self.scratch.chmod(_permissions(self._target))
                self.scratch.replace(self._target)

    def discard(self) -> None:
        """Remove the scratch file, unless it has taken its place, and folders that were made for it and are empty."""
        self.scratch.unlink(missing_ok=True)
        os.close(self._handle)
        self._remove_folders()

    def _remove_folders(self) -> None:
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()


def is_alive(process: int) -> bool:
    """Whether a process runs; a killed child that nobody has waited for still has its number, and does not."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True


def exists(path: Path) -> bool:
    """Whether a path exists; an error where that may not be seen, which ``Path.exists`` hides from Python 3.14 on."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write several files, all or none."""
    with together():
        for path, content in files.items():
            with atomic(path) as scratch:
                scratch.write_bytes(content)


def parquet_bytes(frame: polars.DataFrame | ColumnTable, **options: Any) -> bytes:
    """A table as the bytes of a Parquet file.

    Given a file instead, polars may say only ``Invalid thrift: transport error`` of a full disk.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


def check_output(path: Path) -> None:
    """An error now where writing the file would be one later; nothing is left behind. ``-`` is standard output."""
    if str(path) == "-":
        return
    with writing(path):
        _refuse_folder(path)
        if _is_special(path):
            if not os.access(path, os.W_OK):
                raise DialgaugeError("it cannot be written (no permission)", file=str(path))
        else:
            probe(Path(os.path.realpath(path)).parent)


def check_writable(folder: Path) -> None:
    """The same for a folder that files are to be written into."""
    try:
        probe(folder)
    except (OSError, ValueError) as error:
        raise DialgaugeError(f"nothing can be written there ({reason(error)})", file=str(folder)) from error


def probe(folder: Path) -> None:
    """Write a nameless file into the folder or, where it is still to be made, into the nearest one above it."""
    present = next(parent for parent in (folder, *folder.absolute().parents) if os.path.lexists(parent))
    try:
        os.close(os.open(present, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except (AttributeError, OSError):  # not every system has such files; whatever else is wrong is told below
        import tempfile

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
    except DialgaugeError:
        raise
    except Exception as error:
        if system_error(error) is not None:
            raise DialgaugeError(f"{what} cannot be written ({reason(error)}){advice}", file=str(path)) from error
        if not (isinstance(error, ValueError) and "\0" in str(path)):
            raise
        raise DialgaugeError("it cannot be written (a name cannot hold the character 0)", file=str(path)) from error


def system_error(error: BaseException) -> OSError | None:
    """What the operating system reported, whoever passes it on; None if something else is behind the error.

    Polars and DuckDB have only its words, in errors of their own: ``parquet: File out of specification: underlying IO
    error: No space left on device (os error 28)``. Even an ``OSError`` of polars has no number.
    """
    system = error if isinstance(error, OSError) else None
    if system and system.errno is not None:
        return system
    if not system and type(error).__module__.partition(".")[0] not in _MESSENGERS:
        return None
    if number := _NUMBERED.search(str(error)):
        return OSError(int(number[1]), os.strerror(int(number[1])))
    return next((OSError(code, words) for code in _PASSED_ON if (words := os.strerror(code)) in str(error)), system)


def reason(error: BaseException) -> str:
    """Why something could not be read or written, in a few words for a sentence."""
    cause = system_error(error)
    if cause is None:
        return (str(error).splitlines() or [type(error).__name__])[0]
    return DISK_FULL.get(cause.errno or 0) or cause.strerror or str(cause)


def _refuse_folder(path: Path) -> None:
    if exists(path) and path.is_dir():
        raise DialgaugeError("this is a folder; name the file to write", file=str(path))


def _is_special(path: Path) -> bool:
    """Whether it is there and neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _beside_nothing() -> tuple[int, Path]:
    import tempfile

    handle, name = tempfile.mkstemp()
    return handle, Path(name)


def _beside(target: Path) -> tuple[int, Path]:
    """A new file in the target's folder, open."""
    name = os.fsdecode(os.fsencode(target.name)[:_LONGEST])
    scratch = target.with_name(f".{name}.{os.getpid()}-{os.urandom(4).hex()}.part")
    handle = os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    return handle, scratch


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; the new ones, innermost first."""
    missing = []
    for parent in (folder, *folder.parents):
        if exists(parent):
            break
        missing.append(parent)
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or what the system gives a new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _copy(scratch: Path, target: Path) -> None:
    import shutil

    with scratch.open("rb") as whole, target.open("wb", buffering=0) as out:
        shutil.copyfileobj(whole, out)
