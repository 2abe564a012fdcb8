"""A file that is one JSON object: its list of conversations, one at a time where it is large, and what is beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from dialgauge.formats.json_text import decode
from dialgauge.formats.large_json import LargeObject
from dialgauge.formats.located import members_of
from dialgauge.formats.logs.conversations import WRAPPERS, kind_of
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

_LIST = msgspec.json.Decoder(list[Raw])
_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Any)


class OpenedObject(NamedTuple):
    """The members of an object but one, that one's name, which usual lists of conversations bear, and its entries."""

    beside: dict[str, Any]
    wrapper: str
    entries: Iterable[Raw]
    size: int


def opened_object(part: Part, notes: Notes) -> OpenedObject:
    """The object that a file is, without a usual list of conversations where ``wrapper`` is empty."""
    if not part.is_large:
        members = dict(members_of(part.read(), part, notes))
        wrapper = next((key for key in WRAPPERS if bytes(members.get(key, Raw(b""))).lstrip()[:1] == b"["), "")
        listed: list[Raw] = decode(_LIST, members.pop(wrapper), part) if wrapper else []
        return OpenedObject(
            {key: decode(_ANY, raw, part, notes=notes) for key, raw in members.items()}, wrapper, listed, len(listed)
        )
    lengths = LargeObject(part).lengths()
    wrapper = next((key for key in WRAPPERS if lengths.get(key, -1) >= 0), "")
    whole = LargeObject(part, wrapper or None)
    beside = {
        key: decode(_ANY, raw, part, notes=notes) for key, raw in whole.members() if not wrapper or key != wrapper
    }
    return OpenedObject(beside, wrapper, whole if wrapper else (), lengths.get(wrapper, 0))


def large_by_name(part: Part) -> LargeObject | None:
    """A large object whose members are conversations by their names; None for every other file."""
    if not part.is_large:
        return None
    members = LargeObject(part)
    begun = next(members.members(), None)
    first = decode(_ANY, begun[1], part, notes=Notes()) if begun and bytes(begun[1])[:1] == b"{" else None
    if kind_of(first) != "conversation":
        return None
    lengths = members.lengths()
    return members if set(lengths.values()) == {-1} and kind_of(dict.fromkeys(lengths, first)) == "keyed" else None
