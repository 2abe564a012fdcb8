"""Goals of a domain: what a simulated user wants, one a line of ``goals.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import DONTCARE, Goal, Task
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import comparable, plain
from dialgauge.worlds.domain.domain import Domain, SearchSlot, Service, SlotType
from dialgauge.worlds.domain.rows import decode_json, read_text
from dialgauge.worlds.domain.search import DomainSearch
from dialgauge.yaml_file import as_record

_Known: TypeAlias = Mapping[str, SearchSlot | SlotType]


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


class _Task(Struct, forbid_unknown_fields=True):
    service: str
    want: dict[str, str] = {}
    first: dict[str, str] | None = None
    book: dict[str, str] | None = None
    book_first: dict[str, str] | None = None
    ask: list[str] = []
    refers: dict[str, str] = {}


class _Goal(Struct, forbid_unknown_fields=True):
    id: str
    tasks: list[_Task]
    satisfiable: Literal["true", "false"] = "true"


def read_goals(domain: Domain, search: DomainSearch, path: Path | None = None) -> list[DomainGoal]:
    """The goals of the domain's file, or of another, checked."""
    file = path or domain.goals_file
    if file is None:
        raise DialgaugeError(f"the domain {domain.name} has no file of goals; its goals are drawn")
    goals: dict[str, DomainGoal] = {}
    for line, text in enumerate(read_text(file).split("\n"), start=1):
        if text.strip():
            content = decode_json(text.strip(), str(file), line)
            try:
                goal = _checked(domain, search, as_record(content, _Goal, "a goal"))
                if goal.id in goals:
                    raise DialgaugeError(f"the id '{goal.id}' appears twice")
            except DialgaugeError as error:
                raise error.at(file=str(file), line=line) from error.__cause__
            goals[goal.id] = goal
    if not goals:
        raise DialgaugeError("there are no goals", file=str(file))
    return list(goals.values())


def _checked(domain: Domain, search: DomainSearch, given: _Goal) -> DomainGoal:
    if not given.id.strip():
        raise DialgaugeError("the goal has no id")
    if not given.tasks:
        raise DialgaugeError("the goal has no tasks; 'tasks' is a list of what is wanted of each service")
    tasks: dict[str, ServiceTask] = {}
    unsatisfiable: list[str] = []
    for item in given.tasks:
        service = domain.services.get(item.service.lower())
        if service is None:
            near = nearest(item.service, domain.services)
            raise DialgaugeError(f"the domain has no service '{item.service}'.{near}")
        if service.name in tasks:
            raise DialgaugeError(f"the service '{service.name}' appears twice in the goal")
        task = tasks[service.name] = _checked_task(service, search, item, tasks)
        if service.rows is not None and not search.find(service.name, task.info):
            unsatisfiable.append(service.name)
            if given.satisfiable == "true":
                wish = ", ".join(f"{slot} {value}" for slot, value in task.info.items())
                raise DialgaugeError(
                    f'nothing fits the wishes for {service.name} ({wish}); mend them, or add "satisfiable": false'
                )
    findings = GoalFindings(unsatisfiable=tuple(unsatisfiable))
    return DomainGoal(id=given.id.strip(), tasks=tuple(tasks.values()), findings=findings)


