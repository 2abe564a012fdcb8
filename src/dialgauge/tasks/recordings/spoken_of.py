"""Follows a recorded conversation: which row the talk of each domain is about, what was told of it, what was booked.

The strict rules. They go by what was *said*, by the system's calls on the record, and by the database: nothing is
believed because it was claimed.

The row that a user ends up with, in each domain, is the row booked last. Where none was booked, it is the row last
spoken of: named by the system (not as one of several to choose from), or asked for by name by the user and answered.
It is dropped when the user then asks for something that it does not have, or the system says that there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from dialgauge.dialogue import Act, Call, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.intents import CONFIRMING, INFORM, NO_BOOK, NO_OFFER, OFFER_BOOKED, TELLING
from dialgauge.tasks.reasons import TaskFault
from dialgauge.values import NO_CONSTRAINT, canonical, same_value
from dialgauge.worlds.town import (
    BOOK_SLOTS,
    REFERENCE,
    REQUEST_SLOTS,
    SEARCH_SLOTS,
    TownGoal,
    TownRow,
    TownSearch,
    TownTask,
    is_reference,
)

_ENTITY = {"train": "trainID", "hospital": "department"}
#: What a system can say of a row.
_COLUMNS = {
    domain: ({*SEARCH_SLOTS[domain], *REQUEST_SLOTS[domain]} - {REFERENCE}) | {_ENTITY.get(domain, "name")}
    for domain in SEARCH_SLOTS
}
_BOOKING = "booking"
_NAMED = ("restaurant", "hotel", "attraction", "hospital")


class ToldAnswer(Struct, frozen=True, gc=False):
    """All that the system told of a slot in one turn, and of which row; None where none was spoken of."""

    values: tuple[str, ...]
    turn: int
    about: TownRow | None = None


class TownIndex:
    """A town's rows by name, for all conversations."""

    def __init__(self, search: TownSearch) -> None:
        self.search = search

    @cached_property
    def _trains(self) -> dict[str, list[TownRow]]:
        by_id: dict[str, list[TownRow]] = {}
        for row in self.search.rows("train"):
            by_id.setdefault(canonical(row.get("trainID")), []).append(row)
        return by_id

    def named(self, domain: str, name: str) -> Sequence[TownRow]:
        """The rows of a name; trains share ids."""
        if domain == "train":
            return self._trains.get(canonical(name), ())
        if domain not in _NAMED or domain not in self.search.town.raw:
            return ()
        return self.search.find(domain, {_ENTITY.get(domain, "name"): name}).rows

    def only(self, domain: str) -> TownRow | None:
        """The row of a table that has but one."""
        rows = self.search.rows(domain) if domain in self.search.town.raw else ()
        return rows[0] if len(rows) == 1 else None

    def row(self, domain: str, number: int) -> TownRow:
        """A row by its number."""
        rows = self.search.rows(domain) if domain in self.search.town.raw else ()
        if not 0 <= number < len(rows):
            raise DialgaugeError(
                f"the record has a booking of row {number} of {domain}, and the database has {len(rows):,}: "
                "was it recorded with another database?"
            )
        return rows[number]

    def fails(self, row: TownRow, constraints: Mapping[str, str]) -> list[str]:
        """The constraints that a row fails; one that is no time of day fails."""
        failed = []
        for slot, value in constraints.items():
            try:
                failed += self.search.fits(row, {slot: value})
            except DialgaugeError:
                failed.append(slot)
        return failed


class Detour:
    """Values to be tried first: stated, refused, revised. One of several that differ is enough to be refused."""

    def __init__(self, first: Mapping[str, str], then: Mapping[str, str]) -> None:
        self._first = {slot: value for slot, value in first.items() if then.get(slot) != value}
        self._then = {slot: then[slot] for slot in self._first if slot in then}
        self._stated = self._refused = False
        self._revised: set[str] = set()

    def say(self, slot: str, value: str) -> None:
        if self._refused and slot in self._then and same_value(value, self._then[slot]):
            self._revised.add(slot)
        elif slot in self._first and same_value(value, self._first[slot]):
            self._stated = True

    def refuse(self) -> None:
        self._refused = self._refused or self._stated

    @property
    def walked(self) -> bool:
        return self._refused and self._revised == self._then.keys()


