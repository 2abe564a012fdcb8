"""JSON documents too large to be held: the elements of an array, or the members of an object, one at a time.

Only the structure is looked at here, as far as it takes to tell where a value ends; whoever decodes the value sees
whether it is sound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import msgspec
from msgspec import Raw

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import decode
from dialgauge.formats.packed import CHUNK, reading_errors, too_big
from dialgauge.formats.source import LARGE, Part, decode_utf8

#: Bytes that are read at a time.
_BLOCK = 1 << 20
#: All up to and including the next bracket that stands outside of strings.
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+[{}\[\]]', re.DOTALL)
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
#: A number, true, false or null, with the character after it.
_SCALAR = re.compile(rb"[^\s,\]}]++(?=[\s,\]}])")
_BLANK = re.compile(rb"\s*+")
_OPENING, _CLOSING = b"{[", b"}]"
_RAW = msgspec.json.Decoder(Raw)
#: How msgspec says that a value ends and something follows, and that it does not end.
_FOLLOWED, _CUT_OFF = re.compile(r"trailing characters \(byte (\d+)\)"), "Input data was truncated"


def is_large_document(part: Part) -> bool:
    """Is it one JSON value that is better read a piece at a time, and no JSON lines? It may stand on one long line."""
    begins = part.head().lstrip()[:1]
    if begins not in (b"{", b"[") or not part.is_large:
        return False
    with part.open() as stream, reading_errors(part.name):
        line = next((line for line in iter(lambda: stream.readline(LARGE), b"") if line.strip()), b"")
        ended = line.endswith(b"\n")
        if ended and _fault(line.removeprefix(b"\xef\xbb\xbf")):
            return True
        for block in iter(lambda: stream.read(CHUNK), b""):
            if (block if ended else block.partition(b"\n")[2]).strip():
                return False
            ended = ended or b"\n" in block
    return True


def large_values(part: Part, listed: str = "") -> Iterable[Raw]:
    """What a large file has several of: lines, elements, or those of the member ``listed`` of its object.

    Without such a name, an object is all that it has.
    """
    if not is_large_document(part):
        return LargeLines(part)
    if part.head().lstrip()[:1] == b"[":
        return LargeArray(part)
    return LargeObject(part, listed) if listed else [Raw(part.read())]


def _fault(content: bytes | memoryview) -> str:
    """Why msgspec does not take this for one JSON value; empty where it does."""
    try:
        _RAW.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
    return ""


_PROBE = _FOLLOWED.search(_fault(b"[],"))
#: How far beyond the end of a value msgspec points to what follows it; versions may differ.
_BEYOND = int(_PROBE[1]) - len(b"[]") if _PROBE else 0


class LargeLines:
    """The values of JSON lines; each time they are gone through, the file is read anew."""

    def __init__(self, part: Part) -> None:
        self._part = part

    def __iter__(self) -> Iterator[Raw]:
        lines = ((number, line) for number, line in self._part.lines() if line.strip())
        return (decode(_RAW, line, self._part, line=number) for number, line in lines)


class LargeArray:
    """The elements of a JSON array; each time they are gone through, the file is read anew."""

    def __init__(self, part: Part) -> None:
        self._part = part

    def __iter__(self) -> Iterator[Raw]:
        with self._part.open() as stream:
            text = _Text(stream, self._part)
            yield from text.elements()
            text.require_end()


class LargeObject:
    """A JSON object, or the array that is one of its members, as :class:`LargeArray`."""

    def __init__(self, part: Part, listed: str | None = None) -> None:
        self._part, self._listed = part, listed

    def __iter__(self) -> Iterator[Raw]:
        return (raw for key, raw in self.members() if key == self._listed)

    def members(self) -> Iterator[tuple[str, Raw]]:
        """All members of the object, repeated keys too; each element of the array with its key."""
        for key, text in self._members():
            if key == self._listed:
                yield from ((key, element) for element in text.elements())
            else:
                yield key, Raw(text.value())

    def lengths(self) -> dict[str, int]:
        """How many elements each member has that is an array; -1 for others."""
        lengths: dict[str, int] = {}
        for key, text in self._members():
            if text.begins_array():
                lengths[key] = max(lengths.get(key, 0), 0) + sum(1 for _ in text.elements())
            else:
                text.value()
                lengths.setdefault(key, -1)
        return lengths

    def _members(self) -> Iterator[tuple[str, _Text]]:
        """The key of each member, and the text at its value, which whoever asks for the next has taken."""
        with self._part.open() as stream:
            text = _Text(stream, self._part)
            for _ in text.items(b"{"):
                key = str(msgspec.json.decode(text.value()))
                text.take(b":")
                yield key, text
            text.require_end()


class _Text:
    """The bytes of a file as they are needed."""

    def __init__(self, stream: BinaryIO, part: Part) -> None:
        self._stream, self._part = stream, part
        self._held, self._at = b"", 0
        self._more()
        self._held = self._held.removeprefix(b"\xef\xbb\xbf")

    def elements(self) -> Iterator[Raw]:
        """Those of the array that begins here."""
        return (Raw(self.value()) for _ in self.items(b"["))

    def items(self, opening: bytes) -> Iterator[None]:
        """Once for each item of the array or object that begins here; whoever asks for the next has taken it."""
        self.take(opening)
        closing = _CLOSING[_OPENING.index(opening)]
        if self._next() == closing:
            self._at += 1
            return
        while True:
            yield
            if self._next() == closing:
                self._at += 1
                return
            self.take(b",")

    def take(self, wanted: bytes) -> None:
        """Pass a character that must come next."""
        if self._next() != wanted[0]:
            raise self._broken(f"'{wanted.decode()}' is missing")
        self._at += 1

    def begins_array(self) -> bool:
        return self._next() == _OPENING[1]

    def value(self) -> bytes:
        """The value that begins here, undecoded."""
        begins = self._next()
        length = (
            self._nested()
            if begins in _OPENING
            else self._matched(_STRING.match if begins == _QUOTE else _SCALAR.match, 0)
        )
        content = self._held[self._at : self._at + length]
        self._at += length
        decode_utf8(content, self._part.name)
        return content

    def require_end(self) -> None:
        """An error where something follows."""
        if self._next(may_end=True) != -1:
            raise self._broken("something follows after its end")

    def _nested(self) -> int:
        """The length of the object or array that begins here, from msgspec: 20 times as fast as going by brackets."""
        while True:
            rest = memoryview(self._held)[self._at :]
            why = _fault(rest)
            followed = _FOLLOWED.search(why)
            if followed or not why:
                end = int(followed[1]) - _BEYOND if followed else len(rest)
                return len(bytes(rest[:end]).rstrip())
            if why != _CUT_OFF or not self._more():
                return self._bracketed()

    def _bracketed(self) -> int:
        """The same of a value with something wrong in it, which its reader tells."""
        depth = length = 0
        while True:
            length = self._matched(_TO_BRACKET.match, length)
            depth += 1 if self._held[self._at + length - 1] in _OPENING else -1
            if not depth:
                return length

    def _matched(self, match_at: Callable[[bytes, int], re.Match[bytes] | None], start: int) -> int:
        """How far a pattern reaches that is matched from so many bytes on; more are read until it is."""
        while (match := match_at(self._held, self._at + start)) is None:
            if not self._more():
                raise self._broken("it ends early")
        return match.end() - self._at

    def _next(self, *, may_end: bool = False) -> int:
        """The character that comes next, after blanks; -1 at the end, where that may be."""
        while True:
            blank = _BLANK.match(self._held, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more():
                if may_end:
                    return -1
                raise self._broken("it ends early")

    def _more(self) -> bool:
        """Read on: as much as is held, so that a long value is gone through a few times only."""
        rest = self._held[self._at :]
        if len(rest) > self._part.limit:
            raise too_big(self._part.name, self._part.limit)
        with reading_errors(self._part.name):
            block = self._stream.read(max(_BLOCK, len(rest)))
        self._held, self._at = rest + block, 0
        return bool(block)

    def _broken(self, why: str) -> DialgaugeError:
        return DialgaugeError(f"it is not valid JSON: {why}", file=self._part.name)


_QUOTE = ord('"')
