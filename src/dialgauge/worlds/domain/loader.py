"""Reading the folder of a domain: ``domain.yaml`` and the files that it names.

Whatever is wrong is an error with file, line and the nearest name. Nothing of a folder is run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, get_args

from msgspec.structs import replace

from dialgauge import plugins
from dialgauge.dialogue import DONTCARE
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.worlds.domain.matching import (
    MATCHES,
    ORDERED,
    Match,
    comparable,
    has_thousands,
    minutes,
    number,
    plain,
    truth,
)
from dialgauge.worlds.domain.rows_file import RowsFile, read_rows, read_text
from dialgauge.worlds.domain.schema import (
    CHOICE,
    GENERAL,
    TEXT,
    BookSpec,
    Domain,
    GoalDraw,
    Inventory,
    Order,
    Role,
    Row,
    SearchSlot,
    Service,
    SlotType,
    SlotWords,
    distinct,
)
from dialgauge.yaml_file import YamlDocument, read_yaml

DOMAIN_FILE = "domain.yaml"
GOALS_FILE = "goals.jsonl"
_POLICY_FILE = "policy.md"
#: Our own domains; other packages declare theirs as entry points of the group ``dialgauge.domains``.
BUILT_IN = {"town": "dialgauge.worlds.town:town_domain"}

Path_: TypeAlias = tuple[str | int, ...]
#: How a name of rows in ``domain.yaml`` becomes rows.
RowsReader: TypeAlias = Callable[[str], RowsFile]

_NAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_NOTHING = ("", "~", "null")
_RANGE = re.compile(r"number\s+([-+]?[0-9]{1,12})\s*\.\.\s*([-+]?[0-9]{1,12})")
_KINDS = ("text", "day", "time", "number")
_TOP = (
    *("domain", "title", "policy", "services", "goals", "words", "tools", "data", "tasks"),
    *("dialect", "acts", "choices"),
)
_TOOL_KEYS = ("tools", "data", "tasks")
_SERVICE = (
    *("title", "rows", "name", "id", "search", "answer", "book", "refers"),
    *("requires", "requires_one_of", "order", "next_day", "describe", "narrow", "tells", "total"),
    *("call", "acts", "generic"),
)
_MULTIWOZ = "multiwoz"
_NO_WISH = f"the value '{DONTCARE}' cannot be told from having no wish at all; write it otherwise"
_ORDERS: tuple[Order, ...] = get_args(Order)
_ROLES: tuple[str, ...] = get_args(Role)
_SEARCH = ("match", "say", "unit", "values")
_BOOK = ("takes", "needs", "one_of", "gives")
_WORDS = ("ask", "say", "also")
_PAIRS, _SHARES = ("services", "wishes", "asked"), ("booked", "fails_first", "refused_first")


def domain_names() -> list[str]:
    """The names of installed domains."""
    return plugins.names(plugins.DOMAINS, BUILT_IN)


def is_folder(name: str) -> bool:
    """Is a path meant, rather than the name of an installed domain?"""
    return "/" in name or os.sep in name or name in (".", "..")


def load_domain(name_or_path: str | Path) -> Domain:
    """A domain by the name of an installed one, or by its folder: a path has a separator (``./clinic``)."""
    if isinstance(name_or_path, Path) or is_folder(name_or_path):
        return read_domain(Path(name_or_path))
    if name_or_path not in domain_names() and (Path(name_or_path) / DOMAIN_FILE).is_file():
        raise DialgaugeError(
            f"there is no installed domain named '{name_or_path}'; for the folder write ./{name_or_path}"
        )
    content: Any = plugins.load(plugins.DOMAINS, name_or_path, object, BUILT_IN)
    made = content() if callable(content) else content
    domain = read_domain(Path(made)) if isinstance(made, str | Path) else made
    if not isinstance(domain, Domain):
        raise DialgaugeError(f"the domain '{name_or_path}' is {type(domain).__name__}, neither a Domain nor a folder")
    return domain


def read_domain(folder: Path) -> Domain:
    """The domain in a folder."""
    if not folder.is_dir():
        raise DialgaugeError("there is no such folder", file=str(folder))
    path = folder / DOMAIN_FILE
    if not path.is_file():
        raise DialgaugeError(f"there is no {DOMAIN_FILE} in this folder", file=str(folder))
    document = read_yaml(path, as_text=True)
    return domain_of(document, folder)


def domain_of(document: YamlDocument, folder: Path | None = None, rows: RowsReader | None = None) -> Domain:
    """The domain that ``domain.yaml`` describes; ``rows`` finds the rows where they are in no folder."""
    return _Reader(document, folder, rows).domain()


def slot_id(declared: str) -> str:
    """A slot as acts, tools and tables write it.

    >>> slot_id("from hour")
    'from_hour'
    """
    return "_".join(declared.split())


class _Reader:
    """``domain.yaml`` while it is read."""

    def __init__(self, document: YamlDocument, folder: Path | None, rows: RowsReader | None) -> None:
        self._document, self._folder, self._find_rows = document, folder, rows
        self._files = [document.file or DOMAIN_FILE]
        self._multiwoz = False

    def domain(self) -> Domain:
        content = self._mapping(self._document.content, (), _TOP)
        name = self._text(content, "domain", ())
        if not name:
            self.refuse("there is no key 'domain', the name of the domain", ())
        self._check_name(name, "the name of a domain", ("domain",))
        dialect = self._text(content, "dialect", ())
        if dialect not in ("", _MULTIWOZ):
            self.refuse(f"there is no dialect '{dialect}'; the only one is {_MULTIWOZ}", ("dialect",))
        self._multiwoz = bool(dialect)
        tools = {key: content[key] for key in _TOOL_KEYS if not _nothing(content.get(key))}
        services = self._services(content, bool(tools))
        for key, service in services.items():
            self._check_refers(key, service, services)
        inventories = self._inventories(content)
        ids = {service.name: _with_ids(service, inventories) for service in services.values()}
        goals, draw = self._goals(content)
        return Domain(
            name=name,
            title=self._text(content, "title", ()) or name.replace("-", " "),
            policy=self._policy(content),
            services=ids,
            goals_file=goals,
            draw=draw,
            words=self._words(content, ids),
            folder=self._folder,
            files=tuple(self._files),
            multiwoz=self._multiwoz,
            choices=tuple(map(self.id, self._slots(content, "choices", ()))),
            inventories=inventories,
            tools=tools,
        )

    def _inventories(self, content: Mapping[str, Any]) -> dict[str, Inventory]:
        if _nothing(content.get("acts")):
            return {}
        sides = self._mapping(content["acts"], ("acts",), ("user", "system"))
        return {
            side: {
                name: tuple(self._list(slots, ("acts", side, name), empty=True))
                for name, slots in self._mapping(given, ("acts", side)).items()
            }
            for side, given in sides.items()
        }

    # Services

    def _services(self, content: Mapping[str, Any], has_tools: bool) -> dict[str, Service]:
        if _nothing(content.get("services")):
            if has_tools:
                return {}
            self.refuse("there are no services; a domain has at least one, or tools", ("services",))
        declared = self._mapping(content["services"], ("services",))
        services: dict[str, Service] = {}
        for key in declared:
            location: Path_ = ("services", key)
            self._check_name(key, "the name of a service", location)
            if key.lower() == GENERAL:
                self.refuse(f"a service cannot be called '{key}': acts such as general-bye have that name", location)
            if key.lower() in (known.lower() for known in services):
                self.refuse(f"the service '{key}' appears twice, but for capital letters", location)
            services[key] = self._service(key, declared[key], location)
        if not services:
            self.refuse("there are no services; a domain has at least one, or tools", ("services",))
        return services

    def _service(self, key: str, content: Any, location: Path_) -> Service:
        given = self._mapping(content, location, _SERVICE)
        spoken = _Spoken(self)
        rows = (
            None
            if _nothing(given.get("rows"))
            else self._rows(self._text(given, "rows", location), (*location, "rows"))
        )
        if rows is None:
            self._refuse_without_rows(given, location)
        name, ident = (self._column(given, word, rows, location, spoken) for word in ("name", "id"))
        if rows is not None and not name:
            self.refuse(f"the service '{key}' has rows but no name: say which column people call them by", location)
        search = self._search(given, rows, location, spoken)
        answer = self._slots(given, "answer", location)
        for position, slot in enumerate(answer):
            self._check_column(slot, rows, (*location, "answer", position))
            spoken.add(slot, (*location, "answer", position))
        book = self._book(given, location, spoken, {self.id(slot) for slot in (name, *search) if slot}, answer)
        if rows is None and book is None:
            self.refuse(f"the service '{key}' has neither rows to look up nor a booking", location)
        refers = self._refers(given, book, location, spoken)
        service = Service(
            name=key.lower(),
            title=self._text(given, "title", location) or _with_article(key.replace("-", " ")),
            rows=None if rows is None else self._told(rows, (name, ident, *search, *answer)),
            name_slot=self.id(name),
            id_slot=self.id(ident),
            search={self.id(slot): rule for slot, rule in search.items()},
            answer=tuple(map(self.id, answer)),
            book=book,
            refers=refers,
            spoken=spoken.declared,
            multiwoz=self._multiwoz,
            **self._more(given, location, {*search, *answer, name, *map(spoken.name, book.takes if book else ())}),
        )
        if rows is not None and not self._multiwoz:
            self._check_names(rows, name, ident)
        return service

    def _more(self, given: Mapping[str, Any], location: Path_, known: set[str]) -> dict[str, Any]:
        """The keys beyond version 1."""
        more: dict[str, Any] = {}
        for key in ("requires", "describe", "narrow", "tells"):
            if slots := self._slots(given, key, location):
                self._check_known(slots, known, "a slot of the service", (*location, key))
                more[key] = tuple(map(self.id, slots))
        if groups := self._groups(given, known, location, key="requires_one_of"):
            more["requires_one_of"] = tuple(tuple(map(self.id, group)) for group in groups)
        for key in ("order", "next_day", "total", "generic"):
            if not _nothing(given.get(key)):
                given_slots = self._mapping(given[key], (*location, key))
                self._check_known(given_slots, known, "a slot of the service", (*location, key))
                more[key] = {self.id(slot): self._text(given_slots, slot, (*location, key)) for slot in given_slots}
        for slot, order in more.get("order", {}).items():
            if order not in _ORDERS:
                self.refuse(f"the order of '{slot}' must be rising or falling (got '{order}')", (*location, "order"))
        for key in ("next_day", "total"):
            self._check_known(more.get(key, {}).values(), known, "a slot of the service", (*location, key))
        if not _nothing(given.get("acts")):
            names = self._mapping(given["acts"], (*location, "acts"), _ROLES)
            more["acts"] = {role: self._text(names, role, (*location, "acts")) for role in names}
        if call := self._text(given, "call", location):
            more["call"] = call
        return more

    def id(self, declared: str) -> str:
        """A slot as acts write it; how many there are to choose from is told under a name that no slot can have."""
        if self._multiwoz:
            return declared
        slot = slot_id(declared)
        return f"its_{slot}" if slot == CHOICE else slot

    def _refuse_without_rows(self, given: Mapping[str, Any], location: Path_) -> None:
        for key in ("name", "id", "search", "answer"):
            if not _nothing(given.get(key)) and given[key] not in ({}, []):
                self.refuse(f"'{key}' names columns, but the service has no rows", (*location, key))

    def _rows(self, name: str, location: Path_) -> RowsFile:
        if self._find_rows is not None:
            return self._find_rows(name)
        rows = read_rows(self._inside(name, location))
        self._files.append(rows.file)
        if not rows.rows:
            raise DialgaugeError("there are no rows", file=rows.file)
        return rows

    def _inside(self, name: str, location: Path_) -> Path:
        """A file of the folder; what lies outside it is not read."""
        if self._folder is None:
            self.refuse(f"'{name}' is a file, but the domain is in no folder", location)
        path = self._folder / name
        if not path.resolve().is_relative_to(self._folder.resolve()):
            self.refuse(f"'{name}' lies outside the folder of the domain", location)
        if not path.exists():
            near = nearest(name, [other.name for other in self._folder.iterdir() if other.is_file()], listed=False)
            self.refuse(f"there is no file '{name}'.{near}", location)
        return path

    def _column(
        self, given: Mapping[str, Any], key: str, rows: RowsFile | None, location: Path_, spoken: _Spoken
    ) -> str:
        column = self._text(given, key, location)
        if column:
            self._check_column(column, rows, (*location, key))
            spoken.add(column, (*location, key))
        return column

    def _check_column(self, slot: str, rows: RowsFile | None, location: Path_) -> None:
        if rows is None:
            self.refuse(f"'{slot}' is a column, but the service has no rows", location)
        if slot not in rows.columns:
            self.refuse(f"'{slot}' is not a column of {Path(rows.file).name}.{nearest(slot, rows.columns)}", location)

    def _told(self, rows: RowsFile, columns: Iterable[str]) -> tuple[Row, ...]:
        kept = [column for column in dict.fromkeys(columns) if column]
        return tuple({self.id(slot): cells[slot] for slot in kept if slot in cells} for _, cells in rows.rows)

    def _check_names(self, rows: RowsFile, name: str, ident: str) -> None:
        for column in filter(None, (name, ident)):
            seen: dict[object, int] = {}
            for line, cells in rows.rows:
                if column not in cells:
                    raise DialgaugeError(f"this row has no '{column}'; each row needs it", file=rows.file, line=line)
                first = seen.setdefault(comparable(cells[column]), line)
                if first != line and (column == ident or not ident):
                    hint = "" if column == ident else "; add 'id: COLUMN' to the service to tell the rows apart"
                    raise DialgaugeError(
                        f"the {'id' if column == ident else 'name'} '{cells[column]}' stands in line {first} too{hint}",
                        file=rows.file,
                        line=line,
                    )

    def _search(
        self, given: Mapping[str, Any], rows: RowsFile | None, location: Path_, spoken: _Spoken
    ) -> dict[str, SearchSlot]:
        if rows is None or _nothing(given.get("search")):
            return {}
        rules = {}
        declared = self._mapping(given["search"], (*location, "search"))
        for slot, content in declared.items():
            at = (*location, "search", slot)
            self._check_column(slot, rows, at)
            spoken.add(slot, at)
            rules[slot] = self._search_slot(slot, content, rows, at)
        return rules

    def _search_slot(self, slot: str, content: Any, rows: RowsFile, location: Path_) -> SearchSlot:
        given = {"match": content} if isinstance(content, str) else self._mapping(content, location, _SEARCH)
        text = self._text(given, "match", location) or "same"
        match = next((known for known in MATCHES if known == text), None)
        if match is None:
            self.refuse(f"there is no rule '{text}' to search by.{nearest(text, MATCHES)}", location)
        added = self._slots(given, "values", location)
        for position, value in enumerate(added):
            if fault := _unfit(match, value):
                self.refuse(f"'{value}' {fault} under '{match}'", (*location, "values", position))
        self._check_values(added, (*location, "values"))
        kinds: dict[bool, str] = {}
        for line, cells in () if self._multiwoz else rows.rows:
            cell = cells.get(slot)
            if cell is None:
                continue
            if plain(cell) == DONTCARE:
                raise DialgaugeError(f"{_NO_WISH} (column '{slot}')", file=rows.file, line=line)
            if fault := _unfit(match, cell):
                raise DialgaugeError(
                    f"'{cell}' in the column '{slot}' {fault}, and {DOMAIN_FILE} says '{match}'",
                    file=rows.file,
                    line=line,
                )
            if match in ORDERED:
                kinds.setdefault(minutes(cell) is not None, cell)
                if len(kinds) > 1:
                    raise DialgaugeError(
                        f"the column '{slot}' has both numbers and times ('{kinds[False]}', '{kinds[True]}')",
                        file=rows.file,
                        line=line,
                    )
        column = [cells[slot] for _, cells in rows.rows if slot in cells]
        return SearchSlot(
            match=match,
            say=self._text(given, "say", location),
            unit=self._text(given, "unit", location),
            values=distinct(iter([*column, *added]), match),
        )

    # Bookings

    def _book(
        self, given: Mapping[str, Any], location: Path_, spoken: _Spoken, wishes: set[str], answer: list[str]
    ) -> BookSpec | None:
        """What a booking takes and gives. A slot of it that a row has too is another one, ``book_day``."""
        if _nothing(given.get("book")):
            return None
        at = (*location, "book")
        content = self._mapping(given["book"], at, _BOOK)
        declared = {} if _nothing(content.get("takes")) else self._mapping(content["takes"], (*at, "takes"))
        takes = {}
        for slot, kind in declared.items():
            spoken.add(slot, (*at, "takes", slot))
            takes[slot] = self._slot_type(kind, (*at, "takes", slot))
        groups = self._groups(content, takes, at)
        if "needs" in content and not _nothing(content["needs"]):
            needs = self._among(content, "needs", takes, at)
        else:
            needs = [slot for slot in takes if not any(slot in group for group in groups)]
        gives = self._slots(content, "gives", at) if "gives" in content else ["reference"]
        for position, slot in enumerate(gives):
            spoken.add(slot, (*at, "gives", position))
        taken = {slot: spoken.apart(slot, "book", wishes) for slot in takes}
        others = {*wishes, *map(self.id, answer), *taken.values()}
        return BookSpec(
            takes={taken[slot]: kind for slot, kind in takes.items()},
            needs=tuple(taken[slot] for slot in needs),
            one_of=tuple(tuple(taken[slot] for slot in group) for group in groups),
            gives=tuple(spoken.apart(slot, "booked", others) for slot in gives),
        )

    def _slot_type(self, content: Any, location: Path_) -> SlotType:
        if isinstance(content, list):
            words = self._list(content, location)
            if not words:
                self.refuse("a list of words needs at least one", location)
            self._check_values(words, location)
            return SlotType("words", words=tuple(words))
        if not isinstance(content, str):
            self.refuse(f"a type is {', '.join(_KINDS)}, 'number 1..30' or a list of words", location)
        text = " ".join(content.split())
        if bounds := _RANGE.fullmatch(text):
            low, high = int(bounds[1]), int(bounds[2])
            if low > high:
                self.refuse(f"the range {low}..{high} is empty", location)
            return SlotType("number", low, high)
        if text not in _KINDS:
            self.refuse(
                f"there is no type '{text}'; use {', '.join(_KINDS)}, 'number 1..30' or a list of words", location
            )
        return TEXT if text == "text" else SlotType(text)  # type: ignore[arg-type]

    def _groups(
        self, content: Mapping[str, Any], known: Iterable[str], location: Path_, key: str = "one_of"
    ) -> list[list[str]]:
        given = content.get(key)
        if _nothing(given):
            return []
        if not isinstance(given, list) or not all(isinstance(group, list) for group in given):
            self.refuse(f"'{key}' is a list of lists of slots: [[one, two]]", (*location, key))
        groups = []
        for position, group in enumerate(given):
            at = (*location, key, position)
            slots = self._list(group, at)
            if not slots:
                self.refuse(f"a group of '{key}' needs at least one slot", at)
            self._check_known(slots, known, "a slot that the booking takes", at)
            groups.append(slots)
        return groups

    def _among(self, content: Mapping[str, Any], key: str, takes: Mapping[str, SlotType], location: Path_) -> list[str]:
        slots = self._slots(content, key, location)
        self._check_known(slots, takes, "a slot that the booking takes", (*location, key))
        return slots

    def _refers(
        self, given: Mapping[str, Any], book: BookSpec | None, location: Path_, spoken: _Spoken
    ) -> dict[str, tuple[str, ...]]:
        if _nothing(given.get("refers")):
            return {}
        at = (*location, "refers")
        content = self._mapping(given["refers"], at)
        takes = book.takes if book else {}
        refers = {}
        for slot, target in content.items():
            named = next((taken for taken in takes if spoken.name(taken) == slot), "")
            if not named:
                known = f".{nearest(slot, map(spoken.name, takes))}" if takes else "; it has no booking"
                self.refuse(f"'{slot}' is not a slot that the booking takes{known}", (*at, slot))
            if takes[named].kind != "text":
                self.refuse(f"'{slot}' refers to another service, so that its type must be text", (*at, slot))
            targets = [target] if isinstance(target, str) else self._list(target, (*at, slot))
            refers[named] = tuple(targets)
        return refers

    def _check_refers(self, key: str, service: Service, services: Mapping[str, Service]) -> None:
        for slot, targets in service.refers.items():
            location = ("services", key, "refers", service.declared(slot))
            for target in targets:
                if target not in services:
                    near = nearest(target, [name for name in services if name != key])
                    self.refuse(f"'{slot}' refers to '{target}', which is no service.{near}", location)
                if services[target].rows is None:
                    self.refuse(f"'{slot}' refers to '{target}', which has no rows to settle on", location)
                if target == key:
                    self.refuse(f"'{slot}' refers to its own service", location)

    # Goals and words

    def _goals(self, content: Mapping[str, Any]) -> tuple[Path | None, GoalDraw]:
        given = content.get("goals")
        if _nothing(given):
            path = None if self._folder is None else self._folder / GOALS_FILE
            return (path if path is not None and path.is_file() else None), GoalDraw()
        goals = self._mapping(given, ("goals",), ("draw", "file"))
        file = self._text(goals, "file", ("goals",))
        if file and "draw" in goals:
            self.refuse("goals are drawn or read from a file, not both", ("goals", "draw"))
        if file:
            return self._inside(file, ("goals", "file")), GoalDraw()
        location: Path_ = ("goals", "draw")
        numbers = {} if _nothing(goals.get("draw")) else self._mapping(goals["draw"], location, (*_PAIRS, *_SHARES))
        known: dict[str, Any] = {key: self._pair(numbers[key], (*location, key)) for key in _PAIRS if key in numbers}
        known |= {key: self._share(numbers[key], (*location, key)) for key in _SHARES if key in numbers}
        return None, GoalDraw(**known)

    def _pair(self, given: Any, location: Path_) -> tuple[int, int]:
        texts = given if isinstance(given, list) else []
        numbers = [text for text in texts if isinstance(text, str) and re.fullmatch("[0-9]{1,6}", text)]
        if len(texts) != 2 or len(numbers) != 2:
            self.refuse(f"'{location[-1]}' needs two whole numbers, the least and the most: [1, 3]", location)
        low, high = map(int, numbers)
        if low > high:
            self.refuse(f"the least, {low}, is more than the most, {high}", location)
        if location[-1] == "services" and not high:
            self.refuse("a goal has at least one service", location)
        return low, high

    def _share(self, given: Any, location: Path_) -> float:
        value = number(given) if isinstance(given, str) else None
        if value is None or not 0 <= value <= 1:
            self.refuse(f"a share is a number from 0 to 1 (got '{given}')", location)
        return float(value)

    def _words(self, content: Mapping[str, Any], services: Mapping[str, Service]) -> dict[str, SlotWords]:
        if _nothing(content.get("words")):
            return {}
        given = self._mapping(content["words"], ("words",))
        known = {service.declared(slot): slot for service in services.values() for slot in service.slots}
        others = {} if "values" in known else self._value_words(given.get("values"), known, services)
        words = {}
        for slot, wording in given.items():
            if slot == "values" and slot not in known:
                continue
            location: Path_ = ("words", slot)
            self._check_known([slot], known, "a slot of any service", location)
            spoken = self._mapping(wording, location, _WORDS)
            words[known[slot]] = SlotWords(
                ask=self._text(spoken, "ask", location),
                say=self._say(spoken, location),
                also=tuple(self._slots(spoken, "also", location)),
                values=others.pop(known[slot], {}),
            )
        return words | {slot: SlotWords(values=values) for slot, values in others.items()}

    def _say(self, spoken: Mapping[str, Any], location: Path_) -> str:
        say = self._text(spoken, "say", location)
        if say and (say.count("{value}") != 1 or re.search(r"[{}]", say.replace("{value}", ""))):
            self.refuse("'say' has {value} once, where the value goes, and no other braces", (*location, "say"))
        return say

    def _value_words(
        self, given: Any, known: Mapping[str, str], services: Mapping[str, Service]
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        if _nothing(given):
            return {}
        others = {}
        for slot, values in self._mapping(given, ("words", "values")).items():
            location: Path_ = ("words", "values", slot)
            self._check_known([slot], known, "a slot of any service", location)
            spoken = self._mapping(values, location)
            values_known = _known_values(known[slot], services.values())
            for value in spoken if values_known else ():
                if comparable(value) not in map(comparable, values_known):
                    self.refuse(
                        f"'{value}' is not a value of '{slot}'.{nearest(value, values_known)}", (*location, value)
                    )
            others[known[slot]] = {value: tuple(self._slots(spoken, value, location)) for value in spoken}
        return others

    def _policy(self, content: Mapping[str, Any]) -> str:
        name = self._text(content, "policy", ())
        if not name:
            path = None if self._folder is None else self._folder / _POLICY_FILE
            if path is None or not path.is_file():
                return ""
        else:
            path = self._inside(name, ("policy",))
        self._files.append(str(path))
        return read_text(path).strip()

    # What every part of the file is made of

    def _mapping(self, content: Any, location: Path_, known: tuple[str, ...] | None = None) -> dict[str, Any]:
        if not isinstance(content, dict):
            where = f"'{location[-1]}'" if location else "it"
            self.refuse(f"{where} must be a mapping, 'key: value' on each line", location)
        for key in content:
            if not isinstance(key, str):
                self.refuse("a key must be a text", location)
            if known is not None and key not in known:
                where = f" in '{location[-1]}'" if location else ""
                self.refuse(f"there is no key '{key}'{where}.{nearest(key, known)}", (*location, key))
            if not key.strip():
                self.refuse("a name is empty", (*location, key))
        return content

    def _text(self, content: Mapping[str, Any], key: str, location: Path_) -> str:
        value = content.get(key)
        if _nothing(value):
            return ""
        if not isinstance(value, str):
            self.refuse(f"'{key}' must be a text", (*location, key))
        return " ".join(value.split())

    def _slots(self, content: Mapping[str, Any], key: str, location: Path_) -> list[str]:
        return [] if _nothing(content.get(key)) else self._list(content[key], (*location, key))

    def _list(self, given: Any, location: Path_, *, empty: bool = False, once: bool = True) -> list[str]:
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            self.refuse(f"'{location[-1]}' must be a list of texts: [one, two]", location)
        if "" in given and not empty:
            self.refuse(f"'{location[-1]}' has an empty entry", (*location, given.index("")))
        seen: set[object] = set()
        for position, item in enumerate(given):
            if once and comparable(item) in seen:
                self.refuse(f"'{item}' stands twice in '{location[-1]}'", (*location, position))
            seen.add(comparable(item))
        return list(given)

    def _check_values(self, values: Iterable[str], location: Path_) -> None:
        for position, value in enumerate(values):
            if plain(value) == DONTCARE:
                self.refuse(_NO_WISH, (*location, position))

    def _check_known(self, names: Iterable[str], known: Iterable[str], what: str, location: Path_) -> None:
        for position, name in enumerate(names):
            if name not in known:
                self.refuse(f"'{name}' is not {what}.{nearest(name, known)}", (*location, position))

    def _check_name(self, name: str, what: str, location: Path_) -> None:
        if not _NAME.fullmatch(name):
            self.refuse(f"'{name}' cannot be {what}: use letters, digits and hyphens", location)

    def refuse(self, message: str, location: Path_) -> NoReturn:
        """Raise an error at a place of the file."""
        raise DialgaugeError(message, file=self._document.file, line=self._document.line(*location))


class _Spoken:
    """The declared names of a service's slots: no two may be one slot."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._known: dict[str, str] = {}

    def add(self, declared: str, location: Path_) -> None:
        other = self._known.setdefault(self._reader.id(declared), declared)
        if other != declared:
            self._reader.refuse(f"'{declared}' and '{other}' are one name once spaces are underscores", location)

    def apart(self, declared: str, before: str, others: set[str]) -> str:
        """The name of a slot of a booking; with a word before it where a row has one of that name."""
        slot = self._reader.id(declared)
        while slot in others:
            slot = f"{before}_{slot}"
        self._known[slot] = declared
        return slot

    def name(self, slot: str) -> str:
        """A slot as it was declared."""
        return self._known.get(slot, slot)

    @property
    def declared(self) -> dict[str, str]:
        return {slot: declared for slot, declared in self._known.items() if slot != declared}


