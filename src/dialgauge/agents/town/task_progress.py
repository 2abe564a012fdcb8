"""One task of a goal while a user pursues it: what was said, what is still to be said, what came back."""

from __future__ import annotations

from collections.abc import Iterable

from dialgauge.dialogue import DONTCARE, Act
from dialgauge.worlds.domain import ASKED, Service, ServiceTask, act

#: What stands for the reference of a booking that gives none.
_CONFIRMED = "confirmed"


class TaskProgress:
    """What a user knows of one of its tasks."""

    def __init__(self, task: ServiceTask, service: Service) -> None:
        self.task, self.service = task, service
        self.domain = task.domain
        self.inform, self.request = service.act_name("inform"), service.act_name("request")
        #: What a booking gives; without rows or a booking that is what can be asked for.
        self.gives: tuple[str, ...] = () if service.rows is None and task.book is None else service.gives
        #: The constraints in force, and those of them not said yet, in the order in which they will be.
        self.wanted: dict[str, str] = dict(task.first or task.info)
        self.unsaid: list[str] = []
        self.said: dict[str, str] = {}
        self.first = task.first is not None
        self.opened = self.failed = self.restated = False
        #: What the system offers: a venue's name or a train's id.
        self.entity = ""
        #: What is to be asked; what a booking gives comes with the booking.
        booked = self.gives if task.book is not None else ()
        self._questions = [slot for slot in task.requests if slot not in booked]
        #: Questions not answered yet, each with how often it was asked, and the answers.
        self.open: dict[str, int] = dict.fromkeys(self._questions, 0)
        self.answers: dict[str, str] = {}
        #: The booking in force; None where there is none to make, or none any more.
        self.booking = None if task.book is None else dict(task.book_first or task.book)
        self.book_first = task.book_first is not None
        self.pending = False
        #: What the booking gave so far; the reference once it gave all.
        self.given: dict[str, str] = {}
        self.reference = ""
        #: Values that other services decided.
        self.linked: dict[str, str] = {}
        self.booking_tries = 0
        #: How often a slot was corrected, and how often the user said that it does not mind.
        self.corrections: dict[str, int] = {}
        self.indifferent: dict[str, int] = {}

    @property
    def finished(self) -> bool:
        """Nothing is left to do, for good or ill."""
        return self.failed or (
            self.opened and not self.unsaid and not self.open and (self.booking is None or bool(self.reference))
        )

    @property
    def fulfilled(self) -> bool:
        """The user has all it wanted."""
        booked = self.task.book is None or bool(self.reference)
        return not self.failed and booked and all(slot in self.answers for slot in self._questions)

    @property
    def progress(self) -> tuple[object, ...]:
        """What changes whenever the task comes forward."""
        return (len(self.said), len(self.answers), len(self.open), self.reference, self.entity, self.failed, self.first)

    def tell(self, slot: str) -> Act:
        """Say a constraint."""
        value = self.wanted[slot]
        self.said[slot] = value
        if slot in self.unsaid:
            self.unsaid.remove(slot)
        return act(self.inform, slot, value)

    def take_back(self, slots: Iterable[str]) -> list[Act]:
        """Say of slots that were to be tried first only that they do not matter after all."""
        return [] if self.service.multiwoz else [act(self.inform, slot, DONTCARE) for slot in slots]

    def tell_booking(self, slots: list[str] | None = None) -> list[Act]:
        """Say what is to be booked, all of it or some slots."""
        booking = self.booking or {}
        self.pending = True
        return [act(self.inform, slot, booking[slot]) for slot in slots or booking]

    def give(self, slot: str, value: str) -> None:
        """The booking gave something."""
        self.given[slot] = value
        if len(self.given) == len(self.gives):
            self.reference, self.pending = value, False

    def confirm(self) -> list[Act]:
        """The booking was confirmed: what it was to give and is still to be told."""
        if not self.gives:
            self.reference, self.pending = _CONFIRMED, False
        return [act(self.request, slot, ASKED) for slot in self.gives if slot not in self.given]

    def link(self, values: dict[str, str]) -> None:
        """Take what was settled on in other services."""
        self.linked = values
        if self.booking is None:
            self.wanted = {**self.wanted, **values}
        else:
            self.booking = {**self.booking, **values}

    def ask(self, most: int) -> list[Act]:
        """Ask what is not answered yet."""
        slots = list(self.open)[:most]
        for slot in slots:
            self.open[slot] += 1
        return [act(self.request, slot, ASKED) for slot in slots]

    def answered(self, slot: str, value: str) -> None:
        """A question found its answer, before it was asked or after."""
        self.answers[slot] = value
        self.open.pop(slot, None)

    def take(self, entity: str) -> None:
        """The system speaks of this one now; what was told of another one does not count."""
        if not self.service.same(entity, self.entity):
            self.lose_entity()
            self.entity = entity

    def lose_entity(self) -> None:
        """What the system spoke of is not to be had; what was told of it does not count."""
        if self.entity:
            for slot in self._questions:
                if self.answers.pop(slot, None) is not None:
                    self.open.setdefault(slot, 0)
        self.entity = ""

    def second_choice(self) -> list[Act]:
        """Nothing fits the first constraints: take the others. What is to be said again, or taken back."""
        dropped = [slot for slot in self.wanted if slot not in self.task.info]
        changed = [slot for slot, value in self.task.info.items() if self.wanted.get(slot) != value]
        self.wanted, self.first = dict(self.task.info), False
        self.unsaid = [slot for slot in self.wanted if slot in self.unsaid or slot in changed]
        self.said = {slot: value for slot, value in self.said.items() if slot not in changed}
        return [*(self.tell(slot) for slot in changed), *self.take_back(dropped)]

    def second_booking(self) -> list[Act]:
        """The first booking was refused: take the other one. What is to be said again, or taken back."""
        book = {**(self.task.book or {}), **self.linked}
        changed = [slot for slot, value in book.items() if (self.booking or {}).get(slot) != value]
        dropped = self.take_back(slot for slot in self.booking or {} if slot not in book)
        self.booking, self.book_first = book, False
        self.pending = True
        return dropped if dropped and not changed else [*self.tell_booking(changed), *dropped]

    def contradicts(self, slot: str, value: str) -> bool:
        """Does what the system says of a slot go against what is wanted?"""
        wanted = self.wanted.get(slot)
        return wanted is not None and slot not in self.open and self.service.contradicts(slot, value, wanted)

    def may_be_any(self, slot: str) -> bool:
        """Can the user say that it does not mind? Of what it never thought of, not of what a booking needs."""
        if slot in self.service.informable:
            return True
        book = self.service.book
        needed = (*book.needs, *(slot for group in book.one_of for slot in group)) if book else ()
        return slot in self.service.takes and slot not in needed

    def instead_of(self, slot: str) -> list[Act]:
        """What the user says in place of a slot of which another one will do."""
        others = [other for group in self.service.alternatives if slot in group for other in group]
        for other in others:
            if other in self.wanted:
                return [self.tell(other)]
            if other in (self.booking or {}):
                return self.tell_booking([other])
        return []

    def give_up(self) -> None:
        """Let go of what does not come forward: a question, the booking, or all of it."""
        if self.open:
            self.open.pop(next(iter(self.open)))
        elif self.booking is not None and not self.reference and not self.unsaid:
            self.booking, self.pending = None, False
        else:
            self.failed = True
