"""One task of a goal while a user pursues it: what was said, what is still to be said, what came back."""

from __future__ import annotations

from collections import Counter

from dialgauge.dialogue import Act
from dialgauge.values import clock, same_value
from dialgauge.worlds.town import ASKED, TownTask, act

_TIMES = {"leaveAt": 1, "arriveBy": -1}


class TaskProgress:
    """What a user knows of one of its tasks."""

    def __init__(self, task: TownTask) -> None:
        self.task = task
        self.domain = task.domain
        self.inform, self.request = f"{task.domain.capitalize()}-Inform", f"{task.domain.capitalize()}-Request"
        #: The constraints in force, and those of them not said yet, in the order in which they will be.
        self.wanted: dict[str, str] = dict(task.first or task.info)
        self.unsaid: list[str] = []
        self.said: dict[str, str] = {}
        self.first = task.first is not None
        self.opened = self.failed = self.restated = False
        #: What the system offers: a venue's name or a train's id.
        self.entity = ""
        #: Questions not answered yet, each with how often it was asked, and the answers.
        self.open: dict[str, int] = dict.fromkeys(task.requests, 0)
        self.answers: dict[str, str] = {}
        #: The booking in force; None where there is none to make, or none any more.
        self.booking = dict(task.book_first or task.book or {}) or None
        self.book_first = task.book_first is not None
        self.pending = False
        self.reference = ""
        self.booking_tries = 0
        self.corrections: Counter[str] = Counter()
        self.indifferent: Counter[str] = Counter()

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
        return not self.failed and booked and all(slot in self.answers for slot in self.task.requests)

    @property
    def progress(self) -> tuple[object, ...]:
        """What changes whenever the errand comes forward."""
        return (len(self.said), len(self.answers), len(self.open), self.reference, self.entity, self.failed, self.first)

    def tell(self, slot: str) -> Act:
        """Say a constraint."""
        value = self.wanted[slot]
        self.said[slot] = value
        if slot in self.unsaid:
            self.unsaid.remove(slot)
        return act(self.inform, slot, value)

    def tell_booking(self, slots: list[str] | None = None) -> list[Act]:
        """Say what is to be booked, all of it or some slots."""
        booking = self.booking or {}
        self.pending = True
        return [act(self.inform, slot, booking[slot]) for slot in slots or booking]

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
        if not same_value(entity, self.entity):
            self.lose_entity()
            self.entity = entity

    def lose_entity(self) -> None:
        """What the system spoke of is not to be had; what was told of it does not count."""
        if self.entity:
            for slot in self.task.requests:
                if self.answers.pop(slot, None) is not None:
                    self.open.setdefault(slot, 0)
        self.entity = ""

    def second_choice(self) -> list[str]:
        """Nothing fits the first constraints: take the others. The slots to say again."""
        changed = [slot for slot, value in self.task.info.items() if self.wanted.get(slot) != value]
        self.wanted, self.first = dict(self.task.info), False
        self.unsaid = [slot for slot in self.wanted if slot in self.unsaid or slot in changed]
        self.said = {slot: value for slot, value in self.said.items() if slot not in changed}
        return changed

    def second_booking(self) -> list[str]:
        """The first booking was refused: take the other one. The slots to say again."""
        book = dict(self.task.book or {})
        changed = [slot for slot, value in book.items() if (self.booking or {}).get(slot) != value]
        self.booking, self.book_first = book, False
        return changed

    def contradicts(self, slot: str, value: str) -> bool:
        """Does what the system says of a slot go against what is wanted?"""
        wanted = self.wanted.get(slot)
        if wanted is None or slot in self.open:
            return False
        if slot in _TIMES:
            offered, limit = clock(value), clock(wanted)
            return offered is not None and limit is not None and (offered - limit) * _TIMES[slot] < 0
        return not same_value(value, wanted)

    def give_up(self) -> None:
        """Let go of what does not come forward: a question, the booking, or all of it."""
        if self.open:
            self.open.pop(next(iter(self.open)))
        elif self.booking is not None and not self.reference and not self.unsaid:
            self.booking, self.pending = None, False
        else:
            self.failed = True
