"""What MultiWOZ publishes beside its dialogues: databases (``db/hotel_db.json``, ...) and ontologies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from dialgauge.dialogue import Fact, Ontology, SlotSpec, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Resource, ResourceFormat
from dialgauge.formats.json_text import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import alternatives

_NAMES = ("name", "trainID", "department")
_DATABASE = msgspec.json.Decoder(list[dict[str, Any]] | dict[str, list[str]])


class MultiWozDatabase(ResourceFormat):
    """The entities a system may offer, as facts.

    Most files are a list of rows; each row becomes facts about one entity, named by its ``name``, ``trainID`` or
    ``department`` (else by its number), with ``#2`` and so on where a name repeats. The taxi file is an object of lists
    instead: facts about ``taxi``. Nested values take the names of both levels as relation (``price single``).
    """

    name = "multiwoz-database"
    summary = "MultiWOZ database: rows of hotels, trains, ..., or the colours and makes of taxis"
    kind = "knowledge base"

    def recognise(self, peek: Peek) -> bool:
        if isinstance(peek.json, dict):
            return bool(peek.json) and all(key.startswith("taxi_") for key in peek.json)
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and ("trainID" in first or {"phone", "postcode"} <= first.keys())

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(_DATABASE, part.read(), part)
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


_ONTOLOGY = msgspec.json.Decoder(dict[str, list[str]])


class MultiWozOntology(ResourceFormat):
    """An object of ``domain-slot`` to its values, in every spelling of the keys.

    ==========  =========================================================
    2.0         ``hotel-price range``, ``hotel-book people``
    2.1         ``hotel-semi-pricerange``, ``hotel-book-people``
    2.3, 2.4    ``hotel-pricerange``, ``hotel-book-people``
    ==========  =========================================================

    The part between domain and slot is dropped (``semi``), as is ``book`` where it stands between hyphens: the slots
    are then named as in the ``data.json`` beside the file. Other spellings stay as they are; comparing them is the job
    of the profiles in ``values``. Values that name alternatives (``centre|west``) are taken apart, as in the states.
    """

    name = "multiwoz-ontology"
    summary = "MultiWOZ ontology: 'domain-slot' to the list of its values, keys as in 2.0, 2.1 or 2.3"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or not peek.json:
            return False
        if all(key[-1:].isdigit() for key in peek.json):  # turns of dialogues, and no slots
            return False
        return all(
            isinstance(values, list) and "-" in key and all(isinstance(value, str) for value in values)
            for key, values in peek.json.items()
        )

    def load(self, part: Part, notes: Notes) -> Resource:
        domains: dict[str, dict[str, SlotSpec]] = {}
        for key, raw in decode(_ONTOLOGY, part.read(), part).items():
            domain, slot = _split(key, part)
            slots = domains.setdefault(domain, {})
            if slot in slots:
                raise DialgaugeError(
                    f"the slot {slot!r} of {domain!r} is listed twice (last as {key!r})", file=part.name
                )
            slots[slot] = SlotSpec(values=_values(raw))
        if not domains:
            raise DialgaugeError("the ontology is empty", file=part.name)
        return Resource(kind="ontology", ontology=Ontology(domains=domains))


def _split(key: str, part: Part) -> tuple[str, str]:
    domain, hyphen, slot = key.partition("-")
    if not hyphen or not domain or not slot:
        raise DialgaugeError(f"the key {key!r} is not 'domain-slot'", file=part.name)
    return domain, slot.removeprefix("semi-").removeprefix("book-")


def _values(raw: list[str]) -> Values:
    return tuple(dict.fromkeys(alternative for value in raw for alternative in alternatives(value)))
