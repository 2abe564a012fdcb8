"""Conversations of the town with a fault put into them on purpose, and what the fault really did in each.

For instruments that say whose fault a failure was: here the truth is known. A fault is a wrapper around one of the two
agents, or around the office that the system consults; what it did goes into a ledger that no record shows. Through text
the errors of the NLU are on the ledger too, beside those of the channel, and what is not heard is lost behind the NLU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from faulty_systems import (
    IgnoringPolicy,
    InjectedFaults,
    LatePolicy,
    MisinformingPolicy,
    RefusingBackend,
    WrongBackend,
    faulty_core,
    other_values,
)
from msgspec.structs import replace

from dialgauge.agents import (
    ActSystem,
    ActUser,
    AgendaUser,
    Agent,
    Channel,
    Level,
    Reply,
    RuleSystem,
    Scenario,
    SystemContext,
    UserContext,
    converse,
)
from dialgauge.dialogue import Act, Dialogue, Ontology, Speaker, Turn
from dialgauge.draws import Draws
from dialgauge.intents import REFUSING, REQUEST, SELECT
from dialgauge.lab import LAB_LIMITS, AgentSpec, LabConfig, LoadedDomain, lab_scenario, with_states
from dialgauge.worlds.domain import Domain, DomainGoal, ServiceDesk, ServiceTask, act

#: Who forgets, mishears, ignores, errs, refuses or breaks down.
InjectedFault: TypeAlias = Literal[
    "forgetful user",
    "deaf system",
    "ignoring policy",
    "late policy",
    "erring policy",
    "deaf user",
    "refusing world",
    "breakdown",
]
INJECTED_FAULTS: tuple[InjectedFault, ...] = get_args(InjectedFault)
#: Seconds of a conversation with a breakdown: long enough for our own agents, short enough to wait for.
_HANGING: dict[Level, float] = {"act": 0.25, "text": 1.0}


class _WatchedChannel(Channel):
    """A channel whose damage is on the ledger."""

    ledger: InjectedFaults

    def damage(
        self,
        acts: Sequence[Act],
        speaker: Speaker,
        draws: Draws,
        ontology: Ontology | None = None,
        before: set[Act] | None = None,
    ) -> tuple[Act, ...]:
        heard = super().damage(acts, speaker, draws, ontology, before)
        for each in {*acts} ^ {*heard}:
            self.ledger.damage(speaker, each.domain)
        return heard


class _TextReceiver(_WatchedChannel):
    """What lies between an NLU and the agent that it serves: everybody passes it, and somebody may be deaf."""

    #: Who does not hear what, and to whom it listens.
    deaf: Callable[[Sequence[Act]], Iterator[Act]] | None = None
    deaf_to: Speaker = "user"

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel.rates)
        self.clean = False  # else nobody would ask it
        #: What the NLU made of each turn, by who had said it.
        self.parsed: dict[Speaker, list[Sequence[Act]]] = {}

    def damage(
        self,
        acts: Sequence[Act],
        speaker: Speaker,
        draws: Draws,
        ontology: Ontology | None = None,
        before: set[Act] | None = None,
    ) -> tuple[Act, ...]:
        self.parsed.setdefault(speaker, []).append(acts)
        heard = super().damage(acts, speaker, draws, ontology, before)
        return tuple(self.deaf(heard)) if self.deaf is not None and speaker == self.deaf_to else heard

    def note_misreadings(self, dialogue: Dialogue) -> None:
        """Put on the ledger where the NLU understood something else than was meant."""
        for speaker, parsed in self.parsed.items():
            spoken = [turn.acts or () for turn in dialogue.turns if turn.speaker == speaker]
            for meant, read in zip(spoken, parsed, strict=False):  # nobody hears the last words
                for each in {*meant} ^ {*read}:
                    self.ledger.damage(speaker, each.domain)


def injected_conversations(
    town: LoadedDomain, fault: InjectedFault, *, channel: str = "clean", seed: int = 0, level: Level = "act"
) -> tuple[list[Dialogue], InjectedFaults]:
    """One conversation for each goal of a town, with a fault in it, and what the fault did."""
    ledger = InjectedFaults()
    limits = replace(LAB_LIMITS, seconds=_HANGING[level]) if fault == "breakdown" else LAB_LIMITS
    sitting = LabConfig(
        user=AgentSpec("agenda"), system=AgentSpec("rule-system"), seed=seed, limits=limits, level=level
    )
    held = []
    for goal in town.goals:
        ledger.dialogue = goal.id
        clear = Channel.named(channel)
        watched = _TextReceiver(clear) if level == "text" else _WatchedChannel(clear.rates)
        watched.ledger = ledger
        draws = Draws(seed, "injected fault", fault, goal.id)
        scenario = lab_scenario(town.search, goal, sitting)
        user, system, scenario = _agents(fault, draws, ledger, watched, scenario)
        dialogue = with_states(converse(user, system, scenario), town.search.domain)
        if isinstance(watched, _TextReceiver):
            watched.note_misreadings(dialogue)
        held.append(dialogue)
    return held, ledger


def _agents(
    fault: InjectedFault, draws: Draws, ledger: InjectedFaults, channel: Channel, scenario: Scenario
) -> tuple[Agent, Agent, Scenario]:
    core: Callable[[ServiceDesk, Draws], RuleSystem] = RuleSystem
    user: Agent = ActUser("user", AgendaUser, channel=channel)
    if fault == "ignoring policy":
        core = faulty_core(IgnoringPolicy, draws, ledger)
    elif fault == "late policy":
        core = faulty_core(LatePolicy, draws, ledger)
    elif fault == "erring policy" and draws.unit() < 1 / 3:
        core = faulty_core(MisinformingPolicy, draws, ledger)
    elif fault in ("erring policy", "refusing world"):
        kind = WrongBackend if fault == "erring policy" else RefusingBackend
        if isinstance(scenario.office, ServiceDesk):
            scenario = replace(scenario, office=kind.around(scenario.office, draws, ledger))
    system: Agent = ActSystem("system", core, channel=channel)
    if fault == "forgetful user":
        return _Forgetful(user, draws, ledger), system, scenario
    if fault == "deaf system":
        deaf_system = _DeafSystem(system, draws, ledger)
        if isinstance(channel, _TextReceiver):
            channel.deaf, channel.deaf_to = deaf_system.hearing, "user"
        return user, deaf_system, scenario
    if fault == "deaf user":
        deaf_user = _DeafUser(user, draws, ledger)
        if isinstance(channel, _TextReceiver):
            channel.deaf, channel.deaf_to = deaf_user.hearing, "system"
        return deaf_user, system, scenario
    if fault == "breakdown":
        return (*_broken(user, system, draws, ledger), scenario)
    return user, system, scenario


class _Wrapper:
    """An agent with something between it and the other side."""

    def __init__(self, agent: Agent, draws: Draws, ledger: InjectedFaults) -> None:
        self.name, self._agent, self._draws, self._ledger = agent.name, agent, draws, ledger
        self._ontology: Ontology | None = None
        self._domain: Domain | None = None

    def start(self, context: UserContext | SystemContext) -> None:
        self._ontology = context.ontology
        self._domain = context.domain if isinstance(context, UserContext) else getattr(context.office, "domain", None)
        self._agent.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        return self._agent.respond(turn)

    def _another(self, each: Act) -> str:
        """Another value of an act's slot."""
        spec = self._ontology.domains.get(each.domain, {}).get(each.slot) if self._ontology else None
        service = self._domain.services.get(each.domain) if self._domain else None
        kind = service.book.takes.get(each.slot) if service and service.book else None
        known = other_values(kind) or (spec.values if spec else ())
        return self._draws.pick([value for value in known if value not in each.values] or ["elsewhere"])


