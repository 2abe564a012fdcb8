"""MultiWOZ's own files: its database as the rows of the town, its goals as goals of the town, its acts' spelling.

A goal of MultiWOZ says more than its user was told: ``fail_info`` often finds something after all (then no instruction
mentions it), booking flags have no meaning without a value to be refused, and a taxi "between the two places" has no
ends. The rules here make of it what a human user was asked to do (``docs/decisions.md``, the lab).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Act, Goal, Task
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import decode, resolve
from dialgauge.intents import service_of
from dialgauge.values import NEXT_DAY, NO_CONSTRAINT, comparable, minutes
from dialgauge.worlds.domain.domain import Domain, Service
from dialgauge.worlds.domain.domain_folder import read_domain
from dialgauge.worlds.domain.goals import DomainGoal, GoalFindings, ServiceTask
from dialgauge.worlds.domain.rows import RowsFile
from dialgauge.worlds.domain.search import DomainSearch
from dialgauge.worlds.folders import PACKS, TOWN

#: What becomes of constraints that are to fail but would find something: left out, or kept, as ConvLab does.
Failures: TypeAlias = Literal["live", "paper"]
#: Tables with the columns that every row must have as texts, in the spelling of the files.
_NEEDED = {
    "restaurant": ("id", "name", "food", "area", "pricerange"),
    "hotel": ("id", "name", "type", "area", "pricerange", "stars", "parking", "internet"),
    "attraction": ("id", "name", "type", "area"),
    "train": ("trainID", "departure", "destination", "day", "leaveAt", "arriveBy"),
    "hospital": ("department",),
    "police": ("name",),
}
#: Tables that constrain nothing, and need not be there.
_SIDE_TABLES = ("hospital", "police", "taxi")
_UNKNOWN = ("?", "", "none")
_FOLDER = "db"


class MultiwozDatabase(Struct, frozen=True, kw_only=True):
    """The tables of a database as they were read; ``taxi`` has lists of colours and makes."""

    tables: dict[str, list[dict[str, Any]]]
    taxi: dict[str, list[str]] = {}
    files: tuple[str, ...] = ()


def read_database(folder: str | Path) -> MultiwozDatabase:
    """The database in a folder with ``restaurant_db.json`` and the others, packed or not."""
    tables: dict[str, Any] = {}
    files = []
    for name in (*_NEEDED, "taxi"):
        stem = Path(folder) / f"{name}_db.json"
        path = next((path for path in (stem, stem.with_name(f"{stem.name}.gz")) if path.is_file()), None)
        if path is not None:
            tables[name] = _table(path, name)
            files.append(str(path))
        elif name not in _SIDE_TABLES:
            raise DialgaugeError(f"there is no {stem.name} in this folder of a MultiWOZ database", file=str(folder))
    return MultiwozDatabase(taxi=tables.pop("taxi", {}), tables=tables, files=tuple(files))


def database_beside(gold: str | Path) -> MultiwozDatabase:
    """The database in the folder ``db`` beside a MultiWOZ file, where the dataset has it."""
    parent = Path(gold).absolute().parent
    for folder in (parent / _FOLDER, parent):
        if any(folder.glob("restaurant_db.json*")):
            return read_database(folder)
    raise DialgaugeError(
        f"there is no MultiWOZ database beside it (a folder '{_FOLDER}' with restaurant_db.json and the others); "
        "name its folder with --database",
        file=str(gold),
    )


def _table(path: Path, name: str) -> Any:
    (part,) = resolve(path)
    if name == "taxi":
        return decode(msgspec.json.Decoder(dict[str, list[str]]), part.read(), part)
    rows = decode(msgspec.json.Decoder(list[dict[str, Any]]), part.read(), part)
    if not rows:
        raise DialgaugeError("the table of the MultiWOZ database is empty", file=str(path))
    for number, row in enumerate(rows, start=1):
        for column in _NEEDED[name]:
            if not isinstance(row.get(column), str):
                problem = f"is not text but {row[column]!r}" if column in row else "is missing"
                called = f" ({row['name']})" if isinstance(row.get("name"), str) else ""
                raise DialgaugeError(
                    f"the column '{column}' {problem} in row {number}{called}; each row of this table needs it as text",
                    file=str(path),
                )
    return rows


def town_of(database: MultiwozDatabase) -> Domain:
    """The town with the rows of a database in place of those that ship."""
    rows = {
        name: RowsFile(
            f"{name}_db.json",
            tuple(dict.fromkeys(column for row in table for column in row)),
            [(number, dict(_told(row))) for number, row in enumerate(table, start=1)],
        )
        for name, table in database.tables.items()
    }
    domain = read_domain(PACKS / TOWN, rows)
    taxi = domain.services["taxi"]
    colours, makes = (tuple(database.taxi.get(name, ())) for name in ("taxi_colors", "taxi_types"))
    if taxi.book is not None and colours and makes:
        made = {**taxi.book.made, "car type": (colours, (" ",), makes)}
        taxi = replace(taxi, book=replace(taxi.book, made=made))
    return replace(domain, services={**domain.services, "taxi": taxi}, files=database.files)


def _told(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is known of a row, in texts."""
    for slot, value in row.items():
        if isinstance(value, str) and value.strip().lower() not in _UNKNOWN:
            yield slot, value


