"""All failures of a log, each with its verdict and the evidence for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats import AgentLog, LoggedConversation, LogPlan, read_agent_log
from dialgauge.tasks.audit.log_audit import has_passed, replay_conversation
from dialgauge.tasks.audit.task_facts import task_facts
from dialgauge.tasks.blame.blame_rules import BLAMED, Blamed, FailureBlame, blame_failure
from dialgauge.tasks.blame.failure_evidence import ObservedFault, failure_evidence
from dialgauge.text import counted
from dialgauge.worlds.tools import (
    Integrity,
    ToolDomain,
    ToolTask,
    check_integrity,
    load_tool_domain,
    log_domain,
    tasks_of_log,
)

if TYPE_CHECKING:
    import polars

    from dialgauge.rendering import Table


#: What checks saw in the user of a conversation, by its id and the instruction of its task.
UserCheck: TypeAlias = Callable[[str, str], Sequence[ObservedFault]]


class DecidingMessage(Struct, frozen=True):
    """The words of a message, its calls as they were made, and who sent it; all empty where it is neither's."""

    speaker: str = ""
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


class LogBlame(Struct, frozen=True, kw_only=True):
    """The failures of one log."""

    name: str
    file: str
    domain: str | None
    integrity: Integrity
    conversations: int
    #: Conversations without a verdict of their own: neither passed nor failed.
    unjudged: int
    failures: tuple[FailureBlame, ...]
    #: Failures of tasks that are not known: nothing can be said of them.
    without_task: tuple[str, ...] = ()
    #: Failures that are filed under another task than theirs: nobody is blamed by it.
    foreign: tuple[str, ...] = ()
    #: Failures among the trials of a task that are more than were planned: coverage does not count them either.
    beyond_plan: tuple[str, ...] = ()
    #: What each deciding message says and calls, by conversation.
    deciding: dict[str, DecidingMessage] = {}
    plan: LogPlan | None = None

    @property
    def counts(self) -> dict[Blamed, int]:
        """Verdicts, by whom they blame."""
        verdicts = Counter(each.blamed for each in self.failures)
        return {side: verdicts[side] for side in BLAMED}

    @property
    def leanings(self) -> dict[Blamed, int]:
        leanings = Counter(each.leans for each in self.failures if not each.firm)
        return {side: leanings[side] for side in BLAMED}

    def tables(self, limit: int | None = None) -> list[Table]:
        """How often each side is blamed, and every failure (at most ``limit``) with its deciding message."""
        from dialgauge.tasks.blame.blame_views import blame_tables

        return blame_tables(self, limit)

    def explain(self, conversation: str) -> list[Table]:
        """All evidence on one failure, ``task#trial``."""
        from dialgauge.tasks.blame.blame_views import evidence_tables

        return evidence_tables(self, conversation)

    def to_polars(self) -> polars.DataFrame:
        """A row for each failure: the verdict, its signs as codes with arguments, all evidence as JSON."""
        from dialgauge.tasks.blame.blame_views import blame_records

        return blame_records(self)


def blame_log(
    source: str | Path,
    name: str,
    *,
    domain: str | None = None,
    root: Path | None = None,
    format: str | None = None,
    faults: UserCheck = lambda conversation, instruction: (),
) -> LogBlame:
    """Blame for each failure of a log of τ-bench or τ²-bench."""
    log = read_agent_log(source, format)
    world = load_tool_domain(domain, root=root) if domain else log_domain(log, root)
    given = world.tasks if world is not None else None
    integrity = check_integrity(log, given)
    if not integrity.per_task_stands:
        raise DialgaugeError(
            f"{len(integrity.foreign):,} of {counted(integrity.conversations, 'conversation')} are filed under another "
            "task, too many to blame anybody by their tasks; 'dialgauge tasks audit' shows which",
            file=str(source),
        )
    if world is not None and (log.calls_in_prose or world.benchmark not in ("", log.benchmark)):
        world = None
    tasks = {task.id: task for task in tasks_of_log(log, given)}
    pairs = zip(log.conversations, integrity.filings, strict=True)
    strangers = {id(conversation) for conversation, filing in pairs if filing.belonging == "foreign"}
    surplus = {id(conversation) for conversation in _surplus(log)}
    planned = [conversation for conversation in log.conversations if id(conversation) not in surplus]
    every = [conversation for conversation in failed_conversations(log) if id(conversation) not in surplus]
    failed = [conversation for conversation in every if id(conversation) not in strangers]
    failures = _blames(failed, tasks, world, faults)
    by_id = {conversation.id: conversation for conversation in failed}
    return LogBlame(
        name=name,
        file=str(source),
        domain=world.name if world is not None else None,
        integrity=integrity,
        conversations=len(planned),
        plan=log.plan,
        unjudged=sum(conversation.reward is None for conversation in planned),
        failures=tuple(failures),
        without_task=tuple(conversation.id for conversation in failed if conversation.task not in tasks),
        foreign=tuple(conversation.id for conversation in every if id(conversation) in strangers),
        beyond_plan=tuple(conversation.id for conversation in failed_conversations(log) if id(conversation) in surplus),
        deciding={
            each.conversation: _deciding(by_id[each.conversation], each.message)
            for each in failures
            if each.message is not None
        },
    )


def _surplus(log: AgentLog) -> list[LoggedConversation]:
    """The last trials of each task that has more than were planned."""
    trials: dict[str, list[LoggedConversation]] = {}
    for conversation in (
        sorted(log.conversations, key=lambda conversation: conversation.trial) if log.planned_trials is not None else ()
    ):
        trials.setdefault(conversation.task, []).append(conversation)
    return [conversation for each in trials.values() for conversation in each[log.planned_trials :]]


def _deciding(conversation: LoggedConversation, message: int) -> DecidingMessage:
    utterance = next((text for text in conversation.texts if text.place == message), None)
    calls = [call for call in conversation.calls if call.place == message]
    speaker = utterance.speaker if utterance else calls[0].speaker if calls else ""
    made = tuple((call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in calls)
    return DecidingMessage(speaker, utterance.text if utterance else "", made)


def _blames(
    failed: Sequence[LoggedConversation],
    tasks: Mapping[str, ToolTask],
    world: ToolDomain | None,
    faults: UserCheck,
) -> list[FailureBlame]:
    needed = {conversation.task for conversation in failed}
    facts = {each.id: each for each in task_facts([tasks[name] for name in tasks if name in needed], world)}
    return [
        blame_failure(
            failure_evidence(
                conversation,
                tasks[conversation.task],
                domain=world,
                replayed=replay_conversation(conversation, tasks[conversation.task], world),
                facts=facts[conversation.task],
                faults=faults(conversation.id, tasks[conversation.task].instruction),
            )
        )
        for conversation in failed
        if conversation.task in tasks
    ]


def failed_conversations(log: AgentLog) -> list[LoggedConversation]:
    """The conversations that have a verdict and did not pass."""
    return [
        conversation
        for conversation in log.conversations
        if conversation.reward is not None and not has_passed(conversation)
    ]
