"""What a system may consult during one conversation, and the only thing it may consult: search and booking.

Every call is on the record. A booking is refused when it is incomplete or ill-typed, names no row, or agrees with what
the goal has refused first: by the values asked for, not by counting, so that it is the same however a system asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, json

from dialgauge.dialogue import Call
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import upper_first
from dialgauge.worlds.domain.goals import DomainGoal
from dialgauge.worlds.domain.schema import Domain
from dialgauge.worlds.domain.search import DomainSearch, Entity, Found
from dialgauge.worlds.domain.service import Service

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS = f"{_LETTERS}0123456789"
_LENGTH = 8
_PRICE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(.*)")
#: Rows of a search that the record names.
_NAMED = 5

BookingOutcome: TypeAlias = Literal["booked", "refused", "incomplete", "ill-typed", "no such entity"]


class Booking(Struct, frozen=True):
    """What came of an attempt to book."""

    outcome: BookingOutcome
    #: What the booking gives, by slot.
    gives: dict[str, str] = {}
    #: Slots that were refused, are missing, or have a value that cannot be.
    slots: tuple[str, ...] = ()
    #: What was wrong with a value, by slot, as the end of a sentence.
    problems: dict[str, str] = {}
    #: Values that were refused, by slot.
    refused: dict[str, str] = {}
    #: The price of all that was booked, where it has one.
    total: str = ""

    def sentence(self, service: Service) -> str:
        """The outcome for a person or a model."""
        listed = ", ".join(map(service.declared, self.slots))
        if self.outcome == "booked":
            given = ", ".join(f"{service.declared(slot)}: {value}" for slot, value in self.gives.items())
            return f"Booked. {upper_first(given)}" if given else "Booked."
        if self.outcome == "incomplete":
            return f"Not booked: {listed} is missing." if len(self.slots) == 1 else f"Not booked: {listed} are missing."
        if self.outcome == "ill-typed":
            return f"Not booked: {'; '.join(f'{service.declared(slot)} {why}' for slot, why in self.problems.items())}."
        if self.outcome == "refused":
            refused = ", ".join(f"{service.declared(slot)}: {value}" for slot, value in self.refused.items())
            return f"Not booked: it is not available for {refused}."
        known = f" by {service.declared(service.name_slot)}" if service.name_slot else ""
        return f"Not booked: say which one{known}."


class DomainBackend:
    """Search and booking during one conversation."""

    def __init__(self, search: DomainSearch, draws: Draws, goal: DomainGoal | None = None) -> None:
        self.domain: Domain = search.domain
        self._search, self._draws = search, draws
        self._calls: list[Call] = []
        self._refused: dict[str, dict[str, str]] = {}
        for task in goal.tasks if goal else ():
            if task.book_first is not None and task.book is not None:
                self._refused[task.domain] = {
                    slot: value for slot, value in task.book_first.items() if task.book.get(slot) != value
                }

    def take_calls(self) -> tuple[Call, ...]:
        """The calls since this was last asked."""
        calls = tuple(self._calls)
        self._calls.clear()
        return calls

    def search(self, service: str, wishes: Mapping[str, str]) -> Found:
        """The rows that fit."""
        matches = self._search.find(service, wishes)
        rows = matches.rows
        self._calls.append(
            Call(
                name="search",
                domain=service,
                arguments=dict(wishes),
                found=len(rows),
                rows=tuple([row.number for row in rows[:_NAMED]]),
            )
        )
        return matches

    def named(self, service: str, text: str) -> tuple[Entity, ...]:
        """The rows that a text names, by id or by name."""
        return self._search.named(service, text)

    def book(self, service: str, slots: Mapping[str, str], row: Entity | None = None) -> Booking:
        """Book a row of a service, or the service itself where it has none; booking again replaces what was booked."""
        known = self.domain.services.get(service)
        if known is None:
            raise DialgaugeError(f"there is no service '{service}'.{nearest(service, self.domain.services)}")
        answer = self._booked(known, slots, row)
        booked = answer.outcome == "booked"
        self._calls.append(
            Call(
                name=known.call,
                domain=service,
                arguments=dict(slots),
                result=json.encode(self._result(known, answer)).decode() if booked else answer.outcome,
                failed=not booked,
                rows=() if row is None else (row.number,),
            )
        )
        return answer

    def _result(self, service: Service, answer: Booking) -> dict[str, str]:
        """What the record keeps of a booking."""
        del service
        return answer.gives

    def _booked(self, service: Service, slots: Mapping[str, str], row: Entity | None) -> Booking:
        spec = service.book
        if spec is None or (service.rows is not None and row is None):
            return Booking("no such entity")
        if missing := spec.missing(slots):
            return Booking("incomplete", slots=tuple(missing))
        if problems := self._problems(service, slots):
            return Booking("ill-typed", slots=tuple(problems), problems=problems)
        if refused := self._refuses(service, slots):
            return Booking("refused", slots=refused, refused={slot: slots[slot] for slot in refused})
        gives = {slot: self._made(spec.made.get(slot, ())) for slot in spec.gives}
        return Booking("booked", gives, total="" if row is None else _total(service, row, slots))

    def _problems(self, service: Service, slots: Mapping[str, str]) -> dict[str, str]:
        return {
            slot: problem
            for slot, value in slots.items()
            if (
                problem := service.booking_slots[slot].problem(value)
                if slot in service.booking_slots
                else "is not a slot of the booking"
            )
        }

    def _refuses(self, service: Service, slots: Mapping[str, str]) -> tuple[str, ...]:
        """The slots in which a booking agrees with what the goal has refused first; none where it does not."""
        script = self._refused.get(service.name)
        if script and all(slot in slots and service.same(slots[slot], script[slot]) for slot in script):
            return tuple(script)
        return ()

    def _made(self, parts: tuple[tuple[str, ...], ...]) -> str:
        """One of each part; without any a text of letters and digits unlike any value of the rows."""
        if parts:
            return "".join(part[0] if len(part) == 1 else self._draws.pick(part) for part in parts)
        while True:
            signs = [self._draws.pick(_SIGNS) for _ in range(_LENGTH)]
            if not any(sign in _LETTERS for sign in signs):
                signs[0] = self._draws.pick(_LETTERS)
            text = "".join(signs)
            if text.casefold() not in self._search.told:
                return text


def _total(service: Service, row: Entity, slots: Mapping[str, str]) -> str:
    """The price times what multiplies it, to the penny; empty where the service has no such thing."""
    for price, times in service.total.items():
        cost = _PRICE.fullmatch(row.values.get(price, "").strip())
        count = slots.get(times, "")
        if cost is not None and count.isdecimal():
            pence = round(float(cost[1]) * 100)
            return f"{pence * int(count) / 100:.2f}{cost[2]}"
    return ""
