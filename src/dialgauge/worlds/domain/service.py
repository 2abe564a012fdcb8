"""A service as a record: what can be looked up, asked and booked, and the rules by which values are compared.

Slots have their declared name (``from hour``) in files, and one with underscores (``from_hour``) everywhere else: the
records here use the latter, and :meth:`Service.declared` gives the former.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache, partial
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act
from dialgauge.intents import service_of
from dialgauge.text import upper_first
from dialgauge.values import (
    AS_WRITTEN,
    DAYS,
    NEXT_DAY,
    TOWN_SPELLINGS,
    comparable,
    minutes,
    number,
    plain,
    same_value,
    spelled,
    truth,
)
from dialgauge.worlds.domain.matching import ORDERED, Match, fits, has_thousands, ordinal

Kind: TypeAlias = Literal["text", "day", "time", "number", "words"]
Row: TypeAlias = dict[str, str]
Order: TypeAlias = Literal["rising", "falling"]
#: What acts are for: the names of the first half follow from the service, those of the second exist where it has them.
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
ASKED = "?"
#: The system's answer where a cell is unknown.
UNKNOWN = "unknown"
#: What the record calls a search and a booking.
SEARCH, BOOK = "search", "book"
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
    "confirm": "Book",
}
_TIMES = tuple(f"{hour:02d}:{minute:02d}" for hour in range(5, 24) for minute in (0, 15, 30, 45))
_SOME = 8
#: A user who does not mind is not asked more than that before something is offered.
_QUESTIONS = 3
_WHOLE = re.compile(r"[-+]?[0-9]+")


class SlotType(Struct, frozen=True):
    """What a booking takes for a slot."""

    kind: Kind = "text"
    #: Bounds of a number, both included; None: none.
    low: int | None = None
    high: int | None = None
    words: tuple[str, ...] = ()

    def problem(self, value: str) -> str:
        """What is wrong with a value, as the end of a sentence that begins with it; empty where nothing is.

        >>> SlotType("number", 1, 9).problem("-3"), SlotType("time").problem("99:99"), SlotType("day").problem("Monday")
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
        return self._number_problem(value) if self.kind == "number" else ""

    def _number_problem(self, value: str) -> str:
        if self.low is None or self.high is None:
            if number(value) is not None:
                return ""
            hint = " without thousands separators" if has_thousands(value) else ""
            return f"must be a number{hint}"
        whole = _WHOLE.fullmatch(value.strip())
        if whole is None or not self.low <= int(value) <= self.high:
            return f"must be a whole number from {self.low} to {self.high}"
        return ""

    def some(self) -> tuple[str, ...]:
        """Some of the values that it can have; none where it is any text."""
        if self.kind == "number":
            low, high = (1, _SOME) if self.low is None or self.high is None else (self.low, self.high)
            return tuple(map(str, range(low, min(high, low + _SOME - 1) + 1)))
        if self.kind == "time":
            return _TIMES
        return DAYS if self.kind == "day" else self.words

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

    def problem(self, value: str) -> str:
        """What is wrong with a wish, as the end of a sentence that begins with it; empty where nothing is."""
        if self.match in ORDERED and (self.values or ordinal(value) is None):
            if self.timed:
                return "" if minutes(value) is not None else "must be a time of day such as 9:30"
            return "" if number(value) is not None else "must be a number"
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
    #: Values that name the service rather than a wish.
    generic: dict[str, str] = {}
    #: Values are compared as MultiWOZ's are.
    multiwoz: bool = False
    #: What the record calls a booking.
    call: str = BOOK
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

    def same(self, value: str, other: str) -> bool:
        """Do two values mean the same?"""
        return same_value(value, other, TOWN_SPELLINGS if self.multiwoz else AS_WRITTEN)

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
            order = partial(minutes, latest=NEXT_DAY) if self.multiwoz else ordinal
            amount, limit = order(value), order(wanted)
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
    def _act_names(self) -> dict[str, str]:
        named = {role: name for role, name in self.acts.items() if name}
        return {**{role: f"{self.prefix}-{intent}" for role, intent in _INTENTS.items()}, **named}

    def say(self, slot: str) -> str:
        """What people call a slot."""
        known = self.wishes.get(slot)
        return known.say if known and known.say else self.declared(slot).replace("_", " ")


@lru_cache(1 << 16)
def act(name: str, slot: str = "", value: str = "") -> Act:
    """An act; its service is the first half of its name.

    >>> act("Car-Inform", "class", "van")
    Act(name='Car-Inform', domain='car', slot='class', values=('van',))
    >>> act("general-bye")
    Act(name='general-bye', domain='general', slot='', values=())
    """
    return Act(name=name, domain=service_of(name), slot=slot, values=(value,) if value else ())
