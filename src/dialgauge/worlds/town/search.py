"""What a system finds in the town's database.

Other rules than the published evaluator's (``database.py``): values are equal or they are not, a train that arrives
after midnight does not arrive "by 9:00", a slot that the table lacks is an error. Rows of a column's value are bits of
an integer, and answers are kept: simulated users ask the same again and again.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge.dialogue import Ontology, SlotSpec, Values
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import NEXT_DAY, NO_CONSTRAINT, canonical, minutes
from dialgauge.worlds.domain import (
    Booking,
    Domain,
    DomainGoal,
    DomainSearch,
    Entity,
    Found,
    RowsFile,
    Service,
    ServiceDesk,
    ServiceTable,
    either,
)
from dialgauge.worlds.town.database import TownDatabase
from dialgauge.worlds.town.vocabulary import BOOK_SLOTS, SEARCH_SLOTS, TOWN_DOMAINS, described, town_with

_MISSING = ("?", "", "none")
_DAY = 24 * 60
#: Texts of each domain that can only be recognised by those who know them.
_TOLD = {
    "restaurant": ("address",),
    "hotel": ("address",),
    "attraction": ("address", "openhours"),
    "hospital": ("address",),
    "police": ("name", "address"),
}


class TownSearch(DomainSearch):
    """Queries over a town's rows; one serves all conversations of a process."""

    def __init__(self, town: TownDatabase) -> None:
        self.town = town
        super().__init__(town_domain(town))

    def _table(self, service: Service) -> ServiceTable:
        return _Table(service)

    @property
    def tracked(self) -> Ontology:
        """The slots of the town and their values, as the database has them."""
        return ontology_of(self.town)

    @cached_property
    def spoken(self) -> Ontology:
        """The same with names, addresses, hours and cars."""
        return spoken_ontology(self.town)

    @property
    def checksum(self) -> str:
        """Of all that can constrain."""
        return self.town.checksum

    @property
    def told_checksum(self) -> str:
        """Of all that a system can be told, the lists of taxis included."""
        return hashlib.sha256(msgspec.json.encode([self.town.raw, self.town.taxi])).hexdigest()[:8]

    def backend(self, draws: Draws, goal: DomainGoal | None = None) -> ServiceDesk:
        """The office for one conversation."""
        return Backend(self, draws, goal)