def _checked_task(
    service: Service, search: DomainSearch, given: _Task, earlier: Mapping[str, ServiceTask]
) -> ServiceTask:
    """One task of a goal, held against its service."""
    takes = service.booking_slots
    if service.book is None and given.book is not None:
        raise DialgaugeError(f"{service.name} cannot be booked")
    if given.book is None:
        if given.book_first is not None or (given.refers and service.books):
            key = "refers" if given.refers else "book_first"
            raise DialgaugeError(f"{service.name} has '{key}' but no 'book'")
        if service.rows is None and service.books:
            raise DialgaugeError(f"{service.name} has no rows: it can only be booked, and the task has no 'book'")
    # What makes no booking, such as a taxi, is asked for like a row.
    wishes: _Known = service.wishes if service.rows is not None else takes
    want = _slots(service, "want", given.want, wishes)
    book = None if given.book is None else _slots(service, "book", given.book, takes)
    links = _links(service, given.refers, {**want, **(book or {})}, earlier)
    ordered = want if service.rows is None and book is None else book
    if ordered is not None and service.book is not None and (missing := service.book.missing({**ordered, **links})):
        raise DialgaugeError(f"the booking of {service.name} is incomplete: there is no '{missing[0]}'")
    for slot in given.ask:
        if slot not in service.askable:
            near = nearest(slot, service.askable)
            raise DialgaugeError(f"{service.name} has no slot '{slot}' to ask for.{near}")
    first = _changed(service, "first", given.first, want, service.wishes)
    if first is not None and search.find(service.name, first):
        raise DialgaugeError(f"'first' of {service.name} finds something; it must find nothing")
    return ServiceTask(
        domain=service.name,
        info=want,
        first=first,
        book=book,
        book_first=_changed(service, "book_first", given.book_first, book or {}, takes),
        requests=tuple(dict.fromkeys(given.ask)),
        links=links,
    )


def _slots(service: Service, key: str, given: Mapping[str, str], known: _Known) -> dict[str, str]:
    """The values of slots, checked."""
    use = "to search by" if key in ("want", "first") else "to book with"
    for slot, value in given.items():
        if slot not in known:
            raise DialgaugeError(f"{service.name} has no slot '{slot}' {use}.{nearest(slot, known)}")
        if not value.strip():
            raise DialgaugeError(f"'{key}' gives '{slot}' no value")
        if plain(value) == DONTCARE:
            raise DialgaugeError(
                f"'{key}' gives '{slot}' the value '{DONTCARE}'; leave out what the user has no wish about"
            )
        if problem := known[slot].problem(value):
            raise DialgaugeError(f"{service.name}: {slot} {problem} (got '{value}')")
    return {slot: value.strip() for slot, value in given.items()}


def _changed(
    service: Service, key: str, given: Mapping[str, str] | None, whole: Mapping[str, str], known: _Known
) -> dict[str, str] | None:
    """What is to be tried first: the whole with what differs laid over it."""
    if given is None:
        return None
    changed = _slots(service, key, given, known)
    if all(slot in whole and comparable(value) == comparable(whole[slot]) for slot, value in changed.items()):
        raise DialgaugeError(
            f"'{key}' of {service.name} differs in nothing from '{'want' if key == 'first' else 'book'}'"
        )
    return {**whole, **changed}


def _links(
    service: Service, given: Mapping[str, str], valued: Mapping[str, str], earlier: Mapping[str, ServiceTask]
) -> dict[str, str]:
    """The services whose chosen row slots refer to, checked."""
    links = {slot: target.lower() for slot, target in given.items()}
    for slot, target in links.items():
        if slot not in service.refers:
            raise DialgaugeError(f"{service.name} has no slot '{slot}' that refers.{nearest(slot, service.refers)}")
        if target not in service.refers[slot]:
            raise DialgaugeError(f"'{slot}' cannot refer to '{target}'.{nearest(target, service.refers[slot])}")
        if target not in earlier:
            raise DialgaugeError(f"'{slot}' refers to '{target}', which must have a task earlier in the goal")
        if slot in valued:
            raise DialgaugeError(f"'{slot}' both refers to '{target}' and has a value")
    return links


def declared_goal(goal: DomainGoal) -> dict[str, Any]:
    """A goal as a line of ``goals.jsonl``."""
    tasks = []
    for task in goal.tasks:
        parts = {
            "want": task.info,
            "first": _differing(task.first, task.info),
            "book": task.book,
            "book_first": _differing(task.book_first, task.book or {}),
            "ask": list(task.requests),
            "refers": task.links,
        }
        tasks.append({"service": task.domain, **{key: part for key, part in parts.items() if part}})
    written: dict[str, Any] = {"id": goal.id, "tasks": tasks}
    return written if goal.findings.satisfiable else {**written, "satisfiable": False}


def _differing(first: Mapping[str, str] | None, whole: Mapping[str, str]) -> dict[str, str]:
    return {slot: value for slot, value in (first or {}).items() if whole.get(slot) != value}
