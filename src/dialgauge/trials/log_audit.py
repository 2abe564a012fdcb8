"""A log of agents audited: does it belong to its tasks, do its verdicts replay, and what does its pass rate blend?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Call, Dialogue, End, Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.formats import contradicts_parts
from dialgauge.measures import pass_rate
from dialgauge.rendering import Table
from dialgauge.trials.facts import TaskFacts, task_facts
from dialgauge.trials.trial_log import PASSED, LogPlan, TrialLog, has_passed, read_log
from dialgauge.worlds.tools import (
    AgentText,
    Conduct,
    Integrity,
    Replay,
    ToolDomain,
    ToolTask,
    check_integrity,
    judge,
    load_tool_domain,
    read_tool_tasks,
    replay,
    tasks_of_log,
)

#: Why calls were not made again: the domain's records and tools are not here, or the agent wrote calls into texts.
NoReplay: TypeAlias = Literal["no world", "calls in prose"]
#: What an end means for a verdict: it came to an end, it did not, nobody says.
_FINISHED: dict[End, bool | None] = {"finished": True, "limit": False, "infrastructure": False, "unknown": None}
#: Parts under τ²'s names: what τ-bench calls ``r_actions`` is its test of the data.
_PARTS = {"r_actions": "DB", "r_outputs": "COMMUNICATE"}


class ReplayedConversation(Struct, frozen=True, kw_only=True):
    """One conversation: the recorded verdict beside the one that its calls lead to."""

    id: str
    task: str
    trial: int
    finished: bool | None
    recorded_reward: float | None
    #: The parts of the reward that the log stores and the replay can tell, recorded.
    recorded_parts: dict[str, bool]
    replay_reward: float | None
    replay_parts: dict[str, bool | None]
    outputs: dict[str, bool] | None
    #: The recorded reward is not what the parts stored with it give.
    contradicts_parts: bool = False
    order_only: bool = False
    writes_done: int | None = None
    writes_failed: int | None = None
    reliable: bool = True
    drift: dict[str, int] = {}
    unknown_tools: dict[str, int] = {}
    skipped: dict[str, int] = {}
    renamed: tuple[tuple[str, str], ...] = ()
    #: The first write that came out otherwise than recorded, or else the first call that did.
    first_drift: dict[str, Any] | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether recorded and replayed rewards agree; None where one of them is open."""
        if self.recorded_reward is None or self.replay_reward is None:
            return None
        return (self.recorded_reward >= PASSED) == (self.replay_reward >= PASSED)


class PassSplit(Struct, frozen=True, kw_only=True):
    """pass^k over some of the tasks."""

    tasks: int
    conversations: int
    passed: int
    pass_k: dict[int, float]


class LogAudit(Struct, frozen=True, kw_only=True):
    """Everything that the audit of one log found."""

    name: str
    file: str
    benchmark: str
    domain: str | None
    integrity: Integrity
    #: The tasks that it was held against, and what is to be known of each.
    tasks: tuple[ToolTask, ...]
    facts: tuple[TaskFacts, ...]
    conversations: tuple[ReplayedConversation, ...] = ()
    no_replay: NoReplay | None = None
    #: pass^k by whether doing nothing passes the test of the data: ``all``, ``null_pass``, ``writes_needed``.
    split: dict[str, PassSplit] = {}
    passed_without_any_write_call: int | None = None
    passed_without_successful_write: int | None = None
    never_passed: tuple[str, ...] = ()
    plan: LogPlan | None = None

    @property
    def drift(self) -> Counter[str]:
        return sum((Counter(conversation.drift) for conversation in self.conversations), Counter[str]())

    @property
    def tried_facts(self) -> list[TaskFacts]:
        """The facts of those tasks that the log has conversations of."""
        tried = {conversation.task for conversation in self.conversations}
        return [facts for facts in self.facts if facts.id in tried]

    @property
    def differences(self) -> list[ReplayedConversation]:
        """Conversations whose recorded verdict the replay contradicts."""
        return [
            conversation
            for conversation in self.conversations
            if conversation.agrees is False
            or any(
                conversation.replay_parts.get(part) not in (None, known)
                for part, known in conversation.recorded_parts.items()
            )
        ]

    @property
    def self_contradicted(self) -> list[str]:
        """Conversations whose recorded reward is not what the parts stored with it give."""
        return [conversation.id for conversation in self.conversations if conversation.contradicts_parts]

    @property
    def contradicted(self) -> list[str]:
        """Conversations whose recorded verdict is contradicted: by the replay, or by what is stored with it."""
        return list(dict.fromkeys([*(difference.id for difference in self.differences), *self.self_contradicted]))

    @property
    def rewards_reproduced(self) -> tuple[int, int]:
        """The same for whole rewards."""
        known = [conversation.agrees for conversation in self.conversations if conversation.agrees is not None]
        return sum(known), len(known)

    def reproduced(self, part: str) -> tuple[int, int]:
        """In how many conversations the replay gives a part of the verdict as recorded, of those where both have it."""
        stored = [
            conversation
            for conversation in self.conversations
            if part in conversation.recorded_parts and conversation.replay_parts.get(part) is not None
        ]
        same = [
            conversation
            for conversation in stored
            if conversation.recorded_parts[part] == conversation.replay_parts.get(part)
        ]
        return len(same), len(stored)

    def tables(self, limit: int | None = None) -> list[Table]:
        """The replay beside what was recorded, pass^k split, and what contradicts, at most ``limit`` of it."""
        from dialgauge.trials.audit_views import log_tables

        return log_tables(self, limit)


