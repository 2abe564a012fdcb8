"""Files that go with dialogues: schemas and ontologies with their slots and values, and canonical maps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Peek, Resource, ResourceFormat
from dialgauge.formats.jsonfile import RAW_LIST, decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import alternatives
from dialgauge.formats.source import Part, is_document


class _Slot(Struct, gc=False):
    name: str = ""
    description: str = ""
    is_categorical: bool = False
    possible_values: tuple[str, ...] = ()

    def spec(self) -> SlotSpec:
        return SlotSpec(values=self.possible_values, categorical=self.is_categorical, description=self.description)


def _ontology(
    slots: Iterable[tuple[str, str, SlotSpec]], part: Part, intents: dict[str, tuple[str, ...]] | None = None
) -> Resource:
    """The ontology of (domain, slot, specification); a slot that is listed twice is an error."""
    domains: dict[str, dict[str, SlotSpec]] = {domain: {} for domain in intents or ()}
    for domain, slot, spec in slots:
        known = domains.setdefault(domain, {})
        if slot in known:
            raise DialgaugeError(f"the slot {slot!r} of {domain!r} is listed twice", file=part.name)
        known[slot] = spec
    if not domains:
        raise DialgaugeError("the ontology is empty", file=part.name)
    return Resource(kind="ontology", ontology=Ontology(domains=domains, intents=intents or {}))


class _Intent(Struct, gc=False):
    name: str


class _Service(Struct, gc=False):
    service_name: str
    slots: list[_Slot]
    intents: list[_Intent] = []
    description: msgspec.Raw = msgspec.Raw()


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
        intents: dict[str, tuple[str, ...]] = {}
        slots = []
        pieces = decode(RAW_LIST, part.read(), part)
        for number, raw in enumerate(pieces, start=1):
            try:
                service = decode(_SERVICE, raw, part)
            except DialgaugeError as error:
                raise DialgaugeError(f"service number {number}: {error.message}", file=part.name) from error
            if service.service_name in intents:
                raise DialgaugeError(f"the service {service.service_name!r} is listed twice", file=part.name)
            intents[service.service_name] = tuple(intent.name for intent in service.intents)
            slots += [(service.service_name, slot.name, slot.spec()) for slot in service.slots]
            notes.add("description of a service dropped", int(bool(service.description)))
            notes.add("details of an intent dropped (only its name is kept)", len(service.intents))
        return _ontology(slots, part, intents)


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
        slots = []
        for key, raw in decode(_VALUES_BY_SLOT, part.read(), part).items():
            domain, _, slot = key.partition("-")
            if not domain or not slot:
                raise DialgaugeError(f"the key {key!r} is not 'domain-slot'", file=part.name)
            values = tuple(dict.fromkeys(alternative for value in raw for alternative in alternatives(value)))
            slots.append((domain, slot.removeprefix("semi-").removeprefix("book-"), SlotSpec(values=values)))
        return _ontology(slots, part)


class _UnifiedDomain(Struct, gc=False):
    slots: dict[str, _Slot]


class _UnifiedOntology(Struct, gc=False):
    domains: dict[str, _UnifiedDomain]
    intents: msgspec.Raw = msgspec.Raw()
    state: msgspec.Raw = msgspec.Raw()
    dialogue_acts: msgspec.Raw = msgspec.Raw()


_UNIFIED = msgspec.json.Decoder(_UnifiedOntology)


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
        for name in ("intents", "state", "dialogue_acts"):
            notes.add(f"field {name} of the ontology dropped", int(bool(getattr(raw, name))))
        domains = raw.domains.items()
        slots = ((domain, name, slot.spec()) for domain, held in domains for name, slot in held.slots.items())
        return _ontology(slots, part)


SPECIAL = "special_keys"
_Texts: TypeAlias = list[str]


class _Special(Struct):
    not_in_goal: dict[str, _Texts | dict[str, _Texts]] = {}


class CanonicalMapFile(ResourceFormat):
    """The values a dataset's goals use, each with the ways people write it; some slots are split by domain first."""

    name = "canonical-map"
    summary = "canonical values and their paraphrases by slot, as GCDF1 uses them"
    kind = "values"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        slots = peek.json.values()
        return all(isinstance(table, dict) for table in slots) and any(map(_looks_like_a_table, slots))

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(msgspec.json.Decoder(dict[str, dict[str, Any]]), part.read(), part)
        for slot, table in content.items():
            tables = {slot: table} if SPECIAL in table else {f"{slot}.{key}": sub for key, sub in table.items()}
            for name, each in tables.items():
                _check_table(name, each, part)
        return Resource(kind="values", values=content)


def _looks_like_a_table(table: dict[str, Any]) -> bool:
    """Canonical values with lists of paraphrases, perhaps under a domain."""
    if SPECIAL in table:
        return isinstance(table[SPECIAL], dict) and "not_in_goal" in table[SPECIAL]
    return any(isinstance(sub, dict) and SPECIAL in sub for sub in table.values())


def _check_table(name: str, table: Any, part: Part) -> None:
    if not isinstance(table, dict) or SPECIAL not in table:
        slot, _, key = name.partition(".")
        raise DialgaugeError(
            f"the slot {slot} has no {SPECIAL}, and the domain {key} within it has none either; "
            f'add "{SPECIAL}": {{"not_in_goal": {{}}}} to the slot, or to each of its domains',
            file=part.name,
        )
    try:
        msgspec.convert(table[SPECIAL], _Special)
        msgspec.convert({value: texts for value, texts in table.items() if value != SPECIAL}, dict[str, _Texts])
    except msgspec.ValidationError as error:
        reason = f"{name} is no table of values with lists of paraphrases: {error}"
        raise DialgaugeError(reason, file=part.name) from None


class Document(ResourceFormat):
    """A file for people to read; its content is not looked at."""

    name = "document"
    summary = "README, licence, checksums, MultiWOZ's acts, ids and databases: listed, not read"
    kind = "document"

    def recognise(self, peek: Peek) -> bool:
        return is_document(peek.stem)

    def load(self, part: Part, notes: Notes) -> Resource:
        return Resource(kind="document")
