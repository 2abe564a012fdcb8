"""The slots of states: how often each is filled and with what, in bounded memory, and what an ontology allows."""

from __future__ import annotations

import hashlib
import re

from msgspec import Struct

from dialgauge.data.check_report import FindingPlace, Findings
from dialgauge.dialogue import DONTCARE, Ontology, SlotSpec, State
from dialgauge.text import times

#: Beyond these, counting goes on but nothing new is kept; the report says so.
MOST_SLOTS = 5_000
MOST_VALUES = 100_000
_LONGEST = 120

_NAME_NOISE = re.compile(r"[\s_-]+")


class Seen(Struct):
    """A value of a slot: how often, and where first."""

    count: int
    dialogue: str
    turn: int


class SlotCount(Struct):
    """A slot: in how many turns it is filled, and its preferred values."""

    filled: int = 0
    values: dict[str, Seen] = {}
    #: Fillings whose value was not kept because too many were.
    unkept: int = 0


class SlotInventory:
    """The slots of all states of one kind (annotated or predicted): how often filled, with what, in bounded memory."""

    def __init__(self) -> None:
        self.slots: dict[tuple[str, str], SlotCount] = {}
        self.overflow = False
        self._room = MOST_VALUES

    def add(self, state: State, dialogue: str, turn: int) -> None:
        """Count one state. Of alternative values, the preferred one counts."""
        for domain, slots in state.items():
            for slot, values in slots.items():
                counted = self.slots.get((domain, slot))
                if counted is None:
                    if len(self.slots) >= MOST_SLOTS:
                        self.overflow = True
                        continue
                    counted = self.slots[_bounded(domain), _bounded(slot)] = SlotCount()
                counted.filled += 1
                if values:
                    self._count_value(counted, values[0], dialogue, turn)

    def _count_value(self, counted: SlotCount, value: str, dialogue: str, turn: int) -> None:
        seen = counted.values.get(value)
        if seen is not None:
            seen.count += 1
        elif self._room:
            kept = _bounded(value)
            if kept in counted.values:
                counted.values[kept].count += 1
            else:
                counted.values[kept] = Seen(1, _bounded(dialogue), turn)
                self._room -= 1
        else:
            counted.unkept += 1


def _bounded(text: str) -> str:
    """The text, or for an overlong one its beginning and a digest, so that equal texts stay equal."""
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:40]}…{digest}"


class NamedOntology(Struct, frozen=True):
    """An ontology and the file it came from, with names and values in the form they are compared in."""

    file: str
    ontology: Ontology

    def lookup(self) -> dict[tuple[str, str], frozenset[str] | None]:
        """Each slot's allowed values; ``None`` where any value is allowed.

        Schemas mark closed slots as categorical and list examples for the others. Ontologies without that mark mean
        every list to be complete.
        """
        schema = any(spec.categorical for slots in self.ontology.domains.values() for spec in slots.values())
        return {
            _slot_key(domain, slot): _allowed(spec, schema)
            for domain, slots in self.ontology.domains.items()
            for slot, spec in slots.items()
        }


def _allowed(spec: SlotSpec, schema: bool) -> frozenset[str] | None:
    if not spec.values or (schema and not spec.categorical):
        return None
    return frozenset(_value_key(value) for value in spec.values)


def _slot_key(domain: str, slot: str) -> tuple[str, str]:
    return _NAME_NOISE.sub("", domain.lower()), _NAME_NOISE.sub("", slot.lower())


def _value_key(value: str) -> str:
    return " ".join(value.lower().split())


def best_ontology(inventory: SlotInventory, offered: list[NamedOntology]) -> NamedOntology | None:
    """The ontology that knows most of the fillings; the first of equals, ``None`` if none knows any."""
    best, most = None, 0
    for candidate in offered:
        known = candidate.lookup()
        covered = sum(counted.filled for slot, counted in inventory.slots.items() if _slot_key(*slot) in known)
        if covered > most:
            best, most = candidate, covered
    return best


def compare(inventory: SlotInventory, against: NamedOntology, findings: Findings) -> dict[tuple[str, str], int]:
    """How many fillings of each slot the ontology does not allow; slots and values it lacks become remarks."""
    known = against.lookup()
    outside: dict[tuple[str, str], int] = {}
    for (domain, slot), counted in sorted(inventory.slots.items()):
        key = _slot_key(domain, slot)
        if key not in known:
            location = FindingPlace(detail=f"{domain}-{slot}, filled {times(counted.filled)}")
            findings.add("slot outside ontology", location)
            continue
        allowed = known[key]
        if allowed is not None:
            outside[domain, slot] = _outside(f"{domain}-{slot}", counted, allowed, findings)
    return outside


def _outside(name: str, counted: SlotCount, allowed: frozenset[str], findings: Findings) -> int:
    total = 0
    for value, seen in counted.values.items():
        if _value_key(value) in allowed or value == DONTCARE:
            continue
        total += seen.count
        detail = f"{name} = {value!r}, {times(seen.count)}"
        findings.add("value outside ontology", FindingPlace(dialogue=seen.dialogue, turn=seen.turn, detail=detail))
    return total
