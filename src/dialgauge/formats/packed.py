"""Packed and broken bytes: unpacked within limits, and every fault one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import PurePosixPath
from typing import IO, Any, cast

from dialgauge.errors import DialgaugeError

DEFAULT_LIMIT = 2 << 30
CHUNK = 1 << 20
#: Bytes by which compression is told, and what undoes it.
HEAD = 6
_UNPACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
#: Real dialogues pack 10 to 50 times. Beyond the first number of bytes, what packs better than the second is a bomb.
_UNSUSPICIOUS, _RATIO = 256 << 20, 100
#: What a faulty disk, archive or compressed file raises. The modules for archives also let through: an unknown method,
#: a name that is no text, a date or offset below 0.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, RuntimeError, NotImplementedError, ValueError),
)


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
    except _BROKEN as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise DialgaugeError(f"it cannot be read ({reason})", file=name) from error


def too_big(name: str, limit: int) -> DialgaugeError:
    """The error for data that grows past the limit when unpacked."""
    meant = "if that is intended, unpack it first"
    return DialgaugeError(f"it unpacks to more than {limit:,} bytes; {meant}", file=name)


class _Limited(io.RawIOBase):
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


def limited(stream: IO[bytes], name: str, limit: int, packed: int) -> IO[bytes]:
    """A stream of so many packed bytes, which may grow as far as data do; further if the limit was raised."""
    most = limit if limit > DEFAULT_LIMIT else min(limit, max(_UNSUSPICIOUS, _RATIO * packed))
    return io.BufferedReader(_Limited(stream, name, most), CHUNK)


def read_all(stream: IO[bytes]) -> bytes:
    """Everything a stream gives, in memory once: a buffered reader would hold its pieces and the whole."""
    whole = io.BytesIO()
    while chunk := stream.read(CHUNK):
        whole.write(chunk)
    return whole.getvalue()


def is_packed(start: bytes) -> bool:
    """Whether a file that begins so is compressed in a way that is undone while reading."""
    return start.startswith(tuple(_UNPACKERS))


def unpacked(raw: IO[bytes], name: str, limit: int) -> IO[bytes]:
    """A stream that stands at its beginning, without its compression."""
    start = raw.read(HEAD)
    size = raw.seek(0, os.SEEK_END)
    raw.seek(0)
    unpacker = next((unpacker for magic, unpacker in _UNPACKERS.items() if start.startswith(magic)), None)
    return raw if unpacker is None else limited(unpacker(raw), name, limit, size)


# -- archives --------------------------------------------------------------------------------------------------------

#: The compression method of zip archives that Python's own module knows only from 3.14 on, and a member's header.
_ZSTANDARD, _LOCAL_HEADER = 93, 30
_Member = tuple[str, Callable[[], IO[bytes]]]


def tar_members(raw: IO[bytes], name: str, limit: int) -> list[_Member]:
    """The files in a tar archive, compressed or not, and what opens them. Links are not followed."""
    plain = unpacked(raw, name, limit)
    held = plain if plain is raw else io.BytesIO(read_all(plain))
    # Names that are not UTF-8 keep their bytes, as Python keeps those of files.
    archive = tarfile.open(fileobj=held, mode="r:", errors="surrogateescape")  # noqa: SIM115 - read by its members

    def opener(member: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
        def opened() -> IO[bytes]:
            stream = limited(cast(IO[bytes], archive.extractfile(member)), f"{name}!{member.name}", limit, member.size)
            return io.BytesIO(read_all(stream))

        return opened

    return [(member.name, opener(member)) for member in archive if member.isfile()]


def zip_members(raw: IO[bytes], name: str, limit: int) -> list[_Member]:
    """The files in a zip archive and what opens them; the list of members is read once for all."""
    archive = zipfile.ZipFile(raw)

    def opener(item: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
        return lambda: io.BytesIO(zip_member(archive, raw, item, name, limit))

    return [(item.filename, opener(item)) for item in archive.infolist() if not item.filename.endswith("/")]


def is_hidden(member: str) -> bool:
    """Hidden files, and the folder in which macOS archives keep their extra attributes."""
    pieces = PurePosixPath(member).parts
    return "__MACOSX" in pieces or pieces[-1].startswith(".")


def require_safe(archive: str, member: str) -> None:
    """An error when a member would leave the folder it is unpacked into."""
    pure = PurePosixPath(member.replace("\\", "/"))
    if not pure.parts:
        raise DialgaugeError("the archive has a member without a name; it is refused", file=archive)
    if pure.is_absolute() or ".." in pure.parts or ":" in pure.parts[0] or "\0" in member:
        raise DialgaugeError(f"the member {member!r} points outside the archive; it is refused", file=archive)


def zip_member(archive: zipfile.ZipFile, raw: IO[bytes], member: zipfile.ZipInfo, name: str, limit: int) -> bytes:
    """The content of a member of a zip archive, also where it is compressed with zstandard."""
    shown = f"{name}!{member.filename}"
    with reading_errors(shown):
        if member.compress_type == _ZSTANDARD:
            raw.seek(member.header_offset)
            header = raw.read(_LOCAL_HEADER)
            lengths = (int.from_bytes(header[start : start + 2], "little") for start in (26, 28))
            raw.seek(member.header_offset + _LOCAL_HEADER + sum(lengths))
            stream = _unzstandard(io.BytesIO(raw.read(member.compress_size)), name)
        else:
            stream = archive.open(member)
        with limited(stream, shown, limit, member.compress_size) as bounded:
            return read_all(bounded)


def _unzstandard(packed: IO[bytes], name: str) -> IO[bytes]:
    """A stream without its compression, by the first of the packages that undo it; Python has it from 3.14 on."""
    openers: dict[str, Callable[[Any], IO[bytes]]] = {
        "compression.zstd": lambda module: module.open(packed),
        "zstandard": lambda module: module.open(packed),
        "pyarrow": lambda module: module.CompressedInputStream(module.PythonFile(packed, mode="r"), "zstd"),
    }
    for package, opened in openers.items():
        with suppress(ImportError):
            return opened(import_module(package))
    raise DialgaugeError(
        "it is compressed with zstandard, which needs a package on this version of Python: pip install zstandard",
        file=name,
    )
