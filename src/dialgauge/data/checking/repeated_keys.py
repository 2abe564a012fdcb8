"""Keys that stand twice in one JSON object of a dialogue.

Every JSON parser keeps one of the two and drops the other without a word, ours too: looking for them while scoring
would double the time of reading. So ``data check`` looks. Dialogues are packed again, which drops repeated keys; where
that leaves fewer keys than there were, the dialogue is taken apart slowly to say which and where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import orjson

from dialgauge.formats import Part, are_lines, begins, elements_of, lines_of, members_of

_KEY_END = b'":'
#: A quotation mark that does not look like one: it may stand before a colon inside a text.
_HIDDEN_QUOTE = b"\\u0022"
_IDS = ("dialogue_id", "id", "dialogue", "guid")
#: ``turns[3]``, or ``3`` where turns are named by their numbers.
_TURN = re.compile(r"(?:\w+\[)?(\d+)\b")


class RepeatedKey(NamedTuple):
    """A key, the dialogue it is in, and the way to it: ``turns[3].state``."""

    dialogue: str
    path: str
    key: str

    @property
    def turn(self) -> int | None:
        """The position of the turn, where the way leads through one."""
        match = _TURN.match(self.path)
        return int(match[1]) if match else None


def repeated_keys(part: Part) -> Iterator[RepeatedKey]:
    """All of a file, in its order; none of a file that is no JSON."""
    for number, (name, raw) in enumerate(_raw_dialogues(part), start=1):
        if _may_repeat(raw):
            content = _decoded(raw)
            dialogue = name or _own_name(content) or f"number {number}"
            for path, key in _walk(content, ""):
                yield RepeatedKey(dialogue, path, key)


def _raw_dialogues(part: Part) -> Iterator[tuple[str | None, bytes]]:
    """The dialogues of a JSON file or of JSON lines, undecoded, with their keys where they have any; none of others."""
    content = part.buffer()
    if begins(content) not in (b"{", b"["):
        return
    if are_lines(content):
        yield from ((None, bytes(line)) for _, line in lines_of(content))
    elif begins(content) == b"[":
        yield from ((None, bytes(raw)) for raw in elements_of(content, part))
    else:
        pieces = [(key, bytes(raw)) for key, raw in members_of(content, part)]
        keyed = all(raw[:1] in (b"{", b"[") for _, raw in pieces)
        yield from pieces if keyed else ((None, bytes(content)),)


def _may_repeat(raw: bytes) -> bool:
    try:
        packed, again = msgspec.json.format(raw, indent=-1), orjson.dumps(orjson.loads(raw))
    except (ValueError, TypeError, RecursionError):  # what the two cannot say, Python's own may
        return True
    return packed.count(_KEY_END) != again.count(_KEY_END) or _HIDDEN_QUOTE in packed


class _Object(dict[str, Any]):
    """An object that remembers which of its keys came more than once."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        names = [key for key, _ in pairs]
        made.repeated = tuple(key for key in made if names.count(key) > 1)
    return made


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None  # no JSON, which is the reader's to say


def _own_name(content: Any) -> str:
    given = next((content[key] for key in _IDS if key in content), "") if isinstance(content, dict) else ""
    return given if isinstance(given, str) else " ".join(map(str, given)) if isinstance(given, list) else ""


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, _Object):
        for key in value.repeated:
            yield path, key
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{position}]")
