"""The database of the town: which venues and trains fit a set of constraints.

Rows are bits of an integer. What a value of a column fits is found once, against the column's distinct values (13
stations, not 2,828 trains), and kept; an answer is then the AND of a few integers, a subset test one AND-NOT.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import accumulate
from operator import or_
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats import decode, resolve
from dialgauge.worlds.town.normal_values import DONT_CARE, LikeTexts, minutes, normal_slot, normal_value

VENUE_DOMAINS = ("restaurant", "hotel", "attraction")
DATABASE_DOMAINS = (*VENUE_DOMAINS, "train")

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
_ROWS = msgspec.json.Decoder(list[dict[str, Any]])
_FOLDER = "db"


class TownTable:
    """The rows of one domain."""

    def __init__(self, domain: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.domain = domain
        self.rows = [_plain(row, _NOT_ASKED[domain]) for row in rows]
        self.everything = (1 << len(self.rows)) - 1
        self._fitting: dict[tuple[str, str], int] = {}
        self._answers: dict[tuple[tuple[str, str], ...], int] = {}
        #: For each column its values, each with the rows that have it.
        self.columns: dict[str, dict[str, int]] = {}
        for number, row in enumerate(self.rows):
            for column, value in row.items():
                values = self.columns.setdefault(column, {})
                values[value] = values.get(value, 0) | (1 << number)
        self._by_likeness = {column: LikeTexts(self.columns.get(column, ())) for column in _BY_LIKENESS[domain]}
        self._arrivals, self._not_after = self._by_time("arrive")
        self._departures, self._before = self._by_time("leave")
        # 336 ids of trains name two to four of them.
        ids = self.columns.get(self.id_column, {})
        self._shared_ids = [having for having in ids.values() if having.bit_count() > 1]

    def answer(self, constraints: Mapping[str, str]) -> int:
        """The rows that fit, as bits. Slots that are no column and values that say "any" constrain nothing."""
        key = tuple(constraints.items())
        answer = self._answers.get(key)
        if answer is None:
            answer = self.everything
            for slot, value in key:
                if slot in self.columns and value not in DONT_CARE:
                    answer &= self._fit(slot, normal_value(slot, value))
            self._answers[key] = answer
        return answer

    @property
    def id_column(self) -> str:
        """Where a row has its id."""
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
        rows = self._fitting.get((column, wanted))
        if rows is None:
            rows = self.columns[column].get(_ANY, 0)
            if column == "arrive":
                rows |= self._not_after[bisect_right(self._arrivals, minutes(wanted))]
            elif column == "leave":
                rows |= self._before[-1] & ~self._before[bisect_left(self._departures, minutes(wanted))]
            elif column in self._by_likeness:
                for value in self._by_likeness[column].alike(wanted):
                    rows |= self.columns[column][value]
            else:
                rows |= self.columns[column].get(wanted, 0)
            self._fitting[column, wanted] = rows
        return rows

    def _by_time(self, column: str) -> tuple[list[int], list[int]]:
        """The times of a column in order, and the rows of the first 0, 1, 2, ... of them."""
        times = sorted((minutes(value), rows) for value, rows in self.columns.get(column, {}).items())
        return [minute for minute, _ in times], list(accumulate((rows for _, rows in times), or_, initial=0))


class TownDatabase:
    """Restaurants, hotels, attractions and trains."""

    def __init__(self, rows: Mapping[str, Iterable[Mapping[str, Any]]], files: Iterable[str] = ()) -> None:
        self.raw = {domain: list(rows[domain]) for domain in rows}
        self.taxi = {"taxi_colors": ["black"], "taxi_types": ["ford"]}
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


def load_town(folder: str | Path) -> TownDatabase:
    """The database in a folder with ``restaurant_db.json`` and the others, packed or not."""
    paths = {domain: _file(Path(folder), domain) for domain in DATABASE_DOMAINS}
    return TownDatabase({domain: _load(path) for domain, path in paths.items()}, map(str, paths.values()))


def town_beside(gold: str | Path) -> TownDatabase:
    """The database in the folder ``db`` beside a MultiWOZ file, where the dataset has it."""
    place = Path(gold).absolute().parent
    for folder in (place / _FOLDER, place):
        if any(folder.glob("restaurant_db.json*")):
            return load_town(folder)
    raise DialgaugeError(
        f"there is no MultiWOZ database beside it (a folder '{_FOLDER}' with restaurant_db.json and the others); "
        "name its folder with --database",
        file=str(gold),
    )


def _file(folder: Path, domain: str) -> Path:
    stem = f"{domain}_db.json"
    path = next((folder / name for name in (stem, f"{stem}.gz") if (folder / name).is_file()), None)
    if path is None:
        raise DialgaugeError(f"there is no {stem} in this folder of a MultiWOZ database", file=str(folder))
    return path


def _load(path: Path) -> list[dict[str, Any]]:
    (part,) = resolve(path)
    rows = decode(_ROWS, part.read(), part)
    if not rows:
        raise DialgaugeError("the table of the MultiWOZ database is empty", file=str(path))
    return rows
