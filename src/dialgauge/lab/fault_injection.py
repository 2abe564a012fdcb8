"""Conversations of the town with a fault put into them on purpose, and what the fault really did in each.

For instruments that say whose fault a failure was: here the truth is known. A fault is a wrapper around one of the two
agents, or around the office that the system consults; what it did goes into a ledger that no record shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents import Agent, Reply, Scenario, SystemContext, UserContext, converse
from dialgauge.agents.town import AgendaUser, Channel, RuleSystem, TownSystem, TownUser
from dialgauge.dialogue import Act, Call, Dialogue, Ontology, Speaker, Turn
from dialgauge.draws import Draws
from dialgauge.lab.sittings import LAB_LIMITS, AgentSpec, Sitting, town_scenario, with_states
from dialgauge.lab.town_source import LoadedTown
from dialgauge.worlds.town import (
    BOOK_SLOTS,
    Backend,
    Booking,
    Found,
    TownGoal,
    TownRow,
    TownTask,
    act,
    spoken_ontology,
)

#: Who forgets, mishears, ignores, errs, refuses or breaks down.
InjectedFault: TypeAlias = Literal[
    "forgetful user", "deaf system", "ignoring policy", "erring policy", "deaf user", "refusing world", "breakdown"
]
INJECTED_FAULTS: tuple[InjectedFault, ...] = get_args(InjectedFault)
#: Long enough for our own agents, short enough to wait for.
_HANGING = 0.25
_OTHER_VALUES = {
    "day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "people": ("1", "2", "3", "4", "5", "6", "7", "8"),
    "stay": ("1", "2", "3", "4", "5", "6", "7"),
    "time": tuple(f"{hour:02d}:15" for hour in range(9, 21)),
    "leaveAt": tuple(f"{hour:02d}:15" for hour in range(6, 22)),
    "arriveBy": tuple(f"{hour:02d}:45" for hour in range(7, 23)),
}


class InjectedEvent(Struct, frozen=True):
    """What a fault did, the first time that it did it."""

    #: In a few words: ``constraint``, ``request``, ``drop``, ``wrong day`` and so on.
    what: str
    domain: str = ""
    slot: str = ""


class Ledger:
    """What really happened in each conversation: the injected fault, and what the channel damaged."""

    def __init__(self) -> None:
        self.events: dict[str, InjectedEvent] = {}
        #: The domains whose acts the channel damaged, by dialogue and who had said them.
        self.damaged: dict[str, set[tuple[Speaker, str]]] = {}
        self.dialogue = ""

    def note(self, what: str, domain: str = "", slot: str = "") -> None:
        """The fault happened."""
        self.events.setdefault(self.dialogue, InjectedEvent(what, domain, slot))

    def damage(self, speaker: Speaker, domain: str) -> None:
        """The channel changed an act."""
        self.damaged.setdefault(self.dialogue, set()).add((speaker, domain))


class _WatchedChannel(Channel):
    """A channel whose damage is on the ledger."""

    ledger: Ledger

    def damage(
        self,
        acts: Sequence[Act],
        speaker: Speaker,
        draws: Draws,
        ontology: Ontology | None = None,
        before: set[Act] | None = None,
    ) -> tuple[Act, ...]:
        heard = super().damage(acts, speaker, draws, ontology, before)
        for one in {*acts} ^ {*heard}:
            self.ledger.damage(speaker, one.domain)
        return heard


def injected_conversations(
    town: LoadedTown, fault: InjectedFault, *, channel: str = "clean", seed: int = 0
) -> tuple[list[Dialogue], Ledger]:
    """One conversation for each goal of a town, with a fault in it, and what the fault did."""
    ledger, ontology = Ledger(), spoken_ontology(town.town)
    watched = _WatchedChannel(Channel.named(channel).rates)
    watched.ledger = ledger
    limits = replace(LAB_LIMITS, seconds=_HANGING) if fault == "breakdown" else LAB_LIMITS
    sitting = Sitting(user=AgentSpec("agenda"), system=AgentSpec("rule-system"), seed=seed, limits=limits)
    held = []
    for goal in town.goals:
        ledger.dialogue = goal.id
        draws = Draws(seed, "injected fault", fault, goal.id)
        scenario = town_scenario(town.search, ontology, goal, sitting)
        user, system, scenario = _agents(fault, draws, ledger, watched, scenario)
        held.append(with_states(converse(user, system, scenario)))
    return held, ledger


def _agents(
    fault: InjectedFault, draws: Draws, ledger: Ledger, channel: Channel, scenario: Scenario
) -> tuple[Agent, Agent, Scenario]:
    core: Callable[[Backend, Draws], RuleSystem] = RuleSystem
    user: Agent = TownUser("user", AgendaUser, channel=channel)
    if fault == "ignoring policy":
        core = _core(_Ignoring, draws, ledger)
    elif fault == "erring policy" and draws.unit() < 1 / 3:
        core = _core(_Misinforming, draws, ledger)
    elif fault in ("erring policy", "refusing world"):
        kind = _WrongOffice if fault == "erring policy" else _RefusingOffice
        scenario = replace(scenario, office=kind.around(scenario.office, draws, ledger))
    system: Agent = TownSystem("system", core, channel=channel)
    if fault == "forgetful user":
        return _Forgetful(user, draws, ledger), system, scenario
    if fault == "deaf system":
        return user, _DeafSystem(system, draws, ledger), scenario
    if fault == "deaf user":
        return _DeafUser(user, draws, ledger), system, scenario
    if fault == "breakdown":
        return (*_broken(user, system, draws, ledger), scenario)
    return user, system, scenario


class _Wrapper:
    """An agent with something between it and the other side."""

    def __init__(self, agent: Agent, draws: Draws, ledger: Ledger) -> None:
        self.name, self._agent, self._draws, self._ledger = agent.name, agent, draws, ledger
        self._ontology: Ontology | None = None

    def start(self, context: UserContext | SystemContext) -> None:
        self._ontology = context.ontology
        self._agent.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        return self._agent.respond(turn)

    def _another(self, one: Act) -> str:
        """Another value of an act's slot."""
        spec = self._ontology.domains.get(one.domain, {}).get(one.slot) if self._ontology else None
        known = _OTHER_VALUES.get(one.slot) or (spec.values if spec else ())
        return self._draws.pick([value for value in known if value not in one.values] or ["elsewhere"])


