"""The records of a domain: its services, how their rows are searched and booked, its acts, values and words.

Slots have the names that ``domain.yaml`` declares, spaces included; only tools write them with underscores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Act, Ontology, SlotSpec, State
from dialgauge.intents import service_of
from dialgauge.text import upper_first
from dialgauge.values import (
    AS_WRITTEN,
    DAYS,
    NEXT_DAY,
    TOWN_SPELLINGS,
    Spellings,
    comparable,
    minutes,
    number,
    plain,
    spelled,
    truth,
)

Kind: TypeAlias = Literal["text", "day", "time", "number", "words"]
Row: TypeAlias = dict[str, str]
#: How a column is compared with a wish.
Match: TypeAlias = Literal["same", "at-least", "at-most", "contains", "yes-no"]
MATCHES: tuple[Match, ...] = get_args(Match)
#: What orders values: a column compared with these holds numbers or clock times only.
ORDERED: tuple[Match, ...] = ("at-least", "at-most")
#: What acts are for: names of some follow from the service, the others exist where it has them.
Role: TypeAlias = Literal[
    "inform",
    "request",
    "offer",
    "recommend",
    "no_offer",
    "ask_booking",
    "book",
    "no_book",
    "confirm",
    "select",
    "offer_booking",
]
#: The names of acts on each side, with the slots they can carry, ``""`` for none.
Inventory: TypeAlias = dict[str, tuple[str, ...]]
ASKED = "?"
#: The system's answer where a cell is unknown.
UNKNOWN = "unknown"
#: What the record calls a search and a booking.
SEARCH, BOOK = "search", "book"
#: The slot of an act that says how many rows fit.
CHOICE = "choice"
#: The acts that no service owns, and what either side can say whatever the services are.
GENERAL = "general"
GENERAL_INTENTS = {
    "user": ("bye", "thank", "greet", "affirm", "negate"),
    "system": ("reqmore", "bye", "welcome", "greet"),
}
#: A slot with so many values or fewer is a matter of choice.
FEW = 20
_INTENTS: dict[Role, str] = {
    "inform": "Inform",
    "request": "Request",
    "offer": "Offer",
    "recommend": "Offer",
    "no_offer": "NoOffer",
    "ask_booking": "Request",
    "book": "Book",
    "no_book": "NoBook",
    "confirm": "Book",
}
_TIMES = tuple(f"{hour:02d}:{minute:02d}" for hour in range(5, 24) for minute in (0, 15, 30, 45))
_SOME = 8
#: A user who does not mind is not asked more than that before something is offered.
_QUESTIONS = 3
_WHOLE = re.compile(r"[-+]?[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:[,' ][0-9]{3})+(?:\.[0-9]+)?")


def has_thousands(text: str) -> bool:
    """Is it a number with thousands separators?"""
    return _THOUSANDS.fullmatch(text.strip()) is not None


def ordinal(text: str) -> Decimal | None:
    """Where a number or a clock time, also one of the next day, stands in its order."""
    minute = minutes(text, NEXT_DAY)
    return number(text) if minute is None else Decimal(minute)


def members(cell: str) -> list[str]:
    """The values that a cell lists.

    >>> members("child seat; roof box;")
    ['child seat', 'roof box']
    """
    return [part for item in cell.split(";") if (part := item.strip())]


def fits(match: Match, cell: str | None, wanted: str, spellings: Spellings = AS_WRITTEN) -> bool:
    """Does a cell fit a wish? An unknown cell fits none.

    >>> fits("at-least", "5", "4"), fits("at-most", "12:00", "9:30"), fits("contains", "gps; roof box", "GPS")
    (True, False, True)
    """
    if cell is None:
        return False
    if match == "contains":
        return comparable(wanted, spellings) in [comparable(member, spellings) for member in members(cell)]
    if match == "yes-no":
        return truth(cell) is not None and truth(cell) == truth(wanted)
    if match in ORDERED:
        value, limit = ordinal(cell), ordinal(wanted)
        if value is None or limit is None:
            return False
        return value >= limit if match == "at-least" else value <= limit
    return comparable(cell, spellings) == comparable(wanted, spellings)


class SlotType(Struct, frozen=True):
    """What a booking takes for a slot."""

    kind: Kind = "text"
    #: Bounds of a number, both included; None: none.
    low: int | None = None
    high: int | None = None
    words: tuple[str, ...] = ()

    def problem(self, value: str) -> str:
        """Error message for a value, or "".

        >>> SlotType("number", 1, 9).problem("-3"), SlotType("time").problem("99:99"), SlotType("day").problem("Monday")
        ('must be a whole number from 1 to 9', 'must be a time of day such as 9:30', '')
        """
        if not value.strip():
            return "is empty"
        match self.kind:
            case "day":
                return "" if plain(value) in DAYS else "must be a day of the week"
            case "time":
                return "" if minutes(value) is not None else "must be a time of day such as 9:30"
            case "words":
                fitting = comparable(value) in map(comparable, self.words)
                return "" if fitting else f"must be one of {', '.join(self.words)}"
            case "number" if self.low is not None and self.high is not None:
                fitting = _WHOLE.fullmatch(value.strip()) is not None and self.low <= int(value) <= self.high
                return "" if fitting else f"must be a whole number from {self.low} to {self.high}"
            case "number" if number(value) is None:
                return "must be a number" + (" without thousands separators" if has_thousands(value) else "")
        return ""

    def some(self) -> tuple[str, ...]:
        """Some of the values that it can have; none where it is any text."""
        if self.kind == "number":
            low, high = (1, _SOME) if self.low is None or self.high is None else (self.low, self.high)
            return tuple(map(str, range(low, min(high, low + _SOME - 1) + 1)))
        if self.kind == "time":
            return _TIMES
        return DAYS if self.kind == "day" else self.words


class SearchSlot(Struct, frozen=True):
    """How a search is narrowed by a slot."""

    match: Match = "same"
    #: What people call it, and in which unit it is.
    say: str = ""
    unit: str = ""
    #: The distinct values, as first written: the column's, and what the domain adds.
    values: tuple[str, ...] = ()

    def problem(self, value: str) -> str:
        """Error message for a wish, or ""."""
        if self.match in ORDERED and (self.values or ordinal(value) is None):
            if self.timed:
                return "" if minutes(value, NEXT_DAY) is not None else "must be a time of day such as 9:30"
            return "" if number(value) is not None else "must be a number"
        if self.match == "yes-no" and truth(value) is None:
            return "must be yes or no"
        return ""

    @property
    def timed(self) -> bool:
        """Does the column hold clock times?"""
        return bool(self.values) and all(minutes(value, NEXT_DAY) is not None for value in self.values)


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


class ServiceKeys(Struct, frozen=True, kw_only=True):
    """What a service has as ``domain.yaml`` says it."""

    #: With its article: ``a rental car``.
    title: str = ""
    answer: tuple[str, ...] = ()
    #: What a search cannot do without, and groups of which it needs one.
    requires: tuple[str, ...] = ()
    requires_one_of: tuple[tuple[str, ...], ...] = ()
    #: How rows are ordered: by the first of these slots that was asked for, else by the last; none: as they stand.
    order: dict[str, Literal["rising", "falling"]] = {}
    #: Times that are on the next day where they are earlier than another of the row.
    next_day: dict[str, str] = {}
    #: What a system tells of a row beside its name, and what it asks for to narrow a search, the most telling first.
    describe: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    #: What is told at once, where rows are not offered by name.
    tells: tuple[str, ...] = ()
    #: A price of the row and the slot of the booking that multiplies it.
    total: dict[str, str] = {}
    #: Values that name the service rather than a wish.
    generic: dict[str, str] = {}
    #: What the record calls a booking.
    call: str = BOOK
    #: Names of acts by what they are for, where they are others than :meth:`Service.act_name` makes.
    acts: dict[Role, str] = {}


class Service(ServiceKeys, frozen=True, kw_only=True, dict=True):
    """Something that can be looked up, booked or both."""

    name: str
    #: What there is, known cells only; None where there is nothing to look up.
    rows: tuple[Row, ...] | None = None
    #: The slot by which people name a row; empty without rows. And the one that tells rows of one name apart.
    name_slot: str = ""
    id_slot: str = ""
    search: dict[str, SearchSlot] = {}
    book: BookSpec | None = None
    #: Booking slots that may refer to a venue chosen in one of these services.
    refers: dict[str, tuple[str, ...]] = {}
    #: Values are compared as MultiWOZ's are: other spellings are the same, an unknown cell fits any wish.
    multiwoz: bool = False

    @cached_property
    def wishes(self) -> dict[str, SearchSlot]:
        """All that a search can be narrowed by: what is listed, and the name."""
        if not self.name_slot or self.name_slot in self.search:
            return self.search
        names = (row[self.name_slot] for row in self.rows or () if self.name_slot in row)
        return {**self.search, self.name_slot: SearchSlot(values=tuple(dict.fromkeys(names)))}

    @cached_property
    def askable(self) -> tuple[str, ...]:
        """All that can be asked for."""
        name = (self.name_slot,) if self.name_slot else ()
        return tuple(dict.fromkeys((*self.answer, *self.search, *name, *self.gives)))

    @cached_property
    def informable(self) -> tuple[str, ...]:
        """What a user can ask for before anything is booked: wishes; of a service without rows what it takes."""
        return tuple(self.wishes) if self.rows is not None or self.book is None else tuple(self.book.takes)

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """What a booking of one of its rows takes; nothing where it has no rows or cannot be booked."""
        return tuple(self.book.takes) if self.book is not None and self.rows is not None else ()

    @property
    def booking_slots(self) -> Mapping[str, SlotType]:
        """What a booking takes, with rows or without, each with its type."""
        return self.book.takes if self.book is not None else {}

    @property
    def books(self) -> bool:
        """Does it make bookings? What is called otherwise is asked for like a row."""
        return self.book is not None and self.call == BOOK

    @cached_property
    def known(self) -> frozenset[str]:
        """Every slot that a user can give a value for."""
        return frozenset((*self.informable, *self.takes))

    @cached_property
    def gives(self) -> tuple[str, ...]:
        return self.book.gives if self.book is not None else ()

    @cached_property
    def offer_slot(self) -> str:
        """The slot with which a row is offered; empty where rows are not offered by name."""
        return "" if self.tells else self.name_slot

    @cached_property
    def columns(self) -> frozenset[str]:
        """What can be said of a row."""
        return frozenset((*self.informable, *self.askable, *((self.name_slot,) if self.name_slot else ()))) - {
            *(self.gives if self.rows is not None else ())
        }

    @cached_property
    def narrowing(self) -> tuple[str, ...]:
        """What a system asks for to narrow a search; nothing where it is required anyway, or nothing is offered."""
        if self.rows is None or self.tells or self.requires:
            return ()
        return self.narrow or tuple(slot for slot in self.search if slot != self.name_slot)[:_QUESTIONS]

    @cached_property
    def description(self) -> tuple[str, ...]:
        """What a system tells of a row beside its name."""
        return self.describe or tuple(slot for slot in self.search if slot != self.name_slot)

    @cached_property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """Groups of slots of which one will do."""
        return (*self.requires_one_of, *(self.book.one_of if self.book else ()))

    @property
    def spellings(self) -> Spellings:
        """Which spellings of a value count as the same."""
        return TOWN_SPELLINGS if self.multiwoz else AS_WRITTEN

    def same(self, value: str, other: str) -> bool:
        """Do two values mean the same?"""
        return value == other or comparable(value, self.spellings) == comparable(other, self.spellings)

    def canonical(self, slot: str, value: str) -> str:
        """A value in the one spelling that all values have which mean the same; the town's stay as they are."""
        if self.multiwoz:
            return value
        rule = self.wishes.get(slot)
        polarity = truth(value) if rule is not None and rule.match == "yes-no" else None
        return spelled(value) if polarity is None else ("yes" if polarity else "no")

    def contradicts(self, slot: str, value: str, wanted: str) -> bool:
        """Does a value that is told of a slot go against what is wanted?"""
        rule = self.wishes.get(slot) if self.rows is not None else None
        if rule is None or rule.match == "same" or (self.multiwoz and rule.match not in ORDERED):
            return not self.same(value, wanted)
        if rule.match in ORDERED:
            amount, limit = ordinal(value), ordinal(wanted)
            if amount is None or limit is None:
                return False
            return amount < limit if rule.match == "at-least" else amount > limit
        return not fits(rule.match, value, wanted)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        ident = (self.id_slot,) if self.id_slot else ()
        return tuple(dict.fromkeys((*self.wishes, *self.booking_slots, *self.askable, *ident)))

    @cached_property
    def prefix(self) -> str:
        """What the names of its acts begin with."""
        return upper_first(self.name)

    def act_name(self, role: Role) -> str:
        """The name of an act of this service, such as ``Car-Offer``; empty where it has none of that role."""
        return self._act_names.get(role, "")

    @cached_property
    def _act_names(self) -> dict[Role, str]:
        return {role: f"{self.prefix}-{intent}" for role, intent in _INTENTS.items()} | self.acts

    def say(self, slot: str) -> str:
        """What people call a slot."""
        known = self.wishes.get(slot)
        return known.say if known and known.say else slot.replace("_", " ")


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