def audit_logs(
    sources: Mapping[str, str | Path],
    *,
    domain: str | None = None,
    tasks: Path | None = None,
    root: Path | None = None,
    format: str | None = None,
    advance: Callable[[int], None] = lambda files: None,
) -> list[LogAudit]:
    """Audit logs, each in its own domain: the one named, or the one of ours whose log it is."""
    audits = []
    given = read_tool_tasks(tasks) if tasks is not None else None
    for name, source in sources.items():
        log = read_log(source, name, format)
        audits.append(audit_log(log, log_world(log, domain, root), tasks=given))
        advance(1)
    return audits


def log_world(log: TrialLog, domain: str | None, root: Path | None) -> ToolDomain | None:
    """The domain that is named, or the one of ours whose log it is; None where its records are not here."""
    return load_tool_domain(domain, root=root) if domain is not None else log.domain(root)


def audit_log(log: TrialLog, world: ToolDomain | None, *, tasks: Sequence[ToolTask] | None = None) -> LogAudit:
    """Audit one log in the world of a domain, or without one."""
    log.refuse_others()
    if world is not None and world.benchmark not in ("", log.benchmark):
        raise DialgaugeError(
            f"this log is {log.benchmark}'s, and the records and tools of '{world.name}' are those of "
            f"{world.benchmark}: its calls would not mean the same there; leave out --domain for what can be said "
            "without a world",
            file=log.file,
        )
    given = tasks if tasks is not None else world.tasks if world else None
    checked, tasks_from = tasks_of_log(log.dialogues, log.corpus.notes.tasks, given, log.file)
    integrity = check_integrity(log.dialogues, checked, tasks_from)
    graded = {task.id: task for task in (checked if tasks is None else tasks)}
    facts = task_facts(graded.values(), world)
    reason: NoReplay | None = "no world" if world is None else "calls in prose" if _calls_in_prose(log) else None
    replayed = [
        replay_conversation(dialogue, graded[dialogue.ended.task], None if reason else world)
        for dialogue in log.dialogues
        if dialogue.ended.task in graded
    ]
    writes = {name for name, tool in world.tools.items() if tool.writes} if world else set()
    passed = [dialogue for dialogue in log.dialogues if has_passed(dialogue)]
    return LogAudit(
        name=log.name,
        file=log.file,
        benchmark=log.benchmark,
        domain=world.name if world else None,
        integrity=integrity,
        tasks=tuple(graded.values()),
        facts=tuple(facts),
        conversations=tuple(replayed),
        no_replay=reason,
        split=_split(log.dialogues, facts),
        passed_without_any_write_call=(
            sum(not any(call.name in writes for _, call in one.calls()) for one in passed) if world else None
        ),
        passed_without_successful_write=(
            None if reason else sum(one.writes_done == 0 and (one.recorded_reward or 0) >= PASSED for one in replayed)
        ),
        never_passed=_never_passed(log.dialogues),
        plan=log.plan,
    )


def _calls_in_prose(log: TrialLog) -> bool:
    """Whether the agent wrote its calls into texts (ReAct), so that none can be made again."""
    if any(turn.calls for dialogue in log.dialogues for turn in dialogue.turns):
        return False
    texts = (turn.text for dialogue in log.dialogues for turn in dialogue.turns if turn.speaker == "system")
    return any("Action:" in text and '"name"' in text for text in texts)


