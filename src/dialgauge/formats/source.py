"""Where bytes come from: files, folders, globs, archives, addresses, standard input, compressed or not.

A source is resolved into parts, one per file inside it. Compression is recognised by its first bytes, never by the
file's name. Nothing is unpacked to disk, and no compressed file may grow past a limit (a gzip bomb is an error). What
unpacks is imported when something is packed.
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
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from dialgauge.errors import DialgaugeError
from dialgauge.formats.packed import (
    CHUNK,
    DEFAULT_LIMIT,
    HEAD,
    Limited,
    broken,
    is_packed,
    kept,
    read_all,
    reading_errors,
    sensible_limit,
    size_of,
    too_big,
    unzipped,
)
from dialgauge.text import encodable

if TYPE_CHECKING:
    import zipfile

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

    @property
    def stem(self) -> str:
        """The file's own name without folders and without ``.gz``: ``dialogues_001.json``."""
        return file_stem(self.name)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The unpacked bytes as a stream."""
        with reading_errors(self.name):
            raw = self._opener()
        try:
            with reading_errors(self.name):
                start = raw.read(HEAD)
                raw.seek(0)
            stream: IO[bytes] = raw
            if is_packed(start):
                limit = sensible_limit(self.limit, size_of(raw))
                stream = io.BufferedReader(Limited(unzipped(raw, start), self.name, limit), 1 << 20)
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
        with reading_errors("standard input"):
            piped = kept(sys.stdin.buffer)
        return _archive_or_file("standard input", piped, limit)
    path = Path(name)
    opener: Callable[[], IO[bytes]] = partial(_open, path)
    with reading_errors(name):
        if stat.S_ISFIFO(path.stat().st_mode):  # a pipe, such as bash's <(command), gives its bytes only once
            with path.open("rb") as pipe:
                opener = kept(pipe)
    return _archive_or_file(name, opener, limit, path)


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _archive_or_file(name: str, opener: Callable[[], IO[bytes]], limit: int, path: Path | None = None) -> list[Part]:
    """The members of a zip or tar archive (plain or gzipped) as parts, or the file itself as the only one."""
    with reading_errors(name), opener() as raw:
        start = raw.read(HEAD)
        raw.seek(0)
        if start.startswith(_ZIP):
            parts = _zip_parts(name, raw, opener, limit)
        else:
            packed, size = is_packed(start), size_of(raw)
            plain = unzipped(raw, start) if packed else raw
            if not _is_tar(plain):
                return [Part(name, opener, limit, path)]
            plain.seek(0)
            parts = _tar_parts(name, plain, sensible_limit(limit, size), None if packed else size)
    if not parts:
        raise DialgaugeError("the archive holds no files", file=name)
    return sorted(parts, key=lambda part: part.name)


def _is_tar(stream: IO[bytes]) -> bool:
    try:
        block = stream.read(512)
    except Exception as error:
        if isinstance(error, broken()):
            return False
        raise
    return len(block) == 512 and block[257:262] == b"ustar"


def _tar_parts(name: str, plain: IO[bytes], limit: int, size: int | None) -> list[Part]:
    """Tar archives are read once, whole: they cannot be entered in the middle without reading what lies before.

    ``size`` is the archive's, where it is known. A member that claims to reach past the end, or past the limit, is
    refused by its header: ``tarfile`` would walk there in steps of 10 kB, whether or not anything comes.
    """
    import tarfile

    parts, total = [], 0
    # Names that are not UTF-8 keep their bytes, as Python keeps those of files.
    with tarfile.open(fileobj=Limited(plain, name, limit), mode="r|", errors="surrogateescape") as archive:
        for member in archive:
            if size is not None and archive.offset > size:
                raise DialgaugeError("the archive ends early; fetch or copy the file again", file=name)
            if archive.offset > limit:
                raise too_big(name, limit)
            if not member.isfile() or _ignored(_safe(name, member.name)):
                continue
            total += member.size
            if total > limit:  # a sparse file is larger than what the archive stores of it
                raise too_big(name, limit)
            held = archive.extractfile(member)
            content = held.read() if held else b""
            parts.append(Part(f"{name}!{member.name}", partial(io.BytesIO, content), limit))
    return parts


def _zip_parts(name: str, raw: IO[bytes], opener: Callable[[], IO[bytes]], limit: int) -> list[Part]:
    import zipfile

    with zipfile.ZipFile(raw) as archive:
        members = [(_safe(name, item.filename), item) for item in archive.infolist() if not _is_folder(item)]
    if any(member == INSPECT_MEMBER for member, _ in members):
        return [Part(name, opener, limit)]
    shared = _Zip(opener)
    return [
        Part(f"{name}!{member}", partial(shared.member, item, f"{name}!{member}", limit), limit)
        for member, item in members
        if not _ignored(member)
    ]


class _Zip:
    """A zip archive whose list of members is read once for all of them."""

    def __init__(self, opener: Callable[[], IO[bytes]]) -> None:
        self._opener = opener
        self._archive: zipfile.ZipFile | None = None

    def member(self, item: zipfile.ZipInfo, name: str, limit: int) -> IO[bytes]:
        """A member, unpacked; of two with one name the one that is asked for."""
        import zipfile

        if self._archive is None:
            self._archive = zipfile.ZipFile(self._opener())
        with self._archive.open(item) as held:
            limited = Limited(held, name, sensible_limit(limit, item.compress_size))
            return io.BytesIO(read_all(io.BufferedReader(limited, CHUNK)))


def _is_folder(item: zipfile.ZipInfo) -> bool:
    """Whether a member of a zip archive is a folder; ``ZipInfo.is_dir`` stumbles over one without a name."""
    return item.filename.endswith("/")


def _ignored(member: str) -> bool:
    """Hidden files, and the folder in which macOS archives keep their extra attributes."""
    pieces = PurePosixPath(member).parts
    return "__MACOSX" in pieces or pieces[-1].startswith(".")


def _safe(archive: str, member: str) -> str:
    """The member's name, or an error when it would leave the folder it is unpacked into."""
    pure = PurePosixPath(member.replace("\\", "/"))
    if not pure.parts:
        raise DialgaugeError("the archive has a member without a name; it is refused", file=archive)
    if pure.is_absolute() or ".." in pure.parts or ":" in pure.parts[0]:
        raise DialgaugeError(f"the member {member!r} points outside the archive; it is refused", file=archive)
    return member
