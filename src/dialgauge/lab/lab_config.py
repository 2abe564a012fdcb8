"""Conversations in a domain: many goals, several trials each, a user and a system in front of each other.

What a conversation is depends on the seed, its goal and its trial alone: not on the others, their order, the number of
processes, or how often the work was broken off and taken up again. Nothing is scored here; the record holds all that
the measures need.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge import engine
from dialgauge.agents import (
    AGENT_ERROR,
    EXPLANATION,
    Agent,
    Belief,
    Channel,
    Level,
    Limits,
    RandomStreams,
    Scenario,
    Vocabulary,
    converse,
    deciding_options,
    make_agent,
)
from dialgauge.dialogue import Dialogue, Goal, Ontology, Outcome
from dialgauge.engine import Workers
from dialgauge.errors import DialgaugeError, choice
from dialgauge.lab.told_acts import with_told_acts
from dialgauge.text import counted
from dialgauge.worlds.domain import Domain, DomainGoal, DomainSearch

#: Longer conversations are cut off; so are turns with more acts or characters.
LAB_LIMITS = Limits(exchanges=20, characters=2_000, acts=12, seconds=300.0)
#: One run is in memory as a whole when it is scored.
MOST_CONVERSATIONS = 1_000_000
LEVELS: tuple[Level, ...] = ("act", "text")
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Dialogue)
#: Conversations of our own agents are so short that units hold many; one that waits for others is a unit by itself.
_TOGETHER, _ALONE = 50, 1


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

    @classmethod
    def parse(cls, text: str) -> AgentSpec:
        """The agent that a text names, with the options that decide what it says.

        >>> AgentSpec.parse("rule-system(channel=drop=0.1,style=plain)").options["channel"]
        'drop=0.1'
        """
        name, _, settings = text.removesuffix(")").partition("(")
        return cls(name, {key: value for part in settings.split(",") for key, _, value in [part.partition("=")] if key})


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
    loop: int = 0,
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
    limits = Limits(
        exchanges=exchanges, characters=LAB_LIMITS.characters, acts=LAB_LIMITS.acts, seconds=seconds, loop=loop
    )
    return LabConfig(user=user, system=system, level=spoken, seed=seed, trials=trials, limits=limits)


def check_setting(config: LabConfig, domain: Domain) -> None:
    """Refuse what cannot go well in a domain before any work: acts that it does not have."""
    for spec in (config.user, config.system):
        if "channel" in spec.options:
            Channel.named(spec.options["channel"]).within(domain)


class _Planned(NamedTuple):
    """One conversation to be held."""

    goal: DomainGoal
    trial: int


class _WorkerState:
    """What a worker needs: the domain, and the two agents."""

    def __init__(self, search: DomainSearch, config: LabConfig) -> None:
        self.search = search
        self.user, self.system = config.user.make(), config.system.make()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.of(self.search.domain)


#: Systems that speak in the lab's own sentences.
_OWN_WORDS = frozenset({"rule-system", "rule-baseline", "corpus-system"})


def speaks_freely(config: LabConfig) -> bool:
    """Is the system one whose words are its own? The user then understands free English, and verdicts are read from
    calls and values."""
    return config.level == "text" and config.system.name not in _OWN_WORDS


class LabWork(engine.Work[_WorkerState, list[_Planned]]):
    """Holding conversations."""

    def __init__(self, search: Callable[[], DomainSearch], config: LabConfig) -> None:
        """``search`` is called once in each process."""
        self._search, self._config = search, config

    def open(self) -> _WorkerState:
        return _WorkerState(self._search(), self._config)

    def do(self, state: _WorkerState, unit: engine.Unit[list[_Planned]]) -> bytes:
        return b"".join(_encoded(self._hold(state, *planned)) for planned in unit.payload)

    def _hold(self, room: _WorkerState, goal: DomainGoal, trial: int) -> Dialogue:
        scenario = lab_scenario(room.search, goal, self._config, trial)
        held = converse(room.user, room.system, scenario)
        if scenario.free:
            held = with_told_acts(held, room.vocabulary)
        return with_states(held, room.search.domain)


def lab_scenario(
    search: DomainSearch, goal: DomainGoal, config: LabConfig, trial: int = 0, ontology: Ontology | None = None
) -> Scenario:
    """One conversation to be held; the ontology is what both sides know, all that is told unless given."""
    streams = RandomStreams(config.seed, goal.id, trial)
    return Scenario(
        dialogue_id=goal.id if config.trials == 1 else f"{goal.id}#{trial + 1}",
        office=search.backend(streams("backend"), goal),
        goal=goal.recorded(),
        plan=goal,
        domain=search.domain.public,
        free=speaks_freely(config),
        streams=streams,
        ontology=ontology or search.spoken,
        domains=goal.domains,
        level=config.level,
        limits=config.limits,
    )


def hold_conversations(
    search: Callable[[], DomainSearch],
    goals: Sequence[DomainGoal],
    config: LabConfig,
    *,
    workers: Workers = None,
    done: MutableMapping[str, bytes] | None = None,
    on_unit: Callable[[int], None] | None = None,
) -> Iterator[Dialogue]:
    """The conversations in the order of goals and trials. ``done`` keeps what is finished, for the next time."""
    if len(goals) * config.trials > MOST_CONVERSATIONS:
        raise DialgaugeError(
            f"{counted(len(goals), 'goal')} with {counted(config.trials, 'trial')} each are "
            f"{len(goals) * config.trials:,} conversations, and one run holds at most {MOST_CONVERSATIONS:,}; ask for "
            "fewer goals (-n) or trials (--trials)"
        )
    planned = [_Planned(goal, trial) for trial in range(config.trials) for goal in goals]
    remote = any(getattr(spec.make(), "remote", False) for spec in (config.user, config.system))
    together = _ALONE if remote else _TOGETHER
    starts = range(0, len(planned), together)
    units = (engine.Unit(f"{at:08d}", planned[at : at + together]) for at in starts)
    for result in engine.run(LabWork(search, config), units, workers=workers, done=done):
        if result.content is None:
            raise DialgaugeError(result.failure or "conversations could not be held")
        held = [recorded(line) for line in result.content.splitlines()]
        if on_unit is not None:
            on_unit(len(held))
        yield from held


def _encoded(dialogue: Dialogue) -> bytes:
    """The record of a dialogue; without what was said where that cannot be written."""
    try:
        return _ENCODER.encode_lines([dialogue])
    except (UnicodeError, TypeError, ValueError) as error:
        why = f"what an agent said cannot be written ({error})".encode("ascii", "backslashreplace").decode()
        return _ENCODER.encode_lines([replace(dialogue, turns=(), outcome=_unwritable(why))])


def recorded(line: bytes) -> Dialogue:
    """A dialogue of a record; one whose agents returned what no record can hold has lost its turns."""
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError as error:
        known = msgspec.json.decode(line, type=_Known)
        why = f"what an agent returned is not part of a turn ({error})"
        return Dialogue(id=known.id, turns=(), goal=known.goal, domains=known.domains, outcome=_unwritable(why))
    except msgspec.DecodeError as error:
        raise DialgaugeError(
            f"half-done conversations in the store are damaged ({error}); 'dialgauge runs list' names them, and "
            "'dialgauge runs rm' removes them"
        ) from error


class _Known(Struct):
    id: str
    goal: Goal | None = None
    domains: tuple[str, ...] = ()


def _unwritable(why: str) -> Outcome:
    return Outcome(success=False, reason=AGENT_ERROR, ended_by="system", facts={EXPLANATION: why})


def with_states(dialogue: Dialogue, domain: Domain) -> Dialogue:
    """The dialogue with the belief state after each user turn that follows from what the user said."""
    belief, turns, named, referred = Belief(domain), list(dialogue.turns), dict[str, str](), domain.referred
    for index, turn in enumerate(turns):
        if turn.speaker == "user" and turn.acts is not None:
            belief.hear(turn.acts, lambda: named)
            turns[index] = replace(turn, state=belief.state)
        elif turn.speaker == "system":
            # "The hotel" is the one that was spoken of last.
            for act in turn.acts or ():
                if act.domain in referred and act.slot == domain.services[act.domain].name_slot and act.values:
                    named[f"the {act.domain}"] = act.values[0]
    return replace(dialogue, turns=tuple(turns))


def checksum_of(goals: Iterable[DomainGoal]) -> str:
    """Of goals, for signatures."""
    return hashlib.sha256(_ENCODER.encode(list(goals))).hexdigest()[:12]