# Goals

_EMPHASIS = re.compile(r"<[^>]*>")
_MENTIONS = {
    "restaurant": ("place to dine", "restaurant"),
    "hotel": ("place to stay", "hotel"),
    "attraction": ("places to go", "attraction"),
}
_VENUES = tuple(_MENTIONS)
_TIMES = ("leaveAt", "arriveBy", "time")
#: Marks of bookings that are no slots and carry no value.
_FLAGS = ("invalid", "pre_invalid")
_ENDS = ("departure", "destination")
_LEAVING = re.compile(r"leave the (restaurant|hotel|attraction)\b")
_ARRIVING = re.compile(r"arrives? (?:at )?the (restaurant|hotel|attraction)\b")
_SPELLED = {
    ("type", "mutliple sports"): "multiple sports",
    ("parking", "free"): "yes",
    ("internet", "free"): "yes",
}


def multiwoz_goal(identifier: str, goal: Goal, search: DomainSearch, failures: Failures = "live") -> DomainGoal:
    """The goal of a dialogue as a goal of the town."""
    services = search.domain.services
    wanted = {domain: task for domain, task in goal.tasks.items() if _asks_anything(task)}
    unknown = next((domain for domain in wanted if domain not in services), None)
    if unknown is not None:
        raise DialgaugeError(f"the town has no domain '{unknown}'.{nearest(unknown, services)}", dialogue=identifier)
    if not wanted:
        raise DialgaugeError("the goal asks for nothing", dialogue=identifier)
    text = [_EMPHASIS.sub("", sentence).lower() for sentence in goal.message]
    ordered = _in_order(wanted, text)
    stale, unsatisfiable, tasks = [], [], []
    for domain in ordered:
        service = services[domain]
        _refuse_unknown(identifier, service, wanted[domain])
        task, live = _task(service, wanted[domain], search, failures)
        if not live:
            stale.append(domain)
        if service.rows is None:
            task = replace(task, links=_links(task.info, ordered, text))
        elif not search.find(domain, task.info):
            unsatisfiable.append(domain)
        tasks.append(task)
    findings = GoalFindings(
        unsatisfiable=tuple(unsatisfiable),
        stale=tuple(stale),
        missing_ends=tuple(
            slot for task in tasks if task.domain == "taxi" for slot in _ENDS if slot not in {**task.info, **task.links}
        ),
        impossible_bookings=tuple(pair for task in tasks for pair in _impossible(services[task.domain], task)),
    )
    return DomainGoal(id=identifier, tasks=tuple(tasks), message=goal.message, findings=findings)


def _asks_anything(task: Task) -> bool:
    return bool(_constraints(task.info) or _constraints(task.fail_info) or task.book or task.requests)


def _in_order(wanted: Iterable[str], text: list[str]) -> list[str]:
    """Domains in the order in which the instructions first speak of them; a taxi last where they do not."""
    whole = "\n".join(text)

    def place(domain: str) -> tuple[int, bool]:
        positions = [at for word in _MENTIONS.get(domain, (domain,)) if (at := whole.find(word)) >= 0]
        return (min(positions) if positions else len(whole), domain == "taxi")

    return sorted(wanted, key=place)


def _task(service: Service, task: Task, search: DomainSearch, failures: Failures) -> tuple[ServiceTask, bool]:
    """A task, and whether its constraints to try first find nothing, as they should."""
    info, first = (_named(search, service, _constraints(given)) for given in (task.info, task.fail_info))
    live = not first or service.rows is None or not search.find(service.name, first)
    if not first or first == info or (failures == "live" and not live):
        first = {}
    book = {slot: _value(slot, value) for slot, value in task.book.items() if slot in service.takes}
    refused = {slot: _value(slot, value) for slot, value in task.fail_book.items() if slot in service.takes}
    book_first = {**book, **refused}
    ready = ServiceTask(
        domain=service.name,
        info=info,
        first=first or None,
        book=book or None,
        book_first=book_first if refused and book_first != book else None,
        requests=tuple(dict.fromkeys(task.requests)),
    )
    return ready, live


