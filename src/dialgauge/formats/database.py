"""MultiWOZ databases (``db/hotel_db.json``, ...): the entities a system may offer, as facts.

Most files are a list of rows; each row becomes facts about one entity, named by its ``name``, ``trainID`` or
``department`` (else by its number), with ``#2`` and so on where a name repeats. The taxi file is an object of lists
instead: facts about ``taxi``. Nested values take the names of both levels as relation (``price single``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Resource, ResourceFormat, decode
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_NAMES = ("name", "trainID", "department")
_DECODER = msgspec.json.Decoder(list[dict[str, Any]] | dict[str, list[str]])


class MultiWozDatabase(ResourceFormat):
    """Rows of entities, or the lists of the taxi file."""

    name = "multiwoz-database"
    summary = "MultiWOZ database: rows of hotels, trains, ..., or the colours and makes of taxis"
    kind = "knowledge base"

    def recognise(self, peek: Peek) -> bool:
        if isinstance(peek.json, dict):
            return bool(peek.json) and all(key.startswith("taxi_") for key in peek.json)
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and ("trainID" in first or {"phone", "postcode"} <= first.keys())

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(_DECODER, part.read(), part)
        if isinstance(content, dict):
            facts = tuple(Fact("taxi", relation, value) for relation, values in content.items() for value in values)
        else:
            facts = tuple(_rows(content, part))
        if not facts:
            raise DialgaugeError("the database holds no rows", file=part.name)
        return Resource(kind="knowledge base", facts=facts)


def _rows(rows: list[dict[str, Any]], part: Part) -> Iterator[Fact]:
    uses: Counter[str] = Counter()
    for number, row in enumerate(rows):
        name = next((str(row[key]) for key in _NAMES if key in row), f"row {number + 1}")
        uses[name] += 1
        entity = name if uses[name] == 1 else f"{name}#{uses[name]}"
        for relation, value in row.items():
            for inner, text in _flat(relation, value, part):
                yield Fact(entity, inner, text)


def _flat(relation: str, value: Any, part: Part) -> Iterator[tuple[str, str]]:
    """The relation with its value as text: numbers as written, a list joined by commas, an object one level down."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{relation} {key}", _text(relation, inner, part)
    elif isinstance(value, list):
        yield relation, ",".join(_text(relation, inner, part) for inner in value)
    else:
        yield relation, _text(relation, value, part)


def _text(relation: str, value: Any, part: Part) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DialgaugeError(f"the value of {relation!r} in a row is neither text nor a number", file=part.name)
    return str(value)
