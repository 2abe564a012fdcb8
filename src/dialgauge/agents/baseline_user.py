"""The user of the GCDF1 paper with its faults, and its system, to show them on request (``docs/decisions.md``).

It works off a stack: goodbye at the bottom, above it the constraints of the tasks, the first task on top; whatever the
system says pushes more. It follows constraints that were never meant to fail, says all at once, credits a confirmation
to whatever domain it was heard in, takes "none" for no answer and asks again, leaves when nothing is found, points back
("same area as the restaurant") where the system cannot follow, and repeats itself until its own limit of 20 turns is
spent. That something is not known it takes for an answer when it hears it: the recorded users asked again because
they never did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialgauge.agents.protocol import MAX_EXCHANGES, USER_DONE, USER_GAVE_UP
from dialgauge.agents.rule_system import RuleSystem
from dialgauge.agents.vocabulary import BYE
from dialgauge.dialogue import DONTCARE, Act
from dialgauge.draws import Draws
from dialgauge.intents import CONFIRMING, INFORM, NO_OFFER, REFUSING, REQUEST, SELECT, TELLING
from dialgauge.values import canonical
from dialgauge.worlds.domain import ASKED, CHOICE, ORDERED, UNKNOWN, Domain, DomainGoal, Service, ServiceTask, act

_ANY = "any"
_NO_VALUE = ("", "none")
_NOT_KNOWN = (ASKED, UNKNOWN)
#: The slots with which the recorded users pointed back.
_ANAPHORIC = ("area",)


class _Matter:
    """One task as the user pursues it."""

    def __init__(self, task: ServiceTask, service: Service) -> None:
        self.task, self.domain, self.service = task, task.domain, service
        self.inform, self.request = service.act_name("inform"), service.act_name("request")
        #: What it takes for a name; rows in an order have none for it.
        self.name_slot = "" if service.order else service.offer_slot
        self.first, self.book_first = task.first is not None, task.book_first is not None
        self.answers: dict[str, str] = dict.fromkeys(task.requests, "")
        self.booked = task.book is None
        self.name = ""

    @property
    def info(self) -> Mapping[str, str]:
        """The constraints in force."""
        return (self.task.first if self.first else self.task.info) or {}

    @property
    def book(self) -> Mapping[str, str]:
        return (self.task.book_first if self.book_first else self.task.book) or {}

    @property
    def unanswered(self) -> list[str]:
        """What is still to be asked."""
        return [slot for slot, value in self.answers.items() if not value]

    @property
    def finished(self) -> bool:
        """All is answered and booked."""
        return self.booked and not self.unanswered

    def second_choice(self) -> list[Act]:
        """The constraints that differ from those tried first."""
        before, self.first = self.info, False
        return [act(self.inform, slot, value) for slot, value in self.info.items() if before.get(slot) != value]

    def second_booking(self) -> list[Act]:
        """The booking slots that differ from those tried first."""
        before, self.book_first = self.book, False
        return [act(self.inform, slot, value) for slot, value in self.book.items() if before.get(slot) != value]

    def contradicted(self, slot: str, value: str) -> bool:
        """Does the value differ from the wanted one? It does not if one contains the other."""
        wanted = {**self.info, **self.book}.get(slot)
        if wanted is None or value in (*_NO_VALUE, *_NOT_KNOWN) or self._has_order(slot):
            return False
        expected, other = canonical(wanted), canonical(value)
        return expected not in other and other not in expected

    def _has_order(self, slot: str) -> bool:
        """Is the slot a limit, so that other values than the wanted one will do?"""
        rule = self.service.wishes.get(slot)
        return any(slot in group for group in self.service.alternatives) or (rule is not None and rule.match in ORDERED)


class BaselineUser:
    """One instance serves one conversation."""

    #: How often a value that another domain has too is not said but pointed at.
    anaphors = 0.3
    #: Acts said at once.
    at_once = 4
    #: The user's own limit, in utterances of both sides.
    limit = 40

    def __init__(self, goal: DomainGoal, domain: Domain, draws: Draws) -> None:
        self._booking_acts = domain.booking_acts
        self._draws = draws
        self._matters = {task.domain: _Matter(task, domain.services[task.domain]) for task in goal.tasks}
        self._stack: list[Act] = [BYE]
        for matter in reversed(self._matters.values()):
            informs = [act(matter.inform, slot, value) for slot, value in matter.info.items()]
            self._stack += [*draws.shuffled(informs), act(matter.inform)]
        self._count = self._reactions = 0
        self._current: _Matter | None = None
        self.end_reason = ""

    @property
    def complete(self) -> bool:
        """Does the user believe that it got all it wanted?"""
        return all(matter.finished for matter in self._matters.values())

    @property
    def domain(self) -> str:
        """What the user speaks of."""
        return self._current.domain if self._current else ""

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        """The user's next turn."""
        self._count += 2
        if self._count > self.limit:
            return self._leave(MAX_EXCHANGES)
        self._reactions = 0
        if not self._hear(heard):
            return self._leave(USER_GAVE_UP)
        if self.complete:
            return self._leave(USER_DONE)
        if not self._reactions:
            self._remember()
        acts = self._pop()
        if BYE in acts:  # nothing is left to say, and yet something is missing
            return self._leave(USER_GAVE_UP)
        self._current = self._matters.get(acts[0].domain, self._current)
        return tuple(map(self._pointed, acts))

    def _leave(self, reason: str) -> tuple[Act, ...]:
        self.end_reason = reason
        return (BYE,)

    # The stack

    def _push(self, newest: Act) -> None:
        """Put an act on top of the stack, in place of an older one with the same name and slot."""
        self._stack = [item for item in self._stack if (item.name, item.slot) != (newest.name, newest.slot)]
        self._stack.append(newest)

    def _react(self, acts: Sequence[Act]) -> None:
        for each in acts:
            self._push(each)
        self._reactions += len(acts)

    def _remember(self) -> None:
        """What the first unfinished task lacks, once all its constraints are said: answers, else its booking."""
        matter = next(matter for matter in self._matters.values() if not matter.finished)
        search = {*matter.service.informable, ""}
        if any(item.name == matter.inform and item.slot in search for item in self._stack):
            return
        if matter.unanswered:
            lacking = [act(matter.request, slot, ASKED) for slot in matter.unanswered]
        else:
            lacking = [act(matter.inform, slot, value) for slot, value in matter.book.items()]
        for reminder in self._draws.shuffled(lacking):
            self._push(reminder)

    def _pop(self) -> list[Act]:
        """As many as were pushed in answer, else up to four of one kind; what belongs to a booking goes together."""
        reacting = self._stack[len(self._stack) - self._reactions :] if self._reactions else []
        if reacting and any(each.values != (DONTCARE,) for each in reacting):
            count = len(reacting)
        else:
            count = next(
                (n for n, item in enumerate(reversed(self._stack)) if item.name != self._stack[-1].name),
                len(self._stack),
            )
            count = max(1, min(count, self.at_once))
        return [self._stack.pop() for _ in range(count)]

    def _pointed(self, statement: Act) -> Act:
        """The act, sometimes with "same area as the restaurant" in place of a value that was said there."""
        if statement.slot not in _ANAPHORIC or statement.intent != INFORM or statement.values == (DONTCARE,):
            return statement
        for domain, matter in self._matters.items():
            if domain == statement.domain:  # only what was discussed before can be pointed at
                break
            if (matter.info.get(statement.slot),) == statement.values and self._draws.unit() < self.anaphors:
                return act(statement.name, statement.slot, f"same {statement.slot} as the {domain}")
        return statement

    # Hearing

    def _hear(self, heard: Sequence[Act]) -> bool:
        """Take in what the system said; False where the user leaves for it."""
        groups: dict[tuple[str, str], list[Act]] = {}
        for each in heard:
            groups.setdefault((each.domain, each.intent), []).append(each)
        for (domain, intent), acts in groups.items():
            matter = self._current if domain in self._booking_acts else self._matters.get(domain)
            if matter is None:
                continue
            if intent in REFUSING:
                if intent == NO_OFFER and matter.first:
                    self._react(matter.second_choice())
                elif intent != NO_OFFER and matter.book_first:
                    self._react(matter.second_booking())
                elif intent != NO_OFFER or matter.task.requests:
                    return False
            elif intent == REQUEST:
                for each in acts:
                    self._requested(matter, each.slot)
            elif intent == SELECT:
                self._select(matter, acts)
            elif intent in TELLING:
                self._told(matter, intent, acts)
        return True

    def _told(self, matter: _Matter, intent: str, acts: list[Act]) -> None:
        constraints = any(item.name == matter.inform and item.slot in matter.info for item in self._stack)
        right = True
        for each in acts:
            value = each.values[0] if each.values else ""
            if each.slot == matter.name_slot and value not in _NO_VALUE:
                matter.name = value
                self._stack = [item for item in self._stack if item.values != (_ANY,)]
            if each.slot in matter.answers:
                if not constraints and value not in _NO_VALUE:
                    matter.answers[each.slot] = value
            elif matter.contradicted(each.slot, value):
                right = False
                wanted = {**matter.book, **matter.info}[each.slot]
                self._react([act(matter.inform, each.slot, wanted)])
            elif (
                each.slot == CHOICE
                and value.isdigit()
                and int(value) > 1
                and not any(other.slot == matter.name_slot for other in acts)
            ):
                self._push(act(matter.inform, CHOICE, _ANY))
        if right and intent in CONFIRMING and matter.service.book is not None:
            matter.booked = True

    def _requested(self, matter: _Matter, slot: str) -> None:
        if slot in matter.answers or not slot:
            return
        wanted = {**matter.book, **matter.info}.get(slot)
        if wanted is None and slot in matter.task.links:
            target = matter.task.links[slot]
            wanted = self._matters[target].name or f"the {target}"
        self._react([act(matter.inform, slot, wanted or DONTCARE)])

    def _select(self, matter: _Matter, acts: list[Act]) -> None:
        """Asked to choose, the user says what it wants, else any of what it was told."""
        for slot in dict.fromkeys(each.slot for each in acts if each.slot):
            offered = [each.values[0] for each in acts if each.slot == slot and each.values]
            wanted = {**matter.book, **matter.info}.get(slot) or (self._draws.pick(offered) if offered else DONTCARE)
            self._react([act(matter.inform, slot, wanted)])


class BaselineSystem(RuleSystem):
    """The rule system with the habits of the paper's: it neither asks back nor lets the user choose."""

    ask_above = 1_000_000
    select = exact = more = 0.0
    terse = True
