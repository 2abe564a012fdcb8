"""JSON files of any size on one path: mapped into memory, split into undecoded pieces, and decoded piece by piece.

What is wrong is one sentence with its place. JSON parsers merge repeated keys in silence; here they stay apart, and
reading the corpus reports the id that is used twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from mmap import mmap
from typing import IO, Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from dialgauge.errors import DialgaugeError
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part, decode_utf8

T = TypeVar("T")
Content: TypeAlias = bytes | memoryview | mmap | Raw

#: Numbers that are none, outside of texts.
_NO_NUMBERS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|-?(?:NaN|Infinity)', re.DOTALL)
#: How msgspec points into the list of turns of one dialogue, whatever the format calls that list, if anything.
_TURN_PATH = re.compile(r"`\$(?:\.\w+)?\[(\d+)\]")
#: Shorter pieces are looked at whole, of longer ones the first elements and members.
_WHOLE, _ELEMENTS, _MEMBERS = 1 << 16, 20, 200


class KeyLocation:
    """A JSON key that is equal to itself only, so that both of two equal keys survive decoding and can be reported."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def as_key(kind: type, value: Any) -> Any:
    """The ``dec_hook`` that lets msgspec decode ``dict[KeyLocation, ...]``."""
    if kind is KeyLocation:
        return KeyLocation(value)
    raise NotImplementedError(f"no rule for {kind}")


_ANY = msgspec.json.Decoder()
RAW = msgspec.json.Decoder(Raw)
RAW_LIST = msgspec.json.Decoder(list[Raw])
_RAW_OBJECT = msgspec.json.Decoder(dict[KeyLocation, Raw], dec_hook=as_key)


def decode(
    decoder: msgspec.json.Decoder[T],
    content: Content,
    part: Part,
    *,
    line: int | None = None,
    dialogue: str | None = None,
) -> T:
    """Typed JSON, or one sentence that says what is wrong and where in the structure.

    When the content is one dialogue, give its id: the error then names it and, where the structure tells, the turn."""
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        decode_utf8(bytes(content), part.name, line)
        match = _TURN_PATH.search(str(error)) if dialogue is not None or line is not None else None
        raise DialgaugeError(
            f"the JSON does not have the expected shape: {error}",
            file=part.name,
            line=line,
            dialogue=dialogue,
            turn=int(match[1]) if match else None,
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        decode_utf8(bytes(content), part.name, line)
        message = f"it is not valid JSON: {error}"
        if without_nan(bytes(content)) != bytes(content):
            message += "; NaN and Infinity are no JSON values, write null where there is none"
        raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply to be dialogue data"
        raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error


def without_nan(content: bytes) -> bytes:
    """JSON in which null stands for NaN and infinite numbers, which many programs write and JSON does not have."""
    if b"NaN" not in content and b"Infinity" not in content:
        return content
    text = content.decode("utf-8", "surrogateescape")
    plain = _NO_NUMBERS.sub(lambda token: token[0] if token[0].startswith('"') else "null", text)
    return plain.encode("utf-8", "surrogateescape")


# -- pieces ----------------------------------------------------------------------------------------------------------


def begins(content: Content) -> bytes:
    """The first character that is not blank: an opening bracket, for JSON."""
    return bytes(memoryview(content)[:4096]).lstrip()[:1]


def elements_of(content: Content, part: Part) -> list[Raw]:
    """The elements of a JSON array, undecoded."""
    return decode(RAW_LIST, content, part)


def members_of(content: Content, part: Part) -> list[tuple[str, Raw]]:
    """The members of a JSON object, undecoded; repeated keys stay apart."""
    return [(key.text, raw) for key, raw in decode(_RAW_OBJECT, content, part).items()]


def lines_of(content: bytes | mmap) -> Iterator[tuple[int, memoryview]]:
    """The lines that are not blank, with their numbers from 1, none of them copied."""
    view = memoryview(content)
    at = number = 0
    while at < len(view):
        end = content.find(b"\n", at)
        end = len(view) if end < 0 else end
        number += 1
        if at < end and not bytes(view[at : min(end, at + 64)]).isspace():
            yield number, view[at:end]
        at = end + 1


def are_lines(content: bytes | mmap) -> bool:
    """Whether the first line is a JSON value of its own, and another line follows."""
    lines = lines_of(content)
    first = next(lines, None)
    if first is None or next(lines, None) is None:
        return False
    try:
        RAW.decode(first[1])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def values_of_lines(content: bytes | mmap, part: Part) -> Iterator[Raw]:
    """The values of JSON lines, undecoded."""
    return (decode(RAW, line, part, line=number) for number, line in lines_of(content))


def sketch(raw: Raw) -> Any:
    """The beginning of a JSON value: of long lists and objects the first elements and members."""
    if len(raw) <= _WHOLE:
        return _ANY.decode(raw)
    match begins(raw):
        case b"[":
            elements = RAW_LIST.decode(raw)[:_ELEMENTS]
            before = accumulate(map(len, elements), initial=0)
            return [sketch(each) for each, size in zip(elements, before, strict=False) if size < _WHOLE]
        case b"{":
            members = list(_RAW_OBJECT.decode(raw).items())[:_MEMBERS]
            return {key.text: sketch(each) for key, each in members}
    return _ANY.decode(raw)


def write_array(records: Iterable[Any], out: IO[bytes]) -> None:
    """Write a JSON array, one record a line."""
    separator = b"[\n"
    for record in records:
        out.write(separator + msgspec.json.encode(record))
        separator = b",\n"
    out.write(b"\n]\n" if separator == b",\n" else b"[]\n")


# -- files of dialogues ----------------------------------------------------------------------------------------------


class Keyed(Generic[T]):
    """A JSON object of dialogues by id."""

    def __init__(self, item: type[T]) -> None:
        self._item = msgspec.json.Decoder(item)

    def read(self, part: Part, notes: Notes) -> Iterator[tuple[str, T]]:
        """Id and content of the dialogues in file order, those of the wrong shape refused; repeated ids stay apart."""
        return decode_each(self._item, members_of(part.buffer(), part), part, notes)


class Listed(Generic[T]):
    """A JSON array of dialogues (or of turns), each with its id under ``key``."""

    def __init__(self, item: type[T], *, key: str = "dialogue_id") -> None:
        self._item = msgspec.json.Decoder(item)
        self._name = msgspec.json.Decoder(msgspec.defstruct("Named", [(key, Any, None)]))
        self._key = key

    def read(self, part: Part, notes: Notes) -> Iterator[T]:
        """The elements in file order, those of the wrong shape refused."""
        named = ((self._named(raw, number), raw) for number, raw in enumerate(elements_of(part.buffer(), part), 1))
        return (item for _, item in decode_each(self._item, named, part, notes))

    def _named(self, raw: Raw, number: int) -> str:
        try:
            name = getattr(self._name.decode(raw), self._key)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            name = None
        return name if isinstance(name, str) else f"number {number}"


def decode_each(
    decoder: msgspec.json.Decoder[T], named: Iterable[tuple[str, Raw]], part: Part, notes: Notes
) -> Iterator[tuple[str, T]]:
    """Pieces with their names, decoded; those of the wrong shape are refused."""
    for name, raw in named:
        try:
            item = decode(decoder, raw, part, dialogue=name)
        except DialgaugeError as error:
            notes.refuse(error)
        else:
            yield name, item


#: A member that is not there, and one that says so.
NOTHING = (b"", b"null")