class _Forgetful(_Wrapper):
    """A user that does not know of one thing its goal has."""

    def start(self, context: UserContext | SystemContext) -> None:
        goal: TownGoal = context.plan  # type: ignore[union-attr]
        choices = [
            (what, task.domain, slot)
            for task in goal.tasks
            for what, slots in (("constraint", task.info), ("request", task.requests), ("booking", task.book or {}))
            for slot in slots
        ]
        if len(goal.tasks) > 1:
            choices += [("domain", task.domain, "") for task in goal.tasks]
        what, domain, slot = self._draws.pick(choices)
        kept = [task for task in goal.tasks if what != "domain" or task.domain != domain]
        tasks = tuple(_without(task, what, slot) if task.domain == domain else task for task in kept)
        self._ledger.note(what, domain, slot)
        super().start(replace(context, plan=replace(goal, tasks=tasks)))


def _without(task: TownTask, what: str, slot: str) -> TownTask:
    def less(values: Mapping[str, str] | None) -> dict[str, str] | None:
        return {name: value for name, value in (values or {}).items() if name != slot} or None

    if what == "request":
        return replace(task, requests=tuple(one for one in task.requests if one != slot))
    if what == "booking":
        return replace(task, book=less(task.book), book_first=less(task.book_first))
    return replace(task, info=less(task.info) or {}, first=less(task.first))


class _DeafSystem(_Wrapper):
    """One kind of thing that the user says is not heard, or with another value: the first time, twice, or always."""

    def __init__(self, agent: Agent, draws: Draws, ledger: Ledger) -> None:
        super().__init__(agent, draws, ledger)
        self._place, self._drops = draws.integer(0, 7), draws.unit() < 0.5
        self._times = draws.pick((1, 2, 1_000))
        self._said: list[tuple[str, str]] = []
        self._instead: dict[Act, str] = {}

    def respond(self, turn: Turn | None) -> Reply:
        if turn is None or turn.acts is None:
            return super().respond(turn)
        return super().respond(replace(turn, acts=tuple(self._heard(turn.acts))))

    def _heard(self, acts: Sequence[Act]) -> Iterator[Act]:
        for one in acts:
            kind = (one.name, one.slot)
            if one.slot and kind not in self._said:
                self._said.append(kind)
            if kind not in self._said[self._place : self._place + 1] or not self._times:
                yield one
                continue
            self._times -= 1
            asks = one.name.endswith("-Request")
            self._ledger.note("drop" if self._drops or asks else "change", one.domain, one.slot)
            if not (self._drops or asks):
                yield act(one.name, one.slot, self._instead.setdefault(one, self._another(one)))


