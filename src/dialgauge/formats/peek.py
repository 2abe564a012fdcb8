"""What a format sees of a file to recognise it: its beginning, as JSON if it is that, cut off as it may be."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import orjson

from dialgauge.formats.json_text import null_for_nan, without_halves
from dialgauge.formats.source import HEAD_BYTES, Part

_CLOSERS = {"{": "}", "[": "]"}
#: A string (perhaps cut off by the end), or a character that shapes the structure.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^{}\[\]]+")
_DEEPEST = 200
_ESCAPED_LETTER = re.compile(rb"\\u00[2-7]")
_NUMBERED_KEY = re.compile(rb'"[0-9]{1,9}"\s*:')


class Peek:
    """The beginning of a file, by which a format is recognised: name, first lines, JSON as far as it got."""

    def __init__(self, part: Part, size: int = HEAD_BYTES) -> None:
        self.stem = part.stem
        self.head = without_halves(part.head(size))

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
        # With NaN in it a file is no JSON; what format it means to be can be told all the same, and then where it is.
        if (value := _begun(text)) is None:
            value = _begun(null_for_nan(text))
        return value

    @cached_property
    def shape(self) -> str:
        """The opening brackets of the JSON and of its first entry (``{{``, ``{[``, ``[{``, ``{``, ...), or ``text``.

        ``lines`` where a bracket opens something else, such as JSON lines.
        """
        if self.json is None:
            return "lines" if self.head.decode("utf-8", "replace").lstrip()[:1] in _CLOSERS else "text"
        inside = self.first[1] if self.first else None
        return _bracket(self.json) + _bracket(inside)

    @cached_property
    def has_escaped_letters(self) -> bool:
        """Is an ASCII character of its JSON written as a number, so that looking for words may miss one?"""
        return b"\\u00" in self.head and _ESCAPED_LETTER.search(self.head) is not None

    @cached_property
    def has_numbered_keys(self) -> bool:
        """Is a number the key of something?"""
        return _NUMBERED_KEY.search(self.head) is not None

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

    @cached_property
    def first_line(self) -> dict[str, Any] | None:
        """The JSON object on the first line that is not blank, as far as it got; ``None`` when there is none."""
        if len(self.lines) == 1 and isinstance(self.json, dict):
            return self.json  # the file is one long line, which takes a while to repair
        return first_object(next((line for line in self.lines if line.strip()), ""))


def _bracket(value: Any) -> str:
    return "{" if isinstance(value, dict) else "[" if isinstance(value, list) else ""


def _begun(text: str) -> Any:
    """A JSON object or array, whole or cut off; ``None`` when it is neither."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _repaired(text)


def _repaired(text: str) -> Any:
    """Cut truncated JSON after its last whole member and close what is open; ``None`` if that is no JSON either."""
    # Every other piece is a string, once what quotes stand inside of strings is covered.
    pieces = text.replace("\\\\", "__").replace('\\"', "__").split('"')
    cut = len(text) + 1
    for number in reversed(range(len(pieces))):
        cut -= len(pieces[number]) + 1
        offset = max(map(pieces[number].rfind, ",}]")) if number % 2 == 0 else -1
        if offset >= 0:
            break
    else:
        return None
    end = pieces[number][: offset + 1]
    open_brackets, passes = _NO_BRACKETS.sub("", "".join([*pieces[:number:2], end])), 0
    while (fewer := open_brackets.replace("{}", "").replace("[]", "")) != open_brackets:
        open_brackets, passes = fewer, passes + 1
        if passes > _DEEPEST:
            return None
    if not open_brackets or passes + len(open_brackets) > _DEEPEST:
        return None  # a whole value followed by something else, such as JSON lines; or no dialogue data
    closers = "".join(_CLOSERS.get(bracket, "") for bracket in reversed(open_brackets))
    try:
        return orjson.loads(text[: cut + offset + (not end.endswith(","))] + closers)
    except orjson.JSONDecodeError:
        return None


def first_object(line: str) -> dict[str, Any] | None:
    """The JSON object on a line (of a JSONL file), as far as it got; ``None`` when there is none."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _repaired(line.lstrip()) if line.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else None
