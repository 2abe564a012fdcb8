"""Recorded conversations with what became of them, by both rule sets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import msgspec
from msgspec import Struct

from dialgauge.agents import AGENT_ERROR, EXPLANATION, TIME_BUDGET
from dialgauge.dialogue import Dialogue, Goal
from dialgauge.errors import DialgaugeError
from dialgauge.tasks.recordings.compat import CompatRules, CompatVerdict
from dialgauge.tasks.recordings.conduct import ConversationCounts, HeardActs, conduct
from dialgauge.tasks.recordings.outcomes import StrictRules, StrictVerdict
from dialgauge.worlds.domain import DomainGoal, DomainSearch
from dialgauge.worlds.town import Failures, TownSearch, town_goal

#: What parts the number of a trial from the id of its goal.
_TRIAL = "#"
#: Why a conversation ended, where that is the fault of the side that ended it.
_FAULTS = (AGENT_ERROR, TIME_BUDGET)


class JudgedConversation(Struct, frozen=True, kw_only=True, gc=False):
    """One conversation and what became of it."""

    dialogue: Dialogue
    #: The id that all trials of one goal share.
    goal: str
    #: What the user wanted, made ready to be pursued.
    wanted: DomainGoal
    #: None in domains that ConvLab-2's evaluator does not know.
    compat: CompatVerdict | None
    #: None where the record does not say what the system called: then nobody knows what was booked.
    strict: StrictVerdict | None
    conduct: ConversationCounts


class JudgedConversations:
    """Many of them, in order; those that cannot be judged, with the reason, and what was misunderstood in all."""

    def __init__(self, search: DomainSearch, failures: Failures, *, calls_recorded: bool = True) -> None:
        self.judged: list[JudgedConversation] = []
        self.unjudged: dict[str, str] = {}
        #: Those of the unjudged whose user failed.
        self.user_failed: list[Dialogue] = []
        self.understanding = HeardActs()
        self.failures = failures
        self.calls_recorded = calls_recorded
        self.search = search
        self.domain = search.domain
        self.database = search.checksum

    def __len__(self) -> int:
        return len(self.judged)

    def __iter__(self) -> Iterator[JudgedConversation]:
        return iter(self.judged)

    def __getitem__(self, identifier: str) -> JudgedConversation:
        for judged in self.judged:
            if judged.dialogue.id == identifier:
                return judged
        raise DialgaugeError(f"there is no conversation '{identifier}'")

    @cached_property
    def goals(self) -> str:
        """A checksum of the goals that were pursued."""
        goals = {judged.goal: judged.dialogue.goal for judged in self.judged}
        return hashlib.sha256(msgspec.json.encode(sorted(goals.items()))).hexdigest()[:12]


def judge_outcomes(
    dialogues: Iterable[Dialogue],
    search: DomainSearch,
    *,
    failures: Failures = "live",
    calls_recorded: bool | None = None,
    goals: Mapping[str, DomainGoal] | None = None,
) -> JudgedConversations:
    """What became of recorded conversations in a domain. ``goals`` has those that were pursued, by id; without them
    they are made of what the record says, which in the town is possible.

    ``failures`` says which constraints that were to fail count as such; see :func:`dialgauge.worlds.town.town_goal`.
    Conversations whose user failed are not judged. Without ``calls_recorded``, calls count as recorded if any turn of
    any conversation has some.
    """
    dialogues = list(dialogues)
    if calls_recorded is None:
        calls_recorded = any(turn.calls is not None for dialogue in dialogues for turn in dialogue.turns)
    judged = JudgedConversations(search, failures, calls_recorded=calls_recorded)
    strict, compat = StrictRules(search), CompatRules(search.town) if isinstance(search, TownSearch) else None
    for dialogue in dialogues:
        if failure := _failure_of_user(dialogue):
            judged.unjudged[dialogue.id] = failure
            judged.user_failed.append(dialogue)
            continue
        if dialogue.goal is None:
            judged.unjudged[dialogue.id] = "the record has no goal"
            continue
        try:
            goal = (goals or {}).get(goal_of(dialogue.id)) or _goal(dialogue, dialogue.goal, search, failures)
            verdict = strict.judge(dialogue, goal) if calls_recorded else None
        except DialgaugeError as error:
            judged.unjudged[dialogue.id] = error.message
            continue
        judged.judged.append(
            JudgedConversation(
                dialogue=dialogue,
                goal=goal_of(dialogue.id),
                wanted=goal,
                compat=None if compat is None else compat.judge(dialogue, dialogue.goal),
                strict=verdict,
                conduct=conduct(dialogue, judged.understanding),
            )
        )
    return judged


def _goal(dialogue: Dialogue, goal: Goal, search: DomainSearch, failures: Failures) -> DomainGoal:
    if not isinstance(search, TownSearch):
        raise DialgaugeError("the goal that was pursued is not among the goals of the domain")
    return town_goal(dialogue.id, goal, search, failures)


def _failure_of_user(dialogue: Dialogue) -> str:
    """How the user failed, by raising or by taking too long; empty where it did not. It says nothing of the system."""
    outcome = dialogue.outcome
    if outcome is None or outcome.ended_by != "user" or outcome.reason not in _FAULTS:
        return ""
    return f"the user failed: {outcome.details.get(EXPLANATION) or outcome.reason}"


def goal_of(identifier: str) -> str:
    """The goal of a conversation, whichever trial of it that is.

    >>> goal_of("PMUL1234#2"), goal_of("PMUL1234")
    ('PMUL1234', 'PMUL1234')
    """
    goal, mark, trial = identifier.rpartition(_TRIAL)
    return goal if mark and trial.isdecimal() else identifier
