"""Whole files of dialogues decoded at native speed, and faults that name the dialogue and the turn.

Typed decoding of a whole file is fast but its errors do not know which dialogue they are in. So a file is decoded in
one go, and only when something is off it is walked dialogue by dialogue to say where. JSON parsers merge repeated keys
in silence; here they stay apart, and reading the corpus reports the id that is used twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

T = TypeVar("T")

_RAW_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_NAMED = msgspec.json.Decoder(dict[str, Any])


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


_RAW_OBJECT = msgspec.json.Decoder(dict[KeyLocation, msgspec.Raw], dec_hook=as_key)


def members_of(content: bytes, part: Part, notes: Notes | None = None) -> list[tuple[str, msgspec.Raw]]:
    """The members of a JSON object, undecoded; repeated keys stay apart."""
    return [(key.text, raw) for key, raw in decode(_RAW_OBJECT, content, part, notes=notes).items()]


class Keyed(Generic[T]):
    """A JSON object of dialogues by id."""

    def __init__(self, item: type[T]) -> None:
        self._whole = msgspec.json.Decoder(dict[KeyLocation, item], dec_hook=as_key)  # type: ignore[valid-type]
        self._item = msgspec.json.Decoder(item)

    def decode(self, content: bytes, part: Part, notes: Notes) -> list[tuple[str, T]]:
        """Id and content of the dialogues in file order, those of the wrong shape refused; repeated ids stay apart."""
        try:
            return [(key.text, item) for key, item in self._whole.decode(content).items()]
        except msgspec.ValidationError:
            pieces = decode(_RAW_OBJECT, content, part)
            return list(_each(self._item, ((key.text, raw) for key, raw in pieces.items()), part, notes))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return [(key.text, item) for key, item in decode(self._whole, content, part).items()]

    def read(self, part: Part, notes: Notes) -> Iterator[tuple[str, T]]:
        """The same of a file, which is let go as it is read; a large one is decoded dialogue by dialogue."""
        if part.is_large:
            from dialgauge.formats.large_json import LargeObject

            return _each(self._item, LargeObject(part).members(), part, notes)
        return _let_go(self.decode(part.read(), part, notes))


class Listed(Generic[T]):
    """A JSON array of dialogues (or of turns), each with its id under ``key``."""

    def __init__(self, item: type[T], *, key: str = "dialogue_id") -> None:
        self._whole = msgspec.json.Decoder(list[item])  # type: ignore[valid-type]
        self._item = msgspec.json.Decoder(item)
        self._key = key

    def decode(self, content: bytes, part: Part, notes: Notes) -> list[T]:
        """The elements in file order, those of the wrong shape refused."""
        try:
            return self._whole.decode(content)
        except msgspec.ValidationError:
            pieces = decode(_RAW_ARRAY, content, part)
            named = ((self._name(raw, number), raw) for number, raw in enumerate(pieces, start=1))
            return [item for _, item in _each(self._item, named, part, notes)]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decode(self._whole, content, part)

    def read(self, part: Part, notes: Notes) -> Iterator[T]:
        """The same of a file, which is let go as it is read; a large one is decoded element by element."""
        if not part.is_large:
            return _let_go(self.decode(part.read(), part, notes))
        from dialgauge.formats.large_json import LargeArray

        named = ((self._name(raw, number), raw) for number, raw in enumerate(LargeArray(part), start=1))
        return (item for _, item in _each(self._item, named, part, notes))

    def _name(self, raw: msgspec.Raw, number: int) -> str:
        try:
            name = _NAMED.decode(raw).get(self._key)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            name = None
        return name if isinstance(name, str) else f"number {number}"


def _let_go(items: list[T]) -> Iterator[T]:
    """Items that nobody holds once they were given, so that two forms of a file are never whole in memory."""
    items.reverse()
    while items:
        yield items.pop()


def _each(
    decoder: msgspec.json.Decoder[T], named: Iterable[tuple[str, msgspec.Raw]], part: Part, notes: Notes
) -> Iterator[tuple[str, T]]:
    for name, raw in named:
        try:
            item = decode(decoder, raw, part, dialogue=name)
        except DialgaugeError as error:
            notes.refuse(error)
        else:
            yield name, item


def raw_dialogues(part: Part) -> Iterator[tuple[str | None, bytes]]:
    """The dialogues of a JSON file or of JSON lines, undecoded, with their keys where they have any; none of others.

    What is no dialogue but stands in the place of one comes too; nothing is judged here.
    """
    shape = Peek(part).shape
    if shape == "lines":
        yield from ((None, line) for _, line in part.lines() if line.strip())
    elif shape.startswith("["):
        yield from ((None, bytes(raw)) for raw in decode(_RAW_ARRAY, part.read(), part))
    elif shape.startswith("{"):
        content = part.read()
        pieces = [(key.text, bytes(raw)) for key, raw in decode(_RAW_OBJECT, content, part).items()]
        keyed = all(raw[:1] in (b"{", b"[") for _, raw in pieces)
        yield from pieces if keyed else ((None, content),)


#: A member that is not there, and one that says so.
NOTHING = (b"", b"null")


class Remembered(Generic[T]):
    """What ``make`` makes of decoded JSON, for one file; each different text is decoded and made once.

    A state stays the same over many turns, and a good prediction is the same as the gold state. So states are left
    undecoded at first (``msgspec.Raw``), and turns share what was made of equal texts.
    """

    def __init__(self, decoder: msgspec.json.Decoder[Any], make: Callable[[Any], T], part: Part) -> None:
        def made(content: bytes) -> T:
            return make(decode(decoder, content, part))

        #: The meaning of the bytes of a text.
        self.made = cache(made)

    def read(self, raw: msgspec.Raw) -> T:
        """The meaning of a text that must be there."""
        return self.made(bytes(raw))

    def optional(self, raw: msgspec.Raw) -> T | None:
        """The meaning of a text, or ``None`` where there is none or it is ``null``."""
        content = bytes(raw)
        return None if content in NOTHING else self.made(content)