def _constraints(given: Mapping[str, str]) -> dict[str, str]:
    """The constraints among the values given; one that says "any" is none."""
    values = {slot: _value(slot, value) for slot, value in given.items()}
    return {slot: value for slot, value in values.items() if value not in NO_CONSTRAINT}


def _named(search: DomainSearch, service: Service, wishes: dict[str, str]) -> dict[str, str]:
    """The wishes with a name that no row has exactly replaced by the only one that contains it, or is part of it."""
    name = wishes.get(service.name_slot, "")
    if not name or service.order or search.named(service.name, name):
        return wishes
    wanted = f" {comparable(name, service.spellings)} "
    names = {row.name: f" {comparable(row.name, service.spellings)} " for row in search.rows(service.name)}
    near = [known for known, spelled in names.items() if wanted in spelled or spelled in wanted]
    return {**wishes, service.name_slot: near[0]} if len(near) == 1 else wishes


@lru_cache(1 << 12)
def _value(slot: str, value: str) -> str:
    """A value as goals write it, misspellings mended, times with two digits for the hour."""
    text = " ".join(value.lower().split())
    if slot in _TIMES and minutes(text, NEXT_DAY) is not None:
        return f"{text:0>5}"
    return _SPELLED.get((slot, text), text)


def _links(info: Mapping[str, str], domains: list[str], text: list[str]) -> dict[str, str]:
    """Which venue each end of a ride is, where the goal gives none."""
    places = [domain for domain in domains if domain in _VENUES]
    if any(end in info for end in _ENDS) or len(places) != len(_ENDS):
        return {}
    other = {places[0]: places[1], places[1]: places[0]}
    for sentence in text:
        if (leaving := _LEAVING.search(sentence)) and leaving[1] in other:
            return {"departure": leaving[1], "destination": other[leaving[1]]}
        if (arriving := _ARRIVING.search(sentence)) and arriving[1] in other:
            return {"departure": other[arriving[1]], "destination": arriving[1]}
    return {}


def _refuse_unknown(identifier: str, service: Service, task: Task) -> None:
    """Refuse a slot that the town does not know: nobody could say it or answer it."""
    searched = tuple(service.search) if service.rows is not None else service.informable
    # A train's day is a constraint; some goals repeat it in the booking.
    passed_over = (*_FLAGS, "day") if service.name == "train" else _FLAGS
    kinds = (
        ("to search by", {**task.info, **task.fail_info}, searched),
        ("to book with", {**task.book, **task.fail_book}, (*service.takes, *passed_over)),
        ("to ask for", task.requests, service.askable),
    )
    for use, given, known in kinds:
        for slot in given:
            if slot not in known:
                raise DialgaugeError(
                    f"{service.name} has no slot '{slot}' {use}.{nearest(slot, known)}", dialogue=identifier
                )


def _impossible(service: Service, task: ServiceTask) -> Iterator[str]:
    """The slots of a task's bookings with a value that no booking can have."""
    for slot, kind in service.booking_slots.items():
        values = [booking[slot] for booking in (task.book, task.book_first) if booking and slot in booking]
        if any(map(kind.problem, values)):
            yield f"{task.domain} {slot}"


# Acts

#: Slots as human annotations write them, and as goals do.
_ANNOTATED = {
    "addr": "address",
    "post": "postcode",
    "price": "pricerange",
    "fee": "entrance fee",
    "open": "openhours",
    "depart": "departure",
    "dest": "destination",
    "leave": "leaveAt",
    "leaveat": "leaveAt",
    "arrive": "arriveBy",
    "arriveby": "arriveBy",
    "id": "trainID",
    "trainid": "trainID",
    "ticket": "price",
    "car": "car type",
    "ref": "Ref",
    "none": "",
}


def goal_act(act: Act) -> Act:
    """An annotated act in the spelling of goals."""
    return replace(act, slot=_goal_slot(act.name, act.slot)) if act.slot else act


@lru_cache(1 << 12)
def _goal_slot(name: str, slot: str) -> str:
    domain, plain = service_of(name), slot.lower()
    if domain == "train" and plain == "time":
        return "duration"
    if plain == "price" and domain in ("train", "taxi"):
        return "price"
    return _ANNOTATED.get(plain, plain)
