"""All failures of a log, each with its verdict and the evidence for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.trials.blame_rules import BLAMED, Blamed, FailureBlame, blame_failure
from dialgauge.trials.failure_evidence import ObservedFault, failure_evidence
from dialgauge.trials.log_audit import LogAudit
from dialgauge.trials.trial_log import LogPlan, TrialLog, has_passed
from dialgauge.worlds.tools import Integrity, ToolDomain

if TYPE_CHECKING:
    import polars

    from dialgauge.rendering import Table


#: What checks saw in the user of a conversation, by the instruction of its task where it has none itself.
UserCheck: TypeAlias = Callable[[Dialogue, str], Sequence[ObservedFault]]


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
        from dialgauge.trials.blame_views import blame_tables

        return blame_tables(self, limit)

    def explain(self, conversation: str) -> list[Table]:
        """All evidence on one failure, ``task#trial``."""
        from dialgauge.trials.blame_views import evidence_tables

        return evidence_tables(self, conversation)

    def to_polars(self) -> polars.DataFrame:
        """A row for each failure: the verdict, its signs as codes with arguments, all evidence as JSON."""
        from dialgauge.trials.blame_views import blame_records

        return blame_records(self)


def blame_log(log: TrialLog, audit: LogAudit, faults: UserCheck, domain: ToolDomain | None = None) -> LogBlame:
    """Blame for each failure of a log that was audited, in the world of the domain, if there is one."""
    integrity = audit.integrity
    if not integrity.per_task_stands:
        raise DialgaugeError(
            f"{len(integrity.foreign):,} of {counted(integrity.conversations, 'conversation')} are filed under another "
            "task, too many to blame anybody by their tasks; 'dialgauge tasks audit' shows which",
            file=log.file,
        )
    tasks = {task.id: task for task in audit.tasks}
    strangers = {filing.conversation for filing in integrity.foreign}
    surplus = _surplus(log.dialogues)
    planned = [dialogue for dialogue in log.dialogues if dialogue.id not in surplus]
    every = [dialogue for dialogue in planned if has_failed(dialogue)]
    failed = [dialogue for dialogue in every if dialogue.id not in strangers]
    facts = {each.id: each for each in audit.facts}
    replayed = {each.id: each for each in audit.conversations}
    world = None if audit.no_replay else domain
    failures = [
        blame_failure(
            failure_evidence(
                dialogue,
                tasks[dialogue.ended.task],
                domain=world,
                replayed=replayed[dialogue.id],
                facts=facts[dialogue.ended.task],
                faults=faults(dialogue, tasks[dialogue.ended.task].instruction),
            )
        )
        for dialogue in failed
        if dialogue.ended.task in tasks
    ]
    by_id = {dialogue.id: dialogue for dialogue in failed}
    return LogBlame(
        name=log.name,
        file=log.file,
        domain=world.name if world is not None else None,
        integrity=integrity,
        conversations=len(planned),
        plan=log.plan,
        unjudged=sum(dialogue.ended.reward is None for dialogue in planned),
        failures=tuple(failures),
        without_task=tuple(dialogue.id for dialogue in failed if dialogue.ended.task not in tasks),
        foreign=tuple(dialogue.id for dialogue in every if dialogue.id in strangers),
        beyond_plan=tuple(dialogue.id for dialogue in log.dialogues if dialogue.id in surplus and has_failed(dialogue)),
        deciding={
            each.conversation: _deciding(by_id[each.conversation], each.message)
            for each in failures
            if each.message is not None
        },
    )


def _surplus(dialogues: Sequence[Dialogue]) -> set[str]:
    """The last trials of each task that has more than were planned."""
    planned = max((dialogue.ended.planned[1] for dialogue in dialogues if dialogue.ended.planned), default=0)
    trials: dict[str, list[str]] = {}
    for dialogue in sorted(dialogues, key=lambda dialogue: dialogue.ended.trial) if planned else ():
        trials.setdefault(dialogue.ended.task, []).append(dialogue.id)
    return {name for each in trials.values() for name in each[planned:]}


def _deciding(dialogue: Dialogue, message: int) -> DecidingMessage:
    utterance = next((turn for turn in dialogue.turns if turn.text and turn.source == message), None)
    calls = [(side, call) for side, call in dialogue.calls() if call.message == message]
    speaker = utterance.speaker if utterance else calls[0][0] if calls else ""
    made = tuple((call.name, json.dumps(call.arguments, ensure_ascii=False)) for _, call in calls)
    return DecidingMessage(speaker, utterance.text if utterance else "", made)


def has_failed(dialogue: Dialogue) -> bool:
    """Whether it has a verdict and did not pass."""
    return dialogue.ended.reward is not None and not has_passed(dialogue)