class _Forgetful(_Wrapper):
    """A user that does not know of one thing its goal has."""

    def start(self, context: UserContext | SystemContext) -> None:
        goal: DomainGoal = context.plan  # type: ignore[union-attr]
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


def _without(task: ServiceTask, what: str, slot: str) -> ServiceTask:
    def less(values: Mapping[str, str] | None) -> dict[str, str] | None:
        return {name: value for name, value in (values or {}).items() if name != slot} or None

    if what == "request":
        return replace(task, requests=tuple(request for request in task.requests if request != slot))
    if what == "booking":
        return replace(task, book=less(task.book), book_first=less(task.book_first))
    return replace(task, info=less(task.info) or {}, first=less(task.first))


class _DeafSystem(_Wrapper):
    """One kind of thing that the user says is not heard, or with another value: the first time, twice, or always."""

    def __init__(self, agent: Agent, draws: Draws, ledger: InjectedFaults) -> None:
        super().__init__(agent, draws, ledger)
        self._place, self._drops = draws.integer(0, 7), draws.unit() < 0.5
        self._times = draws.pick((1, 2, 1_000))
        self._said: list[tuple[str, str]] = []
        self._instead: dict[Act, str] = {}

    def respond(self, turn: Turn | None) -> Reply:
        if turn is None or turn.acts is None:
            return super().respond(turn)
        return super().respond(replace(turn, acts=tuple(self.hearing(turn.acts))))

    def hearing(self, acts: Sequence[Act]) -> Iterator[Act]:
        """What is left of what was said."""
        for each in acts:
            kind = (each.name, each.slot)
            if each.slot and kind not in self._said:
                self._said.append(kind)
            if kind not in self._said[self._place : self._place + 1] or not self._times:
                yield each
                continue
            self._times -= 1
            asks = each.intent == REQUEST
            self._ledger.note("drop" if self._drops or asks else "change", each.domain, each.slot)
            if not (self._drops or asks):
                yield act(each.name, each.slot, self._instead.setdefault(each, self._another(each)))