def replay_conversation(dialogue: Dialogue, task: ToolTask, domain: ToolDomain | None) -> ReplayedConversation:
    """Make the recorded calls again, and judge what they lead to; without a world, only what texts and calls say."""
    calls = list(dialogue.calls())
    done = replay(domain, task, calls) if domain is not None else None
    outcome, finished = dialogue.ended, _FINISHED[dialogue.ended.end]
    conduct = Conduct(
        world=done.world if done is not None else None,
        said=[AgentText(text, with_call) for text, with_call in _agent_texts(dialogue, calls)],
        calls=[call for _, call in calls],
        finished=finished,
    )
    verdict = judge(task, conduct)
    facts = _replay_facts(done) if done is not None else {}
    return ReplayedConversation(
        id=dialogue.id,
        task=outcome.task,
        trial=outcome.trial,
        finished=finished,
        recorded_reward=outcome.reward,
        recorded_parts={_PARTS.get(part, part): value >= PASSED for part, value in outcome.parts.items()},
        contradicts_parts=contradicts_parts(outcome),
        replay_reward=verdict.reward,
        replay_parts=verdict.parts,
        outputs=verdict.outputs,
        order_only=verdict.order_only,
        **facts,
    )


def _agent_texts(dialogue: Dialogue, calls: Sequence[tuple[Speaker, Call]]) -> Iterator[tuple[str, bool]]:
    """What the agent said, and whether a call stood beside it in the same message."""
    calling = {call.message for side, call in calls if side == "system" and call.message is not None}
    for turn in dialogue.turns:
        if turn.speaker == "system" and turn.text:
            yield turn.text, turn.source in calling


def _replay_facts(done: Replay) -> dict[str, Any]:
    return {
        "writes_done": done.writes_done,
        "writes_failed": done.writes_failed,
        "reliable": done.reliable,
        "drift": dict(done.drift()),
        "unknown_tools": dict(done.unknown_tools()),
        "skipped": dict(Counter(call.skipped for call in done.calls if call.skipped)),
        "renamed": tuple(dict.fromkeys(call.renamed for call in done.calls if call.renamed)),
        "first_drift": _first_drift(done),
    }


def _first_drift(done: Replay) -> dict[str, Any] | None:
    differing = [call for call in done.calls if call.drift == "differs"]
    first = next((call for call in done.writes() if call.drift == "differs"), next(iter(differing), None))
    if first is None or first.outcome is None:
        return None
    return {
        "message": first.recorded.message,
        "tool": first.recorded.name,
        "recorded": (first.recorded.result or "")[:500],
        "replayed": first.outcome.text[:500],
    }


def _never_passed(dialogues: Sequence[Dialogue]) -> tuple[str, ...]:
    """Tasks that failed whenever they were judged; one that never was says nothing."""
    tried = dict.fromkeys(dialogue.ended.task for dialogue in dialogues if dialogue.ended.reward is not None)
    passed = {dialogue.ended.task for dialogue in dialogues if has_passed(dialogue)}
    return tuple(task for task in tried if task not in passed)


def _split(dialogues: Sequence[Dialogue], facts: Sequence[TaskFacts]) -> dict[str, PassSplit]:
    null = {each.id: each.null_pass for each in facts}
    groups = {"all": {dialogue.ended.task for dialogue in dialogues}}
    if any(value is not None for value in null.values()):
        groups["null_pass"] = {task for task in groups["all"] if null.get(task) is True}
        groups["writes_needed"] = {task for task in groups["all"] if null.get(task) is False}
    return {
        name: pass_split([dialogue for dialogue in dialogues if dialogue.ended.task in tasks])
        for name, tasks in groups.items()
    }


def pass_split(dialogues: Sequence[Dialogue]) -> PassSplit:
    """pass^k of the dialogues with a verdict, a mean over tasks with at least k of them."""
    trials: dict[str, list[bool]] = {}
    for dialogue in dialogues:
        if dialogue.ended.reward is not None:
            trials.setdefault(dialogue.ended.task, []).append(has_passed(dialogue))
    most = max(map(len, trials.values()), default=0)
    rates = {k: pass_rate(trials.values(), k) for k in range(1, most + 1)}
    return PassSplit(
        tasks=len(trials),
        conversations=sum(map(len, trials.values())),
        passed=sum(map(sum, trials.values())),
        pass_k={k: rate for k, rate in rates.items() if rate is not None},
    )
