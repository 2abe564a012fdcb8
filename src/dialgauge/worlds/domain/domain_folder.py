"""The folder of a domain: ``domain.yaml`` and the files that it names, read into a :class:`Domain`.

Whatever is wrong is an error with file, line and the nearest name. Nothing of a folder is run here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec
from msgspec import Struct, field

from dialgauge.dialogue import DONTCARE
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import atomic, together
from dialgauge.values import comparable, minutes, number, plain, truth
from dialgauge.worlds.domain.domain import (
    CHOICE,
    GENERAL,
    MATCHES,
    ORDERED,
    BookSpec,
    Domain,
    GoalDraw,
    Match,
    SearchSlot,
    Service,
    ServiceKeys,
    SlotType,
    SlotWords,
    has_thousands,
    members,
)
from dialgauge.worlds.domain.rows import RowsFile, read_rows, read_text
from dialgauge.worlds.folders import DOMAIN_FILE, domain_folder, require_file
from dialgauge.yaml_file import YamlDocument, read_yaml

_GOALS_FILE, _POLICY_FILE = "goals.jsonl", "policy.md"
_TEMPLATE = Path(__file__).with_name("template")
_NAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_RANGE = re.compile(r"number\s+([-+]?[0-9]{1,12})\s*\.\.\s*([-+]?[0-9]{1,12})")
_TYPES = ("text", "day", "time", "number")
_NO_WISH = f"the value '{DONTCARE}' cannot be told from having no wish at all; write it otherwise"


class _Search(Struct):
    match: str = "same"
    say: str = ""
    unit: str = ""
    values: list[str] = []


class _Book(Struct):
    takes: dict[str, str | list[str]] = {}
    needs: list[str] | None = None
    one_of: list[list[str]] = []
    #: Slots, or for each how its value is made: one of a list, or a text whose ``#`` are digits.
    gives: list[str] | dict[str, str | list[str]] = field(default_factory=lambda: ["reference"])


class _Service(ServiceKeys, frozen=True):
    rows: str = ""
    name: str = ""
    id: str = ""
    search: dict[str, str | _Search] = field(default_factory=dict)
    book: _Book | None = None
    refers: dict[str, str | list[str]] = field(default_factory=dict)


class _Goals(Struct):
    file: str = ""
    draw: GoalDraw | None = None


class _Words(Struct, forbid_unknown_fields=True):
    ask: str = ""
    label: str = ""
    say: str = ""
    also: tuple[str, ...] = ()


class _File(Struct):
    domain: str
    title: str = ""
    policy: str = ""
    services: dict[str, _Service] = {}
    goals: _Goals = field(default_factory=_Goals)
    words: dict[str, Any] = {}
    spelling: Literal["", "multiwoz"] = ""
    #: Keys of a folder that has tools, too: ``dialgauge.worlds.tools`` reads them.
    tools: Any = None
    data: Any = None
    tasks: Any = None


def load_domain(name_or_path: str | Path) -> Domain:
    """A domain by the name of an installed one, or by its folder: a path has a separator (``./clinic``)."""
    return read_domain(domain_folder(name_or_path))


def read_domain(folder: Path, rows: Mapping[str, RowsFile] | None = None) -> Domain:
    """The domain in a folder; ``rows`` are those of its services where they are in no file of the folder."""
    return _Reader(read_yaml(domain_folder(folder) / DOMAIN_FILE, as_text=True), folder, rows).domain()


def new_domain(folder: str | Path) -> list[Path]:
    """Write a small commented domain into a folder that must not exist yet. The files that were written."""
    target = Path(folder)
    if not _NAME.fullmatch(target.name):
        raise DialgaugeError(f"'{target.name}' cannot be the name of a domain: use letters, digits and hyphens")
    if target.exists():
        raise DialgaugeError("it exists already; choose another name", file=str(target))
    text = (_TEMPLATE / DOMAIN_FILE).read_text(encoding="utf-8").replace("{name}", target.name)
    contents = {
        target / DOMAIN_FILE: text.encode(),
        target / f"{target.name}.csv": (_TEMPLATE / "rows.csv").read_bytes(),
    }
    with together():
        for file, content in contents.items():
            with atomic(file) as scratch:
                scratch.write_bytes(content)
    return list(contents)


class _Reader:
    """``domain.yaml`` while it is read."""

    def __init__(self, document: YamlDocument, folder: Path, rows: Mapping[str, RowsFile] | None) -> None:
        self._document, self._folder, self._given_rows = document, folder, rows
        self._files = [document.file or DOMAIN_FILE]
        self._content: _File = document.as_record(_File, "a domain", strict=False)
        self._multiwoz = self._content.spelling == "multiwoz"

    def refuse(self, message: str, *location: str | int) -> NoReturn:
        """Raise an error at a place of the file."""
        raise DialgaugeError(message, file=self._document.file, line=self._document.line(*location))

    def domain(self) -> Domain:
        content = self._content
        self._check_name(content.domain, "the name of a domain", "domain")
        services: dict[str, Service] = {}
        for key, given in content.services.items():
            self._check_name(key, "the name of a service", "services", key)
            if key.lower() == GENERAL:
                self.refuse(
                    f"a service cannot be called '{key}': acts such as general-bye have that name", "services", key
                )
            if key.lower() in services:
                self.refuse(f"the service '{key}' appears twice, but for capital letters", "services", key)
            services[key.lower()] = self._service(key, given)
        if not services:
            self.refuse("there are no services to search or book", "services")
        for key, service in zip(content.services, services.values(), strict=True):
            self._check_refers(key, service, services)
        goals = content.goals
        if goals.file and goals.draw is not None:
            self.refuse("goals are drawn or read from a file, not both", "goals", "draw")
        policy = self._file(content.policy, _POLICY_FILE, "policy")
        if policy is not None:
            self._files.append(str(policy))
        return Domain(
            name=content.domain,
            title=content.title or content.domain.replace("-", " "),
            policy="" if policy is None else read_text(policy).strip(),
            services=services,
            goals_file=None if goals.draw is not None else self._file(goals.file, _GOALS_FILE, "goals", "file"),
            draw=self._draw(goals.draw or GoalDraw(), services),
            words=self._words(services),
            files=tuple(self._files),
            multiwoz=self._multiwoz,
        )

    def _check_name(self, name: str, what: str, *location: str) -> None:
        if not _NAME.fullmatch(name):
            self.refuse(f"'{name}' cannot be {what}: use letters, digits and hyphens", *location)

    def _check_known(self, names: Iterable[str], known: Iterable[str], what: str, *location: str | int) -> None:
        """Refuse a name that is not one of those known, or stands twice."""
        seen: set[str] = set()
        for position, name in enumerate(names):
            if name not in known:
                self.refuse(f"'{name}' is not {what}.{nearest(name, known)}", *location, position)
            if name in seen:
                self.refuse(f"'{name}' stands twice in '{location[-1]}'", *location, position)
            seen.add(name)

    def _file(self, name: str, usual: str, *location: str) -> Path | None:
        """The file of that name; where none is named the one with the usual name, if there is one."""
        if name:
            return require_file(self._folder, name, self._document.line(*location))
        return self._folder / usual if (self._folder / usual).is_file() else None

    # Services

    def _service(self, key: str, given: _Service) -> Service:
        location = ("services", key)
        rows = self._rows(given.rows, *location, "rows") if given.rows else None
        if rows is None:
            for named in ("name", "id", "search", "answer"):
                if getattr(given, named):
                    self.refuse(f"'{named}' names columns, but the service has no rows", *location, named)
            if given.book is None:
                self.refuse(f"the service '{key}' has neither rows to look up nor a booking", *location)
        elif not given.name:
            self.refuse(f"the service '{key}' has rows but no name: say which column people call them by", *location)
        if rows is not None and self._given_rows is None:
            what = f"a column of {Path(rows.file).name}"
            for where, name in (("name", given.name), ("id", given.id), *(("search", slot) for slot in given.search)):
                if name and name not in rows.columns:
                    self.refuse(f"'{name}' is not {what}.{nearest(name, rows.columns)}", *location, where, name)
            self._check_known(given.answer, rows.columns, what, *location, "answer")
        columns = [*filter(None, (given.name, given.id)), *given.search, *given.answer]
        book = None if given.book is None else self._book(given.book, columns, *location, "book")
        slots = [*columns, *(book.takes if book is not None else ())]
        self._check_slots(given, slots, *location)
        self._check_spaces([*slots, *(book.gives if book is not None else ())], *location)
        if rows is not None and not self._multiwoz:
            _check_names(rows, given.name, given.id)
        noun = key.replace("-", " ")
        return Service(
            **{
                **{name: getattr(given, name) for name in ServiceKeys.__struct_fields__},
                "title": given.title or f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}",
            },
            name=key.lower(),
            rows=None
            if rows is None
            else tuple({slot: row[slot] for slot in dict.fromkeys(columns) if slot in row} for _, row in rows.rows),
            name_slot=given.name,
            id_slot=given.id,
            search={
                slot: self._search(slot, rule, rows, *location, "search", slot)
                for slot, rule in given.search.items()
                if rows is not None
            },
            book=book,
            refers={
                slot: tuple(target.lower() for target in ([targets] if isinstance(targets, str) else targets))
                for slot, targets in given.refers.items()
            },
            multiwoz=self._multiwoz,
        )

    def _rows(self, name: str, *location: str) -> RowsFile:
        if self._given_rows is not None:
            return self._given_rows.get(name.partition(".")[0]) or RowsFile(name, (), [])
        rows = read_rows(require_file(self._folder, name, self._document.line(*location)))
        self._files.append(rows.file)
        if not rows.rows:
            raise DialgaugeError("there are no rows", file=rows.file)
        return rows

    def _check_slots(self, given: ServiceKeys, slots: Iterable[str], *location: str) -> None:
        """Refuse keys that name no slots of the service."""
        what = "a slot of the service"
        for key in ("requires", "describe", "narrow", "tells", "order", "next_day", "total", "generic"):
            self._check_known(getattr(given, key), slots, what, *location, key)
        for position, group in enumerate(given.requires_one_of):
            self._check_known(group, slots, what, *location, "requires_one_of", position)
        for others in (given.next_day, given.total):
            self._check_known(dict.fromkeys(others.values()), slots, what, *location)

    def _check_spaces(self, slots: Iterable[str], *location: str) -> None:
        """Refuse slots that a tool could not tell apart, and the name of what the lab tells itself."""
        written: dict[str, str] = {}
        for slot in slots:
            other = written.setdefault("_".join(slot.split()), slot)
            if other != slot:
                self.refuse(f"'{slot}' and '{other}' are one name once spaces are underscores", *location)
            if slot == CHOICE:
                self.refuse(
                    f"a slot cannot be called '{slot}': acts that say how many rows fit have that name", *location
                )

    def _search(self, slot: str, rule: str | _Search, rows: RowsFile, *location: str) -> SearchSlot:
        given = _Search(match=rule or "same") if isinstance(rule, str) else rule
        match = next((known for known in MATCHES if known == given.match), None)
        if match is None:
            self.refuse(f"there is no rule '{given.match}' to search by.{nearest(given.match, MATCHES)}", *location)
        for position, value in enumerate(given.values):
            if problem := _unfit(match, value):
                self.refuse(f"'{value}' {problem} under '{match}'", *location, "values", position)
        self._check_known(given.values, given.values, "", *location, "values")
        if not self._multiwoz:
            _check_cells(rows, slot, match)
        cells = [cells[slot] for _, cells in rows.rows if slot in cells]
        by_meaning: dict[object, str] = {}
        for cell in (*cells, *given.values):
            for value in members(cell) if match == "contains" else (cell,):
                by_meaning.setdefault(truth(value) if match == "yes-no" else comparable(value), value)
        return SearchSlot(match=match, say=given.say, unit=given.unit, values=tuple(by_meaning.values()))

    # Booking

    def _book(self, given: _Book, columns: list[str], *location: str) -> BookSpec:
        takes = {slot: self._slot_type(kind, *location, "takes", slot) for slot, kind in given.takes.items()}
        what = "a slot that the booking takes"
        for position, group in enumerate(given.one_of):
            self._check_known(group, takes, what, *location, "one_of", position)
        self._check_known(given.needs or (), takes, what, *location, "needs")
        self._check_known(given.gives, given.gives, "", *location, "gives")
        for where, slots in (("takes", [*takes]), ("gives", [*given.gives])):
            for slot in slots:
                if slot in columns or (where == "gives" and slot in takes):
                    other = "a column" if slot in columns else "what the booking takes"
                    self.refuse(
                        f"'{slot}' has the name of {other}; give one of them another name", *location, where, slot
                    )
        grouped = {slot for group in given.one_of for slot in group}
        needs = [slot for slot in takes if slot not in grouped] if given.needs is None else given.needs
        made = given.gives if isinstance(given.gives, dict) else {}
        return BookSpec(
            takes=takes,
            needs=tuple(needs),
            one_of=tuple(map(tuple, given.one_of)),
            gives=tuple(given.gives),
            made={slot: _parts(how) for slot, how in made.items() if how},
        )

    def _slot_type(self, content: str | list[str], *location: str) -> SlotType:
        if isinstance(content, list):
            if not content or "" in content:
                self.refuse("a list of words needs at least one, and no empty one", *location)
            for position, word in enumerate(content):
                if comparable(word) in map(comparable, content[:position]):
                    self.refuse(f"'{word}' stands twice in '{location[-1]}'", *location, position)
                if plain(word) == DONTCARE:
                    self.refuse(_NO_WISH, *location, position)
            return SlotType("words", words=tuple(content))
        text = " ".join(content.split())
        if bounds := _RANGE.fullmatch(text):
            low, high = int(bounds[1]), int(bounds[2])
            if low > high:
                self.refuse(f"the range {low}..{high} is empty", *location)
            return SlotType("number", low, high)
        if text not in _TYPES:
            types = f"{', '.join(_TYPES)}, 'number 1..30' or a list of words"
            self.refuse(f"there is no type '{text}'; use {types}", *location)
        return SlotType(text)  # type: ignore[arg-type]

    def _check_refers(self, key: str, service: Service, services: Mapping[str, Service]) -> None:
        location, takes = ("services", key, "refers"), service.booking_slots
        for slot, targets in service.refers.items():
            if slot not in takes:
                self.refuse(f"'{slot}' is not a slot that the booking takes.{nearest(slot, takes)}", *location, slot)
            if takes[slot].kind != "text":
                self.refuse(f"'{slot}' refers to another service, so that its type must be text", *location, slot)
            for target in targets:
                problem = ""
                if target not in services:
                    problem = f"which is no service.{nearest(target, [name for name in services if name != key])}"
                elif services[target].rows is None:
                    problem = "which has no rows to settle on"
                elif target == service.name:
                    problem = "its own service"
                if problem:
                    self.refuse(f"'{slot}' refers to '{target}', {problem}", *location, slot)

    # Goals and words

    def _draw(self, draw: GoalDraw, services: Iterable[str]) -> GoalDraw:
        location = ("goals", "draw")
        self._check_known(draw.among, services, "a service", *location, "among")
        for key in ("services", "wishes", "asked"):
            low, high = getattr(draw, key)
            if not 0 <= low <= high:
                self.refuse(f"the least, {low}, is more than the most, {high}, or less than 0", *location, key)
        if not draw.services[1]:
            self.refuse("a goal has at least one service", *location, "services")
        for key in ("booked", "fails_first", "refused_first"):
            if not 0 <= getattr(draw, key) <= 1:
                self.refuse(f"a share is a number from 0 to 1 (got '{getattr(draw, key)}')", *location, key)
        return draw

    def _words(self, services: Mapping[str, Service]) -> dict[str, SlotWords]:
        known = dict.fromkeys(slot for service in services.values() for slot in service.slots)
        given = dict(self._content.words)
        with self._at("words", "values"):
            of_values = msgspec.convert(given.pop("values", {}), dict[str, dict[str, tuple[str, ...]]])
        words = {}
        for slot in dict.fromkeys((*given, *of_values)):
            if slot not in known:
                at = ("words", slot) if slot in given else ("words", "values", slot)
                self.refuse(f"'{slot}' is not a slot of any service.{nearest(slot, known)}", *at)
            with self._at("words", slot):
                said = msgspec.convert(given.get(slot, {}), _Words)
            if said.say and (said.say.count("{value}") != 1 or re.search(r"[{}]", said.say.replace("{value}", ""))):
                self.refuse("'say' has {value} once, where the value goes, and no other braces", "words", slot, "say")
            values = of_values.get(slot, {})
            self._check_values(slot, values, services.values())
            words[slot] = SlotWords(ask=said.ask, label=said.label, say=said.say, also=said.also, values=values)
        return words

    @contextmanager
    def _at(self, *location: str) -> Iterator[None]:
        """Turn a wrong shape into an error at a place of the file."""
        try:
            yield
        except msgspec.ValidationError as error:
            self.refuse(f"'{location[-1]}': {str(error).replace('`', '')}", *location)

    def _check_values(self, slot: str, values: Iterable[str], services: Iterable[Service]) -> None:
        known: dict[str, None] = {}
        for service in services:
            kind = service.booking_slots.get(slot)
            if kind is not None and kind.kind != "words":
                return
            known |= dict.fromkeys((*(kind.words if kind else ()), *getattr(service.wishes.get(slot), "values", ())))
            known |= dict.fromkeys(row[slot] for row in service.rows or () if slot in service.answer and slot in row)
        for value in values if known and not self._multiwoz else ():
            if comparable(value) not in map(comparable, known):
                self.refuse(
                    f"'{value}' is not a value of '{slot}'.{nearest(value, known)}", "words", "values", slot, value
                )


def _parts(how: str | list[str]) -> tuple[tuple[str, ...], ...]:
    """What a value is put together from, one of each: a list has one part, of ``07###`` each sign is one."""
    if isinstance(how, list):
        return (tuple(how),)
    return tuple(tuple("0123456789") if sign == "#" else (sign,) for sign in how)


