"""The database of the town: which venues and trains fit a set of constraints.

Rows are bits of an integer. What a value of a column fits is found once, against the column's distinct values (13
stations, not 2,828 trains), and kept; an answer is then the AND of a few integers, a subset test one AND-NOT.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.worlds.town.normal_values import DONT_CARE, minutes, normal_slot, normal_value, similarity

VENUE_DOMAINS = ("restaurant", "hotel", "attraction")
DATABASE_DOMAINS = (*VENUE_DOMAINS, "train")

#: Columns that nobody can ask for, columns compared by likeness, and how alike is alike.
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
_ALIKE = 90
_ANY = "?"
_ROWS = msgspec.json.Decoder(list[dict[str, Any]])
_FOLDER = "db"


class TownTable:
    """The rows of one domain."""

    def __init__(self, domain: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.domain = domain
        self.rows = [_plain(row, _NOT_ASKED[domain]) for row in rows]
        self.everything = (1 << len(self.rows)) - 1
        self._by_likeness = _BY_LIKENESS[domain]
        self._fitting: dict[tuple[str, str], int] = {}
        self._answers: dict[tuple[tuple[str, str], ...], int] = {}
        self._ids: dict[int, frozenset[str]] = {}

    @cached_property
    def columns(self) -> dict[str, dict[str, int]]:
        """For each column its values, each with the rows that have it."""
        columns: dict[str, dict[str, int]] = {}
        for number, row in enumerate(self.rows):
            for column, value in row.items():
                values = columns.setdefault(column, {})
                values[value] = values.get(value, 0) | (1 << number)
        return columns

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

    def ids(self, rows: int) -> frozenset[str]:
        """The ids of rows. Several trains can have one id."""
        known = self._ids.get(rows)
        if known is None:
            column = "trainid" if self.domain == "train" else "id"
            known = self._ids[rows] = frozenset(row[column] for row in self.at(rows))
        return known

    def at(self, rows: int) -> list[dict[str, str]]:
        """The rows themselves, in the database's order."""
        return [row for number, row in enumerate(self.rows) if rows >> number & 1]

    def _fit(self, column: str, wanted: str) -> int:
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
        if column in self._by_likeness:
            return similarity(value, wanted) >= _ALIKE
        return value == wanted


class TownDatabase:
    """Restaurants, hotels, attractions and trains."""

    def __init__(self, rows: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        self.tables = {domain: TownTable(domain, rows[domain]) for domain in DATABASE_DOMAINS}

    def answer(self, domain: str, constraints: Mapping[str, str]) -> int:
        """The rows of a domain that fit, as bits; none for a domain that has no table."""
        table = self.tables.get(domain)
        return 0 if table is None else table.answer(constraints)

    def ids(self, domain: str, rows: int) -> frozenset[str]:
        """The ids of rows of a domain."""
        return self.tables[domain].ids(rows) if rows else frozenset()

    def why_not(self, domain: str, row: Mapping[str, str], constraints: Mapping[str, str]) -> str | None:
        """The first constraint that a row fails, as a sentence part; None where it fits."""
        table = self.tables[domain]
        for slot, value in constraints.items():
            if slot in table.columns and value not in DONT_CARE:
                alone = table.answer({slot: value})
                if not any(other is row or other == row for other in table.at(alone)):
                    return f"{slot} is {row.get(slot, 'not known')}, wanted {value}"
        return None


def _plain(row: Mapping[str, Any], left_out: set[str]) -> dict[str, str]:
    named = {normal_slot(column): value for column, value in row.items()}
    return {column: value for column, value in named.items() if column not in left_out and isinstance(value, str)}


def load_town(folder: str | Path) -> TownDatabase:
    """The database in a folder with ``restaurant_db.json`` and the others, packed or not."""
    place = Path(folder)
    return TownDatabase({domain: _load(place, domain) for domain in DATABASE_DOMAINS})


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


def _load(folder: Path, domain: str) -> list[dict[str, Any]]:
    from dialgauge.formats import resolve

    stem = f"{domain}_db.json"
    path = next((folder / name for name in (stem, f"{stem}.gz") if (folder / name).is_file()), None)
    if path is None:
        raise DialgaugeError(f"the MultiWOZ database lacks {stem}", file=str(folder))
    content = resolve(path)[0].read()
    try:
        return _ROWS.decode(content)
    except msgspec.DecodeError as error:
        raise DialgaugeError(f"it is no MultiWOZ database: {error}", file=str(path)) from error
