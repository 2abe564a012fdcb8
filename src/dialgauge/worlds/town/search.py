"""What a system finds in the town's database.

Other rules than the published evaluator's (``database.py``): values are equal or they are not, a train that arrives
after midnight does not arrive "by 9:00", a slot that the table lacks is an error. Rows of a column's value are bits of
an integer, and answers are kept: simulated users ask the same again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from dialgauge.dialogue import Ontology, SlotSpec, Values
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import NO_CONSTRAINT, canonical, clock
from dialgauge.worlds.town.database import TownDatabase
from dialgauge.worlds.town.vocabulary import BOOK_SLOTS, SEARCH_SLOTS, SHOWN_COLUMNS, TOWN_DOMAINS, UNKNOWN

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


class TownRow(Struct, frozen=True, gc=False):
    """One venue or train: its number in the table, and what can be told of it."""

    number: int
    domain: str
    values: dict[str, str]

    @property
    def name(self) -> str:
        """What it is called: a train has an id, which others may share."""
        return self.values.get("trainID") or self.values.get("name") or self.values.get("department", "")

    def get(self, slot: str) -> str:
        """A value, or ``unknown`` where the database has none."""
        return self.values.get(slot, UNKNOWN)


class Found(Struct, frozen=True, gc=False):
    """What a search found. A venue asked for by name is found even if it fails other constraints, which are told."""

    rows: tuple[TownRow, ...] = ()
    mismatched: tuple[str, ...] = ()


class TownSearch:
    """Queries over a town's rows; one serves all conversations of a process."""

    def __init__(self, town: TownDatabase) -> None:
        self.town = town
        self._tables = {domain: _Table(domain, rows) for domain, rows in town.raw.items() if domain in SHOWN_COLUMNS}
        self._kept: dict[tuple[str, tuple[tuple[str, str], ...]], Found] = {}

    def find(self, domain: str, constraints: Mapping[str, str]) -> Found:
        """The rows that fit, in the table's order; trains by time."""
        key = (domain, tuple(constraints.items()))
        found = self._kept.get(key)
        if found is None:
            table = self._tables.get(domain)
            if table is None:
                raise DialgaugeError(f"the town has no table '{domain}'.{nearest(domain, self._tables)}")
            found = self._kept[key] = table.find(constraints)
        return found

    def row(self, domain: str, number: int) -> TownRow:
        """A row by its number."""
        return self._tables[domain].rows[number]

    def rows(self, domain: str) -> tuple[TownRow, ...]:
        """All rows of a table."""
        return self._tables[domain].rows

    def fits(self, row: TownRow, constraints: Mapping[str, str]) -> list[str]:
        """The constraints that a row fails; none where it fits."""
        table = self._tables[row.domain]
        bit = 1 << row.number
        return [slot for slot, value in constraints.items() if not table.having(slot, value) & bit]


class _Table:
    """The rows of one domain."""

    def __init__(self, domain: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.domain = domain
        self.rows = tuple(TownRow(number, domain, _told(row, SHOWN_COLUMNS[domain])) for number, row in enumerate(rows))
        self.everything = (1 << len(self.rows)) - 1
        self._columns: dict[str, dict[str, int]] = {}
        self._without: dict[str, int] = {}
        for slot in SHOWN_COLUMNS[domain]:
            values: dict[str, int] = {}
            for row in self.rows:
                if slot in row.values:
                    value = canonical(row.values[slot])
                    values[value] = values.get(value, 0) | 1 << row.number
            self._columns[slot] = values
            self._without[slot] = self.everything & ~_either(values.values())
        self._kept: dict[tuple[str, str], int] = {}
        self._minutes = [self._times(row) for row in self.rows] if domain == "train" else []

    def find(self, constraints: Mapping[str, str]) -> Found:
        given = {slot: value for slot, value in constraints.items() if value not in NO_CONSTRAINT}
        if "name" in given and "name" in self._columns:
            return self._named(given)
        rows = self.everything
        for slot, value in given.items():
            rows &= self.having(slot, value)
        return Found(self._at(rows, given))

    def having(self, slot: str, value: str) -> int:
        """The rows that fit one constraint, as bits; where a row has no value any is fine."""
        if value in NO_CONSTRAINT:
            return self.everything
        kept = self._kept.get((slot, value))
        if kept is None:
            if slot not in self._columns:
                raise DialgaugeError(f"the table {self.domain} has no column '{slot}'.{nearest(slot, self._columns)}")
            if slot in ("leaveAt", "arriveBy"):
                kept = self._timed(slot, value)
            elif slot == "name":
                kept = self._called(value)
            else:
                kept = self._columns[slot].get(canonical(value), 0) | self._without[slot]
            self._kept[slot, value] = kept
        return kept

    def _named(self, given: dict[str, str]) -> Found:
        rows = self.having("name", given["name"])
        if rows.bit_count() != 1:
            for slot, value in given.items():
                rows &= self.having(slot, value)
            return Found(self._at(rows, given), () if rows else ("name",))
        failed = tuple(slot for slot, value in given.items() if not self.having(slot, value) & rows)
        return Found(self._at(rows, given), failed)

    def _called(self, name: str) -> int:
        """The rows of that name; else those whose name alone contains it, or is contained in it."""
        wanted, names = canonical(name), self._columns["name"]
        if wanted in names:
            return names[wanted]
        near = [rows for known, rows in names.items() if f" {wanted} " in f" {known} " or f" {known} " in f" {wanted} "]
        return near[0] if len(near) == 1 else 0

    def _timed(self, slot: str, value: str) -> int:
        wanted = clock(value)
        if wanted is None:
            raise DialgaugeError(f"'{value}' is no time of day for {slot} (HH:MM)")
        rows = 0
        for number, (leave, arrive) in enumerate(self._minutes):
            if (leave >= wanted) if slot == "leaveAt" else (arrive <= wanted):
                rows |= 1 << number
        return rows

    def _at(self, rows: int, given: Mapping[str, str]) -> tuple[TownRow, ...]:
        found = []
        while rows:
            low = rows & -rows
            found.append(self.rows[low.bit_length() - 1])
            rows ^= low
        if self.domain == "train":
            if "arriveBy" in given:
                found.sort(key=lambda row: -self._minutes[row.number][1])
            else:
                found.sort(key=lambda row: self._minutes[row.number][0])
        return tuple(found)

    @staticmethod
    def _times(row: TownRow) -> tuple[int, int]:
        leave, arrive = clock(row.values.get("leaveAt", "")), clock(row.values.get("arriveBy", ""))
        if leave is None or arrive is None:
            raise DialgaugeError(f"train number {row.number} of the database has no time of departure or arrival")
        return leave, arrive + _DAY if arrive < leave else arrive


def _either(rows: Iterable[int]) -> int:
    result = 0
    for row in rows:
        result |= row
    return result


def _told(row: Mapping[str, Any], slots: tuple[str, ...]) -> dict[str, str]:
    return {
        slot: value
        for slot in slots
        if isinstance(value := row.get(slot), str) and value.strip().lower() not in _MISSING
    }


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