class GoalDraw(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How goals are drawn: inclusive bounds, and shares."""

    #: The services that goals are drawn of; empty: all.
    among: tuple[str, ...] = ()
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
    #: Everything that was read.
    files: tuple[str, ...] = ()
    #: Values and acts are MultiWOZ's.
    multiwoz: bool = False

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

    def acts(self, speaker: str) -> Inventory:
        """The names of the acts of one side with the slots they can carry, ``""`` for none."""
        return self._acts[speaker]

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
    takes, gives = tuple(service.booking_slots), service.gives
    name = (service.name_slot,) if service.name_slot else ()
    tellable = tuple(dict.fromkeys((*service.wishes, *service.answer)))
    offered = service.rows is not None and not service.tells
    yield "user", service.act_name("inform"), (*service.informable, *service.takes, "")
    yield "user", service.act_name("request"), service.askable
    of_system: list[tuple[Role, bool, tuple[str, ...]]] = [
        ("inform", service.rows is not None, (*tellable, CHOICE, *gives)),
        ("inform", service.rows is None, gives),
        ("offer", offered, tellable),
        ("recommend", offered, tellable),
        ("select", offered, (*service.search, "")),
        ("no_offer", offered, (*service.wishes, "")),
        ("request", offered or not service.tells, tuple(service.search) or takes),
        ("offer_booking", service.book is not None, (*name, "")),
        ("ask_booking", service.book is not None, takes),
        ("book", service.book is not None, (*name, *gives, *service.takes, "")),
        ("no_book", service.book is not None, (*takes, "")),
    ]
    for role, has, slots in of_system:
        if has and (act_name := service.act_name(role)):
            yield "system", act_name, slots


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


@lru_cache(1 << 16)
def act(name: str, slot: str = "", value: str = "") -> Act:
    """An act; its service is the first half of its name.

    >>> act("Car-Inform", "class", "van")
    Act(name='Car-Inform', domain='car', slot='class', values=('van',))
    >>> act("general-bye")
    Act(name='general-bye', domain='general', slot='', values=())
    """
    return Act(name=name, domain=service_of(name), slot=slot, values=(value,) if value else ())