class Thread:
    """The talk about one domain so far."""

    def __init__(self, domain: str, task: TownTask | None) -> None:
        self.domain, self.task = domain, task
        self.entity_slot = _ENTITY.get(domain, "name")
        #: The row spoken of, and since when; ``dropped`` is when and why the one before was given up.
        self.row: TownRow | None = None
        self.since: int | None = None
        self.dropped: TaskFault | None = None
        #: The row that the user asked for by name, until the system speaks of it or of another.
        self.asked: TownRow | None = None
        self.said: dict[str, str] = {}
        self.searched: Mapping[str, str] = {}
        #: What was last told of each slot, by the number of the row that it was told of.
        self._told: dict[str, dict[int | None, ToldAnswer]] = {}
        self.booking: tuple[TownRow, Call, int] | None = None
        #: The references told since the booking, in the last turn that told any.
        self.references: ToldAnswer | None = None
        self.taxi: tuple[Call, int] | None = None
        self.attempts: list[tuple[Call, int]] = []
        self.search_detour = Detour(task.first, task.info) if task and task.first else None
        self.book_detour = Detour(task.book_first, task.book) if task and task.book_first and task.book else None

    def book(self, row: TownRow, call: Call, turn: int) -> None:
        self.booking, self.references = (row, call, turn), None

    def tell(self, slot: str, values: tuple[str, ...], about: TownRow | None, turn: int) -> None:
        answers = self._told.setdefault(slot, {})
        place = about.number if about is not None else None
        answers[place] = _joined(answers.get(place), ToldAnswer(values, turn, about))

    def tell_reference(self, values: tuple[str, ...], turn: int) -> None:
        if self.booking is not None:
            self.references = _joined(self.references, ToldAnswer(values, turn, self.booking[0]))

    def answer(self, slot: str, row: TownRow | None) -> ToldAnswer | None:
        """What was last told of a slot of a row; where nothing was, what was last told of that slot at all."""
        answers = self._told.get(slot, {})
        own = [answers[place] for place in (row.number if row is not None else None, None) if place in answers]
        if len(own) > 1 and own[0].turn == own[1].turn:
            return _joined(own[1], own[0])
        return max(own or answers.values(), key=lambda answer: answer.turn, default=None)

    def take(self, row: TownRow, turn: int) -> None:
        self.asked = None
        if self.row is not row:
            self.row, self.since = row, turn

    def drop(self, reason: str, turn: int, slot: str = "", wanted: str = "") -> None:
        self.asked = None
        if self.row is not None:
            self.dropped = TaskFault(reason=reason, slot=slot, turn=turn, wanted=wanted, entity=self.row.name)
            self.row = self.since = None


