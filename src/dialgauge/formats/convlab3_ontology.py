"""The ``ontology.json`` beside dialogues in ConvLab-3's unified format: domains, their slots and values."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Resource, ResourceFormat, decode
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_DROPPED = ("intents", "state", "dialogue_acts")


class _Slot(Struct, gc=False):
    description: str = ""
    is_categorical: bool = False
    possible_values: tuple[str, ...] = ()


class _Domain(Struct, gc=False):
    slots: dict[str, _Slot]


class _Ontology(Struct, gc=False):
    domains: dict[str, _Domain]
    intents: Raw = Raw()
    state: Raw = Raw()
    dialogue_acts: Raw = Raw()


_DECODER = msgspec.json.Decoder(_Ontology)


class ConvLab3Ontology(ResourceFormat):
    """Slots with descriptions and, where they are categorical, values."""

    name = "convlab3-ontology"
    summary = "ConvLab-3 unified ontology.json: domains with slots, descriptions and values"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        domains = peek.json.get("domains") if isinstance(peek.json, dict) else None
        first = next(iter(domains.values()), None) if isinstance(domains, dict) else None
        return isinstance(first, dict) and isinstance(first.get("slots"), dict)

    def load(self, part: Part, notes: Notes) -> Resource:
        raw = decode(_DECODER, part.read(), part)
        if not raw.domains:
            raise DialgaugeError("the ontology is empty", file=part.name)
        for name in _DROPPED:
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
