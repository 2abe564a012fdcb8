"""Lists of dialogue ids, one per line, as MultiWOZ publishes its splits (``testListFile.txt``)."""

from __future__ import annotations

import re

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Peek, Resource, ResourceFormat
from dialgauge.formats.source import Part, decode_utf8

#: No space inside, and a digit somewhere: words of prose on a line of their own are no ids.
_ID = re.compile(r"(?=\S*\d)[A-Za-z0-9][\w.+-]*")
_WIDEST = 200


class IdList(ResourceFormat):
    """Dialogue ids in file order."""

    name = "ids"
    summary = "a list of dialogue ids, one per line, as in testListFile.txt"
    kind = "ids"

    def recognise(self, peek: Peek) -> bool:
        lines = [line.strip() for line in peek.lines if line.strip()]
        return bool(lines) and all(len(line) <= _WIDEST and _ID.fullmatch(line) for line in lines)

    def load(self, part: Part, notes: Notes) -> Resource:
        seen: dict[str, int] = {}
        for number, raw in part.lines():
            line = decode_utf8(raw, part.name, number).strip()
            if not line:
                continue
            if not _ID.fullmatch(line):
                raise DialgaugeError(f"{line[:40]!r} is not a dialogue id", file=part.name, line=number)
            if line in seen:
                raise DialgaugeError(f"the id is listed twice, first in line {seen[line]}", file=part.name, line=number)
            seen[line] = number
        if not seen:
            raise DialgaugeError("the file is empty", file=part.name)
        return Resource(kind="ids", texts=tuple(seen))
