"""A domain as records: its services, how each is searched, asked and booked, its goals and its words.

Slots have their declared name (``from hour``) in files, and one with underscores (``from_hour``) everywhere else: the
records here use the latter, and :meth:`Service.declared` gives the former.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.worlds.domain.matching import (
    DAYS,
    ORDERED,
    Match,
    comparable,
    has_thousands,
    members,
    minutes,
    number,
    plain,
    truth,
)

Kind: TypeAlias = Literal["text", "day", "time", "number", "words"]
Row: TypeAlias = dict[str, str]
Order: TypeAlias = Literal["rising", "falling"]
#: What acts are for: the names of the first half follow from the service, those of the second exist where it has them.
Role: TypeAlias = Literal[
    "inform", "request", "offer", "recommend", "no_offer", "ask_booking", "book", "no_book", "select", "offer_booking"
]
#: The names of acts on each side, with the slots they can carry, ``""`` for none.
Inventory: TypeAlias = dict[str, tuple[str, ...]]

#: The acts that no service owns.
GENERAL = "general"
ASKED = "?"
#: The system's answer where a cell is unknown.
UNKNOWN = "unknown"
#: The slot of an act that says how many rows fit.
CHOICE = "choice"
_INTENTS: dict[Role, str] = {
    "inform": "Inform",
    "request": "Request",
    "offer": "Offer",
    "recommend": "Offer",
    "no_offer": "NoOffer",
    "ask_booking": "Request",
    "book": "Book",
    "no_book": "NoBook",
}
#: What either side can say whatever the services are.
GENERAL_INTENTS = {
    "user": ("bye", "thank", "greet", "affirm", "negate"),
    "system": ("reqmore", "bye", "welcome", "greet"),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
#: A slot with so many values or fewer is a matter of choice.
FEW = 20


class SlotType(Struct, frozen=True):
    """What a booking takes for a slot."""

    kind: Kind = "text"
    #: Bounds of a number, both included; None: none.
    low: int | None = None
    high: int | None = None
    words: tuple[str, ...] = ()

    def fault(self, value: str) -> str:
        """What is wrong with a value, as the end of a sentence that begins with it; empty where nothing is.

        >>> SlotType("number", 1, 9).fault("-3"), SlotType("time").fault("99:99"), SlotType("day").fault("Monday")
        ('must be a whole number from 1 to 9', 'must be a time of day such as 9:30', '')
        """
        if not value.strip():
            return "is empty"
        if self.kind == "day" and plain(value) not in DAYS:
            return "must be a day of the week"
        if self.kind == "time" and minutes(value) is None:
            return "must be a time of day such as 9:30"
        if self.kind == "words" and comparable(value) not in map(comparable, self.words):
            return f"must be one of {', '.join(self.words)}"
        return self._number_fault(value) if self.kind == "number" else ""

    def _number_fault(self, value: str) -> str:
        if self.low is None or self.high is None:
            if number(value) is not None:
                return ""
            hint = " without thousands separators" if has_thousands(value) else ""
            return f"must be a number{hint}"
        whole = _WHOLE.fullmatch(value.strip())
        if whole is None or not self.low <= int(value) <= self.high:
            return f"must be a whole number from {self.low} to {self.high}"
        return ""

    def __str__(self) -> str:
        """As ``domain.yaml`` writes it."""
        if self.kind == "words":
            return f"[{', '.join(self.words)}]"
        return self.kind if self.low is None else f"{self.kind} {self.low}..{self.high}"


TEXT = SlotType()


class SearchSlot(Struct, frozen=True):
    """How a search is narrowed by a slot."""

    match: Match = "same"
    #: What people call it, and in which unit it is; empty: nothing said.
    say: str = ""
    unit: str = ""
    #: The distinct values, as first written: the column's, and what the domain adds.
    values: tuple[str, ...] = ()

    def fault(self, value: str) -> str:
        """What is wrong with a wish, as the end of a sentence that begins with it; empty where nothing is."""
        if self.match in ORDERED and number(value) is None and minutes(value) is None:
            return "must be a number or a time of day such as 9:30"
        if self.match == "yes-no" and truth(value) is None:
            return "must be yes or no"
        return ""

    @property
    def timed(self) -> bool:
        """Does the column hold clock times?"""
        return bool(self.values) and all(minutes(value) is not None for value in self.values)


class BookSpec(Struct, frozen=True, kw_only=True):
    """What a booking takes and gives."""

    takes: dict[str, SlotType] = {}
    needs: tuple[str, ...] = ()
    #: Of each group at least one.
    one_of: tuple[tuple[str, ...], ...] = ()
    gives: tuple[str, ...] = ("reference",)
    #: How what it gives is made, where that is no reference: one of each of these, joined.
    made: dict[str, tuple[tuple[str, ...], ...]] = {}

    def missing(self, given: Mapping[str, str]) -> list[str]:
        """The slots without which it cannot be booked; of a group that has none, the first."""
        lacking = [slot for slot in self.needs if not given.get(slot)]
        return lacking + [group[0] for group in self.one_of if not any(given.get(slot) for slot in group)]


class SlotWords(Struct, frozen=True, kw_only=True):
    """How agents without a language model speak of a slot."""

    ask: str = ""
    #: With ``{value}`` where the value goes.
    say: str = ""
    also: tuple[str, ...] = ()
    #: Other words for values.
    values: dict[str, tuple[str, ...]] = {}


class Service(Struct, frozen=True, kw_only=True, dict=True):
    """Something that can be looked up, booked or both."""

    name: str
    #: With its article: ``a rental car``.
    title: str
    #: What there is, known cells only; None where there is nothing to look up.
    rows: tuple[Row, ...] | None = None
    #: The slot by which people name a row; empty without rows. And the one that tells rows of one name apart.
    name_slot: str = ""
    id_slot: str = ""
    search: dict[str, SearchSlot] = {}
    answer: tuple[str, ...] = ()
    book: BookSpec | None = None
    #: Slots of a booking that may mean what was settled on in one of these services.
    refers: dict[str, tuple[str, ...]] = {}
    #: Slots whose declared name has spaces.
    spoken: dict[str, str] = {}
    #: What a search cannot do without, and groups of which it needs one.
    requires: tuple[str, ...] = ()
    requires_one_of: tuple[tuple[str, ...], ...] = ()
    #: How rows are ordered: by the first of these slots that was asked for, else by the last; none: as they stand.
    order: dict[str, Order] = {}
    #: Times that are on the next day where they are earlier than another of the row.
    next_day: dict[str, str] = {}
    #: What a system tells of a row beside its name, and what it asks for to narrow a search, the most telling first.
    describe: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    #: What is told at once, where rows are not offered by name.
    tells: tuple[str, ...] = ()
    #: A price of the row and the slot of the booking that multiplies it.
    total: dict[str, str] = {}
    #: What the record calls a booking.
    call: str = "book"
    #: All that can be asked for, where that is other than what follows from the rest.
    asks: tuple[str, ...] = ()
    #: Names of acts by what they are for, where they are others than :meth:`act_name` makes.
    acts: dict[str, str] = {}

    def declared(self, slot: str) -> str:
        """A slot as files write it."""
        return self.spoken.get(slot, slot)

    @cached_property
    def wishes(self) -> dict[str, SearchSlot]:
        """All that a search can be narrowed by: what is listed, and the name."""
        if not self.name_slot or self.name_slot in self.search:
            return self.search
        return {**self.search, self.name_slot: SearchSlot(values=tuple(row[self.name_slot] for row in self.rows or ()))}

    @cached_property
    def askable(self) -> tuple[str, ...]:
        """All that can be asked for."""
        if self.asks:
            return self.asks
        gives = self.book.gives if self.book else ()
        name = (self.name_slot,) if self.name_slot else ()
        return tuple(dict.fromkeys((*self.answer, *self.search, *name, *gives)))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Every slot."""
        takes = self.book.takes if self.book else ()
        return tuple(dict.fromkeys((*self.wishes, *takes, *self.askable)))

    @cached_property
    def prefix(self) -> str:
        """What the names of its acts begin with."""
        return self.name[:1].upper() + self.name[1:]

    def act_name(self, role: Role) -> str:
        """The name of an act of this service, such as ``Car-Offer``; empty where it has none of that role."""
        name = self.acts.get(role, "")
        return name or (f"{self.prefix}-{_INTENTS[role]}" if role in _INTENTS else "")

    def say(self, slot: str) -> str:
        """What people call a slot."""
        known = self.wishes.get(slot)
        return known.say if known and known.say else self.declared(slot).replace("_", " ")


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
    #: The acts of each side where they are others than follow from the services.
    inventories: dict[str, Inventory] = {}
    #: The keys of a tool domain, as written: ``dialgauge.worlds.tools`` reads them.
    tools: dict[str, str | list[str]] = {}

    def words_for(self, slot: str) -> SlotWords:
        """The words of a slot; empty ones where the domain says nothing."""
        return self.words.get(slot, _NO_WORDS)

    @cached_property
    def ontology(self) -> Ontology:
        """The values that everybody may know, by service and slot; texts that only rows have included."""
        return Ontology(domains={name: dict(_specs(service)) for name, service in self.services.items()})

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
    gives = service.book.gives if service.book else ()
    yield "user", service.act_name("inform"), (*service.wishes, *takes, "")
    yield "user", service.act_name("request"), service.askable
    told = tuple(dict.fromkeys((*service.wishes, *service.answer)))
    if service.rows is not None:
        yield "system", service.act_name("inform"), (*told, CHOICE, *gives)
        yield "system", service.act_name("offer"), told
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
    for slot, kind in (service.book.takes if service.book else {}).items():
        if slot not in service.wishes:
            closed = kind.kind in ("words", "day")
            yield slot, SlotSpec(values=kind.words or (DAYS if kind.kind == "day" else ()), categorical=closed)
    for slot in service.answer:
        if slot not in service.wishes:
            values = dict.fromkeys(row[slot] for row in service.rows or () if slot in row)
            yield slot, SlotSpec(values=tuple(values))


def distinct(values: Iterator[str], match: Match) -> tuple[str, ...]:
    """Values as first written, each once; of cells that list several, each of them."""
    each = (part for value in values for part in (members(value) if match == "contains" else (value,)))
    found: dict[object, str] = {}
    for value in each:
        found.setdefault(truth(value) if match == "yes-no" else comparable(value), value)
    return tuple(found.values())
