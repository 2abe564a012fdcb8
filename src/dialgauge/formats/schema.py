"""Schemas as SGD, MultiWOZ 2.2 and the GCDF1 conversations publish them: a list of services with slots and intents."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Peek, Resource, ResourceFormat, decode
from dialgauge.formats.source import Part


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
    """Services (domains here), their slots with values and descriptions, and the names of their intents."""

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
        notes.add("details of an intent dropped (only its name is kept)", sum(len(one.intents) for one in services))
        intents = {one.service_name: tuple(intent.name for intent in one.intents) for one in services}
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
