"""Goals of a domain: what a simulated user wants, one a line of ``goals.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct

from dialgauge.dialogue import DONTCARE, Goal, Task
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import comparable, plain
from dialgauge.worlds.domain.rows_file import decode_json, read_text
from dialgauge.worlds.domain.schema import Domain
from dialgauge.worlds.domain.search import DomainSearch
from dialgauge.worlds.domain.service import SearchSlot, Service, SlotType

_GOAL = ("id", "tasks", "satisfiable")
_TASK = ("service", "want", "first", "book", "book_first", "ask", "refers")


class ServiceTask(Struct, frozen=True, kw_only=True):
    """What a user wants of one service."""

    #: The name of the service.
    domain: str
    info: dict[str, str] = {}
    #: Constraints to try first, whole, which find nothing; None where there are none.
    first: dict[str, str] | None = None
    #: None where nothing is to be booked.
    book: dict[str, str] | None = None
    #: The whole booking to try first, which is refused.
    book_first: dict[str, str] | None = None
    requests: tuple[str, ...] = ()
    #: Slots whose value is what the user settles on in another service.
    links: dict[str, str] = {}


class GoalFindings(Struct, frozen=True, kw_only=True):
    """What a look at the rows says of a goal; an empty one is fine as it is."""

    #: Services whose constraints nothing satisfies.
    unsatisfiable: tuple[str, ...] = ()
    #: Services whose constraints to try first would have found something.
    stale: tuple[str, ...] = ()
    #: Slots of a booking that are neither given nor to be told from the instructions.
    missing_ends: tuple[str, ...] = ()
    #: ``service slot`` pairs of bookings whose value no booking can have.
    impossible_bookings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stale or not self.satisfiable)

    @property
    def satisfiable(self) -> bool:
        """Can a system do all that the goal asks for?"""
        return not (self.unsatisfiable or self.missing_ends or self.impossible_bookings)


class DomainGoal(Struct, frozen=True, kw_only=True):
    """What a user wants, in the order in which it is to be discussed."""

    id: str
    tasks: tuple[ServiceTask, ...]
    message: tuple[str, ...] = ()
    findings: GoalFindings = GoalFindings()

    @property
    def domains(self) -> tuple[str, ...]:
        """The services in the order of discussion."""
        return tuple(task.domain for task in self.tasks)

    def recorded(self) -> Goal:
        """The goal as records keep it: what was really asked for, the first booking whole."""
        return Goal(
            tasks={
                task.domain: Task(
                    info=task.info,
                    fail_info=task.first or {},
                    book=task.book or {},
                    fail_book=task.book_first or {},
                    requests=task.requests,
                )
                for task in self.tasks
            },
            message=self.message,
        )


def read_goals(domain: Domain, search: DomainSearch, path: Path | None = None) -> list[DomainGoal]:
    """The goals of the domain's file, or of another, checked."""
    file = path or domain.goals_file
    if file is None:
        raise DialgaugeError(f"the domain {domain.name} has no file of goals; its goals are drawn")
    goals: dict[str, DomainGoal] = {}
    for line, text in enumerate(read_text(file).split("\n"), start=1):
        if text.strip():
            content, end = decode_json(text.strip(), 0, str(file), line)
            reader = _GoalReader(domain, search, str(file), line)
            if end != len(text.strip()):
                reader.refuse("it is not valid JSON (something follows the goal)")
            goal = reader.goal(content)
            if goal.id in goals:
                reader.refuse(f"the id '{goal.id}' appears twice")
            goals[goal.id] = goal
    if not goals:
        raise DialgaugeError("there are no goals", file=str(file))
    return list(goals.values())


