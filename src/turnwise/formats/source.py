"""Where bytes come from: files, folders, globs, archives, standard input, compressed or not.

A source is resolved into parts, one per file inside it. Compression is recognised by its first bytes, never by the
file's name. Nothing is unpacked to disk, and no compressed file may grow past a limit (a gzip bomb is an error).
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import stat
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from turnwise.errors import TurnwiseError

DEFAULT_LIMIT = 2 << 30
HEAD_BYTES = 1 << 18

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_SPOOL_BYTES = 64 << 20
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile, OSError, RuntimeError)


def _too_big(name: str, limit: int) -> TurnwiseError:
    message = f"it unpacks to more than {limit:,} bytes; if that is meant, raise the limit with --max-bytes"
    return TurnwiseError(message, file=name)


class _Limited(io.RawIOBase):
    """A stream that refuses to give more than ``limit`` bytes and turns faults of the compression into our error."""

    def __init__(self, inner: IO[bytes], name: str, limit: int) -> None:
        self._inner, self._name, self._left, self._limit = inner, name, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        with _faults(self._name):
            chunk = self._inner.read(len(view))
        self._left -= len(chunk)
        if self._left < 0:
            raise _too_big(self._name, self._limit)
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Whatever the operating system or a decompressor reports becomes one sentence."""
    try:
        yield
    except PermissionError as error:
        raise TurnwiseError("no permission to read it", file=name) from error
    except FileNotFoundError as error:
        raise TurnwiseError("there is no such file", file=name) from error
    except EOFError as error:
        raise TurnwiseError("the compressed data ends early; fetch or copy the file again", file=name) from error
    except _BROKEN as error:
        raise TurnwiseError(f"it cannot be read ({error})", file=name) from error


class Part:
    """One file of a source: a name to show, and its bytes, unpacked."""

    def __init__(self, name: str, opener: Callable[[], IO[bytes]], limit: int) -> None:
        self.name = name
        self._opener = opener
        self._limit = limit

    @property
    def stem(self) -> str:
        """The file's own name without folders and without ``.gz``: ``dialogues_001.json``."""
        last = self.name.rsplit("!", 1)[-1]
        return PurePosixPath(last.replace(os.sep, "/")).name.removesuffix(".gz")

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The unpacked bytes as a stream."""
        with _faults(self.name):
            raw = self._opener()
        try:
            with _faults(self.name):
                start = raw.read(4)
                raw.seek(0)
            stream: IO[bytes] = raw
            if start.startswith(_GZIP):
                stream = io.BufferedReader(
                    _Limited(cast(IO[bytes], gzip.GzipFile(fileobj=raw)), self.name, self._limit), 1 << 20
                )
            yield cast(BinaryIO, stream)
        finally:
            raw.close()

    def read(self) -> bytes:
        """All bytes, unpacked, without a byte-order mark; an empty file is an error."""
        with self.open() as stream, _faults(self.name):
            content = stream.read().removeprefix(b"\xef\xbb\xbf")
        if not content.strip():
            raise TurnwiseError("the file is empty", file=self.name)
        return content

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """The first bytes, unpacked, without a byte-order mark."""
        with self.open() as stream, _faults(self.name):
            return stream.read(size).removeprefix(b"\xef\xbb\xbf")

    def text(self) -> str:
        """All bytes as text; anything but UTF-8 is an error that names the place."""
        return decode_utf8(self.read(), self.name)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers from 1, without line ends (LF or CRLF), read as they are needed."""
        with self.open() as stream:
            number = 0
            while True:
                with _faults(self.name):
                    line = stream.readline(self._limit + 1)
                if not line:
                    break
                number += 1
                if len(line) > self._limit:
                    raise _too_big(self.name, self._limit)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                yield number, line.rstrip(b"\r\n")
        if not number:
            raise TurnwiseError("the file is empty", file=self.name)


