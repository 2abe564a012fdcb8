"""The one runner of the lab: many goals, several trials each, a user and a system in front of each other.

What a conversation is depends on the seed, its goal and its trial alone: not on the others, their order, the number of
processes, or how often the work was broken off and taken up again. Nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge import engine
from dialgauge.agents import (
    AGENT_ERROR,
    EXPLANATION,
    Agent,
    Level,
    Limits,
    Scenario,
    converse,
    deciding_options,
    make_agent,
)
from dialgauge.dialogue import Dialogue, Goal, Outcome
from dialgauge.engine import Workers
from dialgauge.errors import DialgaugeError, choice
from dialgauge.text import counted

#: Longer conversations are cut off; so are turns with more acts or characters.
LAB_LIMITS = Limits(exchanges=20, characters=2_000, acts=12, seconds=300.0)
#: One run is in memory as a whole when it is scored.
MOST_CONVERSATIONS = 1_000_000
LEVELS: tuple[Level, ...] = ("act", "text")
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Dialogue)
G = TypeVar("G")
GoalOf = TypeVar("GoalOf", contravariant=True)


class AgentSpec(Struct, frozen=True):
    """An agent by name, with its options; its text names those that decide what it says, and no secret."""

    name: str
    options: dict[str, str] = {}

    def make(self) -> Agent:
        return make_agent(self.name, self.options)

    def __str__(self) -> str:
        deciding = deciding_options(self.name, self.options)
        settings = ",".join(f"{name}={value}" for name, value in sorted(deciding.items()))
        return f"{self.name}({settings})" if settings else self.name


class LabConfig(Struct, frozen=True, kw_only=True):
    """Everything that decides what is said, beside the goals and the domain."""

    user: AgentSpec
    system: AgentSpec
    level: Level = "act"
    seed: int = 0
    trials: int = 1
    limits: Limits = LAB_LIMITS


def make_lab_config(
    user: AgentSpec,
    system: AgentSpec,
    *,
    level: str = "act",
    trials: int = 1,
    seed: int = 0,
    exchanges: int = LAB_LIMITS.exchanges,
    seconds: float = LAB_LIMITS.seconds,
) -> LabConfig:
    """Who talks to whom, and how; both agents are made once, so that a mistake is told before the work."""
    spoken = choice(level, LEVELS, "--level")
    for side, spec in (("user", user), ("system", system)):
        agent = spec.make()
        takes = getattr(agent, "side", side)
        if takes != side:
            raise DialgaugeError(f"{spec.name} is a {takes} agent; it cannot be the {side}")
        if spoken not in getattr(agent, "levels", LEVELS):
            raise DialgaugeError(f"{spec.name} speaks text, not dialogue acts; add --level text")
    limits = replace(LAB_LIMITS, exchanges=exchanges, seconds=seconds)
    return LabConfig(user=user, system=system, level=spoken, seed=seed, trials=trials, limits=limits)


class World(Protocol[GoalOf]):
    """Where conversations happen: a domain with services, or one with tools."""

    #: Conversations of one unit of work: many that are short, one that waits for others.
    batch: int

    def agents(self, goal: GoalOf) -> tuple[Agent, Agent]:
        """The user and the system."""

    def scenario(self, goal: GoalOf, trial: int) -> Scenario:
        """One conversation to be held."""

    def finish(self, held: Dialogue, scenario: Scenario, goal: GoalOf, trial: int) -> Dialogue:
        """The conversation with what it takes to be judged: belief states, acts read from text, the outcome."""


class _Sessions(engine.Work[World[G], list[tuple[G, int]]], Generic[G]):
    """Holding conversations."""

    def __init__(self, reopen: Callable[[], World[G]]) -> None:
        """``reopen`` is called once in each process."""
        self._reopen = reopen

    def open(self) -> World[G]:
        return self._reopen()

    def do(self, state: World[G], unit: engine.Unit[list[tuple[G, int]]]) -> bytes:
        return b"".join(_encoded(_held(state, *planned)) for planned in unit.payload)


def _held(world: World[G], goal: G, trial: int) -> Dialogue:
    user, system = world.agents(goal)
    scenario = world.scenario(goal, trial)
    return world.finish(converse(user, system, scenario), scenario, goal, trial)


def hold(
    reopen: Callable[[], World[G]],
    goals: Sequence[G],
    trials: int,
    *,
    workers: Workers = None,
    done: MutableMapping[str, bytes] | None = None,
    on_unit: Callable[[int], object] = lambda conversations: None,
) -> Iterator[Dialogue]:
    """The first trials of all goals, then the second; the same bytes for any workers. ``done`` keeps what is finished,
    for the next time."""
    if len(goals) * trials > MOST_CONVERSATIONS:
        raise DialgaugeError(
            f"{counted(len(goals), 'goal')} with {counted(trials, 'trial')} each are {len(goals) * trials:,} "
            f"conversations, and one run holds at most {MOST_CONVERSATIONS:,}; ask for fewer goals (-n) or trials "
            "(--trials)"
        )
    planned = [(goal, trial) for trial in range(trials) for goal in goals]
    batch = reopen().batch
    units = (engine.Unit(f"{at:08d}", list(planned[at : at + batch])) for at in range(0, len(planned), batch))
    for result in engine.run(_Sessions(reopen), units, workers=workers, done=done):
        if result.content is None:
            raise DialgaugeError(result.failure or "conversations could not be held")
        held = [_recorded(line) for line in result.content.splitlines()]
        on_unit(len(held))
        yield from held


def _encoded(dialogue: Dialogue) -> bytes:
    """The record of a dialogue; without what was said where that cannot be written."""
    try:
        return _ENCODER.encode_lines([dialogue])
    except (UnicodeError, TypeError, ValueError) as error:
        why = f"what an agent said cannot be written ({error})".encode("ascii", "backslashreplace").decode()
        return _ENCODER.encode_lines([replace(dialogue, turns=(), outcome=_unwritable(dialogue.ended, why))])


def _recorded(line: bytes) -> Dialogue:
    """A dialogue of a record; one whose agents returned what no record can hold has lost its turns."""
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError as error:
        known = msgspec.json.decode(line, type=_Known)
        why = f"what an agent returned is not part of a turn ({error})"
        outcome = _unwritable(known.outcome, why)
        return Dialogue(id=known.id, turns=(), goal=known.goal, domains=known.domains, outcome=outcome)
    except msgspec.DecodeError as error:
        raise DialgaugeError(
            f"half-done conversations in the store are damaged ({error}); 'dialgauge runs list' names them, and "
            "'dialgauge runs rm' removes them"
        ) from error


class _Known(Struct):
    id: str
    goal: Goal | None = None
    domains: tuple[str, ...] = ()
    outcome: Outcome = Outcome()


def _unwritable(outcome: Outcome, why: str) -> Outcome:
    return replace(outcome, success=False, reason=AGENT_ERROR, ended_by="system", facts={EXPLANATION: why}, parts={})
