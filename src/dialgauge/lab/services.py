"""Conversations in a domain with services: the world of the agenda user and the rule system."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence

import msgspec
from msgspec.structs import replace

from dialgauge.agents import Agent, Belief, Channel, RandomStreams, Scenario, Vocabulary
from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.engine import Workers
from dialgauge.lab.sessions import LabConfig, hold
from dialgauge.lab.told_acts import with_told_acts
from dialgauge.worlds.domain import Domain, DomainGoal, DomainSearch, ServiceDesk

#: Systems that speak in the lab's own sentences.
_OWN_WORDS = frozenset({"rule-system", "rule-baseline", "corpus-system"})
#: Conversations of one unit of work.
_TOGETHER = 50


def check_setting(config: LabConfig, domain: Domain) -> None:
    """Refuse what cannot go well in a domain before any work: acts that it does not have."""
    for spec in (config.user, config.system):
        if "channel" in spec.options:
            Channel.named(spec.options["channel"]).within(domain)


def speaks_freely(config: LabConfig) -> bool:
    """Is the system one whose words are its own? Verdicts are then read from its calls and values."""
    return config.level == "text" and config.system.name not in _OWN_WORDS


class ServiceWorld:
    """A domain, and the two agents that talk in it."""

    def __init__(self, search: DomainSearch, config: LabConfig) -> None:
        self._search, self._config = search, config
        self._pair = config.user.make(), config.system.make()
        self.batch = 1 if any(getattr(agent, "remote", False) for agent in self._pair) else _TOGETHER

    def agents(self, goal: DomainGoal) -> tuple[Agent, Agent]:
        return self._pair

    def scenario(self, goal: DomainGoal, trial: int) -> Scenario:
        return lab_scenario(self._search, goal, self._config, trial)

    def finish(self, held: Dialogue, scenario: Scenario, goal: DomainGoal, trial: int) -> Dialogue:
        if speaks_freely(self._config):
            held = with_told_acts(held, Vocabulary.of(self._search.domain))
        return with_states(held, self._search.domain)


class _Reopened:
    """Opens the world of a search; what is sent to another process is how the search is made."""

    def __init__(self, search: Callable[[], DomainSearch], config: LabConfig) -> None:
        self._search, self._config = search, config

    def __call__(self) -> ServiceWorld:
        return ServiceWorld(self._search(), self._config)


def hold_conversations(
    search: Callable[[], DomainSearch],
    goals: Sequence[DomainGoal],
    config: LabConfig,
    *,
    workers: Workers = None,
    done: MutableMapping[str, bytes] | None = None,
    on_unit: Callable[[int], object] = lambda conversations: None,
) -> Iterator[Dialogue]:
    """The conversations in the order of trials and goals."""
    return hold(_Reopened(search, config), goals, config.trials, workers=workers, done=done, on_unit=on_unit)


def lab_scenario(
    search: DomainSearch, goal: DomainGoal, config: LabConfig, trial: int = 0, ontology: Ontology | None = None
) -> Scenario:
    """One conversation to be held; the ontology is what both sides know, all that is told unless given."""
    streams = RandomStreams(config.seed, goal.id, trial)
    return Scenario(
        dialogue_id=goal.id if config.trials == 1 else f"{goal.id}#{trial + 1}",
        office=ServiceDesk(search, streams("backend"), goal),
        goal=goal.recorded(),
        plan=goal,
        domain=search.domain.public,
        streams=streams,
        ontology=ontology or search.domain.ontology,
        domains=goal.domains,
        level=config.level,
        limits=config.limits,
    )


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
    return hashlib.sha256(msgspec.json.encode(list(goals))).hexdigest()[:12]
