"""Whole files of dialogues decoded at native speed, and faults that name the dialogue and the turn.

Typed decoding of a whole file is fast but its errors do not know which dialogue they are in, and JSON parsers merge
repeated keys in silence. So a file is decoded in one go, and only when something is off it is walked dialogue by
dialogue to say where.
"""

from __future__ import annotations

import json
import threading
from typing import Any, Generic, TypeVar

import msgspec

from turnwise.errors import TurnwiseError
from turnwise.formats.base import decode
from turnwise.formats.source import Part

T = TypeVar("T")

_decoded = threading.local()
_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_NAMED = msgspec.json.Decoder(dict[str, Any])


class Counted(msgspec.Struct):
    """A dialogue that is counted as it is decoded, so that one lost to a repeated id is noticed at no cost."""

    def __post_init__(self) -> None:
        _decoded.count = getattr(_decoded, "count", 0) + 1


class Keyed(Generic[T]):
    """A JSON object of dialogues by id."""

    def __init__(self, item: type[T]) -> None:
        self._whole = msgspec.json.Decoder(dict[str, item])  # type: ignore[valid-type]
        self._item = msgspec.json.Decoder(item)
        self._counted = Counted in getattr(item, "__mro__", ())

    def decode(self, content: bytes, part: Part) -> dict[str, T]:
        """Dialogues by id; an id that occurs twice is an error."""
        _decoded.count = 0
        try:
            found = self._whole.decode(content)
        except msgspec.ValidationError:
            for key, raw in decode(_RAW_OBJECT, content, part).items():
                decode(self._item, raw, part, dialogue=key)
            return decode(self._whole, content, part)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decode(self._whole, content, part)
        if self._lost_some(content, len(found)):
            _refuse_repeated_keys(content, part)
        return found

    def _lost_some(self, content: bytes, found: int) -> bool:
        if self._counted:
            lost: bool = _decoded.count > found
            return lost
        # Outside the values there are two quotation marks a key; a key that was lost leaves two too many.
        inside = sum(bytes(raw).count(b'"') for raw in _RAW_OBJECT.decode(content).values())
        return content.count(b'"') - inside > 2 * found


class Listed(Generic[T]):
    """A JSON array of dialogues (or of turns), each with its id under ``key``."""

    def __init__(self, item: type[T], *, key: str = "dialogue_id") -> None:
        self._whole = msgspec.json.Decoder(list[item])  # type: ignore[valid-type]
        self._item = msgspec.json.Decoder(item)
        self._key = key

    def decode(self, content: bytes, part: Part) -> list[T]:
        """The elements in file order."""
        try:
            return self._whole.decode(content)
        except msgspec.ValidationError:
            pieces = decode(_RAW_ARRAY, content, part)
            for number, raw in enumerate(pieces):
                decode(self._item, raw, part, dialogue=self._name(raw, number))
            return decode(self._whole, content, part)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decode(self._whole, content, part)

    def _name(self, raw: msgspec.Raw, number: int) -> str:
        try:
            name = _NAMED.decode(raw).get(self._key)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            name = None
        return name if isinstance(name, str) else f"number {number + 1}"


def _refuse_repeated_keys(content: bytes, part: Part) -> None:
    """Look at the keys of the outermost object, which ``json`` hands over last and with their repetitions."""
    outermost: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        outermost[:] = [key for key, _ in pairs]
        return {}

    try:
        json.loads(content, object_pairs_hook=keep)
    except RecursionError as error:
        raise TurnwiseError("the JSON is nested too deeply to be dialogue data", file=part.name) from error
    except ValueError as error:  # stricter than msgspec about what lies in fields that are skipped
        raise TurnwiseError(f"it is not valid JSON: {error}", file=part.name) from error
    seen: set[str] = set()
    for key in outermost:
        if key in seen:
            raise TurnwiseError("the file holds two dialogues of this id", file=part.name, dialogue=key)
        seen.add(key)
