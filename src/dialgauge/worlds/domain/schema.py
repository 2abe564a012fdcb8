"""A domain as a record: its services, the acts and values that both sides may use, its goals and its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Ontology, SlotSpec, State
from dialgauge.intents import service_of
from dialgauge.values import DAYS, comparable
from dialgauge.worlds.domain.service import CHOICE, Service

#: The names of acts on each side, with the slots they can carry, ``""`` for none.
Inventory: TypeAlias = dict[str, tuple[str, ...]]

#: The acts that no service owns.
GENERAL = "general"
#: What either side can say whatever the services are.
GENERAL_INTENTS = {
    "user": ("bye", "thank", "greet", "affirm", "negate"),
    "system": ("reqmore", "bye", "welcome", "greet"),
}
#: A slot with so many values or fewer is a matter of choice.
FEW = 20


class SlotWords(Struct, frozen=True, kw_only=True):
    """How agents without a language model speak of a slot."""

    ask: str = ""
    #: What it is called, where that is not its name.
    label: str = ""
    #: With ``{value}`` where the value goes.
    say: str = ""
    also: tuple[str, ...] = ()
    #: Other words for values.
    values: dict[str, tuple[str, ...]] = {}


class GoalDraw(Struct, frozen=True, kw_only=True):
    """How goals are drawn: inclusive bounds, and shares."""

    services: tuple[int, int] = (1, 2)
    wishes: tuple[int, int] = (1, 3)
    asked: tuple[int, int] = (0, 2)
    booked: float = 0.6
    fails_first: float = 0.3
    refused_first: float = 0.2


class Domain(Struct, frozen=True, kw_only=True, dict=True):
    """Where conversations happen."""

    name: str
    #: As in "You work at {title}."
    title: str
    policy: str = ""
    services: dict[str, Service] = {}
    #: The file of the goals; None where they are drawn.
    goals_file: Path | None = None
    draw: GoalDraw = GoalDraw()
    words: dict[str, SlotWords] = {}
    folder: Path | None = None
    #: Everything that was read.
    files: tuple[str, ...] = ()
    #: Values, names and slots are MultiWOZ's: other spellings are the same, a missing value fits any wish, a part of a
    #: name will do, and slots keep their spaces.
    multiwoz: bool = False
    #: Slots of which one of a few values is chosen, where that is not told by how many there are.
    choices: tuple[str, ...] = ()
    #: The acts of each side where they are others than follow from the services.
    inventories: dict[str, Inventory] = {}
    #: The keys of a tool domain, as written: ``dialgauge.worlds.tools`` reads them.
    tools: dict[str, str | list[str]] = {}

    def words_for(self, slot: str) -> SlotWords:
        """The words of a slot; empty ones where the domain says nothing."""
        return self.words.get(slot, _NO_WORDS)

    def label(self, service: Service, slot: str) -> str:
        """What a slot is called in a sentence."""
        said = self.words_for(slot).label or service.say(slot)
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", said).lower() if said == slot else said

    def value_meant(self, slot: str, text: str) -> str:
        """The value that a text stands for where ``words`` has it among the other words for a value, else the text."""
        wanted = comparable(text.replace("-", " "))
        others = self.words_for(slot).values.items()
        return next((value for value, texts in others if wanted in map(comparable, texts)), text)

    def canonical(self, state: State) -> State:
        """A state in which values that mean the same are written alike."""
        return {
            name: {slot: tuple(service.canonical(slot, value) for value in values) for slot, values in slots.items()}
            if (service := self.services.get(name)) is not None
            else slots
            for name, slots in state.items()
        }

    @cached_property
    def ontology(self) -> Ontology:
        """The values that everybody may know, by service and slot; texts that only rows have included."""
        return Ontology(domains={name: dict(_specs(service)) for name, service in self.services.items()})

    @cached_property
    def tracked(self) -> Ontology:
        """The slots that a user can give values for, with those values that are known."""
        return Ontology(
            domains={
                name: {slot: self.ontology.domains[name][slot] for slot in self.ontology.domains[name] if slot in known}
                for name, known in ((name, service.known) for name, service in self.services.items())
                if known
            }
        )

    @cached_property
    def sayable(self) -> dict[str, tuple[str, ...]]:
        """Values of slots that no list has, because anything can be asked for: days, numbers, times, choices."""
        values: dict[str, tuple[str, ...]] = {CHOICE: tuple(map(str, range(1, 30)))}
        for service in self.services.values():
            for slot, kind in service.booking_slots.items():
                values.setdefault(slot, kind.some())
        return values

    @cached_property
    def booking_acts(self) -> frozenset[str]:
        """What acts about bookings name in place of a service, where they do not name theirs."""
        names = {service_of(name) for service in self.services.values() for name in service.acts.values()}
        return frozenset(names - self.services.keys())

    @cached_property
    def references(self) -> frozenset[str]:
        """What bookings give."""
        return frozenset(slot for service in self.services.values() if service.books for slot in service.gives)

    @cached_property
    def names(self) -> frozenset[str]:
        """The slots that name one of several."""
        return frozenset(service.offer_slot for service in self.services.values() if service.offer_slot)

    @cached_property
    def referred(self) -> frozenset[str]:
        """Services that others refer to."""
        return frozenset(
            target for service in self.services.values() for group in service.refers.values() for target in group
        )

    @cached_property
    def referring(self) -> frozenset[str]:
        """Slots that may refer to another service."""
        return frozenset(slot for service in self.services.values() for slot in service.refers)

    @cached_property
    def public(self) -> Domain:
        """The domain as users know it: without rows, but for which services have some."""
        services = {
            name: service if service.rows is None else replace(service, rows=())
            for name, service in self.services.items()
        }
        return replace(self, services=services)

    def is_choice(self, service: str, slot: str) -> bool:
        """Is one of a few values chosen for a slot, rather than any named?"""
        spec = self.ontology.domains.get(service, {}).get(slot)
        return slot in self.choices if self.choices else spec is not None and spec.categorical

    def acts(self, speaker: str) -> Inventory:
        """The names of the acts of one side with the slots they can carry, ``""`` for none."""
        return self.inventories.get(speaker) or self._acts[speaker]

    @cached_property
    def _acts(self) -> dict[str, Inventory]:
        made: dict[str, Inventory] = {"user": {}, "system": {}}
        for service in self.services.values():
            for speaker, name, slots in _acts_of(service):
                known = made[speaker].get(name, ())
                made[speaker][name] = tuple(dict.fromkeys((*known, *slots)))
        for speaker, intents in GENERAL_INTENTS.items():
            made[speaker] |= {f"{GENERAL}-{intent}": ("",) for intent in intents}
        return made

    @cached_property
    def checksum(self) -> str:
        """Of everything that decides what can be found, booked and said."""
        import hashlib

        content = [self.name, self.title, self.policy, self.services, self.words]
        return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:8]


_NO_WORDS = SlotWords()


def _acts_of(service: Service) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Speaker, name and slots of every act of a service."""
    takes = tuple(service.book.takes) if service.book else ()
    gives = service.gives
    yield "user", service.act_name("inform"), (*service.wishes, *takes, "")
    yield "user", service.act_name("request"), service.askable
    tellable = tuple(dict.fromkeys((*service.wishes, *service.answer)))
    if service.rows is not None:
        yield "system", service.act_name("inform"), (*tellable, CHOICE, *gives)
        yield "system", service.act_name("offer"), tellable
        yield "system", service.act_name("no_offer"), (*service.wishes, "")
    else:
        yield "system", service.act_name("inform"), gives
    yield "system", service.act_name("request"), (*service.search, *takes)
    if service.book:
        name = (service.name_slot,) if service.name_slot else ()
        yield "system", service.act_name("book"), (*name, *gives, "")
        yield "system", service.act_name("no_book"), (*takes, "")


def _specs(service: Service) -> Iterator[tuple[str, SlotSpec]]:
    for slot, search in service.wishes.items():
        yield slot, SlotSpec(values=search.values, categorical=len(search.values) <= FEW)
    for slot, kind in service.booking_slots.items():
        if slot not in service.wishes:
            closed = kind.kind in ("words", "day")
            yield slot, SlotSpec(values=kind.words or (DAYS if kind.kind == "day" else ()), categorical=closed)
    for slot in service.answer:
        if slot not in service.wishes:
            values = dict.fromkeys(row[slot] for row in service.rows or () if slot in row)
            yield slot, SlotSpec(values=tuple(values))
