"""Goals drawn from the rows of a domain: seeded, satisfiable, and different from each other while that is possible.

Beside it what a look at a domain and its goals says: ``data check``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.report import Page, Table
from dialgauge.text import counted
from dialgauge.values import DAYS, clock_text, comparable, minutes, number, truth
from dialgauge.worlds.domain.domain import ORDERED, BookSpec, Domain, SearchSlot, Service, SlotType, members
from dialgauge.worlds.domain.domain_folder import read_domain
from dialgauge.worlds.domain.goals import DomainGoal, ServiceTask, read_goals
from dialgauge.worlds.domain.search import DomainSearch, Entity

_PURPOSE = "domain-goals"
#: Draws of a goal before distinct ones are held to have run out, and of each goal after that.
_TRIES, _FEW_TRIES = 2000, 20
_QUARTER, _FIRST, _LAST, _LATEST = 15, 8 * 4, 20 * 4, 24 * 60 + 59
_MOST = 10
#: What is written where a booking takes any text: by a word of the slot's name, else any of it.
_PEOPLE = (
    *("Morgan Reed", "Robin Hale", "Jamie Frost", "Casey Lund", "Taylor Brook", "Sasha Quinn", "Avery Stone"),
    *("Noor Haddad", "Kim Sato", "Lee Marsh"),
)
_PLACES = (
    *("Alder Court", "Harbour Lane 4", "Station Square", "Mill Road 27", "Castle Hill 9", "North Gate"),
    *("Linden Avenue 12", "Bridge Street 3", "Old Market", "Garden Row 18", "West Quay"),
)
_NOTES = ("Happy birthday", "Get well soon", "Ring twice", "Garden gate", "Ask for Robin", "Handle with care")
_TEXTS = (
    (re.compile(r"note|message|comment|remark|reason"), _NOTES),
    (re.compile(r"address|place|street|location|where|pick ?up|drop|destination|departure|deliver"), _PLACES),
    (re.compile(r"name|student|candidate|patient|passenger|guest|customer|member|person|who|contact|holder"), _PEOPLE),
    (re.compile(""), (*_PEOPLE, *_PLACES)),
)


def draw_goals(domain: Domain, search: DomainSearch, count: int, seed: int = 0) -> list[DomainGoal]:
    """``count`` goals ``G0001``, ``G0002``, …; the first ones are the same however many are drawn."""
    if count < 1:
        raise DialgaugeError("the number of goals must be at least 1")
    source = _Source(domain, search)
    goals: list[DomainGoal] = []
    known: set[object] = set()
    tries = _TRIES
    for index in range(1, count + 1):
        for attempt in range(tries):
            goal = source.goal(f"G{index:04}", Draws(seed, _PURPOSE, index, attempt))
            if _content(goal) not in known:
                break
        else:
            tries = _FEW_TRIES
        known.add(_content(goal))
        goals.append(goal)
    return goals


def _content(goal: DomainGoal) -> object:
    """What a goal asks for, without its id and the order of slots."""

    def slots(given: Mapping[str, str] | None) -> object:
        return None if given is None else frozenset((slot, comparable(value)) for slot, value in given.items())

    return tuple(
        (
            task.domain,
            *map(slots, (task.info, task.first, task.book, task.book_first, task.links)),
            frozenset(task.requests),
        )
        for task in goal.tasks
    )


class _Source:
    """Draws goals that the rows of a domain can satisfy."""

    def __init__(self, domain: Domain, search: DomainSearch) -> None:
        self._domain, self._search, self._plan = domain, search, domain.draw

    def goal(self, identifier: str, draws: Draws) -> DomainGoal:
        known = [self._domain.services[name] for name in self._plan.among or self._domain.services]
        count = _drawn(draws, (max(1, self._plan.services[0]), self._plan.services[1]), len(known))
        services = draws.sample(known, count)
        tasks: dict[str, ServiceTask] = {}
        for service in services:
            tasks[service.name] = self._task(draws, service, tasks)
        return DomainGoal(id=identifier, tasks=tuple(tasks.values()))

    def _task(self, draws: Draws, service: Service, earlier: Mapping[str, ServiceTask]) -> ServiceTask:
        row = None if service.rows is None else self._row(draws, service)
        wishes = {} if row is None else self._wishes(draws, service, row)
        first = self._first(draws, service, wishes) if wishes and draws.unit() < self._plan.fails_first else None
        # What is told at once nobody needs to ask for.
        open_slots = [slot for slot in service.answer if slot not in service.tells]
        low, high = self._plan.asked
        asked = draws.sample(open_slots, _drawn(draws, (max(low, bool(service.tells)), high), len(open_slots)))
        task = ServiceTask(domain=service.name, info=wishes, first=first, requests=tuple(asked))
        if service.book is None or (service.rows is not None and draws.unit() >= self._plan.booked):
            return task
        book, links = self._booking(draws, service, service.book, earlier)
        if not service.books:
            return replace(task, info=book, links=links, requests=service.gives)
        refused = _refused(draws, service.book, book) if draws.unit() < self._plan.refused_first else None
        return replace(task, book=book, links=links, book_first=refused)

    def _row(self, draws: Draws, service: Service) -> Entity:
        """The row that the wishes are taken from, one that can be wished for where there is any."""
        rows, slots = self._search.rows(service.name), service.search or (service.name_slot,)
        return draws.pick([row for row in rows if any(slot in row.values for slot in slots)] or rows)

    def _wishes(self, draws: Draws, service: Service, row: Entity) -> dict[str, str]:
        """Wishes that the row fits; by its name only where nothing else can be searched by."""
        name = [service.name_slot] if service.name_slot in service.search or not service.tells else []
        slots = [slot for slot in service.search if slot != service.name_slot] or name
        values = {slot: row.values[slot] for slot in slots if slot in row.values}
        for slot, cell in values.items():
            if service.wishes[slot].match == "contains" and (listed := members(cell)):
                values[slot] = draws.pick(listed)
        # A train that arrives after midnight is not there "by" the time that its row says.
        known = [slot for slot, value in values.items() if self._search.has(row, slot, value)]
        groups = [[slot for slot in group if slot in known] for group in service.requires_one_of]
        required = [*service.requires, *(draws.pick(group) for group in groups if group)]
        chosen = {*required, *draws.sample(known, _drawn(draws, self._plan.wishes, len(known)))}
        return {slot: value for slot, value in values.items() if slot in chosen}

    def _first(self, draws: Draws, service: Service, wishes: Mapping[str, str]) -> dict[str, str] | None:
        """The wishes with one of them changed so that nothing fits; None where that cannot be."""
        for slot in draws.shuffled(list(wishes)):
            known = service.wishes[slot]
            for value in (*draws.shuffled(known.values), *_beyond(known)):
                first = {**wishes, slot: value}
                meaning = truth if known.match == "yes-no" else comparable
                if meaning(value) != meaning(wishes[slot]) and not self._search.find(service.name, first):
                    return first
        return None

    def _booking(
        self, draws: Draws, service: Service, spec: BookSpec, earlier: Mapping[str, ServiceTask]
    ) -> tuple[dict[str, str], dict[str, str]]:
        chosen = {*spec.needs, *(draws.pick(group) for group in spec.one_of)}
        chosen |= {slot for slot in spec.takes if slot not in chosen and draws.unit() < 0.5}
        book: dict[str, str] = {}
        links: dict[str, str] = {}
        for slot, kind in spec.takes.items():
            if slot not in chosen:
                continue
            targets = service.refers.get(slot, ())
            known = [target for target in targets if target in earlier and target not in links.values()]
            if known:
                links[slot] = draws.pick(known)
            elif targets:
                places = self._search.rows(draws.pick(targets))
                book[slot] = draws.pick([row for row in places if row.name not in book.values()] or places).name
            else:
                low, high = _bounds(kind)
                book[slot] = (
                    str(draws.integer(low, high)) if kind.kind == "number" else draws.pick(_values(draws, kind, slot))
                )
        return book, links


def _refused(draws: Draws, spec: BookSpec, book: Mapping[str, str]) -> dict[str, str] | None:
    """The booking with another value in one slot; None where there is none."""
    for slot in draws.shuffled(list(book)):
        for value in draws.shuffled(_values(draws, spec.takes[slot], slot)):
            if comparable(value) != comparable(book[slot]):
                return {**book, slot: value}
    return None


def _drawn(draws: Draws, bounds: tuple[int, int], most: int) -> int:
    low, high = min(bounds[0], most), min(bounds[1], most)
    return draws.integer(low, high)


def _beyond(known: SearchSlot) -> Iterator[str]:
    """Values past either end of a column of numbers or times."""
    times = [minute for value in known.values if (minute := minutes(value)) is not None]
    if times and len(times) == len(known.values):
        if known.match != "at-most" and max(times) < _LATEST:
            yield clock_text(min(max(times) + _QUARTER, _LATEST))
        if known.match == "at-most" and min(times) > 0:
            yield clock_text(max(min(times) - _QUARTER, 0))
        return
    numbers = [value for text in known.values if (value := number(text)) is not None]
    if numbers and len(numbers) == len(known.values) and known.match in (*ORDERED, "same"):
        least = min(numbers)
        if known.match != "at-most":
            yield _written(max(numbers) + 1)
        elif least > 0:  # a price below nothing is nobody's wish
            yield _written(least - 1 if least >= 1 else least / 2)


def _written(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _values(draws: Draws, kind: SlotType, slot: str) -> Sequence[str]:
    """Values that a booking can have, some of many."""
    if kind.kind == "number":
        low, high = _bounds(kind)
        if high - low > _MOST:
            return [str(draws.integer(low, high)) for _ in range(_MOST)]
        return [str(value) for value in range(low, high + 1)]
    if kind.kind == "time":
        return [clock_text(_QUARTER * quarter) for quarter in range(_FIRST, _LAST + 1)]
    if kind.kind == "day":
        return DAYS
    if kind.kind == "words":
        return kind.words
    return next(texts for pattern, texts in _TEXTS if pattern.search(slot.lower()))


def _bounds(kind: SlotType) -> tuple[int, int]:
    return (1, _MOST) if kind.low is None or kind.high is None else (kind.low, kind.high)


# What a look at a domain says

#: Goals drawn to see what they are like.
_DRAWN = 100


def check_domain(folder: Path) -> Page:
    """Read a folder and its goals, which are drawn where there is no file; what is wrong is an error."""
    domain = read_domain(folder)
    search = DomainSearch(domain)
    drawn = domain.goals_file is None
    goals = draw_goals(domain, search, _DRAWN) if drawn else read_goals(domain, search)
    return Page(
        title=f"Domain {domain.name}",
        verdict=f"{domain.name} is sound.",
        tables={"services": _services(domain), "goals": shares_table(domain, goals, drawn=drawn)},
    )


def shares_table(domain: Domain, goals: Sequence[DomainGoal], *, drawn: bool) -> Table:
    """What goals ask for, and how often it could be asked for."""
    tasks = [(domain.services[task.domain], task) for goal in goals for task in goal.tasks]
    bookable = [task for service, task in tasks if service.book is not None and service.rows is not None]
    bookings = [task for _, task in tasks if task.book is not None]
    wished = [task for _, task in tasks if task.info]
    table = Table(f"{counted(len(goals), 'goal')}, {'drawn' if drawn else 'from the file'}", ["what", "count", "of"])
    booked, failing = sum(task.book is not None for task in bookable), sum(task.first is not None for task in wished)
    table.add("booked", booked, f"{counted(len(bookable), 'task')} with rows that can be booked")
    table.add("fails first", failing, f"{counted(len(wished), 'task')} with wishes")
    table.add("refused first", sum(task.book_first is not None for task in bookings), counted(len(bookings), "booking"))
    if repeated := len(goals) - len(set(map(_content, goals))):
        table.notes.append(f"The domain has no more distinct goals: {counted(repeated, 'goal')} repeat others.")
    return table


def _services(domain: Domain) -> Table:
    table = Table(f"Domain {domain.name}", ["service", "rows", "search", "answer", "takes", "gives"])
    for name, service in domain.services.items():
        search = ", ".join(
            slot if rule.match == "same" else f"{slot} ({rule.match})" for slot, rule in service.search.items()
        )
        named = (", ".join(slots) for slots in (service.answer, service.booking_slots, service.gives))
        table.add(name, None if service.rows is None else len(service.rows), search, *named)
    return table
