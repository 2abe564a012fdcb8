"""MultiWOZ's database as published evaluators query it: which venues and trains fit a set of constraints.

Values are alike or not by the rules of Nekvinda and Dušek's evaluator (2021). Rows are bits of an integer: an answer is
the AND of a few, one for each constraint, and a subset test one AND-NOT.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from dialgauge.values import normal_slot, normal_value, similarity

VENUE_DOMAINS = ("restaurant", "hotel", "attraction")
DATABASE_DOMAINS: tuple[str, ...] = (*VENUE_DOMAINS, "train")
#: Values that constrain nothing.
DONT_CARE: frozenset[str] = frozenset(
    {"dontcare", "not mentioned", "don't care", "dont care", "do n't care", "do not care"}
)

#: Columns that nobody can ask for, and columns compared by likeness.
_NOT_ASKED = {
    "restaurant": {"location", "introduction", "signature"},
    "hotel": {"location", "price", "takesbookings"},
    "attraction": {"location", "openhours"},
    "train": {"location"},
}
_BY_LIKENESS = {
    "restaurant": {"name", "food"},
    "hotel": {"name"},
    "attraction": {"name"},
    "train": {"departure", "destination"},
}
_ANY = "?"
_CLOCK = re.compile(r"(\d\d):(\d\d)")
_ALIKE = 90


@lru_cache(1 << 16)
def minutes(time: str) -> int:
    """Minutes since midnight; 0 for whatever does not begin like a clock.

    >>> minutes("09:15"), minutes("24:55"), minutes("evening")
    (555, 1495, 0)
    """
    clock = _CLOCK.match(time)
    return 60 * int(clock[1]) + int(clock[2]) if clock else 0


@lru_cache(1 << 16)
def alike(row: str, wanted: str) -> bool:
    """Is the similarity of a value of the database and a wanted one at least 90?"""
    return similarity(row, wanted) >= _ALIKE


class TownTable:
    """The rows of one domain."""

    def __init__(self, domain: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.domain = domain
        self.rows = [_plain(row, _NOT_ASKED[domain]) for row in rows]
        self.everything = (1 << len(self.rows)) - 1
        self._fitting: dict[tuple[str, str], int] = {}
        #: Answers by constraints: the dialogues of a system ask for few different ones.
        self._answers: dict[tuple[tuple[str, str], ...], int] = {}
        #: For each column its values, each with the rows that have it.
        self.columns: dict[str, dict[str, int]] = {}
        for number, row in enumerate(self.rows):
            for column, value in row.items():
                values = self.columns.setdefault(column, {})
                values[value] = values.get(value, 0) | (1 << number)
        # 336 ids of trains name two to four of them.
        ids = self.columns.get(self.id_column, {})
        self._shared_ids = [having for having in ids.values() if having.bit_count() > 1]

    def answer(self, constraints: Mapping[str, str]) -> int:
        """The rows that fit, as bits. Slots that are no column and values that say "any" constrain nothing."""
        key = tuple(constraints.items())
        if key not in self._answers:
            answer = self.everything
            for slot, value in key:
                if slot in self.columns and value not in DONT_CARE:
                    answer &= self._fit(slot, normal_value(slot, value))
            self._answers[key] = answer
        return self._answers[key]

    @property
    def id_column(self) -> str:
        return "trainid" if self.domain == "train" else "id"

    def same_ids(self, rows: int) -> int:
        """These rows and all others that have one of their ids."""
        for group in self._shared_ids:
            if rows & group:
                rows |= group
        return rows

    def at(self, rows: int) -> list[dict[str, str]]:
        """The rows themselves, in the database's order."""
        return [row for number, row in enumerate(self.rows) if rows >> number & 1]

    def _fit(self, column: str, wanted: str) -> int:
        """The rows whose value of a column fits a wanted one; those with an unknown value always do."""
        rows = self._fitting.get((column, wanted))
        if rows is None:
            rows = 0
            for value, having in self.columns[column].items():
                if value == _ANY or self._fits(column, value, wanted):
                    rows |= having
            self._fitting[column, wanted] = rows
        return rows

    def _fits(self, column: str, value: str, wanted: str) -> bool:
        if column == "arrive":
            return minutes(value) <= minutes(wanted)
        if column == "leave":
            return minutes(value) >= minutes(wanted)
        return alike(value, wanted) if column in _BY_LIKENESS[self.domain] else value == wanted


class TownDatabase:
    """The tables of restaurants, hotels, attractions and trains."""

    def __init__(self, rows: Mapping[str, Iterable[dict[str, Any]]], files: Iterable[str] = ()) -> None:
        self.tables = {domain: TownTable(domain, rows[domain]) for domain in DATABASE_DOMAINS}
        #: Where the rows were read from.
        self.files = tuple(files)

    @cached_property
    def checksum(self) -> str:
        """Of all that can constrain."""
        rows = {domain: table.rows for domain, table in self.tables.items()}
        return hashlib.sha256(msgspec.json.encode(rows)).hexdigest()[:8]

    def answer(self, domain: str, constraints: Mapping[str, str]) -> int:
        """The rows of a domain that fit, as bits; none for a domain that has no table."""
        table = self.tables.get(domain)
        return 0 if table is None else table.answer(constraints)

    def ids(self, domain: str, rows: int) -> frozenset[str]:
        """The ids of rows of a domain; several trains can have one id."""
        table = self.tables[domain]
        return frozenset(row[table.id_column] for row in table.at(rows))

    def ids_within(self, domain: str, rows: int, others: int) -> bool:
        """Are the ids of rows all among the ids of other rows?"""
        surplus = rows & ~others
        return not (surplus and surplus & ~self.tables[domain].same_ids(others))

    def failed_constraints(self, domain: str, row: int, constraints: Mapping[str, str]) -> list[str]:
        """The slots whose constraints a row (one bit) fails; none where it fits."""
        return [slot for slot, value in constraints.items() if not row & self.answer(domain, {slot: value})]


def _plain(row: Mapping[str, Any], left_out: set[str]) -> dict[str, str]:
    named = {normal_slot(column): value for column, value in row.items()}
    return {column: value for column, value in named.items() if column not in left_out and isinstance(value, str)}
