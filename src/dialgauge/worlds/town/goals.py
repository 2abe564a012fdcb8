"""Goals of the town: what a simulated user wants, made ready to be pursued.

A goal of MultiWOZ says more than its user was told: ``fail_info`` often finds something after all (then no instruction
mentions it), booking flags have no meaning without a value to be refused, and a taxi "between the two places" has no
ends. The rules here make of it what a human user was asked to do; each rule and its evidence is in
``docs/decisions.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from dialgauge.dialogue import Goal, Task
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import NEXT_DAY, NO_CONSTRAINT, minutes
from dialgauge.worlds.domain import DomainGoal, GoalFindings, ServiceTask
from dialgauge.worlds.town.database import VENUE_DOMAINS
from dialgauge.worlds.town.search import TownSearch
from dialgauge.worlds.town.vocabulary import BOOK_SLOTS, REQUEST_SLOTS, SEARCH_SLOTS, TOWN_DOMAINS

#: What becomes of constraints that are to fail but would find something: left out, or kept, as ConvLab does.
Failures: TypeAlias = Literal["live", "paper"]

_EMPHASIS = re.compile(r"<[^>]*>")
_MENTIONS = {
    "restaurant": ("place to dine", "restaurant"),
    "hotel": ("place to stay", "hotel"),
    "attraction": ("places to go", "attraction"),
    "train": ("train",),
    "taxi": ("taxi",),
    "hospital": ("hospital",),
    "police": ("police",),
}
_TIMES = ("leaveAt", "arriveBy", "time")
_DAY = 24 * 60
#: Marks of bookings that are no slots and carry no value.
_FLAGS = ("invalid", "pre_invalid")
_NUMBER = re.compile(r"[1-9]\d?")
_ENDS = ("departure", "destination")
_LEAVING = re.compile(r"leave the (restaurant|hotel|attraction)\b")
_ARRIVING = re.compile(r"arrives? (?:at )?the (restaurant|hotel|attraction)\b")


def town_goal(identifier: str, goal: Goal, search: TownSearch, failures: Failures = "live") -> DomainGoal:
    """The goal of a dialogue, made ready."""
    if failures not in get_args(Failures):
        raise DialgaugeError(f"there is no mode of failures '{failures}'.{nearest(failures, get_args(Failures))}")
    wanted = {domain: task for domain, task in goal.tasks.items() if _anything(task)}
    unknown = next((domain for domain in wanted if domain not in TOWN_DOMAINS), None)
    if unknown is not None:
        raise DialgaugeError(
            f"the town has no domain '{unknown}'.{nearest(unknown, TOWN_DOMAINS)}", dialogue=identifier
        )
    if not wanted:
        raise DialgaugeError("the goal asks for nothing", dialogue=identifier)
    text = [_EMPHASIS.sub("", sentence).lower() for sentence in goal.message]
    ordered = _in_order(wanted, text)
    stale, unsatisfiable, tasks = [], [], []
    for domain in ordered:
        _refuse_unknown(identifier, domain, wanted[domain])
        task, live = _ready(domain, wanted[domain], search, failures)
        if not live:
            stale.append(domain)
        if domain == "taxi":
            links = _links(task.info, ordered, text)
            task = ServiceTask(domain=domain, info=task.info, requests=task.requests, links=links)
        elif not search.find(domain, task.info).rows:
            unsatisfiable.append(domain)
        tasks.append(task)
    findings = GoalFindings(
        unsatisfiable=tuple(unsatisfiable),
        stale=tuple(stale),
        missing_ends=tuple(
            slot for task in tasks if task.domain == "taxi" for slot in _ENDS if slot not in {**task.info, **task.links}
        ),
        impossible_bookings=tuple(pair for task in tasks for pair in _impossible(task)),
    )
    return DomainGoal(id=identifier, tasks=tuple(tasks), message=goal.message, findings=findings)


def _anything(task: Task) -> bool:
    return bool(_constraints(task.info) or _constraints(task.fail_info) or task.book or task.requests)


def _in_order(wanted: Iterable[str], text: list[str]) -> list[str]:
    """Domains in the order in which the instructions first speak of them; a taxi last where they do not."""
    whole = "\n".join(text)

    def place(domain: str) -> tuple[int, bool]:
        positions = [at for word in _MENTIONS[domain] if (at := whole.find(word)) >= 0]
        return (min(positions) if positions else len(whole), domain == "taxi")

    return sorted(wanted, key=place)


def _ready(domain: str, task: Task, search: TownSearch, failures: Failures) -> tuple[ServiceTask, bool]:
    """A task, and whether its constraints to try first are as they should be."""
    info, first = _constraints(task.info), _constraints(task.fail_info)
    live = not first or domain == "taxi" or not search.find(domain, first).rows
    if not first or first == info or (failures == "live" and not live):
        first = {}
    book = {slot: _value(slot, value) for slot, value in task.book.items() if slot in BOOK_SLOTS.get(domain, ())}
    refused = {
        slot: _value(slot, value) for slot, value in task.fail_book.items() if slot in BOOK_SLOTS.get(domain, ())
    }
    book_first = {**book, **refused}
    ready = ServiceTask(
        domain=domain,
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


@lru_cache(1 << 12)
def _value(slot: str, value: str) -> str:
    """A value as goals write it, misspellings mended, times with two digits for the hour."""
    text = " ".join(value.lower().split())
    if slot in _TIMES and minutes(text, NEXT_DAY) is not None:
        return f"{text:0>5}"
    return _SPELLED.get((slot, text), text)


_SPELLED = {("type", "mutliple sports"): "multiple sports"}


def _links(info: Mapping[str, str], domains: list[str], text: list[str]) -> dict[str, str]:
    """Which venue each end of a ride is, where the goal gives none."""
    missing = [end for end in _ENDS if end not in info]
    places = [domain for domain in domains if domain in VENUE_DOMAINS]
    if len(missing) < len(_ENDS) or len(places) != len(_ENDS):
        return {}
    for sentence in text:
        if leaving := _LEAVING.search(sentence):
            return {"departure": leaving[1], "destination": _other(leaving[1], places)}
        if arriving := _ARRIVING.search(sentence):
            return {"departure": _other(arriving[1], places), "destination": arriving[1]}
    return {}


def _other(place: str, places: list[str]) -> str:
    return next(name for name in places if name != place)


def _refuse_unknown(identifier: str, domain: str, task: Task) -> None:
    """Refuse a slot that the town does not know: nobody could say it or answer it."""
    booked = BOOK_SLOTS.get(domain, ())
    kinds = (
        ("to search by", {**task.info, **task.fail_info}, SEARCH_SLOTS[domain], ()),
        # A train's day is a constraint; some goals repeat it here.
        ("to book with", {**task.book, **task.fail_book}, booked, (*_FLAGS, "day") if domain == "train" else _FLAGS),
        ("to ask for", task.requests, REQUEST_SLOTS[domain], ()),
    )
    for use, given, known, passed_over in kinds:
        for slot in given:
            if slot not in known and slot not in passed_over:
                raise DialgaugeError(f"{domain} has no slot '{slot}' {use}.{nearest(slot, known)}", dialogue=identifier)


def _impossible(task: ServiceTask) -> Iterator[str]:
    """The slots of a task's bookings that have a value which no booking can have."""
    bookings = [booking for booking in (task.book, task.book_first) if booking]
    for slot in dict.fromkeys(slot for booking in bookings for slot in booking):
        if not all(_bookable(slot, booking[slot]) for booking in bookings if slot in booking):
            yield f"{task.domain} {slot}"


def _bookable(slot: str, value: str) -> bool:
    if slot in ("people", "stay"):
        return _NUMBER.fullmatch(value) is not None
    if slot == "time":
        minute = minutes(value)
        return minute is not None and minute < _DAY
    return bool(value)
