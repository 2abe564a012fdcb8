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
from typing import Any, TypeVar

import msgspec

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import decode, resolve
from dialgauge.values import normal_slot, normal_value
from dialgauge.worlds.town.likeness import DONT_CARE, LikeTexts, minutes
from dialgauge.worlds.town.vocabulary import described

T = TypeVar("T")

VENUE_DOMAINS = ("restaurant", "hotel", "attraction")
DATABASE_DOMAINS: tuple[str, ...] = (*VENUE_DOMAINS, "train")

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
#: Columns that every row of a file must fill, in the spelling of the files: the id, and what can be searched for.
_NEEDED = {
    "restaurant": ("id", "name", "food", "area", "pricerange"),
    "hotel": ("id", "name", "type", "area", "pricerange", "stars", "parking", "internet"),
    "attraction": ("id", "name", "type", "area"),
    "train": ("trainID", "departure", "destination", "day", "leaveAt", "arriveBy"),
    "hospital": ("department",),
    "police": ("name",),
}
#: Columns that people hear of and that the files of MultiWOZ itself do not have; ConvLab-2's do.
_PERHAPS = {"hospital": ("address", "postcode"), "police": ("postcode",)}
#: Tables that constrain nothing, read when somebody wants them.
_SIDE_TABLES = ("hospital", "police")
#: Where nothing is said of taxis.
_PLAIN_TAXI = {"taxi_colors": ["black"], "taxi_types": ["car"]}
_ANYTHING = msgspec.json.Decoder(Any)
_LISTS = msgspec.json.Decoder(dict[str, list[str]])
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
    """Restaurants, hotels, attractions and trains; on the side a hospital, the police and taxis."""

    def __init__(
        self,
        rows: Mapping[str, Iterable[dict[str, Any]]],
        files: Iterable[str] = (),
        *,
        taxi: Mapping[str, Iterable[str]] | None = None,
        folder: Path | None = None,
    ) -> None:
        """From rows of all tables, or of the four main ones and the folder where the others may be."""
        self._rows = {domain: list(table) for domain, table in rows.items()}
        self._taxi = taxi
        self._folder = folder
        self.tables = {domain: TownTable(domain, self._rows[domain]) for domain in DATABASE_DOMAINS}
        #: Where the rows were read from.
        self.files = tuple(files)

    @cached_property
    def raw(self) -> dict[str, list[dict[str, Any]]]:
        """The rows as they were read, by table; ``hospital`` and ``police`` are empty where there are none."""
        return self._rows | {
            name: [] if (path := self._side_file(name)) is None else _load(path, name)
            for name in _SIDE_TABLES
            if name not in self._rows
        }

    @cached_property
    def taxi(self) -> dict[str, list[str]]:
        """Colours (``taxi_colors``) and makes (``taxi_types``) of taxis; black cars where the database has none."""
        if self._taxi is not None:
            return {name: list(values) for name, values in self._taxi.items()}
        path = self._side_file("taxi")
        return _PLAIN_TAXI if path is None else _load_taxi(path)

    def _side_file(self, name: str) -> Path | None:
        return None if self._folder is None else _present(self._folder, name)

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
    rows = {domain: _load(path, domain) for domain, path in paths.items()}
    return TownDatabase(rows, map(str, paths.values()), folder=Path(folder))


def town_beside(gold: str | Path) -> TownDatabase:
    """The database in the folder ``db`` beside a MultiWOZ file, where the dataset has it."""
    parent = Path(gold).absolute().parent
    for folder in (parent / _FOLDER, parent):
        if any(folder.glob("restaurant_db.json*")):
            return load_town(folder)
    raise DialgaugeError(
        f"there is no MultiWOZ database beside it (a folder '{_FOLDER}' with restaurant_db.json and the others); "
        "name its folder with --database",
        file=str(gold),
    )


def _file(folder: Path, domain: str) -> Path:
    path = _present(folder, domain)
    if path is None:
        raise DialgaugeError(f"there is no {domain}_db.json in this folder of a MultiWOZ database", file=str(folder))
    return path


def _present(folder: Path, table: str) -> Path | None:
    stem = f"{table}_db.json"
    return next((folder / name for name in (stem, f"{stem}.gz") if (folder / name).is_file()), None)


def _load(path: Path, table: str) -> list[dict[str, Any]]:
    rows = _read(path, _ANYTHING)
    if not isinstance(rows, list):
        raise DialgaugeError("this table does not have the shape of a list of rows", file=str(path))
    if not rows:
        raise DialgaugeError("the table of the MultiWOZ database is empty", file=str(path))
    needed = _NEEDED[table]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise DialgaugeError(f"row {number} of this table does not have the shape of an object", file=str(path))
        for column in needed:
            if not isinstance(row.get(column), str):
                raise _bad_cell(path, number, column, row)
    for column in described(table):
        if column not in _PERHAPS.get(table, ()) and not any(isinstance(row.get(column), str) for row in rows):
            raise _bad_column(path, column, rows)
    return rows


def _load_taxi(path: Path) -> dict[str, list[str]]:
    lists = _read(path, _LISTS)
    for name in _PLAIN_TAXI:
        if not lists.get(name):
            raise DialgaugeError(f"the list '{name}' is missing or empty; a taxi needs one of each", file=str(path))
    return lists


def _bad_cell(path: Path, number: int, column: str, row: Mapping[str, Any]) -> DialgaugeError:
    fault = f"is not text but {row[column]!r}" if column in row else "is missing"
    called = f" ({row['name']})" if isinstance(row.get("name"), str) else ""
    return DialgaugeError(
        f"the column '{column}' {fault} in row {number}{called}; each row of this table needs it as a text",
        file=str(path),
    )


def _bad_column(path: Path, column: str, rows: Iterable[Mapping[str, Any]]) -> DialgaugeError:
    """A column that some rows may lack, but not all: nothing could be told of it, and "unknown" would be the truth."""
    names = {name for row in rows for name in row}
    return DialgaugeError(
        f"the column '{column}' {'is not text in any row' if column in names else 'is missing in all rows'}; "
        f"people ask for it, and some row of this table must have it.{nearest(column, names - {column})}",
        file=str(path),
    )


def _read(path: Path, decoder: msgspec.json.Decoder[T]) -> T:
    (part,) = resolve(path)
    return decode(decoder, part.read(), part)
