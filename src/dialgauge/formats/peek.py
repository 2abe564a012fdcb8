"""Looking at the beginning of a file, so that a format can be recognised without reading all of it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import orjson

from dialgauge.formats.source import Part

_CLOSERS = {"{": "}", "[": "]"}
#: A string (perhaps cut off by the end), or a character that shapes the structure.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_DEEPEST = 200


class Peek:
    """The first 256 KiB of a file: its name, its first lines, and its JSON as far as it got."""

    def __init__(self, part: Part) -> None:
        self.stem = part.stem
        self.head = part.head()

    @cached_property
    def lines(self) -> list[str]:
        """The first lines as text (undecodable bytes replaced), at most 50."""
        return [line.rstrip("\r") for line in self.head.decode("utf-8", "replace").split("\n", 50)[:50]]

    @cached_property
    def json(self) -> Any:
        """The beginning of the file as JSON, open brackets closed; ``None`` when it is no JSON object or array."""
        text = self.head.decode("utf-8", "replace").lstrip()
        if not text.startswith(("{", "[")):
            return None
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return _repaired(text)

    @property
    def too_deep(self) -> bool:
        """Are more brackets open at once than any dialogue data would nest?"""
        depth = 0
        for token in _TOKENS.finditer(self.head.decode("utf-8", "replace")):
            depth += (token[0] in _CLOSERS) - (token[0] in ("}", "]"))
            if depth > _DEEPEST:
                return True
        return False

    @cached_property
    def first(self) -> tuple[str, Any] | None:
        """The first entry of the JSON: key and value of an object, or ``""`` and the element of an array."""
        if isinstance(self.json, dict) and self.json:
            return next(iter(self.json.items()))
        if isinstance(self.json, list) and self.json:
            return "", self.json[0]
        return None


def _repaired(text: str) -> Any:
    """Cut truncated JSON after its last whole member and close what is open; ``None`` if that is no JSON either."""
    stack: list[str] = []
    cut, closers = 0, ""
    for token in _TOKENS.finditer(text):
        char = token[0]
        if char in _CLOSERS:
            stack.append(_CLOSERS[char])
            if len(stack) > _DEEPEST:
                return None
        elif char in "}]":
            if not stack or stack.pop() != char:
                return None
            if not stack:
                return None  # a whole value followed by something else, such as JSON lines
            cut, closers = token.end(), "".join(reversed(stack))
        elif char == ",":
            cut, closers = token.start(), "".join(reversed(stack))
    try:
        return orjson.loads(text[:cut] + closers) if cut else None
    except orjson.JSONDecodeError:
        return None


def first_object(line: str) -> dict[str, Any] | None:
    """The JSON object on a line (of a JSONL file), as far as it got; ``None`` when there is none."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _repaired(line.lstrip()) if line.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else None
