"""Where bytes come from: files, folders, globs, archives, standard input, compressed or not.

A source is resolved into parts, one per file inside it. Compression is recognised by its first bytes, never by the
file's name. Nothing is unpacked to disk, and no compressed file may grow past a limit (a gzip bomb is an error).
"""

from __future__ import annotations

import codecs
import io
import mmap
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from dialgauge.errors import DialgaugeError
from dialgauge.formats.packed import (
    DEFAULT_LIMIT,
    HEAD,
    is_hidden,
    is_packed,
    read_all,
    reading_errors,
    require_safe,
    tar_members,
    too_big,
    unpacked,
    zip_members,
)
from dialgauge.text import encodable

HEAD_BYTES = 1 << 18

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
#: The member by which an archive is known that is one log of inspect_ai, and so one part.
INSPECT_MEMBER = "_journal/start.json"
#: Bytes from which on a file is mapped into memory, and that are checked at once.
_MAPPED, _CHECKED = 1 << 20, 1 << 16


#: Files that accompany data without being data, so that a folder as it was downloaded can be read whole.
_DOCUMENTS = re.compile(
    r"""(?ix)  ^(?: (?:readme|licen[cs]e|copying|notice|provenance|changelog|changes|authors|citation)
                    (?:[._-][\w.-]*)?
                  | (?:sha\d+|md5)sums?(?:\.\w+)*
                  | _(?:success|started_\w+|committed_\w+)  # what Spark leaves beside the files it wrote
                  | [\w.-]+\.(?:md|rst|pdf|html?|sha\d+|md5|py|ipynb|sh|bib|png|svg)
                  | .+\.map\.yaml
                  # of MultiWOZ: sentences, acts that stand in data.json too, ids, databases
                  | slot_descriptions\.json | (?:system|dialogue|dialog)_acts\.json
                  | (?:test|val|train)listfile(?:\.\w+)? | \w+_db\.json
                )$"""
)


class Part:
    """One file of a source: a name to show, and its bytes, unpacked."""

    def __init__(self, name: str, opener: Callable[[], IO[bytes]], limit: int, path: Path | None = None) -> None:
        self.name = name
        #: The file on disk, where the part is all of one.
        self.path = path
        self._opener = opener
        #: To how many bytes it may grow when it is unpacked.
        self.limit = limit

    def raw(self) -> IO[bytes]:
        """The bytes as they are stored, perhaps packed."""
        return self._opener()

    @property
    def stem(self) -> str:
        """The file's own name without folders and without ``.gz``: ``dialogues_001.json``."""
        return file_stem(self.name)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The unpacked bytes as a stream."""
        with reading_errors(self.name):
            raw = self.raw()
            stream = unpacked(raw, self.name, self.limit)
        try:
            yield cast(BinaryIO, stream)
        finally:
            raw.close()

    def read(self) -> bytes:
        """All bytes, unpacked, without a byte-order mark; an empty file is an error, and so is anything but UTF-8."""
        with self.open() as stream, reading_errors(self.name):
            content = read_all(stream)
        content = content.removeprefix(b"\xef\xbb\xbf")
        if not content or content.isspace():
            raise DialgaugeError("the file is empty", file=self.name)
        _check_utf8(content, self.name)
        return content

    def buffer(self) -> bytes | mmap.mmap:
        """All bytes as :meth:`read` gives them; a large plain file is mapped, and takes no memory of its own."""
        if self.path is None or (size := self.path.stat().st_size) < _MAPPED:
            return self.read()
        with reading_errors(self.name), self.path.open("rb") as file:
            start = file.read(HEAD)
            if is_packed(start) or start.startswith(b"\xef\xbb\xbf") or not size:
                return self.read()
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        _check_utf8(content, self.name)
        return content

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """The first bytes, unpacked, without a byte-order mark."""
        with self.open() as stream, reading_errors(self.name):
            return stream.read(size).removeprefix(b"\xef\xbb\xbf")

    def text(self) -> str:
        """All bytes as text; anything but UTF-8 is an error that names the place."""
        return decode_utf8(self.read(), self.name)

    def lines(self, longest: int | None = None) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers from 1, without line ends (LF or CRLF), read as they are needed.

        A line of more than ``longest`` bytes is an error before it is read.
        """
        empty, longest = True, min(self.limit, longest or self.limit)
        with self.open() as stream, reading_errors(self.name):
            number = 0
            while line := stream.readline(longest + 1):
                number += 1
                if len(line) > self.limit:
                    raise too_big(self.name, self.limit)
                if len(line) > longest:
                    raise DialgaugeError(f"the line has more than {longest:,} bytes", file=self.name, line=number)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if empty:
                    empty = not line.strip()
                yield number, line.rstrip(b"\r\n")
        if empty:
            raise DialgaugeError("the file is empty", file=self.name)


def file_stem(name: str) -> str:
    """The name of a part without folders and without ``.gz``.

    It is text, as ids are made of it; a name that is not UTF-8 has the odd bytes written out.
    """
    last = name.rsplit("!", 1)[-1]
    return encodable(PurePosixPath(last.replace(os.sep, "/")).name.removesuffix(".gz"))


