"""The simulated user of a domain: it pursues its goal task by task and reacts to what the system says.

What it does not do is what made the users of the GCDF1 paper fail (``docs/decisions.md``): it credits a
confirmation to the booking that waits for one, it takes "unknown" for an answer, it takes back what it never said,
one hopeless task does not end the conversation, and it never says the same three times in a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from dialgauge.agents.protocol import SYSTEM_QUIT, USER_DONE, USER_GAVE_UP
from dialgauge.agents.vocabulary import AFFIRM, BYE, GREET, NEGATE, THANK
from dialgauge.dialogue import DONTCARE, Act
from dialgauge.draws import Draws
from dialgauge.intents import CONFIRMING, INFORM, INTENTS, NO_BOOK, NO_OFFER, OFFER_BOOK, OFFERING, REQUEST, SELECT
from dialgauge.worlds.domain import ASKED, CHOICE, GENERAL, UNKNOWN, Domain, DomainGoal, Service, ServiceTask, act

#: Shares of human turns with one, two, three and four new constraints.
_INITIATIVE = (0.52, 0.33, 0.12, 0.03)
_NO_ANSWER = ("", "?", "none", UNKNOWN, "not available")


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


class AgendaUser:
    """One instance serves one conversation."""

    #: Constraints said at once: drawn as people do (0), or this many.
    initiative = 0
    request_tries = 3
    correction_tries = 2
    booking_tries = 3
    #: Exchanges that bring nothing forward before something is given up.
    patience = 4
    requests_at_once = 3
    greet = 0.05
    #: How often an offer to book is taken up with a mere yes.
    accept = 0.1
    thank = 0.6
    #: Of those who thank, the share that says goodbye only after the answer.
    linger = 0.3

    def __init__(self, goal: DomainGoal, domain: Domain, draws: Draws) -> None:
        self._draws = draws
        self._booking_acts = domain.booking_acts
        self.tasks = {task.domain: TaskProgress(task, domain.services[task.domain]) for task in goal.tasks}
        self._active: TaskProgress | None = None
        self._now: list[Act] = []
        self._said: list[tuple[Act, ...]] = []
        self._standstill, self._known = 0, ()  # type: tuple[int, tuple[object, ...]]
        self._goodbyes = 0
        self._thanked = False
        #: Why the conversation is over for the user; empty while it goes on.
        self.end_reason = ""

    @property
    def complete(self) -> bool:
        """Does the user believe that it got all it wanted?"""
        return all(task.fulfilled for task in self.tasks.values())

    @property
    def domain(self) -> str:
        """What the user speaks of."""
        return self._active.domain if self._active else ""

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        """The user's next turn."""
        self._now = []
        if self._said:
            self._hear(heard)
            self._check_progress()
        if self.end_reason:
            return self._say([BYE])
        if not self._now:
            self._bring_forward()
        while len(self._said) > 1 and self._said[-1] == self._said[-2] == _ordered(tuple(self._now)):
            self._let_go()
        return self._say(self._now)

    def _say(self, acts: list[Act]) -> tuple[Act, ...]:
        if not self._said and self._draws.unit() < self.greet:
            acts = [GREET, *acts]
        ordered = _ordered(tuple(acts))
        self._said.append(ordered)
        return ordered

    # Hearing

    def _hear(self, heard: Sequence[Act]) -> None:
        groups: dict[str, list[Act]] = {}
        waiting = [task for task in self.tasks.values() if task.pending and not task.reference]
        for each in heard:
            task = self._meant(each, waiting)
            if task is not None:
                groups.setdefault(task.domain, []).append(each)
        for domain, acts in groups.items():
            self._react(self.tasks[domain], acts)
        if BYE.name in [each.name for each in heard] and self._left():
            self._goodbyes += 1
            if self._goodbyes > 1:
                self.end_reason = SYSTEM_QUIT

    def _meant(self, each: Act, waiting: list[TaskProgress]) -> TaskProgress | None:
        """The task that an act of the system is about; a confirmation belongs to the booking that waits for one."""
        if each.domain in self._booking_acts:
            if waiting:
                return waiting[0]
            if self._active is not None and self._active.service.takes:
                return self._active
            return next((task for task in self.tasks.values() if task.booking and not task.finished), None)
        task = self.tasks.get(each.domain)
        if len(waiting) == 1 and each.slot in waiting[0].gives and (task is None or not task.pending):
            return waiting[0]
        return task

    def _react(self, task: TaskProgress, acts: list[Act]) -> None:
        intents = [INTENTS[each.name] for each in acts]
        offering = [each for each in acts if INTENTS[each.name] in OFFERING]
        # "No train at 10:30, but one at 11:29" is an offer.
        if NO_OFFER in intents and not any(each.slot == task.service.offer_slot and each.values for each in offering):
            self._no_offer(task, [each.slot for each in acts if each.intent == NO_OFFER and each.slot])
        elif NO_BOOK in intents:
            self._no_book(task)
        else:
            self._offers(task, offering, intents)
        if REQUEST in intents:
            for each in acts:
                if each.intent == REQUEST and each.slot:
                    self._requested(task, each.slot)

    def _no_offer(self, task: TaskProgress, echoed: list[str]) -> None:
        task.lose_entity()
        name = task.service.offer_slot
        if name in task.said and name not in task.wanted:  # picked from a choice before all was said
            del task.said[name]
            self._now.append(act(task.inform, name, DONTCARE))
            return
        if task.first:
            self._now += task.second_choice()
            return
        invented = [slot for slot in echoed if slot not in task.said and slot not in task.wanted]
        if invented:
            self._now += [act(task.inform, slot, DONTCARE) for slot in invented]
        elif not task.restated:
            task.restated = True
            self._now += [task.tell(slot) for slot in task.wanted]
        else:
            task.failed = True

    def _no_book(self, task: TaskProgress) -> None:
        if task.book_first:
            self._now += task.second_booking()
            return
        task.booking_tries += 1
        if task.booking_tries > self.booking_tries:
            task.booking, task.pending = None, False
        elif task.booking:
            self._now += task.tell_booking()

    def _offers(self, task: TaskProgress, acts: list[Act], intents: list[str]) -> None:
        name = task.service.offer_slot
        named = list(dict.fromkeys([each.values[0] for each in acts if each.slot == name and each.values]))
        contradicted = self._contradictions(task, acts)
        if SELECT in intents:
            self._choose(task, named)
            return
        if named and not contradicted:
            task.take(named[-1])
        for each in acts:
            self._note(task, each)
        if contradicted:
            self._now += [task.tell(slot) for slot in contradicted]
        elif not CONFIRMING.isdisjoint(intents):
            if task.pending and not task.reference:
                self._now += task.confirm()
        elif OFFER_BOOK in intents or any(each.domain in self._booking_acts and each.intent == INFORM for each in acts):
            self._offered_booking(task)

    def _contradictions(self, task: TaskProgress, acts: list[Act]) -> list[str]:
        """Constraints that an offer goes against, unless they were defended in vain before."""
        slots = []
        for each in acts:
            slot = each.slot
            if slot not in task.said or not each.values or (value := each.values[0]).lower() in _NO_ANSWER:
                continue
            if task.contradicts(slot, value):
                generic = task.service.generic.get(slot) == value and len(acts) > 1
                corrections = task.corrections.get(slot, 0)
                if not generic and corrections < self.correction_tries:
                    task.corrections[slot] = corrections + 1
                    slots.append(slot)
        return list(dict.fromkeys(slots))

    def _note(self, task: TaskProgress, each: Act) -> None:
        """Keep an answer: to a question, asked or not yet asked, or the reference of a booking."""
        if each.slot in task.gives:
            if task.pending and each.values and task.booking is not None:
                task.give(each.slot, each.values[0])
        elif each.slot in task.open and each.slot != CHOICE:
            value = each.values[0] if each.values else ""
            task.answered(each.slot, UNKNOWN if value.lower() in _NO_ANSWER else value)

    def _choose(self, task: TaskProgress, named: list[str]) -> None:
        """Pick one of several, once all is said that could rule it out."""
        if task.unsaid:
            return
        if not named or task.service.order:
            self._now.append(AFFIRM)
            return
        name = task.service.offer_slot
        task.said[name] = self._draws.pick(named)
        self._now.append(act(task.inform, name, task.said[name]))

    def _offered_booking(self, task: TaskProgress) -> None:
        if task.unsaid or task.open or task.reference:
            return
        if task.booking is None:
            self._now.append(NEGATE)
            self._bring_forward()
        elif self._draws.unit() < self.accept:  # and wait to be asked for the details
            task.pending = True
            self._now.append(AFFIRM)

    def _requested(self, task: TaskProgress, slot: str) -> None:
        """The system wants to know something."""
        if slot in task.wanted:
            self._now.append(task.tell(slot))
        elif task.booking and slot in task.booking:
            if not task.unsaid:
                self._now += task.tell_booking([slot])
        elif slot in task.task.links:
            self._now.append(act(task.inform, slot, self._place(task.task.links[slot])))
        elif other := task.instead_of(slot):
            self._now += other
        elif task.indifferent.get(slot, 0) < 2 and task.may_be_any(slot):
            task.indifferent[slot] = task.indifferent.get(slot, 0) + 1
            self._now.append(act(task.inform, slot, DONTCARE))

    def _place(self, domain: str) -> str:
        entity = self.tasks[domain].entity if domain in self.tasks else ""
        return entity or f"the {domain}"

    # Coming forward

    def _left(self) -> list[TaskProgress]:
        return [task for task in self.tasks.values() if not task.finished]

    def _bring_forward(self) -> None:
        """The next thing of the first task that is not finished; with none left, goodbye."""
        left = self._left()
        if not left:
            self._finish()
            return
        task = self._active if self._active in left else left[0]
        if task is not self._active or not task.opened:
            self._open(task)
        if task.unsaid:
            count = self.initiative or 1 + self._draws.weighted(_INITIATIVE)
            self._now += [task.tell(slot) for slot in task.unsaid[:count]]
        elif task.open:
            self._ask(task)
        elif task.booking is not None and not task.reference:
            self._book(task)
        elif not self._now:
            task.failed = task.failed or not task.finished
            self._bring_forward()

    def _open(self, task: TaskProgress) -> None:
        self._active = task
        if task.opened:
            return
        task.opened = True
        task.link({slot: self._place(domain) for slot, domain in task.task.links.items()})
        task.unsaid = self._draws.shuffled(list(task.wanted))
        said_by_wishes = task.service.rows is None or task.service.requires
        if not (said_by_wishes and task.unsaid):
            self._now.append(act(task.inform))

    def _ask(self, task: TaskProgress) -> None:
        worn = [slot for slot, tries in task.open.items() if tries >= self.request_tries]
        for slot in worn:
            task.open.pop(slot)
        if task.open:
            self._now += task.ask(self.requests_at_once)
        else:
            self._bring_forward()

    def _book(self, task: TaskProgress) -> None:
        task.booking_tries += 1
        if task.booking_tries > self.booking_tries:
            task.booking, task.pending = None, False
            self._bring_forward()
        else:
            self._now += task.tell_booking()

    def _finish(self) -> None:
        """Thanks, and goodbye at once or when the system has no more to say."""
        if not self._thanked and self._draws.unit() < self.thank:
            self._thanked = True
            self._now.append(THANK)
            if self._draws.unit() < self.linger:
                return
        self.end_reason = USER_DONE if self.complete else USER_GAVE_UP
        self._now.append(BYE)

    # Standing still

    def _check_progress(self) -> None:
        known = tuple(task.progress for task in self.tasks.values())
        self._standstill = self._standstill + 1 if known == self._known else 0
        self._known = known
        if self._standstill >= self.patience:
            self._let_go()

    def _let_go(self) -> None:
        """Give up the active task and go on with the next."""
        self._standstill = 0
        left = self._left()
        if left:
            (self._active if self._active in left else left[0]).give_up()
        self._now = []
        self._bring_forward()