def decode_utf8(content: bytes, name: str, line: int | None = None) -> str:
    """Bytes as text, or an error that says where they stop being UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        where = line if line is not None else content.count(b"\n", 0, error.start) + 1
        raise TurnwiseError(
            f"byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8", file=name, line=where
        ) from error


def resolve(source: str | Path, *, limit: int = DEFAULT_LIMIT) -> list[Part]:
    """The parts of a source, in name order: a file, a folder, a glob, an archive, or ``-`` for standard input."""
    return [part for name in expand(source) for part in parts_of(name, limit=limit)]


def expand(source: str | Path) -> list[str]:
    """The files a source names, in name order: itself, those below a folder (hidden ones apart), those of a glob."""
    text = os.fspath(source)
    if text == "-":
        return [text]
    path = Path(text)
    with _faults(text):
        found = path.stat() if path.exists() else None
    if found is None:
        names = [name for name in sorted(glob.glob(text, recursive=True)) if Path(name).is_file()]
        if not names:
            kind = "no file matches this pattern" if glob.has_magic(text) else "there is no such file or folder"
            raise TurnwiseError(kind, file=text)
        return names
    if not stat.S_ISDIR(found.st_mode):
        return [text]
    with _faults(text):
        paths = sorted(item for item in path.rglob("*") if item.is_file() and not _hidden(item.relative_to(path)))
    if not paths:
        raise TurnwiseError("the folder holds no files", file=text)
    return [str(item) for item in paths]


def parts_of(name: str, *, limit: int = DEFAULT_LIMIT) -> list[Part]:
    """The parts of one file: its members if it is an archive, else itself; ``-`` is standard input."""
    if name == "-":
        return _archive_or_file("standard input", _kept(sys.stdin.buffer), limit)
    path = Path(name)
    with _faults(name):
        once = stat.S_ISFIFO(path.stat().st_mode)  # a pipe, such as bash's <(command), gives its bytes only once
        opener = _kept(path.open("rb")) if once else partial(_open, path)
    return _archive_or_file(name, opener, limit)


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _hidden(path: Path) -> bool:
    return any(piece.startswith(".") for piece in path.parts)


def _kept(stream: IO[bytes]) -> Callable[[], IO[bytes]]:
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


def _archive_or_file(name: str, opener: Callable[[], IO[bytes]], limit: int) -> list[Part]:
    """The members of a zip or tar archive (plain or gzipped) as parts, or the file itself as the only one."""
    with _faults(name), opener() as raw:
        start = raw.read(4)
        raw.seek(0)
        if start in _ZIP:
            parts = _zip_parts(name, raw, opener, limit)
        else:
            plain = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if start.startswith(_GZIP) else raw
            if not _is_tar(plain):
                return [Part(name, opener, limit)]
            plain.seek(0)
            parts = _tar_parts(name, plain, limit)
    if not parts:
        raise TurnwiseError("the archive holds no files", file=name)
    return sorted(parts, key=lambda part: part.name)


def _is_tar(stream: IO[bytes]) -> bool:
    try:
        block = stream.read(512)
    except _BROKEN:
        return False
    return len(block) == 512 and block[257:262] == b"ustar"


def _tar_parts(name: str, plain: IO[bytes], limit: int) -> list[Part]:
    """Tar archives are read once, whole: they cannot be entered in the middle without reading what lies before."""
    parts = []
    with tarfile.open(fileobj=_Limited(plain, name, limit), mode="r|") as archive:
        for member in archive:
            if not member.isreg() or member.sparse is not None or _ignored(member.name):
                continue
            held = archive.extractfile(member)
            content = held.read() if held else b""
            parts.append(Part(f"{name}!{_safe(name, member.name)}", partial(io.BytesIO, content), limit))
    return parts


def _zip_parts(name: str, raw: IO[bytes], opener: Callable[[], IO[bytes]], limit: int) -> list[Part]:
    with zipfile.ZipFile(raw) as archive:
        members = [item.filename for item in archive.infolist() if not item.is_dir() and not _ignored(item.filename)]
    return [Part(f"{name}!{_safe(name, m)}", partial(_open_zipped, opener, m, name, limit), limit) for m in members]


def _open_zipped(opener: Callable[[], IO[bytes]], member: str, name: str, limit: int) -> IO[bytes]:
    with opener() as raw, zipfile.ZipFile(raw) as archive, archive.open(member) as held:
        content = held.read(limit + 1)
    if len(content) > limit:
        raise _too_big(f"{name}!{member}", limit)
    return io.BytesIO(content)


def _ignored(member: str) -> bool:
    """Hidden files, and the folder in which macOS archives keep their extra attributes."""
    pieces = PurePosixPath(member).parts
    return "__MACOSX" in pieces or (bool(pieces) and pieces[-1].startswith(".") and pieces[-1] != "..")


def _safe(archive: str, member: str) -> str:
    """The member's name, or an error when it would leave the folder it is unpacked into."""
    pure = PurePosixPath(member.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts or (pure.parts and ":" in pure.parts[0]):
        raise TurnwiseError(f"the member {member!r} points outside the archive; it is refused", file=archive)
    return member