def decode_utf8(content: bytes, name: str, line: int | None = None) -> str:
    """Bytes as text, or an error that says where they stop being UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        where = line if line is not None else content.count(b"\n", 0, error.start) + 1
        raise DialgaugeError(
            f"byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8", file=name, line=where
        ) from error


def _check_utf8(content: bytes | mmap.mmap, name: str) -> None:
    """Typed decoders skip fields that nobody asked for without looking at their bytes; so this looks at all."""
    if isinstance(content, bytes) and content.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _CHECKED):
            decoder.decode(content[start : start + _CHECKED], final=start + _CHECKED >= len(content))
    except UnicodeDecodeError:
        decode_utf8(bytes(content), name)


def is_document(stem: str) -> bool:
    """Does a file of this name accompany data without being data?

    >>> [is_document(name) for name in ("SHA256SUMS.uncompressed", "README.txt", "_SUCCESS", "test.json")]
    [True, True, True, False]
    """
    return _DOCUMENTS.match(stem) is not None


def is_empty_json(source: str | Path) -> bool:
    """Is it one file that holds an empty JSON object or list, and nothing else?"""
    path = Path(source)
    return path.is_file() and path.stat().st_size < 64 and b"".join(path.read_bytes().split()) in (b"{}", b"[]")


def resolve(source: str | Path, *, limit: int = DEFAULT_LIMIT) -> list[Part]:
    """The parts of a source, in name order: a file, a folder, a glob, an archive, or ``-`` for standard input."""
    return [part for name in expand(source) for part in parts_of(name, limit=limit)]


def expand(source: str | Path) -> list[str]:
    """The files a source names, in name order: itself, those below a folder (hidden ones apart), those of a glob."""
    text = os.fspath(source)
    if text == "-":
        return [text]
    if not text or "\0" in text:
        raise DialgaugeError(f"{text!r} is not the name of a file or folder")
    with reading_errors(text):
        return _names(text)


def _names(text: str) -> list[str]:
    path = Path(text)
    if path.is_dir():
        inside = _below(path)
        if not inside:
            raise DialgaugeError("the folder holds no files", file=text)
        return inside
    if path.exists():
        return [text]
    import glob

    matches = sorted(glob.glob(text, recursive=True))
    names = dict.fromkeys(name for match in matches for name in (_below(match) if Path(match).is_dir() else [match]))
    if not names:
        kind = "no file matches this pattern" if glob.has_magic(text) else "there is no such file or folder"
        example = Path("examples", text)  # where 'dialgauge init' puts the tutorials' files
        raise DialgaugeError(kind + (f"; did you mean {example}?" if example.exists() else ""), file=text)
    return list(names)


def _below(folder: str | Path) -> list[str]:
    """All files in a folder and its sub-folders; hidden ones, sockets and pipes are passed over."""
    inside: list[Path] = []
    for where, folders, names in os.walk(folder, onerror=_no_entry):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside += [Path(where, name) for name in names if not name.startswith(".")]
    return [str(item) for item in sorted(inside) if item.is_file() or item.is_symlink()]


def _no_entry(error: OSError) -> None:
    raise DialgaugeError(f"the folder cannot be read ({error.strerror})", file=str(error.filename)) from error


def parts_of(name: str, *, limit: int = DEFAULT_LIMIT) -> list[Part]:
    """The parts of one file: its members if it is an archive, else itself; ``-`` is standard input."""
    if name == "-":
        if sys.stdin is None:
            raise DialgaugeError("standard input is closed; name a file, or pipe something into it")
        name = "standard input"
        with reading_errors(name):
            return _members(Part(name, partial(io.BytesIO, sys.stdin.buffer.read()), limit))
    path = Path(name)
    with reading_errors(name):
        if stat.S_ISFIFO(path.stat().st_mode):  # a pipe, such as bash's <(command), gives its bytes only once
            return _members(Part(name, partial(io.BytesIO, path.read_bytes()), limit))
        return _members(Part(name, partial(_open, path), limit, path))


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _members(whole: Part) -> list[Part]:
    """The members of a zip or tar archive as parts, or the file itself as the only one."""
    raw = whole.raw()
    start = raw.read(HEAD)
    raw.seek(0)
    if start.startswith(_ZIP):
        members = zip_members(raw, whole.name, whole.limit)
    elif unpacked(raw, whole.name, whole.limit).read(262)[257:] == b"ustar":
        raw.seek(0)
        members = tar_members(raw, whole.name, whole.limit)
    else:
        raw.close()
        return [whole]
    if any(member == INSPECT_MEMBER for member, _ in members):
        return [whole]
    for member, _ in members:
        require_safe(whole.name, member)
    parts = [Part(f"{whole.name}!{name}", opener, whole.limit) for name, opener in members if not is_hidden(name)]
    if not parts:
        raise DialgaugeError("the archive holds no files", file=whole.name)
    return sorted(parts, key=lambda part: part.name)