@lru_cache(1 << 14)
def _ordered(acts: tuple[Act, ...]) -> tuple[Act, ...]:
    """What was to be said, each once: openings, then what is wanted, then questions, then goodbyes."""
    return tuple(sorted(dict.fromkeys(acts), key=_rank))


def _rank(each: Act) -> int:
    if each.domain == GENERAL:
        return 4 if each is BYE else 3 if each is THANK else 0
    return 2 if INTENTS[each.name] == REQUEST else 1


class PersistentUser(AgendaUser):
    """A user who did not understand goes on.

    An assistant that speaks freely is not always understood. The user then gives its next wish; the second time in a
    row all its wishes, and says that nothing else matters; in a booking all its values, those it could do without
    first. It asks an open question once again, and no more. Where none was named, it says all once more before it
    leaves.
    """

    request_tries = 2
    patience = 6

    def __init__(self, goal: DomainGoal, domain: Domain, draws: Draws) -> None:
        super().__init__(goal, domain, draws)
        #: Turns in a row of which nothing was understood.
        self._lost = 0
        #: Services of which nothing was named, and whose wishes were said once more.
        self._insisted: set[str] = set()

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        """The user's next turn."""
        understood = any(act.domain != GENERAL for act in heard)
        self._lost = 0 if understood or not self._said else self._lost + 1
        return super().step(heard)

    def _bring_forward(self) -> None:
        task = self._active
        if self._lost > 1 and task is not None and task.opened and not task.finished:
            self._say_all(task)
        elif self._lost and task is not None and self._is_unnamed(task):
            self._insisted.add(task.domain)
            self._say_wishes(task)
        if not self._now:
            super()._bring_forward()

    def _is_unnamed(self, task: TaskProgress) -> bool:
        """Was all said of a service, with nothing to ask or to book, and yet none named, for the first time?"""
        over = task.finished and not task.failed and task.domain not in self._insisted
        return over and bool(task.wanted) and not task.entity and task.service.rows is not None

    def _say_all(self, task: TaskProgress) -> None:
        """All that is wanted; of a booking all its values, the optional ones first."""
        if task.pending or (task.booking is not None and not task.unsaid and not task.open):
            self._book(task)
        elif task.wanted and task.entity == "" and task.open.keys() == set(task.task.requests):
            self._say_wishes(task)
            self._lost = 0

    def _say_wishes(self, task: TaskProgress) -> None:
        self._now += [task.tell(slot) for slot in task.wanted]
        self._now.append(act(task.inform, "", DONTCARE))
