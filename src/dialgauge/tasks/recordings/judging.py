"""Recorded conversations with what became of them, by both rule sets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents import AGENT_ERROR, BROKEN_ENDS, EXPLANATION
from dialgauge.dialogue import Dialogue, Goal, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.formats import hold
from dialgauge.tasks.reasons import TaskFailure
from dialgauge.tasks.recordings.compat import CompatRules, CompatVerdict
from dialgauge.tasks.recordings.conduct import ConversationCounts, HeardActs, conduct
from dialgauge.tasks.recordings.strict import StrictRules, StrictVerdict
from dialgauge.worlds.domain import DomainGoal, DomainSearch, Failures, multiwoz_goal

#: Stands between the id of a goal and the number of a trial.
_TRIAL = "#"
#: The fact of an outcome that says that the system's acts were read from its words.
ACTS_READ = "system acts"


class JudgedConversation(Struct, frozen=True, kw_only=True, gc=False):
    """One conversation and what became of it."""

    id: str
    #: The id that all trials of one goal share.
    goal: str
    #: The domains of the recorded goal.
    domains: tuple[str, ...]
    #: Does the user think it has all it wanted? None where it did not say.
    complete: bool | None
    #: Did an error of the system end it?
    broken: bool
    #: What the user wanted, made ready to be pursued.
    wanted: DomainGoal
    #: None in domains that ConvLab-2's evaluator does not know, and of a system that has no acts of its own.
    compat: CompatVerdict | None
    #: None where the record does not say what the system called: then nobody knows what was booked.
    strict: StrictVerdict | None
    conduct: ConversationCounts


class JudgedConversations:
    """Verdicts on dialogues, in their order; those that cannot be judged, with the reason, and what was misunderstood
    in all. The dialogues may lie in a file, so no verdict holds one."""

    def __init__(
        self, dialogues: Sequence[Dialogue], search: DomainSearch, failures: Failures, *, calls_recorded: bool = True
    ) -> None:
        self.dialogues = dialogues
        self.judged: list[JudgedConversation] = []
        self.unjudged: dict[str, str] = {}
        #: The recorded goals of the judged as JSON.
        self.pursued: dict[str, msgspec.Raw] = {}
        self.understanding = HeardActs()
        self.failures = failures
        self.calls_recorded = calls_recorded
        self.search = search
        self.domain = search.domain
        self.database = search.domain.checksum

    def __len__(self) -> int:
        return len(self.judged)

    def __iter__(self) -> Iterator[JudgedConversation]:
        return iter(self.judged)

    def __getitem__(self, identifier: str) -> JudgedConversation:
        for judged in self.judged:
            if judged.id == identifier:
                return judged
        raise DialgaugeError(f"there is no conversation '{identifier}'")

    def recorded(self) -> Iterator[tuple[Dialogue, JudgedConversation]]:
        """The judged with their dialogues."""
        judged = iter(self.judged)
        return ((dialogue, next(judged)) for dialogue in self.dialogues if dialogue.id not in self.unjudged)

    def left_out(self) -> Iterator[Dialogue]:
        """Those of the unjudged that infrastructure or the user broke."""
        if self.unjudged:
            yield from filter(_left_out, self.dialogues)

    @cached_property
    def goals(self) -> str:
        """A checksum of the goals that were pursued."""
        return hashlib.sha256(msgspec.json.encode(sorted(self.pursued.items()))).hexdigest()[:12]


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

    ``failures`` says which constraints that were to fail count as such (:func:`dialgauge.worlds.domain.multiwoz_goal`).
    A system's own error fails; conversations that infrastructure or the user's error ended are not judged. Without
    ``calls_recorded``, calls count as recorded if any turn of any conversation has some.
    """
    if not isinstance(dialogues, Sequence):
        dialogues = hold(dialogues)
    if calls_recorded is None:
        calls_recorded = any(turn.calls is not None for dialogue in dialogues for turn in dialogue.turns)
    judged = JudgedConversations(dialogues, search, failures, calls_recorded=calls_recorded)
    strict, compat = StrictRules(search), CompatRules(search.domain) if search.domain.multiwoz else None
    for dialogue in dialogues:
        if why := _left_out(dialogue):
            judged.unjudged[dialogue.id] = why
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
        conversation = JudgedConversation(
            id=dialogue.id,
            goal=goal_of(dialogue.id),
            domains=tuple(dialogue.goal.tasks),
            complete=dialogue.ended.success,
            broken=is_broken(dialogue),
            wanted=goal,
            compat=compat.judge(dialogue, dialogue.goal) if compat is not None and _has_acts(dialogue) else None,
            strict=verdict,
            conduct=conduct(dialogue, judged.understanding),
        )
        judged.pursued[conversation.goal] = msgspec.Raw(msgspec.json.encode(dialogue.goal))
        judged.judged.append(_failed(conversation, dialogue.ended) if conversation.broken else conversation)
    return judged


def _goal(dialogue: Dialogue, goal: Goal, search: DomainSearch, failures: Failures) -> DomainGoal:
    if not search.domain.multiwoz:
        raise DialgaugeError("the goal that was pursued is not among the goals of the domain")
    return multiwoz_goal(dialogue.id, goal, search, failures)


def _has_acts(dialogue: Dialogue) -> bool:
    """Did the system speak in acts? Those that were read from its words are not its own."""
    system = [turn for turn in dialogue.turns if turn.speaker == "system"]
    return ACTS_READ not in dialogue.ended.facts and (not system or any(turn.acts is not None for turn in system))


def is_broken(dialogue: Dialogue) -> bool:
    """Did an error of the system end it?"""
    return dialogue.ended.reason == AGENT_ERROR and dialogue.ended.ended_by != "user"


def _left_out(dialogue: Dialogue) -> str:
    """Why a conversation gets no verdict; empty where it gets one."""
    outcome = dialogue.ended
    if outcome.reason not in (AGENT_ERROR, *BROKEN_ENDS) or is_broken(dialogue):
        return ""
    who = "the user failed" if outcome.reason == AGENT_ERROR else "infrastructure broke it"
    return f"{who}: {outcome.facts.get(EXPLANATION) or outcome.reason}"


def _failed(conversation: JudgedConversation, outcome: Outcome) -> JudgedConversation:
    """The same, failed by both rule sets in every task."""
    why = TaskFailure(reason="broken_off", given=(outcome.facts.get(EXPLANATION) or outcome.reason,))
    strict, compat = conversation.strict, conversation.compat
    if strict is not None:
        tasks = {
            domain: replace(task, success=False, failures=(*task.failures, why))
            for domain, task in strict.tasks.items()
        }
        strict = replace(strict, success=False, tasks=tasks)
    if compat is not None:
        failures = {domain: (*compat.failures.get(domain, ()), why) for domain in compat.domains}
        compat = replace(compat, success=False, domains=dict.fromkeys(compat.domains, False), failures=failures)
    return replace(conversation, strict=strict, compat=compat)


def goal_of(identifier: str) -> str:
    """The goal of a conversation, whichever trial of it that is.

    >>> goal_of("PMUL1234#2"), goal_of("PMUL1234")
    ('PMUL1234', 'PMUL1234')
    """
    goal, mark, trial = identifier.rpartition(_TRIAL)
    return goal if mark and trial.isdecimal() else identifier