class _DeafUser(_Wrapper):
    """A user that does not hear refusals, hears one where there is an offer, or hears other names of venues."""

    def __init__(self, agent: Agent, draws: Draws, ledger: Ledger) -> None:
        super().__init__(agent, draws, ledger)
        self._how = draws.pick(("refusals", "refusals", "names", "offers"))
        self._instead: dict[Act, str] = {}
        self._deaf_to = self._booking = ""

    def respond(self, turn: Turn | None) -> Reply:
        if turn is not None and turn.acts is not None:
            turn = replace(turn, acts=tuple(self._heard(turn.acts)))
        reply = super().respond(turn)
        spoken = [one.domain for one in (reply.turn.acts if reply.turn else None) or () if one.domain in BOOK_SLOTS]
        self._booking = spoken[-1] if spoken else self._booking
        return reply

    def _heard(self, acts: Sequence[Act]) -> Iterator[Act]:
        for one in acts:
            title, _, intent = one.name.partition("-")
            domain = self._booking if one.domain == "booking" else one.domain
            if self._how == "refusals" and intent in ("NoOffer", "NoBook"):
                self._ledger.note("refusal missed", domain, one.slot)
            elif self._how == "names" and one.slot == "name" and intent != "Select":
                self._ledger.note("name misheard", domain, one.slot)
                yield act(one.name, one.slot, self._instead.setdefault(one, self._another(one)))
            elif self._how == "offers" and one.slot in ("name", "trainID") and self._deaf_to in ("", domain):
                self._deaf_to = domain
                self._ledger.note("refusal invented", domain, one.slot)
                yield act(f"{title}-{'NoBook' if one.domain == 'booking' else 'NoOffer'}")
            else:
                yield one


# The system's policy


class _FaultyCore(RuleSystem):
    """A rule system with a fault; ``place`` says which of the things that it could befall it does."""

    ledger: Ledger
    place: int
    how: str

    #: What the fault could befall, in the order of its coming up.
    kinds: list[tuple[str, str]]

    def struck(self, domain: str, slot: str) -> bool:
        """Does the fault befall this slot?"""
        if (domain, slot) not in self.kinds:
            self.kinds.append((domain, slot))
        return self.kinds.index((domain, slot)) == self.place


def _core(kind: type[_FaultyCore], draws: Draws, ledger: Ledger) -> Callable[[Backend, Draws], RuleSystem]:
    def make(backend: Backend, own: Draws) -> RuleSystem:
        core = kind(backend, own)
        core.ledger, core.kinds, core.place = ledger, [], draws.integer(0, 3)
        core.how = draws.pick(("search", "request", "booking"))
        return core

    return make


class _Ignoring(_FaultyCore):
    """Leaves a constraint out of its searches, a question unanswered, or bookings undone."""

    def _constraints(self, domain: str) -> dict[str, str]:
        wanted = super()._constraints(domain)
        if self.how != "search":
            return wanted
        kept = {slot: value for slot, value in wanted.items() if not self.struck(domain, slot)}
        for slot in wanted.keys() - kept.keys():
            self.ledger.note("constraint ignored", domain, slot)
        return kept

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        kept = [slot for slot in asked if self.how != "request" or not self.struck(domain, slot)]
        for slot in asked:
            if slot not in kept:
                self.ledger.note("request ignored", domain, slot)
        if kept:
            super()._answer(domain, kept, acts)

    def _book(self, domain: str, acts: list[Act]) -> None:
        if self.how != "booking":
            super()._book(domain, acts)
        elif self._focused(domain, acts) is not None:
            self.ledger.note("booking ignored", domain)