class Follower:
    """Follows a conversation turn by turn."""

    def __init__(self, goal: TownGoal, town: TownIndex) -> None:
        self._town = town
        self.threads = {task.domain: Thread(task.domain, task) for task in goal.tasks}
        self._bookable = ""
        self.asserted = self.true = 0
        self._references: dict[str, set[str]] = {}

    def thread(self, domain: str) -> Thread:
        thread = self.threads.get(domain)
        if thread is None:
            thread = self.threads[domain] = Thread(domain, None)
        return thread

    # The user

    def hear_user(self, turn: Turn, number: int) -> None:
        """Take in a turn of the user."""
        for act in said(turn):
            if act.domain not in SEARCH_SLOTS:
                continue
            if act.domain in BOOK_SLOTS:
                self._bookable = act.domain
            if act.slot and act.values and act.intent == INFORM:
                self._user_says(self.thread(act.domain), act.slot, act.values[0], number)

    def _user_says(self, thread: Thread, slot: str, value: str, turn: int) -> None:
        thread.said[slot] = value
        for detour in (thread.search_detour, thread.book_detour):
            if detour is not None:
                detour.say(slot, value)
        if slot not in SEARCH_SLOTS[thread.domain] or value in NO_CONSTRAINT or thread.domain == "taxi":
            return
        if thread.row is not None and self._town.fails(thread.row, {slot: value}):
            thread.drop("turned_down", turn, slot, value)
        if slot == thread.entity_slot:
            thread.asked = self._named(thread, value, {})

    # The system

    def hear_system(self, turn: Turn, number: int) -> None:
        """Take in a turn of the system, and its calls before it."""
        self._note_calls(turn.calls or (), number)
        booking = next((call.domain for call in reversed(turn.calls or ()) if call.name == "book"), self._bookable)
        by_domain: dict[str, list[Act]] = {}
        for act in said(turn):
            domain = act.domain
            if domain == _BOOKING:
                domain = self._booked_as(act) or booking
            if domain in SEARCH_SLOTS:
                by_domain.setdefault(domain, []).append(act)
        for domain, told in by_domain.items():
            self._system_says(self.thread(domain), told, number)

    def _booked_as(self, act: Act) -> str:
        """The domain whose booking has the reference that an act tells; nothing where it tells none that is known."""
        if not is_reference(act.slot):
            return ""
        known = ((domain, thread.booking) for domain, thread in self.threads.items() if thread.booking is not None)
        told = {canonical(value) for value in act.values}
        return next((domain for domain, (_, call, _) in known if canonical(reference_of(call)) in told), "")

    def _note_calls(self, calls: Sequence[Call], number: int) -> None:
        for call in calls:
            if call.domain not in SEARCH_SLOTS:
                continue
            thread = self.thread(call.domain)
            if call.name == "search":
                thread.searched = call.arguments
            elif call.name == "book":
                thread.attempts.append((call, number))
                if call.outcome == "booked" and call.rows:
                    thread.book(self._town.row(call.domain, call.rows[0]), call, number)
                    self._references.setdefault(call.domain, set()).add(reference_of(call))
            elif call.name == "taxi" and call.outcome == "booked":
                thread.taxi = (call, number)

    def _system_says(self, thread: Thread, acts: Sequence[Act], number: int) -> None:
        told = [act for act in acts if act.intent in TELLING]
        stated = {act.slot: act.values[0] for act in told if act.values}
        named = [value for act in told if act.slot == thread.entity_slot for value in act.values]
        rows = {value: self._named(thread, value, stated) for value in dict.fromkeys(named)}
        intents = {act.intent for act in acts}
        if NO_OFFER in intents and not named:
            thread.drop("given_up", number)
        if NO_OFFER in intents and thread.search_detour is not None:
            thread.search_detour.refuse()
        if NO_BOOK in intents and thread.book_detour is not None:
            thread.book_detour.refuse()
        if thread.domain == "police" and told and (office := self._town.only("police")) is not None:
            thread.take(office, number)
        if not rows and told and thread.asked is not None:
            thread.take(thread.asked, number)
        if len(rows) == 1 and (row := next(iter(rows.values()))) is not None:
            thread.take(row, number)
        for act in told:
            if act.slot and act.values:
                if len(rows) > 1 and act.slot == thread.entity_slot and (row := rows[act.values[-1]]) is not None:
                    thread.take(row, number)
                self._assert(thread, act, rows, number)

    def _named(self, thread: Thread, name: str, stated: Mapping[str, str]) -> TownRow | None:
        """The row that a name means. Where several share it, what else was said decides, then what was looked for."""
        rows = self._town.named(thread.domain, name)
        if len(rows) > 1:
            own = _constraints(thread, stated)
            rows = [row for row in rows if all(same_value(value, row.get(slot)) for slot, value in own.items())] or rows
        for known in (thread.searched, thread.said):
            if len(rows) > 1:
                wanted = _constraints(thread, known)
                rows = [row for row in rows if not self._town.fails(row, wanted)] or rows
        return rows[0] if rows else None

    # Assertions

    def _assert(self, thread: Thread, act: Act, rows: Mapping[str, TownRow | None], number: int) -> None:
        slot = act.slot
        truths = self._truths(thread, act.intent, slot, rows, act.values)
        if is_reference(slot):
            thread.tell_reference(act.values, number)
        elif slot in _COLUMNS[thread.domain] and not (slot == "price" and act.intent == OFFER_BOOKED):
            self._tell(thread, act, rows, number)
        if truths is None:
            return
        self.asserted += len(act.values)
        self.true += sum(any(same_value(value, truth) for truth in truths) for value in act.values)

    def _tell(self, thread: Thread, act: Act, rows: Mapping[str, TownRow | None], number: int) -> None:
        """Note what was told, of the row spoken of, else of the one booked. Names of rows are told of these."""
        about = thread.row if thread.row is not None or thread.booking is None else thread.booking[0]
        if act.slot != thread.entity_slot:
            thread.tell(act.slot, act.values, about, number)
            return
        for value in act.values:
            thread.tell(act.slot, (value,), rows.get(value) or about, number)

    def _truths(
        self, thread: Thread, intent: str, slot: str, rows: Mapping[str, TownRow | None], values: Sequence[str]
    ) -> Sequence[str] | None:
        """What would be true to say of a slot; None where nobody can tell."""
        if is_reference(slot):
            return list(self._references.get(thread.domain, ()))
        if thread.domain == "taxi":
            return _taxi_truths(thread, slot)
        if slot == thread.entity_slot and rows:
            return [value for value in values if rows.get(value) is not None]
        if slot in BOOK_SLOTS.get(thread.domain, ()) and intent in CONFIRMING:
            return [thread.booking[1].arguments.get(slot, "")] if thread.booking else []
        if slot not in _COLUMNS[thread.domain] or thread.row is None:
            return None
        truths = [thread.row.get(slot)]
        if slot == "price" and thread.booking is not None:
            truths.append(thread.booking[1].result.get("total", ""))
        return truths


def reference_of(call: Call) -> str:
    """The reference of a booking."""
    return call.result.get("reference", "")


def _joined(before: ToldAnswer | None, now: ToldAnswer) -> ToldAnswer:
    """What was told in one turn, together; a later turn replaces what an earlier one told."""
    if before is None or before.turn != now.turn:
        return now
    return ToldAnswer((*before.values, *now.values), now.turn, now.about)


def _constraints(thread: Thread, known: Mapping[str, str]) -> dict[str, str]:
    slots = SEARCH_SLOTS[thread.domain]
    return {slot: value for slot, value in known.items() if slot in slots and slot != thread.entity_slot}


def _taxi_truths(thread: Thread, slot: str) -> list[str] | None:
    if thread.taxi is None:
        return []
    call = thread.taxi[0]
    if slot in call.result:
        return [call.result[slot]]
    return [call.arguments[slot]] if slot in call.arguments else None


def said(turn: Turn) -> Sequence[Act]:
    """The acts of a turn; of a speaker who gave only words, what the listener made of them."""
    return (turn.acts if turn.acts is not None else turn.heard) or ()
