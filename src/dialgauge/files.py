"""Writing files so that a reader sees the old one or the new one, never half of one.

What is written goes to a scratch file beside the target, which then takes its place. A scratch file is locked while its
writer lives; what a killed process left behind is removed by the next one that writes into the same folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from dialgauge.errors import DialgaugeError

#: ``.NAME.PROCESS-RANDOM.part``
_SCRATCH = re.compile(r"\..*\.(\d+)-[0-9a-f]{8}\.part", re.DOTALL)
#: Bytes of the target's name that the scratch file's bears: a name has 255 at most.
_LONGEST = 100
#: Folders whose leftovers this process has removed.
_swept: set[str] = set()


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A scratch file beside the target that takes its place when all went well and vanishes when not.

    A file that is replaced keeps its permissions. A device or a pipe (``/dev/null``, bash's ``>(command)``) keeps its
    place and is given the bytes; a link stays one.
    """
    with _faults(path):
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        _refuse_folder(target)
        if _is_special(path):
            held = _beside_nothing()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _sweep(target.parent)
            held = _beside(target)
    handle, scratch = held
    try:
        with _faults(path):
            yield scratch
            if _is_special(path):
                _copy(scratch, path)
                return
            with scratch.open("rb+") as written:
                os.fsync(written.fileno())
            scratch.chmod(_mode(target))
            scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
        os.close(handle)


def exists(path: Path) -> bool:
    """Whether a path exists; an error where that may not be seen, which ``Path.exists`` hides from Python 3.14 on."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write several files: none appears before the last of them is whole on the disk."""
    with ExitStack() as together:
        for path, content in files.items():
            together.enter_context(atomic(path)).write_bytes(content)


def check_output(path: Path) -> None:
    """An error now where writing the file would be one later; nothing is left behind. ``-`` is standard output."""
    if str(path) == "-":
        return
    with _faults(path):
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
        raise DialgaugeError(f"nothing can be written there ({_reason(error)})", file=str(folder)) from error


def probe(folder: Path) -> None:
    """Write a nameless file into the folder or, where it is still to be made, into the nearest one above it."""
    import tempfile

    present = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    with tempfile.TemporaryFile(dir=present):
        pass


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DialgaugeError(f"it cannot be written ({_reason(error)})", file=str(path)) from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise DialgaugeError("it cannot be written (a name cannot hold the character 0)", file=str(path)) from error


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


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
    """A new file in the target's folder, open and locked."""
    name = os.fsdecode(os.fsencode(target.name)[:_LONGEST])
    scratch = target.with_name(f".{name}.{os.getpid()}-{os.urandom(4).hex()}.part")
    handle = os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    _lock(handle)
    return handle, scratch


def _copy(scratch: Path, target: Path) -> None:
    import shutil

    with scratch.open("rb") as whole, target.open("wb", buffering=0) as out:
        shutil.copyfileobj(whole, out)


def _sweep(folder: Path) -> None:
    """Remove scratch files of processes that are gone: no process has the number, and nobody holds the lock."""
    if os.name != "posix" or str(folder) in _swept:
        return
    _swept.add(str(folder))
    for name in os.listdir(folder):  # noqa: PTH208 - names, not paths
        match = _SCRATCH.fullmatch(name)
        if match and not _is_alive(int(match[1])):
            with suppress(OSError):
                _remove_unless_locked(folder / name)


def _remove_unless_locked(scratch: Path) -> None:
    handle = os.open(scratch, os.O_RDWR)
    try:
        if _lock(handle):
            scratch.unlink()
    finally:
        os.close(handle)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _lock(handle: int) -> bool:
    """Lock an open file without waiting; false when somebody else has. Where files cannot be locked, nobody has."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _mode(target: Path) -> int:
    """The permissions of the file that is there, or of a new one."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