class _Misinforming(_FaultyCore):
    """Answers a question with what is not true."""

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        said: list[Act] = []
        super()._answer(domain, asked, said)
        for one in said:
            if one.slot in asked and one.values and self.struck(domain, one.slot):
                self.ledger.note("untrue answer", domain, one.slot)
                acts.append(act(one.name, one.slot, f"not {one.values[0]}"))
            else:
                acts.append(one)


# The office


class _FaultyOffice(Backend):
    """An office with a fault. It shares the list of calls with the one that it takes the place of."""

    _faults: Draws
    _ledger: Ledger

    @classmethod
    def around(cls, office: Any, draws: Draws, ledger: Ledger) -> _FaultyOffice:
        other = cls.__new__(cls)
        other.__dict__.update(office.__dict__)
        other._faults, other._ledger = draws, ledger
        other._how, other._place = draws.unit() < 0.5, draws.integer(0, 3)
        return other

    _how: bool
    _place: int


class _WrongOffice(_FaultyOffice):
    """Finds what does not fit one constraint, or books with one slot changed."""

    def search(self, domain: str, constraints: Mapping[str, str]) -> Found:
        found = super().search(domain, constraints)
        slots = [slot for slot in constraints if slot not in ("name", "department")]
        if not self._how or not slots or not found.rows:
            return found
        slot = slots[self._place % len(slots)]
        rest = {name: value for name, value in constraints.items() if name != slot}
        wrong = [
            row for row in self._search.find(domain, rest).rows if self._search.fits(row, {slot: constraints[slot]})
        ]
        if not wrong:
            return found
        self._ledger.note("misfit offered", domain, slot)
        return Found(tuple(wrong), ())

    def book(self, row: TownRow, slots: Mapping[str, str]) -> Booking:
        if self._how or any(not slots.get(slot) for slot in BOOK_SLOTS.get(row.domain, ())):
            return super().book(row, slots)
        slot = list(slots)[self._place % len(slots)]
        others = [value for value in _OTHER_VALUES[slot] if value != slots[slot]]
        self._ledger.note("booked wrongly", row.domain, slot)
        return super().book(row, {**slots, slot: others[self._place % len(others)]})


class _RefusingOffice(_FaultyOffice):
    """Refuses every booking, or finds nothing in the first domain that it is asked for."""

    _closed = ""

    def _refuses(self, domain: str, slots: Mapping[str, str]) -> tuple[str, ...]:
        scripted = super()._refuses(domain, slots)
        if scripted or not self._how:
            return scripted
        self._ledger.note("booking refused", domain)
        return tuple(BOOK_SLOTS[domain])

    def search(self, domain: str, constraints: Mapping[str, str]) -> Found:
        if self._how:
            return super().search(domain, constraints)
        self._closed = self._closed or domain
        if domain != self._closed:
            return super().search(domain, constraints)
        self._ledger.note("nothing found", domain)
        self._calls.append(Call(name="search", domain=domain, arguments=dict(constraints), outcome="0 found"))
        return Found((), ())


# Breakdowns


def _broken(user: Agent, system: Agent, draws: Draws, ledger: Ledger) -> tuple[Agent, Agent]:
    if draws.unit() < 0.25:
        return _Broken(user, draws, ledger), system
    return user, _Broken(system, draws, ledger)


class _Broken(_Wrapper):
    """Raises, hangs or hangs up after some turns."""

    def __init__(self, agent: Agent, draws: Draws, ledger: Ledger) -> None:
        super().__init__(agent, draws, ledger)
        self._left, self._how = draws.integer(1, 5), draws.pick(("raises", "raises", "hangs", "ends"))

    def start(self, context: UserContext | SystemContext) -> None:
        if isinstance(context, UserContext) and self._how == "ends":
            self._how = "raises"  # a user that ends is no breakdown
        super().start(context)

    def respond(self, turn: Turn | None) -> Reply:
        self._left -= 1
        if self._left:
            return super().respond(turn)
        self._ledger.note(self._how)
        if self._how == "raises":
            raise ConnectionError("the model is not there any more")
        if self._how == "hangs":
            time.sleep(10 * _HANGING)
        return Reply(turn=None, done=True)
