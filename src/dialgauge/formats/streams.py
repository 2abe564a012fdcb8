"""Streams that cannot surprise: bounded when unpacked, kept when they can be read only once, faults as sentences."""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, cast

from dialgauge.errors import DialgaugeError

_SPOOL_BYTES = 64 << 20
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile, OSError, RuntimeError)


@contextmanager
def faults(name: str) -> Iterator[None]:
    """Whatever the operating system or a decompressor reports becomes one sentence."""
    try:
        yield
    except PermissionError as error:
        raise DialgaugeError("no permission to read it", file=name) from error
    except FileNotFoundError as error:
        raise DialgaugeError("there is no such file", file=name) from error
    except EOFError as error:
        raise DialgaugeError("the compressed data ends early; fetch or copy the file again", file=name) from error
    except BROKEN as error:
        raise DialgaugeError(f"it cannot be read ({error})", file=name) from error


def too_big(name: str, limit: int) -> DialgaugeError:
    """The error for data that grows past the limit when unpacked."""
    message = f"it unpacks to more than {limit:,} bytes; if that is meant, raise the limit with --max-bytes"
    return DialgaugeError(message, file=name)


class Limited(io.RawIOBase):
    """A stream that refuses to give more than ``limit`` bytes and turns faults of the compression into our error."""

    def __init__(self, inner: IO[bytes], name: str, limit: int) -> None:
        self._inner, self._name, self._left, self._limit = inner, name, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        with faults(self._name):
            chunk = self._inner.read(len(view))
        self._left -= len(chunk)
        if self._left < 0:
            raise too_big(self._name, self._limit)
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def kept(stream: IO[bytes]) -> Callable[[], IO[bytes]]:
    """What a stream gives, kept (beyond 64 MB on disk) so that it can be looked at and then read."""
    spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - lives as long as the parts
    while chunk := stream.read(1 << 20):
        spool.write(chunk)

    def again() -> IO[bytes]:
        spool.seek(0)
        return cast(IO[bytes], _Unclosable(cast(IO[bytes], spool)))

    return again


class _Unclosable(io.RawIOBase):
    """A view of a stream whose closing leaves the stream open."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        chunk = self._inner.read(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)