class _DeafUser(_Wrapper):
    """A user that does not hear refusals, hears one where there is an offer, or hears other names of venues."""

    def __init__(self, agent: Agent, draws: Draws, ledger: InjectedFaults) -> None:
        super().__init__(agent, draws, ledger)
        self._how = draws.pick(("refusals", "refusals", "names", "offers"))
        self._instead: dict[Act, str] = {}
        self._deaf_to = self._booking = ""

    def respond(self, turn: Turn | None) -> Reply:
        if turn is not None and turn.acts is not None:
            turn = replace(turn, acts=tuple(self.hearing(turn.acts)))
        reply = super().respond(turn)
        spoken = [each.domain for each in (reply.turn.acts if reply.turn else None) or () if self._books(each.domain)]
        self._booking = spoken[-1] if spoken else self._booking
        return reply

    def _books(self, service: str) -> bool:
        return (
            self._domain is not None and service in self._domain.services and bool(self._domain.services[service].takes)
        )

    @property
    def _names(self) -> frozenset[str]:
        return self._domain.names if self._domain else frozenset()

    @property
    def _venues(self) -> frozenset[str]:
        """Names that can be misheard: those of rows that are not in an order."""
        services = self._domain.services.values() if self._domain else ()
        return frozenset(service.offer_slot for service in services if service.offer_slot and not service.order)

    def hearing(self, acts: Sequence[Act]) -> Iterator[Act]:
        """What is left of what was said."""
        for each in acts:
            pseudo = self._domain is not None and each.domain in self._domain.booking_acts
            domain = self._booking if pseudo else each.domain
            if self._how == "refusals" and each.intent in REFUSING:
                self._ledger.note("refusal missed", domain, each.slot)
            elif self._how == "names" and each.slot in self._venues and each.intent != SELECT:
                self._ledger.note("name misheard", domain, each.slot)
                yield act(each.name, each.slot, self._instead.setdefault(each, self._another(each)))
            elif self._how == "offers" and each.slot in self._names and self._deaf_to in ("", domain):
                self._deaf_to = domain
                self._ledger.note("refusal invented", domain, each.slot)
                yield act(f"{each.service.capitalize()}-{'NoBook' if pseudo else 'NoOffer'}")
            else:
                yield each


# Breakdowns


def _broken(user: Agent, system: Agent, draws: Draws, ledger: InjectedFaults) -> tuple[Agent, Agent]:
    if draws.unit() < 0.25:
        return _Broken(user, draws, ledger), system
    return user, _Broken(system, draws, ledger)


class _Broken(_Wrapper):
    """Raises, hangs or hangs up after some turns."""

    def __init__(self, agent: Agent, draws: Draws, ledger: InjectedFaults) -> None:
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
            time.sleep(10 * max(_HANGING.values()))
        return Reply(turn=None, done=True)
