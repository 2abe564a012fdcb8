"""Files that go with dialogues: schemas and ontologies with their slots and values, and canonical maps."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Ontology, SlotSpec, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Resource, ResourceFormat
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part, is_document
from dialgauge.formats.state_values import alternatives


class _Slot(Struct, gc=False):
    name: str
    description: str = ""
    is_categorical: bool = False
    possible_values: list[str] = []


class _Intent(Struct, gc=False):
    name: str


class _Service(Struct, gc=False):
    service_name: str
    slots: list[_Slot]
    intents: list[_Intent] = []
    description: msgspec.Raw = msgspec.Raw()


_FILE = msgspec.json.Decoder(list[msgspec.Raw])
_SERVICE = msgspec.json.Decoder(_Service)


class SchemaFormat(ResourceFormat):
    """Services (domains here) of SGD, MultiWOZ 2.2 and GCDF1: slots with values and descriptions, names of intents."""

    name = "schema"
    summary = "schema.json of SGD, MultiWOZ 2.2 or GCDF1: services with slots, values and intents"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and "service_name" in first

    def load(self, part: Part, notes: Notes) -> Resource:
        pieces = decode(_FILE, part.read(), part)
        services = [_service(raw, number, part) for number, raw in enumerate(pieces, start=1)]
        domains: dict[str, dict[str, SlotSpec]] = {}
        for service in services:
            if service.service_name in domains:
                raise DialgaugeError(f"the service {service.service_name!r} is listed twice", file=part.name)
            domains[service.service_name] = _slots(service, part)
            notes.add("description of a service dropped", int(bool(service.description)))
        notes.add("details of an intent dropped (only its name is kept)", sum(len(each.intents) for each in services))
        intents = {each.service_name: tuple(intent.name for intent in each.intents) for each in services}
        return Resource(kind="ontology", ontology=Ontology(domains=domains, intents=intents))


def _service(raw: msgspec.Raw, number: int, part: Part) -> _Service:
    try:
        return decode(_SERVICE, raw, part)
    except DialgaugeError as error:
        raise DialgaugeError(f"service number {number}: {error.message}", file=part.name) from error


def _slots(service: _Service, part: Part) -> dict[str, SlotSpec]:
    slots: dict[str, SlotSpec] = {}
    for slot in service.slots:
        if slot.name in slots:
            message = f"the slot {slot.name!r} of the service {service.service_name!r} is listed twice"
            raise DialgaugeError(message, file=part.name)
        slots[slot.name] = SlotSpec(
            values=tuple(slot.possible_values), categorical=slot.is_categorical, description=slot.description
        )
    return slots


SPECIAL = "special_keys"

_MAP = msgspec.json.Decoder(dict[str, dict[str, Any]])


class CanonicalMapFile(ResourceFormat):
    """The values a dataset's goals use, each with the ways people write it; some slots are split by domain first."""

    name = "canonical-map"
    summary = "canonical values and their paraphrases by slot, as GCDF1 uses them"
    kind = "values"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        slots = peek.json.values()
        return all(isinstance(table, dict) for table in slots) and any(_is_table(table) for table in slots)

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(_MAP, part.read(), part)
        for slot, table in content.items():
            tables = [(slot, table)] if SPECIAL in table else [(f"{slot}.{key}", sub) for key, sub in table.items()]
            for name, each in tables:
                _check(name, each, part)
        return Resource(kind="values", values=content)


def _is_table(table: dict[str, Any]) -> bool:
    """Does it look like canonical values to lists of paraphrases, perhaps under a domain?"""
    if SPECIAL in table:
        return isinstance(table[SPECIAL], dict) and "not_in_goal" in table[SPECIAL]
    return any(isinstance(sub, dict) and SPECIAL in sub for sub in table.values())


def _check(name: str, table: Any, part: Part) -> None:
    if not isinstance(table, dict) or SPECIAL not in table:
        slot, _, key = name.partition(".")
        raise DialgaugeError(
            f"the slot {slot} has no {SPECIAL}, and the domain {key} within it has none either; "
            f'add "{SPECIAL}": {{"not_in_goal": {{}}}} to the slot, or to each of its domains',
            file=part.name,
        )
    for value, paraphrases in table.items():
        if value == SPECIAL:
            _check_special(name, paraphrases, part)
        elif not _is_texts(paraphrases):
            raise DialgaugeError(f"the value {value!r} of {name} must have a list of paraphrases", file=part.name)


def _check_special(name: str, special: Any, part: Part) -> None:
    outside = special.get("not_in_goal", {}) if isinstance(special, dict) else None
    if not isinstance(outside, dict):
        raise DialgaugeError(f"{SPECIAL}.not_in_goal of {name} must be an object", file=part.name)
    for key, entry in outside.items():
        if not _is_texts(entry) and not (isinstance(entry, dict) and all(map(_is_texts, entry.values()))):
            raise DialgaugeError(
                f"{SPECIAL}.not_in_goal.{key} of {name} must be a list of paraphrases, or such lists by value",
                file=part.name,
            )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


_VALUES_BY_SLOT = msgspec.json.Decoder(dict[str, list[str]])


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
        for key, raw in decode(_VALUES_BY_SLOT, part.read(), part).items():
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


class _UnifiedSlot(Struct, gc=False):
    description: str = ""
    is_categorical: bool = False
    possible_values: tuple[str, ...] = ()


class _UnifiedDomain(Struct, gc=False):
    slots: dict[str, _UnifiedSlot]


class _UnifiedOntology(Struct, gc=False):
    domains: dict[str, _UnifiedDomain]
    intents: msgspec.Raw = msgspec.Raw()
    state: msgspec.Raw = msgspec.Raw()
    dialogue_acts: msgspec.Raw = msgspec.Raw()


_UNIFIED = msgspec.json.Decoder(_UnifiedOntology)
_NOT_READ = ("intents", "state", "dialogue_acts")


class ConvLab3Ontology(ResourceFormat):
    """The ``ontology.json`` beside the dialogues: slots with descriptions and, where they are categorical, values."""

    name = "convlab3-ontology"
    summary = "ConvLab-3 unified ontology.json: domains with slots, descriptions and values"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        domains = peek.json.get("domains") if isinstance(peek.json, dict) else None
        first = next(iter(domains.values()), None) if isinstance(domains, dict) else None
        return isinstance(first, dict) and isinstance(first.get("slots"), dict)

    def load(self, part: Part, notes: Notes) -> Resource:
        raw = decode(_UNIFIED, part.read(), part)
        if not raw.domains:
            raise DialgaugeError("the ontology is empty", file=part.name)
        for name in _NOT_READ:
            notes.add(f"field {name} of the ontology dropped", int(bool(getattr(raw, name))))
        domains = {
            domain: {
                name: SlotSpec(
                    values=slot.possible_values, categorical=slot.is_categorical, description=slot.description
                )
                for name, slot in content.slots.items()
            }
            for domain, content in raw.domains.items()
        }
        return Resource(kind="ontology", ontology=Ontology(domains=domains))


class Document(ResourceFormat):
    """A file for people to read; its content is not looked at."""

    name = "document"
    summary = "README, licence, checksums, MultiWOZ's acts, ids and databases: listed, not read"
    kind = "document"

    def recognise(self, peek: Peek) -> bool:
        return is_document(peek.stem)

    def load(self, part: Part, notes: Notes) -> Resource:
        return Resource(kind="document")
