"""What a format sees of a file to recognise it: its name, its first bytes and lines, and the beginning of its JSON."""

from __future__ import annotations

import mmap
from functools import cached_property
from typing import Any

import msgspec

from dialgauge.formats.jsonfile import RAW, are_lines, lines_of, sketch, without_halves, without_nan
from dialgauge.formats.source import HEAD_BYTES, Part

_UNSOUND = (msgspec.DecodeError, UnicodeError, RecursionError)


class Peek:
    """The beginning of a file, by which a format is recognised."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.stem = part.stem

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        return without_halves(self._part.head(HEAD_BYTES))

    @cached_property
    def content(self) -> bytes | mmap.mmap:
        """All bytes, unpacked once for all formats that ask."""
        return self._part.buffer()

    @cached_property
    def lines(self) -> list[str]:
        """The first lines as text (undecodable bytes replaced), at most 50."""
        return [line.rstrip("\r") for line in self.head.decode("utf-8", "replace").split("\n", 50)[:50]]

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins with an opening bracket."""
        return self.head.lstrip()[:1] in (b"{", b"[")

    @cached_property
    def json(self) -> Any:
        """The file as one JSON object or array, of long ones the beginning; ``None`` when it is none."""
        if not self.is_json:
            return None
        if are_lines(self.content):
            return None
        try:
            return sketch(RAW.decode(self.content))
        except _UNSOUND:
            mended = without_halves(without_nan(bytes(self.content)))
        try:
            return sketch(RAW.decode(mended))
        except _UNSOUND:
            return None

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
        """The JSON object on the first line that is not blank; ``None`` when there is none."""
        if not self.is_json:
            return None
        _, line = next(lines_of(self.content))
        try:
            value = sketch(RAW.decode(without_halves(bytes(line))))
        except _UNSOUND:
            return None
        return value if isinstance(value, dict) else None
