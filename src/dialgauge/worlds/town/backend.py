"""The town's office: what a system may consult during one conversation, and the only thing it may consult.

It finds venues and trains, books, and sends taxis; every call is on the record. Bookings are refused as the goal
scripts it: by the values asked for, not by counting, so that it is the same for every system however it asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Call
from dialgauge.draws import Draws
from dialgauge.values import same_value
from dialgauge.worlds.town.goals import TownGoal
from dialgauge.worlds.town.search import Found, TownRow, TownSearch
from dialgauge.worlds.town.vocabulary import BOOK_SLOTS

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS = f"{_LETTERS}0123456789"
_LENGTH = 8
#: Rows of a search that the record names.
_NAMED = 5

BookingOutcome: TypeAlias = Literal["booked", "refused", "incomplete", "no such entity"]


class Booking(Struct, frozen=True):
    """What came of an attempt to book."""

    outcome: BookingOutcome
    reference: str = ""
    #: Slots that were refused, or are missing.
    slots: tuple[str, ...] = ()
    #: For trains: the price of all tickets.
    total: str = ""


class Taxi(Struct, frozen=True):
    """A taxi that was sent, or what is missing to send one."""

    car: str = ""
    phone: str = ""
    missing: tuple[str, ...] = ()


class Backend:
    """The office during one conversation."""

    def __init__(self, search: TownSearch, draws: Draws, goal: TownGoal | None = None, *, mask: bool = False) -> None:
        self._search = search
        self._draws = draws
        self._calls: list[Call] = []
        self._refused: dict[str, dict[str, str]] = {}
        self._hidden: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
        for task in goal.tasks if goal else ():
            if task.book_first is not None and task.book is not None:
                self._refused[task.domain] = {
                    slot: value for slot, value in task.book_first.items() if task.book.get(slot) != value
                }
            if mask and task.first is not None:
                self._hidden[task.domain] = (task.first, task.info)

    def take_calls(self) -> tuple[Call, ...]:
        """The calls since this was last asked."""
        calls = tuple(self._calls)
        self._calls.clear()
        return calls

    def search(self, domain: str, constraints: Mapping[str, str]) -> Found:
        """Venues or trains that fit."""
        found = self._search.find(domain, constraints)
        if domain in self._hidden:
            found = self._shown(domain, constraints, found)
        rows = found.rows
        self._calls.append(
            Call(
                name="search",
                domain=domain,
                arguments=dict(constraints),
                outcome=f"{len(rows)} found",
                rows=tuple([row.number for row in rows[:_NAMED]]),
            )
        )
        return found

    def book(self, row: TownRow, slots: Mapping[str, str]) -> Booking:
        """Book a venue or a train; booking again replaces what was booked."""
        required = BOOK_SLOTS.get(row.domain)
        if required is None:
            answer = Booking("no such entity")
        elif missing := tuple(slot for slot in required if not slots.get(slot)):
            answer = Booking("incomplete", slots=missing)
        elif refused := self._refuses(row.domain, slots):
            answer = Booking("refused", slots=refused)
        else:
            answer = Booking("booked", self._reference(), total=_total(row, slots))
        result = {"reference": answer.reference} if answer.reference else {}
        if answer.total:
            result["total"] = answer.total
        self._calls.append(
            Call(
                name="book",
                domain=row.domain,
                arguments=dict(slots),
                outcome=answer.outcome,
                rows=(row.number,),
                result=result,
            )
        )
        return answer

    def taxi(self, wanted: Mapping[str, str]) -> Taxi:
        """Send a taxi; it needs both ends and one time."""
        missing = [end for end in ("departure", "destination") if not wanted.get(end)]
        if not (wanted.get("leaveAt") or wanted.get("arriveBy")):
            missing.append("leaveAt")
        if missing:
            answer = Taxi(missing=tuple(missing))
        else:
            lists = self._search.town.taxi
            car = f"{self._draws.pick(lists['taxi_colors'])} {self._draws.pick(lists['taxi_types'])}"
            answer = Taxi(car, "07" + "".join(str(self._draws.integer(0, 9)) for _ in range(9)))
        result = {"car type": answer.car, "phone": answer.phone} if answer.car else {}
        outcome = "incomplete" if missing else "booked"
        self._calls.append(Call(name="taxi", domain="taxi", arguments=dict(wanted), outcome=outcome, result=result))
        return answer

    def _refuses(self, domain: str, slots: Mapping[str, str]) -> tuple[str, ...]:
        script = self._refused.get(domain)
        if script and all(same_value(slots[slot], value) for slot, value in script.items()):
            return tuple(script)
        return ()

    def _shown(self, domain: str, constraints: Mapping[str, str], found: Found) -> Found:
        """Without the rows that would satisfy what is to fail, until something else is asked for."""
        first, info = self._hidden[domain]
        changed = [slot for slot, value in first.items() if info.get(slot) != value]
        if any(same_value(constraints.get(slot, ""), info.get(slot, "?")) for slot in changed):
            return found
        rows = tuple(row for row in found.rows if self._search.fits(row, first) or not self._search.fits(row, info))
        return Found(rows, found.mismatched)

    def _reference(self) -> str:
        signs = [self._draws.pick(_SIGNS) for _ in range(_LENGTH)]
        if not any(sign in _LETTERS for sign in signs):
            signs[0] = self._draws.pick(_LETTERS)
        return "".join(signs)


def _total(row: TownRow, slots: Mapping[str, str]) -> str:
    """The price of all tickets, to the penny."""
    price, people = row.values.get("price", ""), slots.get("people", "")
    try:
        pence = round(float(price.split()[0]) * 100)
        return f"{pence * int(people) / 100:.2f} pounds"
    except (ValueError, IndexError):
        return ""