def _check_names(rows: RowsFile, name: str, ident: str) -> None:
    for column in filter(None, (name, ident)):
        seen: dict[object, int] = {}
        for line, cells in rows.rows:
            if column not in cells:
                rows.refuse(line, f"this row has no '{column}'; each row needs it")
            first = seen.setdefault(comparable(cells[column]), line)
            if first != line and (column == ident or not ident):
                what = "id" if column == ident else "name"
                hint = "" if column == ident else "; add 'id: COLUMN' to the service to tell the rows apart"
                rows.refuse(line, f"the {what} '{cells[column]}' stands in line {first} too{hint}")


def _check_cells(rows: RowsFile, slot: str, match: Match) -> None:
    """Refuse cells of a column that cannot be compared in this way, with a wish or with each other."""
    kinds: dict[bool, str] = {}
    for line, cells in rows.rows:
        cell = cells.get(slot)
        if cell is None:
            continue
        if problem := _unfit(match, cell):
            rows.refuse(line, f"'{cell}' in the column '{slot}' {problem}, and {DOMAIN_FILE} says '{match}'")
        if match in ORDERED:
            kinds.setdefault(minutes(cell) is not None, cell)
            if len(kinds) > 1:
                both = f"'{kinds[False]}', '{kinds[True]}'"
                rows.refuse(line, f"the column '{slot}' has both numbers and times ({both})")


def _unfit(match: Match, value: str) -> str:
    """Why a value cannot be compared in this way, or ""."""
    if plain(value) == DONTCARE:
        return f"is no value: {_NO_WISH}"
    if match == "yes-no" and truth(value) is None:
        return "is not yes, no, true or false"
    if match in ORDERED and number(value) is None and minutes(value) is None:
        return "has a thousands separator" if has_thousands(value) else "is neither a number nor a time of day"
    return ""