def _with_ids(service: Service, inventories: Mapping[str, Inventory]) -> Service:
    """The service with those that it refers to by the names of their records, and what its acts ask for."""
    asks = inventories.get("user", {}).get(service.act_name("request"), ())
    refers = {slot: tuple(target.lower() for target in targets) for slot, targets in service.refers.items()}
    return replace(service, refers=refers, asks=asks) if refers or asks else service


def _known_values(slot: str, services: Iterable[Service]) -> list[str]:
    """The values of a slot that are known; none where it can be any text, day, number or time."""
    values: dict[str, None] = {}
    for service in services:
        kind = service.book.takes.get(slot) if service.book else None
        if kind is not None and kind.kind != "words":
            return []
        values |= dict.fromkeys((*(kind.words if kind else ()), *getattr(service.wishes.get(slot), "values", ())))
        values |= dict.fromkeys(row[slot] for row in service.rows or () if slot in service.answer and slot in row)
    return list(values)


def _nothing(content: Any) -> bool:
    return content is None or content in _NOTHING if isinstance(content, str | None) else False


def _unfit(match: Match, value: str) -> str:
    """Why a value cannot be compared in this way, as the end of a sentence; empty where it can."""
    if match == "yes-no" and truth(value) is None:
        return "is not yes, no, true or false"
    if match in ORDERED and number(value) is None and minutes(value) is None:
        return "has a thousands separator" if has_thousands(value) else "is neither a number nor a time of day"
    return ""


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
