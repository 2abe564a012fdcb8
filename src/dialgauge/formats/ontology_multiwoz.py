"""MultiWOZ ontologies: an object of ``domain-slot`` to its values, in every spelling of the keys.

==========  =========================================================
2.0         ``hotel-price range``, ``hotel-book people``
2.1         ``hotel-semi-pricerange``, ``hotel-book-people``
2.3, 2.4    ``hotel-pricerange``, ``hotel-book-people``
==========  =========================================================

The part between domain and slot is dropped (``semi``), as is ``book`` where it stands between hyphens: the slots are
then named as in the ``data.json`` beside the file. Other spellings stay as they are; comparing them is the job of the
profiles in ``values``. Values that name alternatives (``centre|west``) are taken apart, as in the states.
"""

from __future__ import annotations

import msgspec

from dialgauge.dialogue import Ontology, SlotSpec, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Resource, ResourceFormat, alternatives, decode
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_DECODER = msgspec.json.Decoder(dict[str, list[str]])


class MultiWozOntology(ResourceFormat):
    """Slots with all their values."""

    name = "multiwoz-ontology"
    summary = "MultiWOZ ontology: 'domain-slot' to the list of its values, keys as in 2.0, 2.1 or 2.3"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or not peek.json:
            return False
        return all(
            isinstance(values, list) and "-" in key and all(isinstance(value, str) for value in values)
            for key, values in peek.json.items()
        )

    def load(self, part: Part, notes: Notes) -> Resource:
        domains: dict[str, dict[str, SlotSpec]] = {}
        for key, raw in decode(_DECODER, part.read(), part).items():
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
    return tuple(dict.fromkeys(one for value in raw for one in alternatives(value)))
