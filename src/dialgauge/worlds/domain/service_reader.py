"""One service of ``domain.yaml``: its rows, how they are searched, what it answers, books and refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, get_args

from dialgauge.dialogue import DONTCARE
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import comparable, minutes, number, plain, truth
from dialgauge.worlds.domain.document_reader import DOMAIN_FILE, NO_WISH, DocumentReader, Location, nothing
from dialgauge.worlds.domain.matching import MATCHES, ORDERED, Match, has_thousands, members
from dialgauge.worlds.domain.rows_file import RowsFile
from dialgauge.worlds.domain.service import CHOICE, TEXT, BookSpec, Order, Role, Row, SearchSlot, Service, SlotType

#: How the name of a file of rows, and where it is written, become rows.
RowsFinder: TypeAlias = Callable[[str, Location], RowsFile]

_KEYS = (
    *("title", "rows", "name", "id", "search", "answer", "book", "refers"),
    *("requires", "requires_one_of", "order", "next_day", "describe", "narrow", "tells", "total"),
    *("call", "acts", "generic"),
)
_SEARCH_KEYS = ("match", "say", "unit", "values")
_BOOK_KEYS = ("takes", "needs", "one_of", "gives")
_ORDERS: tuple[Order, ...] = get_args(Order)
_ROLES: tuple[str, ...] = get_args(Role)
_TYPES = ("text", "day", "time", "number")
_RANGE = re.compile(r"number\s+([-+]?[0-9]{1,12})\s*\.\.\s*([-+]?[0-9]{1,12})")
_OF_THE_SERVICE, _OF_THE_BOOKING = "a slot of the service", "a slot that the booking takes"


def slot_id(declared: str, multiwoz: bool = False) -> str:
    """A slot as acts, tools and tables write it; those of MultiWOZ keep their names.

    How many rows there are to choose from is told under a name that no slot can have.

    >>> slot_id("from hour")
    'from_hour'
    """
    slot = declared if multiwoz else "_".join(declared.split())
    return f"its_{slot}" if slot == CHOICE and not multiwoz else slot


class ServiceReader:
    """A service while it is read. No two of its slots may have one name once spaces are underscores."""

    def __init__(self, reader: DocumentReader, key: str, content: Any, find_rows: RowsFinder, multiwoz: bool) -> None:
        self._reader, self._key, self._multiwoz = reader, key, multiwoz
        self._location: Location = ("services", key)
        self._given = reader.mapping(content, self._location, _KEYS)
        #: Slots by the names that acts have for them, as they were declared.
        self._declared: dict[str, str] = {}
        self._rows: RowsFile | None = None
        if nothing(self._given.get("rows")):
            self._refuse_columns()
        else:
            self._rows = find_rows(reader.text(self._given, "rows", self._location), (*self._location, "rows"))

    def service(self) -> Service:
        """The service; those that it refers to have the names under which the file declares them."""
        key, rows, given, location = self._key, self._rows, self._given, self._location
        name, ident = (self._column(word) for word in ("name", "id"))
        if rows is not None and not name:
            self._refuse(f"the service '{key}' has rows but no name: say which column people call them by")
        search = self._search()
        answer = self._reader.texts(given, "answer", location)
        for position, slot in enumerate(answer):
            self._declare_column(slot, "answer", position)
        book = self._book({self._id(slot) for slot in (name, *search) if slot}, answer)
        if rows is None and book is None:
            self._refuse(f"the service '{key}' has neither rows to look up nor a booking")
        refers = self._refers(book)
        booked = [self._declared_as(slot) for slot in (book.takes if book else ())]
        service = Service(
            name=key.lower(),
            title=self._reader.text(given, "title", location) or _with_article(key.replace("-", " ")),
            rows=None if rows is None else self._told(rows, (name, ident, *search, *answer)),
            name_slot=self._id(name),
            id_slot=self._id(ident),
            search={self._id(slot): rule for slot, rule in search.items()},
            answer=self._ids(answer),
            book=book,
            refers=refers,
            spoken={slot: declared for slot, declared in self._declared.items() if slot != declared},
            multiwoz=self._multiwoz,
            **self._more({*search, *answer, name, *booked}),
        )
        if rows is not None and not self._multiwoz:
            _check_names(rows, name, ident)
        return service

    def _refuse(self, message: str, *below: str | int) -> NoReturn:
        self._reader.refuse(message, (*self._location, *below))

    def _refuse_columns(self) -> None:
        for key in ("name", "id", "search", "answer"):
            if not nothing(self._given.get(key)) and self._given[key] not in ({}, []):
                self._refuse(f"'{key}' names columns, but the service has no rows", key)

    # The names of slots

    def _id(self, declared: str) -> str:
        return slot_id(declared, self._multiwoz)

    def _ids(self, declared: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._id, declared))

    def _declare(self, declared: str, *below: str | int) -> None:
        other = self._declared.setdefault(self._id(declared), declared)
        if other != declared:
            self._refuse(f"'{declared}' and '{other}' are one name once spaces are underscores", *below)

    def _declare_apart(self, declared: str, before: str, others: set[str]) -> str:
        """The name of a slot of a booking; with a word before it where a row has one of that name."""
        slot = self._id(declared)
        while slot in others:
            slot = f"{before}_{slot}"
        self._declared[slot] = declared
        return slot

    def _declared_as(self, slot: str) -> str:
        return self._declared.get(slot, slot)

    def _column(self, key: str) -> str:
        column = self._reader.text(self._given, key, self._location)
        if column:
            self._declare_column(column, key)
        return column

    def _declare_column(self, slot: str, *below: str | int) -> None:
        rows = self._rows
        if rows is None:
            self._refuse(f"'{slot}' is a column, but the service has no rows", *below)
        if slot not in rows.columns:
            self._refuse(f"'{slot}' is not a column of {Path(rows.file).name}.{nearest(slot, rows.columns)}", *below)
        self._declare(slot, *below)

    def _told(self, rows: RowsFile, columns: Iterable[str]) -> tuple[Row, ...]:
        kept = [column for column in dict.fromkeys(columns) if column]
        return tuple({self._id(slot): cells[slot] for slot in kept if slot in cells} for _, cells in rows.rows)

    # Searching

    def _search(self) -> dict[str, SearchSlot]:
        rules: dict[str, SearchSlot] = {}
        if self._rows is not None:
            for slot, content in self._reader.section(self._given, "search", self._location).items():
                self._declare_column(slot, "search", slot)
                rules[slot] = self._search_slot(slot, content, self._rows)
        return rules

    def _search_slot(self, slot: str, content: Any, rows: RowsFile) -> SearchSlot:
        reader, location = self._reader, (*self._location, "search", slot)
        given = {"match": content} if isinstance(content, str) else reader.mapping(content, location, _SEARCH_KEYS)
        text = reader.text(given, "match", location) or "same"
        match = next((known for known in MATCHES if known == text), None)
        if match is None:
            reader.refuse(f"there is no rule '{text}' to search by.{nearest(text, MATCHES)}", location)
        added = reader.texts(given, "values", location)
        for position, value in enumerate(added):
            if problem := _unfit(match, value):
                reader.refuse(f"'{value}' {problem} under '{match}'", (*location, "values", position))
        reader.check_values(added, (*location, "values"))
        if not self._multiwoz:
            _check_cells(rows, slot, match)
        column = [cells[slot] for _, cells in rows.rows if slot in cells]
        return SearchSlot(
            match=match,
            say=reader.text(given, "say", location),
            unit=reader.text(given, "unit", location),
            values=_distinct([*column, *added], match),
        )

    def _more(self, known: set[str]) -> dict[str, Any]:
        """The keys beyond version 1."""
        given, reader, location = self._given, self._reader, self._location
        more: dict[str, Any] = {}
        for key in ("requires", "describe", "narrow", "tells"):
            slots = reader.texts(given, key, location)
            reader.check_known(slots, known, _OF_THE_SERVICE, (*location, key))
            more[key] = self._ids(slots)
        groups = self._groups(given, known, location, "requires_one_of")
        more["requires_one_of"] = tuple(map(self._ids, groups))
        for key in ("order", "next_day", "total", "generic"):
            of_slots = reader.section(given, key, location)
            reader.check_known(of_slots, known, _OF_THE_SERVICE, (*location, key))
            more[key] = {self._id(slot): reader.text(of_slots, slot, (*location, key)) for slot in of_slots}
        for slot, order in more["order"].items():
            if order not in _ORDERS:
                self._refuse(f"the order of '{slot}' must be rising or falling (got '{order}')", "order")
        for key in ("next_day", "total"):
            reader.check_known(more[key].values(), known, _OF_THE_SERVICE, (*location, key))
        names = reader.section(given, "acts", location, _ROLES)
        more["acts"] = {role: reader.text(names, role, (*location, "acts")) for role in names}
        if call := reader.text(given, "call", location):
            more["call"] = call
        return more

    def _groups(self, content: Mapping[str, Any], known: Iterable[str], at: Location, key: str) -> list[list[str]]:
        given = content.get(key)
        if nothing(given):
            return []
        if not isinstance(given, list) or not all(isinstance(group, list) for group in given):
            self._reader.refuse(f"'{key}' is a list of lists of slots: [[one, two]]", (*at, key))
        groups = []
        for position, group in enumerate(given):
            slots = self._reader.items(group, (*at, key, position))
            if not slots:
                self._reader.refuse(f"a group of '{key}' needs at least one slot", (*at, key, position))
            self._reader.check_known(slots, known, _OF_THE_BOOKING, (*at, key, position))
            groups.append(slots)
        return groups

    # Booking

    def _book(self, wishes: set[str], answer: list[str]) -> BookSpec | None:
        """What a booking takes and gives. A slot of it that a row has too is another one, ``book_day``."""
        if nothing(self._given.get("book")):
            return None
        reader, at = self._reader, (*self._location, "book")
        content = reader.section(self._given, "book", self._location, _BOOK_KEYS)
        takes = {}
        for slot, kind in reader.section(content, "takes", at).items():
            self._declare(slot, "book", "takes", slot)
            takes[slot] = self._slot_type(kind, (*at, "takes", slot))
        groups = self._groups(content, takes, at, "one_of")
        needs = [slot for slot in takes if not any(slot in group for group in groups)]
        if not nothing(content.get("needs")):
            needs = reader.texts(content, "needs", at)
            reader.check_known(needs, takes, _OF_THE_BOOKING, (*at, "needs"))
        gives = reader.texts(content, "gives", at) if "gives" in content else ["reference"]
        for position, slot in enumerate(gives):
            self._declare(slot, "book", "gives", position)
        taken = {slot: self._declare_apart(slot, "book", wishes) for slot in takes}
        others = {*wishes, *map(self._id, answer), *taken.values()}
        return BookSpec(
            takes={taken[slot]: kind for slot, kind in takes.items()},
            needs=tuple(taken[slot] for slot in needs),
            one_of=tuple(tuple(taken[slot] for slot in group) for group in groups),
            gives=tuple(self._declare_apart(slot, "booked", others) for slot in gives),
        )

    def _slot_type(self, content: Any, location: Location) -> SlotType:
        reader, types = self._reader, f"{', '.join(_TYPES)}, 'number 1..30' or a list of words"
        if isinstance(content, list):
            words = reader.items(content, location)
            if not words:
                reader.refuse("a list of words needs at least one", location)
            reader.check_values(words, location)
            return SlotType("words", words=tuple(words))
        if not isinstance(content, str):
            reader.refuse(f"a type is {types}", location)
        text = " ".join(content.split())
        if bounds := _RANGE.fullmatch(text):
            low, high = int(bounds[1]), int(bounds[2])
            if low > high:
                reader.refuse(f"the range {low}..{high} is empty", location)
            return SlotType("number", low, high)
        if text not in _TYPES:
            reader.refuse(f"there is no type '{text}'; use {types}", location)
        return TEXT if text == "text" else SlotType(text)  # type: ignore[arg-type]

    def _refers(self, book: BookSpec | None) -> dict[str, tuple[str, ...]]:
        takes = book.takes if book else {}
        slots = {self._declared_as(slot): slot for slot in reversed(takes)}
        refers = {}
        for slot, target in self._reader.section(self._given, "refers", self._location).items():
            if slot not in slots:
                known = f".{nearest(slot, map(self._declared_as, takes))}" if takes else "; it has no booking"
                self._refuse(f"'{slot}' is not {_OF_THE_BOOKING}{known}", "refers", slot)
            if takes[slots[slot]].kind != "text":
                self._refuse(f"'{slot}' refers to another service, so that its type must be text", "refers", slot)
            location = (*self._location, "refers", slot)
            targets = [target] if isinstance(target, str) else self._reader.items(target, location)
            refers[slots[slot]] = tuple(targets)
        return refers


def _check_names(rows: RowsFile, name: str, ident: str) -> None:
    for column in filter(None, (name, ident)):
        seen: dict[object, int] = {}
        for line, cells in rows.rows:
            if column not in cells:
                _refuse_row(rows, line, f"this row has no '{column}'; each row needs it")
            first = seen.setdefault(comparable(cells[column]), line)
            if first != line and (column == ident or not ident):
                what = "id" if column == ident else "name"
                hint = "" if column == ident else "; add 'id: COLUMN' to the service to tell the rows apart"
                _refuse_row(rows, line, f"the {what} '{cells[column]}' stands in line {first} too{hint}")


def _check_cells(rows: RowsFile, slot: str, match: Match) -> None:
    """Refuse cells of a column that cannot be compared in this way, with a wish or with each other."""
    kinds: dict[bool, str] = {}
    for line, cells in rows.rows:
        cell = cells.get(slot)
        if cell is None:
            continue
        if plain(cell) == DONTCARE:
            _refuse_row(rows, line, f"{NO_WISH} (column '{slot}')")
        if problem := _unfit(match, cell):
            _refuse_row(rows, line, f"'{cell}' in the column '{slot}' {problem}, and {DOMAIN_FILE} says '{match}'")
        if match in ORDERED:
            kinds.setdefault(minutes(cell) is not None, cell)
            if len(kinds) > 1:
                both = f"'{kinds[False]}', '{kinds[True]}'"
                _refuse_row(rows, line, f"the column '{slot}' has both numbers and times ({both})")


def _refuse_row(rows: RowsFile, line: int, message: str) -> NoReturn:
    raise DialgaugeError(message, file=rows.file, line=line)


def _unfit(match: Match, value: str) -> str:
    """Why a value cannot be compared in this way, as the end of a sentence; empty where it can."""
    if match == "yes-no" and truth(value) is None:
        return "is not yes, no, true or false"
    if match in ORDERED and number(value) is None and minutes(value) is None:
        return "has a thousands separator" if has_thousands(value) else "is neither a number nor a time of day"
    return ""


def _distinct(values: Iterable[str], match: Match) -> tuple[str, ...]:
    """Values as first written, each once; of cells that list several, each of them."""
    each = (part for value in values for part in (members(value) if match == "contains" else (value,)))
    by_meaning: dict[object, str] = {}
    for value in each:
        by_meaning.setdefault(truth(value) if match == "yes-no" else comparable(value), value)
    return tuple(by_meaning.values())


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