class _Table(ServiceTable):
    """The rows of one service."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._canonical: dict[str, dict[str, int]] = {}
        later, earlier = next(iter(service.next_day.items()), ("", ""))
        #: Minutes of the columns that have an order; in that order, with the rows of the first 0, 1, 2, … of them.
        self._minutes = {slot: self._times(slot, earlier if slot == later else "") for slot in service.order}
        self._sorted = {slot: _accumulated(times) for slot, times in self._minutes.items()}

    def find(self, wishes: Mapping[str, str]) -> Found:
        given = {slot: value for slot, value in wishes.items() if value not in NO_CONSTRAINT}
        if self._by_name in given:
            return self._named(given)
        rows = self.everything
        for slot, value in given.items():
            rows &= self.having(slot, value)
        return Found(self._in_order(rows, given))

    @property
    def _by_name(self) -> str:
        """The slot by which a row is found whatever else is asked for."""
        name = self.service.name_slot
        return "" if self.service.order or (self.service.tells and self.service.search) else name

    def having(self, slot: str, value: str) -> int:
        """The rows that fit one constraint, as bits; where a row has no value any is fine."""
        if value in NO_CONSTRAINT:
            return self.everything
        kept = self._kept.get((slot, value))
        if kept is None:
            if slot not in self.service.columns:
                raise DialgaugeError(
                    f"the table {self.service.name} has no column '{slot}'.{nearest(slot, self.service.columns)}"
                )
            if slot in self._minutes:
                kept = self._timed(slot, value)
            elif slot == self._by_name:
                kept = self._called(slot, value)
            else:
                column = self._values(slot)
                kept = column.get(canonical(value), 0) | self.everything & ~either(column.values())
            self._kept[slot, value] = kept
        return kept

    def named(self, text: str) -> tuple[Entity, ...]:
        """The rows of a name; trains share ids."""
        if self.service.order:
            return super().named(text)
        if not self.service.search:
            return ()
        return self.find({self.service.name_slot: text}).rows

    def _comparable(self, value: str) -> object:
        return canonical(value)

    def _values(self, slot: str) -> dict[str, int]:
        """The distinct values of a column in canonical form, each with the rows that have it."""
        values = self._canonical.get(slot)
        if values is None:
            values = self._canonical[slot] = {}
            for cell, rows in self._cells(slot).items():
                value = canonical(cell)
                values[value] = values.get(value, 0) | rows
        return values

    def _named(self, given: dict[str, str]) -> Found:
        rows = self.having(self._by_name, given[self._by_name])
        if rows.bit_count() != 1:
            for slot, value in given.items():
                rows &= self.having(slot, value)
            return Found(self.at(rows), () if rows else (self._by_name,))
        failed = tuple(slot for slot, value in given.items() if not self.having(slot, value) & rows)
        return Found(self.at(rows), failed)

    def _called(self, slot: str, name: str) -> int:
        """The rows of that name; else those whose name alone contains it, or is contained in it."""
        wanted, names = canonical(name), self._values(slot)
        if wanted in names:
            return names[wanted]
        near = [rows for known, rows in names.items() if f" {wanted} " in f" {known} " or f" {known} " in f" {wanted} "]
        return near[0] if len(near) == 1 else 0

    def _timed(self, slot: str, value: str) -> int:
        wanted = minutes(value, NEXT_DAY)
        if wanted is None:
            raise DialgaugeError(f"'{value}' is no time of day for {slot} (HH:MM)")
        times, first = self._sorted[slot]
        if self.service.search[slot].match == "at-least":
            return self.everything & ~first[bisect_left(times, wanted)]
        return first[bisect_right(times, wanted)]

    def _in_order(self, rows: int, given: Mapping[str, str]) -> tuple[Entity, ...]:
        entities = self.at(rows)
        if not self.service.order:
            return entities
        slot = next((slot for slot in self.service.order if slot in given), list(self.service.order)[-1])
        sign, times = -1 if self.service.order[slot] == "falling" else 1, self._minutes[slot]
        return tuple(sorted(entities, key=lambda row: sign * times[row.number]))

    def _times(self, slot: str, earlier: str) -> list[int]:
        """The minutes of a column; a time before another of its row is on the next day."""
        times = []
        for row in self.rows:
            minute = minutes(row.values.get(slot, ""), NEXT_DAY)
            start = minutes(row.values.get(earlier, ""), NEXT_DAY) if earlier else 0
            if minute is None or start is None:
                raise DialgaugeError(
                    f"{self.service.name} number {row.number} of the database has no time of departure or arrival"
                )
            times.append(minute + _DAY if minute < start else minute)
        return times


def _accumulated(times: list[int]) -> tuple[list[int], list[int]]:
    """The distinct times in order, and the rows of the first 0, 1, 2, … of them."""
    rows: dict[int, int] = {}
    for number, time in enumerate(times):
        rows[time] = rows.get(time, 0) | 1 << number
    ordered = sorted(rows)
    return ordered, list(accumulate((rows[time] for time in ordered), or_, initial=0))


def ontology_of(town: TownDatabase) -> Ontology:
    """The slots of the town and their values, as the database has them: what everybody there may know."""
    domains = {}
    for domain in TOWN_DOMAINS:
        slots = (*SEARCH_SLOTS[domain], *BOOK_SLOTS.get(domain, ()))
        if slots:
            rows = town.raw.get(domain, ())
            domains[domain] = {slot: SlotSpec(values=_values(rows, slot)) for slot in dict.fromkeys(slots)}
    return Ontology(domains=domains)


def spoken_ontology(town: TownDatabase) -> Ontology:
    """The ontology with the texts that agents tell each other but nobody searches by: names, addresses, hours, cars."""
    known = ontology_of(town).domains
    domains = {
        domain: known.get(domain, {}) | {slot: SlotSpec(values=_values(town.raw[domain], slot)) for slot in slots}
        for domain, slots in _TOLD.items()
        if domain in town.raw
    }
    cars = [f"{colour} {make}" for colour in town.taxi["taxi_colors"] for make in town.taxi["taxi_types"]]
    taxi = known.get("taxi", {}) | {"car type": SlotSpec(values=tuple(cars))}
    return Ontology(domains=known | domains | {"taxi": taxi})


def _values(rows: Iterable[Mapping[str, Any]], slot: str) -> Values:
    values = (row.get(slot) for row in rows)
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str) and value not in _MISSING))


_REFERENCE, _TOTAL = "reference", "total"


class Backend(ServiceDesk):
    """The office during one conversation. It takes any value for a booking."""

    def _problems(self, service: Service, slots: Mapping[str, str]) -> dict[str, str]:
        del service, slots
        return {}

    def _result(self, service: Service, answer: Booking) -> dict[str, str]:
        if service.rows is None or not answer.gives:
            return answer.gives
        result = {_REFERENCE: next(iter(answer.gives.values()))}
        return {**result, _TOTAL: answer.total} if answer.total else result


_DIGITS = tuple("0123456789")
_TAXI = "taxi"


def town_domain(town: TownDatabase | None = None) -> Domain:
    """The domain with the rows of a town; of a synthetic one where none is given."""
    if town is None:
        from dialgauge.worlds.town.generator import generate_town

        town = generate_town()
    domain = town_with({table: _rows(table, rows) for table, rows in town.raw.items() if rows})
    taxi = domain.services[_TAXI]
    if taxi.book is None:
        return domain
    cars = (tuple(town.taxi["taxi_colors"]), (" ",), tuple(town.taxi["taxi_types"]))
    book = replace(taxi.book, made={"car type": cars, "phone": (("07",), *[_DIGITS] * 9)})
    return replace(domain, services={**domain.services, _TAXI: replace(taxi, book=book)}, files=town.files)


def _rows(table: str, rows: list[dict[str, Any]]) -> RowsFile:
    columns = described(table)
    return RowsFile(
        f"{table}_db.json", columns, [(number, _told(row, columns)) for number, row in enumerate(rows, start=1)]
    )


def _told(row: Mapping[str, Any], slots: tuple[str, ...]) -> dict[str, str]:
    return {
        slot: value
        for slot in slots
        if isinstance(value := row.get(slot), str) and value.strip().lower() not in _MISSING
    }
