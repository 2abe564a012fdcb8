"""Agents of any domain with services: what was heard, a core that decides, and words for what it says.

At the level of acts they exchange acts, and words are added only on request. At the level of text they read what was
written and write it. Whatever was understood may then pass through a channel that damages it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from msgspec.structs import replace

from dialgauge.agents.agenda import AgendaUser, PersistentUser
from dialgauge.agents.baseline_user import BaselineSystem, BaselineUser
from dialgauge.agents.channel import Channel
from dialgauge.agents.listening import SystemListener, UserListener
from dialgauge.agents.protocol import RandomStreams, Reply, SystemContext, UserContext
from dialgauge.agents.rule_system import RuleSystem
from dialgauge.agents.vocabulary import Vocabulary
from dialgauge.agents.wording import Wording
from dialgauge.dialogue import Act, Speaker, Turn, Values
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.intents import REQUEST
from dialgauge.worlds.domain import Domain, DomainGoal, ServiceDesk


class UserCore(Protocol):
    """A user that thinks in acts."""

    end_reason: str

    @property
    def complete(self) -> bool: ...

    @property
    def domain(self) -> str: ...

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]: ...


class _ActAgent:
    """What both sides share: how they hear and speak, whatever they decide."""

    side: Speaker
    _partner: Speaker

    def __init__(self, name: str, *, channel: Channel, render: bool = False) -> None:
        self.name = name
        self._channel, self._render = channel, render

    def _begin(self, context: UserContext | SystemContext, domain: Domain, streams: RandomStreams) -> None:
        self._heard_by = self._channel.within(domain)
        self._streams, self._ontology, self._reads = streams, context.ontology, context.level == "text"
        self._draws: Draws | None = None
        self._own: tuple[Act, ...] = ()
        self._before: set[Act] = set()
        if not self._reads and not self._render:
            return
        vocabulary = Vocabulary.of(domain, context.ontology)
        self._wording = Wording(vocabulary)
        self._listener = SystemListener(vocabulary) if self.side == "user" else UserListener(vocabulary)

    def _hear(self, turn: Turn, service: str) -> tuple[Act, ...]:
        """What is understood of a turn: its acts, or what is read of its text."""
        if self._reads:
            acts = self._listener.hear(turn, self._own, service)
        elif turn.acts is not None:
            acts = turn.acts
        else:
            raise DialgaugeError(f"the {self._partner} gave no acts; agents that only speak need --level text")
        if not self._heard_by.clean:
            if self._draws is None:
                self._draws = self._streams(f"channel-{self._partner}")
            acts = self._heard_by.damage(acts, self._partner, self._draws, self._ontology, self._before)
        return acts

    def _turn(self, acts: tuple[Act, ...], service: str) -> Turn:
        turn = _wordless(self.side, acts)
        self._own = acts
        if not self._reads and not self._render:
            return turn
        text = self._wording.user(acts) if self.side == "user" else self._wording.system(acts, service)
        return replace(turn, text=text)


class ActUser(_ActAgent):
    """A simulated user."""

    side, _partner = "user", "system"
    #: What an assistant found, booked and was refused, a user of ours reads from its calls.
    sees_calls = True

    def __init__(self, name: str, core: Callable[[DomainGoal, Domain, Draws], UserCore], **speech: Any) -> None:
        super().__init__(name, **speech)
        self._make = core

    def start(self, context: UserContext) -> None:
        """A new goal."""
        if not isinstance(context, UserContext):
            raise DialgaugeError(f"{self.name} is a user; it cannot take the system's place")
        goal, domain, streams = context.plan, context.domain, context.streams
        if not isinstance(goal, DomainGoal) or not isinstance(domain, Domain) or streams is None:
            raise DialgaugeError(f"{self.name} is a user of domains with services: it needs one of their goals")
        make = PersistentUser if context.level == "text" and self._make is AgendaUser else self._make
        self._core = make(goal, domain, streams("user-core"))
        self._begin(context, domain, streams)

    def respond(self, turn: Turn | None) -> Reply:
        core = self._core
        heard = None if turn is None else self._hear(turn, core.domain)
        return Reply(
            turn=self._turn(core.step(heard or ()), core.domain),
            heard=heard,
            done=bool(core.end_reason),
            end_reason=core.end_reason,
            success=core.complete if core.end_reason else None,
        )


class ActSystem(_ActAgent):
    """A system with tracker and policy."""

    side, _partner = "system", "user"

    def __init__(self, name: str, core: Callable[[ServiceDesk, Draws], RuleSystem], **speech: Any) -> None:
        super().__init__(name, **speech)
        self._make = core

    def start(self, context: SystemContext) -> None:
        """A new conversation."""
        if not isinstance(context, SystemContext):
            raise DialgaugeError(f"{self.name} is a system; it cannot take the user's place")
        office, streams = context.office, context.streams
        if not isinstance(office, ServiceDesk) or streams is None:
            raise DialgaugeError(f"{self.name} is a system of domains with services: it needs their search and booking")
        self._core = self._make(office, streams("system-core"))
        self._begin(context, office.domain, streams)

    def respond(self, turn: Turn | None) -> Reply:
        if turn is None:
            raise DialgaugeError(f"{self.name} was asked to begin; in the lab the user does")
        core = self._core
        heard = self._hear(turn, core.domain)
        return Reply(turn=self._turn(core.step(heard), core.domain), heard=heard, state=core.state)


@lru_cache(1 << 14)
def _wordless(side: Speaker, acts: tuple[Act, ...]) -> Turn:
    """A turn of acts without text; cached, as simulated speakers repeat themselves."""
    return Turn(speaker=side, acts=acts, requested=requested(acts) if side == "user" else None)


def requested(acts: Sequence[Act]) -> dict[str, Values]:
    """What acts ask for, by domain, as records keep it."""
    asked: dict[str, Values] = {}
    for act in acts:
        if act.intent == REQUEST:
            asked[act.domain] = (*asked.get(act.domain, ()), f"{act.domain}-{act.slot}")
    return asked


def agenda(*, channel: str = "clean", render: bool = False) -> ActUser:
    """The agenda user."""
    return ActUser("agenda", AgendaUser, channel=Channel.named(channel), render=render)


def agenda_baseline(*, channel: str = "clean", render: bool = False) -> ActUser:
    """The user of the GCDF1 paper, with its faults."""
    return ActUser("agenda-baseline", BaselineUser, channel=Channel.named(channel), render=render)


def rule_system(*, channel: str = "clean", render: bool = False) -> ActSystem:
    """The rule system."""
    return ActSystem("rule-system", RuleSystem, channel=Channel.named(channel), render=render)


def rule_baseline(*, channel: str = "clean", render: bool = False) -> ActSystem:
    """The rule system with the habits of the one in the GCDF1 paper: it neither asks back nor lets the user choose,
    and confirms bookings of all kinds with nothing but the reference."""
    return ActSystem("rule-baseline", BaselineSystem, channel=Channel.named(channel), render=render)
