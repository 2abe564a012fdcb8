"""Follows a recorded conversation: which row the talk of each domain is about, what was told of it, what was booked.

The strict rules. They go by what was *said*, by the system's calls on the record, and by the database: nothing is
believed because it was claimed.

The row that a user ends up with, in each domain, is the row booked last. Where none was booked, it is the row last
spoken of: named by the system (not as one of several to choose from), or asked for by name by the user and answered.
It is dropped when the user then asks for something that it does not have, or the system says that there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dialgauge.dialogue import Act, Call, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.intents import CONFIRMING, INFORM, INTENTS, NO_BOOK, NO_OFFER, OFFER_BOOKED, TELLING, UNSURE
from dialgauge.tasks.reasons import TaskFailure
from dialgauge.values import NO_CONSTRAINT, canonical
from dialgauge.worlds.domain import DomainGoal, DomainSearch, Entity, Service, ServiceTask


class ToldAnswer(Struct, frozen=True, gc=False):
    """All that the system told of a slot in one turn, and of which row; None where none was spoken of."""

    values: tuple[str, ...]
    turn: int
    about: Entity | None = None


def fails(search: DomainSearch, row: Entity, constraints: Mapping[str, str]) -> list[str]:
    """The constraints that a row fails; one that is no time of day fails."""
    return [slot for slot, value in constraints.items() if fails_in(search, row, slot, value)]


def fails_in(search: DomainSearch, row: Entity, slot: str, value: str) -> bool:
    """Does a row fail one constraint?"""
    try:
        return not search.has(row, slot, value)
    except DialgaugeError:
        return True


class Detour:
    """Tracks a scripted first try: stated, refused, then changed. One value that differs is enough to be refused."""

    def __init__(self, service: Service, first: Mapping[str, str], then: Mapping[str, str]) -> None:
        self._same = service.same
        self._first = {slot: value for slot, value in first.items() if then.get(slot) != value}
        self._then = {slot: then[slot] for slot in self._first if slot in then}
        self._stated = self._refused = False
        self._revised: set[str] = set()

    def say(self, slot: str, value: str) -> None:
        if self._refused and slot in self._then and self._same(value, self._then[slot]):
            self._revised.add(slot)
        elif slot in self._first and self._same(value, self._first[slot]):
            self._stated = True

    def refuse(self) -> None:
        self._refused = self._refused or self._stated

    @property
    def retried(self) -> bool:
        return self._refused and self._revised == self._then.keys()


class Thread:
    """The talk about one domain so far."""

    def __init__(self, service: Service, task: ServiceTask | None) -> None:
        self.service, self.domain, self.task = service, service.name, task
        self.entity_slot = service.name_slot
        #: Is there a booking to be made?
        self.ordered = task is not None and task.book is not None
        #: The slots that a booking gives; none where a service without rows is asked for without a booking.
        self.gives: tuple[str, ...] = () if service.rows is None and not self.ordered else service.gives
        #: The row spoken of, and since when; ``dropped`` is when and why the one before was given up.
        self.row: Entity | None = None
        self.since: int | None = None
        self.dropped: TaskFailure | None = None
        #: The row that the user asked for by name, until the system speaks of it or of another.
        self.asked: Entity | None = None
        self.said: dict[str, str] = {}
        self.searched: Mapping[str, str] = {}
        #: What was last told of each slot, by the number of the row that it was told of.
        self._told: dict[str, dict[int | None, ToldAnswer]] = {}
        #: The booking, of a row or of a service without any, and since when.
        self.booking: tuple[Entity | None, Call, int] | None = None
        #: What the booking gives and was told since, of each slot in the last turn that told it; and was it confirmed?
        self.given: dict[str, ToldAnswer] = {}
        #: When a slot was told in words that nobody could read; the empty slot stands for the outcome of a booking.
        self.unread: dict[str, int] = {}
        #: Refusals of a booking that the user was not told: why, and when.
        self.untold_refusals: list[TaskFailure] = []
        self.confirmed = False
        #: Bookings that were repeated before the user said anything more of the service.
        self.duplicate_bookings: list[TaskFailure] = []
        #: All bookings, as the failures that they are if none was wanted.
        self.bookings: list[TaskFailure] = []
        self._spoken = False
        #: The call that sent a taxi or the like: a service without rows, and no booking.
        self.sent: tuple[Call, int] | None = None
        self.attempts: list[tuple[Call, int]] = []
        self.search_detour = Detour(service, task.first, task.info) if task and task.first else None
        self.book_detour = (
            Detour(service, task.book_first, task.book) if task and task.book_first and task.book else None
        )

    @property
    def unasked(self) -> list[TaskFailure]:
        """The bookings of rows, where none was to be made."""
        return [] if self.service.rows is None else self.bookings

    def say(self, slot: str, value: str) -> None:
        self.said[slot], self._spoken = value, True
        for detour in (self.search_detour, self.book_detour):
            if detour is not None:
                detour.say(slot, value)

    def book(self, row: Entity | None, call: Call, turn: int) -> None:
        if self.booking is not None and not self._spoken:
            self.duplicate_bookings.append(_beside(row, call, turn))
        self.bookings.append(_beside(row, call, turn))
        self.booking, self.given, self.confirmed, self._spoken = (row, call, turn), {}, False, False

    def tell(self, slot: str, values: tuple[str, ...], about: Entity | None, turn: int) -> None:
        answers = self._told.setdefault(slot, {})
        row_number = about.number if about is not None else None
        answers[row_number] = _joined(answers.get(row_number), ToldAnswer(values, turn, about))

    def tell_given(self, slot: str, values: tuple[str, ...], turn: int) -> None:
        if self.booking is not None:
            self.given[slot] = _joined(self.given.get(slot), ToldAnswer(values, turn, self.booking[0]))

    def answer(self, slot: str, row: Entity | None) -> ToldAnswer | None:
        """What was last told of a slot of a row; where nothing was, what was last told of that slot at all."""
        answers = self._told.get(slot, {})
        own = answers.get(row.number if row is not None else None)
        if own is not None and (row is None or None not in answers):
            return own
        unbound = answers.get(None)
        if own is None or unbound is None:
            return unbound or max(answers.values(), key=lambda answer: answer.turn, default=None)
        return _joined(unbound, own) if own.turn >= unbound.turn else unbound

    def take(self, row: Entity, turn: int) -> None:
        self.asked = None
        if self.row is not row:
            self.row, self.since = row, turn

    def drop(self, reason: str, turn: int, slot: str = "", wanted: str = "") -> None:
        self.asked = None
        if self.row is not None:
            self.dropped = TaskFailure(reason=reason, slot=slot, turn=turn, wanted=wanted, entity=self.row.name)
            self.row = self.since = None


class ConversationTracker:
    """Follows a conversation turn by turn."""

    def __init__(self, goal: DomainGoal, search: DomainSearch) -> None:
        self._search, self._domain, self._services = search, search.domain, search.domain.services
        self.threads = {task.domain: Thread(self._services[task.domain], task) for task in goal.tasks}
        self._bookable = ""
        self.asserted = self.true = 0
        #: What bookings gave, by service and slot.
        self._given: dict[tuple[str, str], set[str]] = {}

    def thread(self, domain: str) -> Thread:
        thread = self.threads.get(domain)
        if thread is None:
            thread = self.threads[domain] = Thread(self._services[domain], None)
        return thread

    # The user

    def hear_user(self, turn: Turn, number: int) -> None:
        for act in said(turn):
            service = self._services.get(act.domain)
            if service is None:
                continue
            if service.takes:
                self._bookable = act.domain
            if act.slot and act.values and INTENTS[act.name] == INFORM:
                self._user_says(self.thread(act.domain), act.slot, act.values[0], number)

    def _user_says(self, thread: Thread, slot: str, value: str, turn: int) -> None:
        thread.say(slot, value)
        if slot not in thread.service.wishes or value in NO_CONSTRAINT:
            return
        if thread.row is not None and fails_in(self._search, thread.row, slot, value):
            thread.drop("turned_down", turn, slot, value)
        if slot == thread.entity_slot:
            thread.asked = self._named(thread, value, {})

    # The system

    def hear_system(self, turn: Turn, number: int) -> None:
        """Take in a turn of the system, and its calls before it."""
        self._note_calls(turn.calls or (), number)
        booking, booking_acts = "", self._domain.booking_acts
        by_domain: dict[str, list[Act]] = {}
        for act in said(turn):
            domain = act.domain
            if domain in booking_acts:
                booking = booking or self._booking(turn)
                domain = self._booked_as(act) or booking
            if domain in by_domain:
                by_domain[domain].append(act)
            elif domain in self._services:
                by_domain[domain] = [act]
        for domain, acts in by_domain.items():
            self._system_says(self.thread(domain), acts, number)
        for domain in {call.domain: None for call in turn.calls or () if call.domain in self._services}:
            self._note_refusal(self.thread(domain), by_domain.get(domain, ()), number)

    @staticmethod
    def _note_refusal(thread: Thread, acts: Sequence[Act], number: int) -> None:
        """A booking that was refused in this turn, and what the user was told of it."""
        call, turn = thread.attempts[-1] if thread.attempts else (None, -1)
        intents = {act.intent for act in acts}
        if call is None or turn != number or call.result != "refused" or NO_BOOK in intents:
            return
        reason = "outcome_unread" if thread.unread.get("") == number else "refusal_untold"
        reason = "refusal_denied" if intents & CONFIRMING else reason
        thread.untold_refusals.append(TaskFailure(reason=reason, turn=number))

    def _booking(self, turn: Turn) -> str:
        """The service whose booking a turn speaks of."""
        return next((call.domain for call in reversed(turn.calls or ()) if call.name == "book"), self._bookable)

    def _booked_as(self, act: Act) -> str:
        """The service whose booking gave what an act tells; nothing where it tells nothing that is known."""
        values = {canonical(value) for value in act.values}
        for domain, thread in self.threads.items():
            if thread.booking is None or act.slot not in thread.gives:
                continue
            if canonical(given_by(thread.booking[1], act.slot)) in values:
                return domain
        return ""

    def _note_calls(self, calls: Sequence[Call], number: int) -> None:
        for call in calls:
            service = self._services.get(call.domain)
            if service is None:
                continue
            thread = self.thread(call.domain)
            if call.name == "search":
                thread.searched = call.arguments
            elif call.name == service.call and service.rows is None and not thread.ordered:
                if not call.failed:
                    thread.sent = (call, number)
            elif call.name == service.call:
                thread.attempts.append((call, number))
                if not call.failed and (call.rows or service.rows is None):
                    row = self._row(call.domain, call.rows[0]) if call.rows else None
                    thread.book(row, call, number)
                    for slot in thread.gives:
                        self._given.setdefault((call.domain, slot), set()).add(given_by(call, slot))

    def _row(self, domain: str, number: int) -> Entity:
        rows = self._search.rows(domain)
        if not 0 <= number < len(rows):
            raise DialgaugeError(
                f"the record has a booking of row {number} of {domain}, and the database has {len(rows):,}: "
                "was it recorded with another database?"
            )
        return rows[number]

    def _system_says(self, thread: Thread, acts: Sequence[Act], number: int) -> None:
        telling: list[Act] = []
        named: list[str] = []
        stated: dict[str, str] = {}
        intents = set()
        for act in acts:
            intent = INTENTS[act.name]
            intents.add(intent)
            if intent in TELLING:
                telling.append(act)
                if act.values:
                    stated[act.slot] = act.values[0]
                    if act.slot == thread.entity_slot:
                        named += act.values
            elif intent == UNSURE:
                thread.unread[act.slot] = number
        rows = {value: self._named(thread, value, stated) for value in named}
        if NO_OFFER in intents and not named:
            thread.drop("given_up", number)
        if NO_OFFER in intents and thread.search_detour is not None:
            thread.search_detour.refuse()
        if NO_BOOK in intents and thread.book_detour is not None:
            thread.book_detour.refuse()
        if telling and len(known := self._search.rows(thread.domain)) == 1:
            thread.take(known[0], number)
        if not rows and telling and thread.asked is not None:
            thread.take(thread.asked, number)
        if len(rows) == 1 and (row := next(iter(rows.values()))) is not None:
            thread.take(row, number)
        if thread.booking is not None and intents & CONFIRMING:
            thread.confirmed = True
        for act in telling:
            if act.slot and act.values:
                if len(rows) > 1 and act.slot == thread.entity_slot and (row := rows[act.values[-1]]) is not None:
                    thread.take(row, number)
                self._assert(thread, act, rows, number)

    def _named(self, thread: Thread, name: str, stated: Mapping[str, str]) -> Entity | None:
        """The row that a name means. Where several share it, what else was said decides, then what was looked for, then
        which of them is spoken of already."""
        rows: Sequence[Entity] = self._search.named(thread.domain, name)
        if len(rows) > 1:
            own = _constraints(thread, stated)
            rows = [
                row for row in rows if all(thread.service.same(value, row.get(slot)) for slot, value in own.items())
            ] or rows
        for known in (thread.searched, thread.said):
            if len(rows) > 1:
                wanted = _constraints(thread, known)
                rows = [row for row in rows if not fails(self._search, row, wanted)] or rows
        for row in rows:
            if row is thread.row:
                return row
        return rows[0] if rows else None

    # Assertions

    def _assert(self, thread: Thread, act: Act, rows: Mapping[str, Entity | None], number: int) -> None:
        intent, slot, values = INTENTS[act.name], act.slot, act.values
        truths = self._truths(thread, intent, slot, rows, values)
        if slot in thread.gives:
            thread.tell_given(slot, values, number)
        elif slot in thread.service.columns and not (slot in thread.service.total and intent == OFFER_BOOKED):
            self._tell(thread, act, rows, number)
        if truths is None:
            return
        self.asserted += len(values)
        self.true += sum(any(thread.service.same(value, truth) for truth in truths) for value in values)

    def _tell(self, thread: Thread, act: Act, rows: Mapping[str, Entity | None], number: int) -> None:
        """Note what was told, of the row spoken of, else of the one booked. Names of rows are told of these."""
        about = thread.row if thread.row is not None or thread.booking is None else thread.booking[0]
        if act.slot != thread.entity_slot:
            thread.tell(act.slot, act.values, about, number)
            return
        for value in act.values:
            thread.tell(act.slot, (value,), rows.get(value) or about, number)

    def _truths(
        self, thread: Thread, intent: str, slot: str, rows: Mapping[str, Entity | None], values: Sequence[str]
    ) -> Sequence[str] | None:
        """What would be true to say of a slot; None where nobody can tell."""
        if slot in thread.gives:
            return list(self._given.get((thread.domain, slot), ()))
        if thread.service.rows is None:
            return _sent_truths(thread, slot)
        if slot == thread.entity_slot and rows:
            return [value for value in values if rows.get(value) is not None]
        if slot in thread.service.takes and intent in CONFIRMING:
            return [thread.booking[1].arguments.get(slot, "")] if thread.booking else []
        if slot not in thread.service.columns or thread.row is None:
            return None
        truths = [thread.row.get(slot)]
        if slot in thread.service.total and thread.booking is not None:
            truths.append(thread.booking[1].values.get("total", ""))
        return truths


def _beside(row: Entity | None, call: Call, turn: int) -> TaskFailure:
    values = tuple(f"{slot} {value}" for slot, value in call.arguments.items())
    return TaskFailure(reason="booked_besides", turn=turn, given=values, entity="" if row is None else row.name)


def given_by(call: Call, slot: str) -> str:
    """What a booking gave."""
    return call.values.get(slot, "")


def _joined(before: ToldAnswer | None, now: ToldAnswer) -> ToldAnswer:
    """What was told in one turn, together; a later turn replaces what an earlier one told."""
    if before is None or before.turn != now.turn:
        return now
    return ToldAnswer((*before.values, *now.values), now.turn, now.about)


def _constraints(thread: Thread, known: Mapping[str, str]) -> dict[str, str]:
    slots = (*thread.service.informable, thread.service.id_slot)
    return {slot: value for slot, value in known.items() if slot in slots and slot != thread.entity_slot}


def _sent_truths(thread: Thread, slot: str) -> list[str] | None:
    call = thread.sent[0] if thread.sent else thread.booking[1] if thread.booking else None
    if call is None:
        return []
    if slot in call.values:
        return [call.values[slot]]
    return [call.arguments[slot]] if slot in call.arguments else None


def said(turn: Turn) -> tuple[Act, ...]:
    """The acts of a turn; of a speaker who gave only words, what the listener made of them."""
    return (turn.acts if turn.acts is not None else turn.heard) or ()
