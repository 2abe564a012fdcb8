"""Bytes that come packed, broken or only once: read within limits, and every fault one sentence.

What unpacks is imported when something is packed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, cast

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    import zipfile

DEFAULT_LIMIT = 2 << 30
CHUNK = 1 << 20
GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ"
#: Bytes by which compression is told.
HEAD = 6
#: Real dialogues pack 10 to 50 times. Beyond the first number of bytes, what packs better than the second is a bomb.
_UNSUSPICIOUS, _RATIO = 256 << 20, 100
_SPOOL_BYTES = 64 << 20


@contextmanager
def reading_errors(name: str) -> Iterator[None]:
    """Whatever the operating system or a decompressor reports becomes one sentence."""
    try:
        yield
    except PermissionError as error:
        raise DialgaugeError("no permission to read it", file=name) from error
    except FileNotFoundError as error:
        raise DialgaugeError("there is no such file", file=name) from error
    except MemoryError as error:
        raise DialgaugeError("it needs more memory than there is", file=name) from error
    except EOFError as error:
        raise DialgaugeError("the compressed data ends early; fetch or copy the file again", file=name) from error
    except Exception as error:
        if isinstance(error, broken()):
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            raise DialgaugeError(f"it cannot be read ({reason})", file=name) from error
        raise


def broken() -> tuple[type[Exception], ...]:
    """What a faulty disk, archive or compressed file raises."""
    import lzma
    import struct
    import tarfile
    import zipfile
    import zlib

    archives = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
    # The modules for archives also let through: an unknown method, a name that is no text, a date or offset below 0.
    return (*archives, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def too_big(name: str, limit: int) -> DialgaugeError:
    """The error for data that grows past the limit when unpacked."""
    meant = "if that is intended, unpack it first or use 'dialgauge data convert --max-bytes'"
    return DialgaugeError(f"it unpacks to more than {limit:,} bytes; {meant}", file=name)


class Limited(io.RawIOBase):
    """A stream that refuses to give more than ``limit`` bytes and turns faults of the compression into our error."""

    def __init__(self, inner: IO[bytes], name: str, limit: int) -> None:
        self._inner, self._name, self._left, self._limit = inner, name, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        with reading_errors(self._name):
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


def read_all(stream: IO[bytes]) -> bytes:
    """Everything a stream gives, in memory once: a buffered reader would hold its pieces and the whole."""
    if isinstance(stream, io.BufferedReader) and not isinstance(stream.raw, Limited):
        return stream.read()
    whole = io.BytesIO()
    while chunk := stream.read(CHUNK):
        whole.write(chunk)
    return whole.getvalue()


def size_of(raw: IO[bytes]) -> int:
    """The length of a stream that stands at its beginning."""
    size = raw.seek(0, os.SEEK_END)
    raw.seek(0)
    return size


def sensible_limit(limit: int, packed: int) -> int:
    """To how many bytes so many packed ones may grow: as far as the limit, and unless that was raised, as data do."""
    return limit if limit > DEFAULT_LIMIT else min(limit, max(_UNSUSPICIOUS, _RATIO * packed))


def is_packed(start: bytes) -> bool:
    """Whether a file that begins so is compressed in a way that is undone while reading."""
    return start.startswith((GZIP, _BZIP2, _XZ))


def unzipped(raw: IO[bytes], start: bytes) -> IO[bytes]:
    """What a stream holds that is compressed as its first bytes say."""
    if start.startswith(_BZIP2):
        import bz2

        return cast(IO[bytes], bz2.BZ2File(raw))
    if start.startswith(_XZ):
        import lzma

        return cast(IO[bytes], lzma.LZMAFile(raw))
    import gzip

    return cast(IO[bytes], gzip.GzipFile(fileobj=raw))


def kept(stream: IO[bytes]) -> Callable[[], IO[bytes]]:
    """What a stream gives, kept (beyond 64 MB on disk) so that it can be looked at and then read."""
    import tempfile

    spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - lives as long as the parts
    while chunk := stream.read(CHUNK):
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


#: The compression method of zip archives that Python's own module knows only from 3.14 on, and a member's header.
_ZSTANDARD, _LOCAL_HEADER = 93, 30


def zip_member(archive: zipfile.ZipFile, raw: IO[bytes], member: zipfile.ZipInfo, name: str, limit: int) -> bytes:
    """The content of a member of a zip archive, also where it is compressed with zstandard."""
    shown, most = f"{name}!{member.filename}", sensible_limit(limit, member.compress_size)
    if member.compress_type != _ZSTANDARD:
        with reading_errors(shown), archive.open(member) as held:
            return read_all(io.BufferedReader(Limited(held, shown, most), CHUNK))
    with reading_errors(shown):
        raw.seek(member.header_offset)
        header = raw.read(_LOCAL_HEADER)
        lengths = (int.from_bytes(header[start : start + 2], "little") for start in (26, 28))
        raw.seek(member.header_offset + _LOCAL_HEADER + sum(lengths))
        stream = unzstandard(io.BytesIO(raw.read(member.compress_size)), name)
        return read_all(io.BufferedReader(Limited(stream, shown, most), CHUNK))


def unzstandard(packed: IO[bytes], name: str) -> IO[bytes]:
    """A stream without its compression, by the first of the packages that undo it; Python has it from 3.14 on."""
    openers: dict[str, Callable[[Any], IO[bytes]]] = {
        "compression.zstd": lambda module: module.ZstdFile(packed),
        "zstandard": lambda module: module.ZstdDecompressor().stream_reader(packed),
        "pyarrow": lambda module: module.CompressedInputStream(module.PythonFile(packed, mode="r"), "zstd"),
    }
    for package, opened in openers.items():
        try:
            module = import_module(package)
        except ImportError:
            continue
        return opened(module)
    raise DialgaugeError(
        "it is compressed with zstandard, which needs a package on this version of Python: pip install zstandard",
        file=name,
    )
