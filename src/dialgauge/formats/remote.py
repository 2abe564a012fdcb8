"""Files that lie elsewhere: ``s3://bucket/part-*.jsonl``, ``gs://``, ``memory://``, whatever fsspec reaches.

Only a name that a person wrote is followed, never one out of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from dialgauge.errors import DialgaugeError, missing_extra

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[]")


def is_url(name: str) -> bool:
    """Whether a name says by itself where it lies: ``s3://bucket/file``."""
    return _URL.match(name) is not None


def expand_url(name: str) -> list[str]:
    """The files a name stands for, in name order: itself, those below a folder (hidden ones apart), of a pattern."""
    with _reading_errors(name):
        system, path = _found(name)
        if _PATTERN.search(path):
            names = [each for each in system.glob(path) if system.isfile(each)]
        elif system.isfile(path):
            names = [path]
        else:
            names = [each for each in system.find(path) if not _hidden(each, path)]
        if not names:
            kind = "no file matches this pattern" if _PATTERN.search(path) else "there is no such file or folder"
            raise DialgaugeError(kind, file=name)
        return sorted(str(system.unstrip_protocol(each)) for each in names)


def open_url(name: str) -> IO[bytes]:
    """The bytes of one file, as a stream that can be entered anywhere."""
    with _reading_errors(name):
        system, path = _found(name)
        stream: IO[bytes] = system.open(path, "rb")
        return stream


def state_of_url(name: str) -> tuple[int, str]:
    """The size of one file, and a text that changes when its content does."""
    with _reading_errors(name):
        system, path = _found(name)
        size = system.size(path)
        return int(size or 0), str(system.ukey(path))


def _found(name: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise missing_extra("fsspec", "ray", f"reading {name.split(':')[0]}:// files") from error
    system, path = url_to_fs(name)
    return system, path


def _hidden(name: str, folder: str) -> bool:
    return any(piece.startswith(".") for piece in name.removeprefix(folder).split("/"))


@contextmanager
def _reading_errors(name: str) -> Iterator[None]:
    """Whatever a file system reports becomes one sentence; none of it is worth a traceback."""
    try:
        yield
    except DialgaugeError:
        raise
    except PermissionError as error:
        raise DialgaugeError("no permission to read it", file=name) from error
    except FileNotFoundError as error:
        raise DialgaugeError("there is no such file or folder", file=name) from error
    except ImportError as error:  # fsspec says which package reads this kind of address
        raise DialgaugeError(f"it cannot be reached ({error})", file=name) from error
    except Exception as error:  # every file system has errors of its own
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise DialgaugeError(f"it cannot be read ({reason})", file=name) from error
