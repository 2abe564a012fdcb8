"""What a search finds in the rows of a domain.

The rows that fit a wish are bits of an integer, found once for each wish and kept: an answer is the AND of a few of
them, and simulated users ask the same again and again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import NO_CONSTRAINT, comparable
from dialgauge.worlds.domain.domain import UNKNOWN, Domain, SearchSlot, Service, fits, ordinal

_DAY = 24 * 60


class Entity(Struct, frozen=True, gc=False):
    """One row: its number in the table, its service, what can be told of it, and what people call it."""

    number: int
    domain: str
    values: dict[str, str]
    name: str

    def get(self, slot: str) -> str:
        """A value, or ``unknown`` where the row has none."""
        return self.values.get(slot, UNKNOWN)


class DomainSearch:
    """Queries over a domain's rows; one serves all conversations of a process."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._tables = {
            name: ServiceTable(service) for name, service in domain.services.items() if service.rows is not None
        }
        self._kept: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Entity, ...]] = {}
        self._names: dict[tuple[str, str], tuple[Entity, ...]] = {}

    def find(self, service: str, wishes: Mapping[str, str]) -> tuple[Entity, ...]:
        """The rows that fit all wishes, in the service's order."""
        key = (service, tuple(wishes.items()))
        rows = self._kept.get(key)
        if rows is None:
            table = self._tables.get(service)
            if table is None:
                raise DialgaugeError(f"there is no service '{service}' with rows.{nearest(service, self._tables)}")
            rows = self._kept[key] = table.find(wishes)
        return rows

    @cached_property
    def told(self) -> frozenset[str]:
        """Every value of the rows, in small letters."""
        return frozenset(
            value.casefold() for table in self._tables.values() for row in table.rows for value in row.values.values()
        )

    def rows(self, service: str) -> tuple[Entity, ...]:
        """All rows of a service; none where it has none."""
        return self._tables[service].rows if service in self._tables else ()

    def named(self, service: str, text: str) -> tuple[Entity, ...]:
        """The rows that a text names, by id or by name."""
        named = self._names.get((service, text))
        if named is None:
            named = self._names[service, text] = self._tables[service].named(text) if service in self._tables else ()
        return named

    def has(self, row: Entity, slot: str, value: str) -> bool:
        """Does a row fit a wish?"""
        return bool(self._tables[row.domain].having(slot, value) >> row.number & 1)


class ServiceTable:
    """The rows of one service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.rows = tuple(
            Entity(number, service.name, values, values.get(service.name_slot, ""))
            for number, values in enumerate(service.rows or ())
        )
        self.everything = (1 << len(self.rows)) - 1
        self._kept: dict[tuple[str, str], int] = {}
        self._columns: dict[str, dict[str, int]] = {}
        self._ordinals: dict[str, list[float]] = {}

    def find(self, wishes: Mapping[str, str]) -> tuple[Entity, ...]:
        """The rows that fit all wishes."""
        rows = self.everything
        for slot, value in wishes.items():
            rows &= self.having(slot, value)
        order = self.service.order
        if not order:
            return self._at(rows)
        slot = next((slot for slot in order if slot in wishes), list(order)[-1])
        times, falling = self._times(slot), order[slot] == "falling"
        return tuple(sorted(self._at(rows), key=lambda row: -times[row.number] if falling else times[row.number]))

    def having(self, slot: str, value: str) -> int:
        """The rows that fit one wish, as bits."""
        if value in NO_CONSTRAINT:
            return self.everything
        kept = self._kept.get((slot, value))
        if kept is None:
            known = self.service.wishes.get(slot) or (SearchSlot() if slot in self.service.columns else None)
            if known is None:
                raise DialgaugeError(
                    f"{self.service.name} cannot be searched by '{slot}'.{nearest(slot, self.service.wishes)}"
                )
            if problem := known.problem(value):
                raise DialgaugeError(f"{slot} {problem} (got '{value}')")
            kept = self._kept[slot, value] = self._fitting(slot, known, value)
        return kept

    def _fitting(self, slot: str, known: SearchSlot, value: str) -> int:
        spellings, cells = self.service.spellings, self._cells(slot)
        if slot in self.service.next_day:
            sign, limit = (-1 if known.match == "at-least" else 1), float(ordinal(value) or 0)
            times = enumerate(self._times(slot))
            return _either(1 << number for number, time in times if sign * time <= sign * limit)
        found = _either(bits for cell, bits in cells.items() if fits(known.match, cell, value, spellings))
        # What is unknown of a row of MultiWOZ's fits any wish.
        return found | self.everything & ~_either(cells.values()) if self.service.multiwoz else found

    def _times(self, slot: str) -> list[float]:
        """The times of a column; one that is before another of its row, and may be, is on the next day."""
        times = self._ordinals.get(slot)
        if times is None:
            earlier = self.service.next_day.get(slot, slot)
            times = self._ordinals[slot] = []
            for row in self.rows:
                time, start = (float(ordinal(row.values.get(column, "")) or 0) for column in (slot, earlier))
                times.append(time + _DAY if time < start else time)
        return times

    def named(self, text: str) -> tuple[Entity, ...]:
        """The rows of that id; else of that name."""
        wanted = comparable(text, self.service.spellings)
        return next((names[wanted] for names in self._names if wanted in names), ())

    @cached_property
    def _names(self) -> list[dict[Hashable, tuple[Entity, ...]]]:
        """The rows of each id and of each name."""
        indices = []
        for slot in filter(None, (self.service.id_slot, self.service.name_slot)):
            named: dict[Hashable, tuple[Entity, ...]] = {}
            for row in self.rows:
                if slot in row.values:
                    key = comparable(row.values[slot], self.service.spellings)
                    named[key] = (*named.get(key, ()), row)
            indices.append(named)
        return indices

    def _at(self, rows: int) -> tuple[Entity, ...]:
        """The rows of bits, in the table's order."""
        matches = []
        while rows:
            low = rows & -rows
            matches.append(self.rows[low.bit_length() - 1])
            rows ^= low
        return tuple(matches)

    def _cells(self, slot: str) -> dict[str, int]:
        """The distinct cells of a column, each with the rows that have it."""
        cells = self._columns.get(slot)
        if cells is None:
            cells = self._columns[slot] = {}
            for row in self.rows:
                if slot in row.values:
                    cell = row.values[slot]
                    cells[cell] = cells.get(cell, 0) | 1 << row.number
        return cells


def _either(rows: Iterable[int]) -> int:
    """Rows that are among any of these."""
    result = 0
    for bits in rows:
        result |= bits
    return result
