"""Writing files so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialgauge.errors import DialgaugeError


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A scratch file beside the target that takes its place when all went well and vanishes when not."""
    import tempfile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise DialgaugeError(f"it cannot be written ({error.strerror})", file=str(path)) from error
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        with scratch.open("rb+") as written:
            os.fsync(written.fileno())
        scratch.chmod(0o666 & ~_umask())
        scratch.replace(path)
    except OSError as error:
        raise DialgaugeError(f"it cannot be written ({error.strerror})", file=str(path)) from error
    finally:
        scratch.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """An error now where writing into the folder would be one later; nothing is left behind."""
    try:
        probe(folder)
    except OSError as error:
        raise DialgaugeError(f"nothing can be written there ({error.strerror})", file=str(folder)) from error


def probe(folder: Path) -> None:
    """Write a nameless file into the folder or, where it is still to be made, into the nearest one above it."""
    import tempfile

    present = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    with tempfile.TemporaryFile(dir=present):
        pass


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