class _GoalReader:
    """One line of goals."""

    def __init__(self, domain: Domain, search: DomainSearch, file: str, line: int) -> None:
        self._domain, self._search = domain, search
        self._file, self._line = file, line

    def goal(self, content: Any) -> DomainGoal:
        given = self._mapping(content, "a goal", _GOAL)
        identifier = given.get("id")
        if not isinstance(identifier, str) or not identifier.strip():
            self.refuse("the goal has no id")
        possible = given.get("satisfiable", "true")
        if possible not in ("true", "false"):
            self.refuse("'satisfiable' must be true or false")
        listed = given.get("tasks")
        if not isinstance(listed, list) or not listed:
            self.refuse("the goal has no tasks; 'tasks' is a list of what is wanted of each service")
        tasks: dict[str, ServiceTask] = {}
        unsatisfiable: list[str] = []
        for item in listed:
            task = self._task(item, tasks)
            if task.domain in tasks:
                self.refuse(f"the service '{task.domain}' appears twice in the goal")
            tasks[task.domain] = task
            service = self._domain.services[task.domain]
            if service.rows is not None and not self._search.find(task.domain, task.info).rows:
                unsatisfiable.append(task.domain)
                if possible == "true":
                    wish = ", ".join(f"{slot} {value}" for slot, value in task.info.items())
                    self.refuse(
                        f'nothing fits the wishes for {task.domain} ({wish}); mend them, or add "satisfiable": false'
                    )
        return DomainGoal(
            id=identifier.strip(),
            tasks=tuple(tasks.values()),
            findings=GoalFindings(unsatisfiable=tuple(unsatisfiable)),
        )

    def _task(self, content: Any, earlier: Mapping[str, ServiceTask]) -> ServiceTask:
        given = self._mapping(content, "a task", _TASK)
        named = given.get("service")
        services = self._domain.services
        name = named.lower() if isinstance(named, str) else ""
        if name not in services:
            self.refuse(f"the domain has no service '{named}'.{nearest(str(named), services)}")
        service = services[name]
        want = self._slots(given, "want", service, service.wishes, "to search by")
        self._check(service, want, service.wishes)
        book = None
        if given.get("book") is not None:
            if service.book is None:
                self.refuse(f"{name} cannot be booked")
            book = self._slots(given, "book", service, service.booking_slots, "to book with")
        links = self._links(given, service, book, want, earlier)
        if book is not None and service.book is not None:
            self._check(service, book, service.book.takes)
            if missing := service.book.missing({**book, **links}):
                self.refuse(f"the booking of {name} is incomplete: there is no '{service.declared(missing[0])}'")
        if service.rows is None and book is None:
            self.refuse(f"{name} has no rows: there is nothing to do but book it, and the task has no 'book'")
        asked = given.get("ask") or []
        if not isinstance(asked, list) or not all(isinstance(slot, str) for slot in asked):
            self.refuse("'ask' must be a list of slots")
        requests = tuple(dict.fromkeys(self._slot(slot, service, service.askable, "to ask for") for slot in asked))
        return ServiceTask(
            domain=name,
            info=want,
            first=self._first(given, service, want),
            book=book,
            book_first=self._book_first(given, service, book),
            requests=requests,
            links=links,
        )

    def _first(self, given: Mapping[str, Any], service: Service, want: dict[str, str]) -> dict[str, str] | None:
        if given.get("first") is None:
            return None
        changed = self._slots(given, "first", service, service.wishes, "to search by")
        self._check(service, changed, service.wishes)
        if not _differs(changed, want):
            self.refuse(f"'first' of {service.name} differs in nothing from 'want'")
        first = {**want, **changed}
        if self._search.find(service.name, first).rows:
            self.refuse(f"'first' of {service.name} finds something; it must find nothing")
        return first

    def _book_first(
        self, given: Mapping[str, Any], service: Service, book: dict[str, str] | None
    ) -> dict[str, str] | None:
        if given.get("book_first") is None:
            return None
        if service.book is None or book is None:
            self.refuse(f"{service.name} has 'book_first' but no 'book'")
        changed = self._slots(given, "book_first", service, service.book.takes, "to book with")
        self._check(service, changed, service.book.takes)
        if not _differs(changed, book):
            self.refuse(f"'book_first' of {service.name} differs in nothing from 'book'")
        return {**book, **changed}

    def _links(
        self,
        given: Mapping[str, Any],
        service: Service,
        book: Mapping[str, str] | None,
        want: Mapping[str, str],
        earlier: Mapping[str, ServiceTask],
    ) -> dict[str, str]:
        if given.get("refers") is None:
            return {}
        if book is None:
            self.refuse(f"{service.name} has 'refers' but no 'book'")
        links = {}
        for slot, target in self._slots(given, "refers", service, service.refers, "that refers").items():
            other = target.lower()
            if other not in service.refers[slot]:
                self.refuse(f"'{slot}' cannot refer to '{target}'.{nearest(target, service.refers[slot])}")
            if other not in earlier:
                self.refuse(f"'{slot}' refers to '{target}', which must have a task earlier in the goal")
            if slot in book or slot in want:
                self.refuse(f"'{slot}' both refers to '{target}' and has a value")
            links[slot] = other
        return links

    def _check(
        self, service: Service, given: Mapping[str, str], rules: Mapping[str, SearchSlot] | Mapping[str, SlotType]
    ) -> None:
        for slot, value in given.items():
            if problem := rules[slot].problem(value):
                self.refuse(f"{service.name}: {service.declared(slot)} {problem} (got '{value}')")

    def _slots(
        self, given: Mapping[str, Any], key: str, service: Service, known: Mapping[str, Any], use: str
    ) -> dict[str, str]:
        content = given.get(key)
        if content is None:
            return {}
        if not isinstance(content, dict):
            self.refuse(f"'{key}' must be an object of slots and values")
        slots = {}
        for declared, value in content.items():
            if not isinstance(value, str) or not value.strip():
                self.refuse(f"'{key}' gives '{declared}' no value")
            if plain(value) == DONTCARE:
                self.refuse(
                    f"'{key}' gives '{declared}' the value '{DONTCARE}'; leave out what the user has no wish about"
                )
            slots[self._slot(declared, service, known, use)] = value.strip()
        return slots

    def _slot(self, declared: str, service: Service, known: Mapping[str, Any] | tuple[str, ...], use: str) -> str:
        names = {service.declared(slot): slot for slot in reversed(tuple(known))}
        if declared not in names:
            self.refuse(f"{service.name} has no slot '{declared}' {use}.{nearest(declared, names)}")
        return names[declared]

    def _mapping(self, content: Any, what: str, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(content, dict):
            self.refuse(f"{what} is an object: {{…}}")
        for key in content:
            if key not in known:
                self.refuse(f"{what} has no key '{key}'.{nearest(key, known)}")
        return content

    def refuse(self, message: str) -> NoReturn:
        """Raise an error at this line."""
        raise DialgaugeError(message, file=self._file, line=self._line)


def _differs(changed: Mapping[str, str], whole: Mapping[str, str]) -> bool:
    return any(slot not in whole or comparable(value) != comparable(whole[slot]) for slot, value in changed.items())


def declared_goal(domain: Domain, goal: DomainGoal) -> dict[str, Any]:
    """A goal as a line of ``goals.jsonl``."""
    written: dict[str, Any] = {"id": goal.id, "tasks": [_declared(domain, task) for task in goal.tasks]}
    return written if goal.findings.satisfiable else {**written, "satisfiable": False}


def _declared(domain: Domain, task: ServiceTask) -> dict[str, Any]:
    service = domain.services[task.domain]

    def named(slots: Mapping[str, str]) -> dict[str, str]:
        return {service.declared(slot): value for slot, value in slots.items()}

    parts = dict(_parts(task))
    return {
        "service": task.domain,
        **{key: named(slots) for key, slots in parts.items()},
        **({"ask": [service.declared(slot) for slot in task.requests]} if task.requests else {}),
        **({"refers": named(task.links)} if task.links else {}),
    }


def _parts(task: ServiceTask) -> Iterator[tuple[str, Mapping[str, str]]]:
    if task.info:
        yield "want", task.info
    if task.first is not None:
        yield "first", {slot: value for slot, value in task.first.items() if task.info.get(slot) != value}
    if task.book is not None:
        yield "book", task.book
        if task.book_first is not None:
            yield "book_first", {slot: value for slot, value in task.book_first.items() if task.book.get(slot) != value}
