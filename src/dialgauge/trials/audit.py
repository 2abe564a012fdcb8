"""A log checked against its tasks: are its verdicts confirmed, were its tasks fair, how do other tasks grade it?"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, TypeAlias

import polars as pl
from msgspec import Struct

from dialgauge.dialogue import Dialogue, End
from dialgauge.formats import contradicts_parts
from dialgauge.runs import frame_from_rows
from dialgauge.trials.facts import TaskFacts, fact_codes, task_facts
from dialgauge.trials.log import PASSED, TrialLog
from dialgauge.worlds import tools
from dialgauge.worlds.tools import (
    AgentText,
    Conduct,
    Integrity,
    Replay,
    ToolDomain,
    ToolTask,
    check_integrity,
    judge,
    tasks_of_log,
)

#: Why calls were not replayed: the domain's records and tools are not here, or the agent wrote calls into texts.
NoReplay: TypeAlias = Literal["", "no world", "calls in prose"]
#: Did a conversation with this end finish? None where the log does not say.
_FINISHED: dict[End, bool | None] = {"finished": True, "limit": False, "infrastructure": False, "unknown": None}
#: Parts under τ²'s names: what τ-bench calls ``r_actions`` is its test of the data.
_PARTS = {"r_actions": "DB", "r_outputs": "COMMUNICATE"}
_FACTS: dict[str, Any] = {"task": "String", "fact": "String", "about": "List(String)"}
_REPLAYS: dict[str, Any] = {
    "dialogue": "String", "recorded": "Float64", "replayed": "Float64", "agrees": "Boolean", "contradicts": "String",
    "data_right": "Boolean", "order_only": "Boolean", "writes_done": "Int64", "writes_failed": "Int64",
    "reliable": "Boolean", "drift_message": "Int64", "drift_tool": "String",
}  # fmt: skip


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
    renamed: tuple[tuple[str, str], ...] = ()
    #: Message and tool of the first write that gave another result than recorded, or else of the first such call.
    first_drift: tuple[int | None, str] | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether recorded and replayed rewards agree; None where one of them is open."""
        if self.recorded_reward is None or self.replay_reward is None:
            return None
        return (self.recorded_reward >= PASSED) == (self.replay_reward >= PASSED)

    @property
    def differs(self) -> bool:
        """Whether the replay contradicts the recorded verdict or one of its parts."""
        parts = (self.replay_parts.get(part) not in (None, known) for part, known in self.recorded_parts.items())
        return self.agrees is False or any(parts)


class LogAudit(Struct, frozen=True, kw_only=True):
    """What checking a log against its tasks found."""

    domain: str | None
    integrity: Integrity
    tasks: tuple[ToolTask, ...]
    facts: tuple[TaskFacts, ...]
    conversations: tuple[ReplayedConversation, ...] = ()
    no_replay: NoReplay = ""
    #: The shares of tasks in which an agent that does nothing has right data, and the whole reward.
    idle: tuple[float, float] | None = None
    #: The tasks that it passes.
    idle_passes: tuple[str, ...] = ()

    @property
    def drift(self) -> Counter[str]:
        """How the results of replayed calls relate to the recorded ones."""
        return sum((Counter(conversation.drift) for conversation in self.conversations), Counter[str]())

    @property
    def differences(self) -> list[ReplayedConversation]:
        """Conversations whose recorded verdict the replay contradicts; none against tasks that are mixed up."""
        return [one for one in self.conversations if one.differs] if self.integrity.per_task_stands else []

    @property
    def contradicted(self) -> list[str]:
        """Conversations whose verdict the replay contradicts, or what is stored with it."""
        odd = (one.id for one in self.conversations if one.contradicts_parts)
        return list(dict.fromkeys([*(one.id for one in self.differences), *odd]))

    def facts_table(self) -> pl.DataFrame:
        """The facts of each task that was tried."""
        tried = {conversation.task for conversation in self.conversations}
        facts = [
            (each.id, code, list(about)) for each in self.facts if each.id in tried for code, about in fact_codes(each)
        ]
        return frame_from_rows(facts, _FACTS)

    def replays_table(self) -> pl.DataFrame:
        """Recorded verdicts beside replayed ones."""
        replays = [
            (
                one.id, one.recorded_reward, one.replay_reward, not one.differs,
                "replay" if one.differs else "parts" if one.contradicts_parts else None,
                one.replay_parts.get("DB"), one.order_only, one.writes_done, one.writes_failed, one.reliable,
                *(one.first_drift or (None, None)),
            )
            for one in self.conversations
        ]  # fmt: skip
        return frame_from_rows(replays, _REPLAYS)


def audit_log(log: TrialLog, world: ToolDomain | None) -> LogAudit:
    """Check one log of a benchmark against its tasks; without the world of a domain, only what texts say."""
    given = world.tasks if world else None
    stored = log.corpus.notes.tasks if log.corpus is not None else []
    tasks = tasks_of_log(log.dialogues, stored, given, log.file)
    by_id = {task.id: task for task in tasks}
    facts = task_facts(tasks, world)
    reason: NoReplay = "no world" if world is None else "calls in prose" if _calls_in_prose(log) else ""
    replayed = [
        replay_conversation(dialogue, by_id[dialogue.ended.task], None if reason else world)
        for dialogue in log.dialogues
        if dialogue.ended.task in by_id
    ]
    idle, passes = None, tuple[str, ...]()
    if world is not None and tasks:
        passes = tuple(task.id for task in tasks if judge(task, Conduct(world=world.world(task))).success)
        idle = sum(each.null_pass is True for each in facts) / len(tasks), len(passes) / len(tasks)
    return LogAudit(
        domain=world.name if world else None,
        integrity=check_integrity(log.dialogues, tasks),
        tasks=tuple(tasks),
        facts=tuple(facts),
        conversations=tuple(replayed),
        no_replay=reason,
        idle=idle,
        idle_passes=passes,
    )


def _calls_in_prose(log: TrialLog) -> bool:
    """Whether the agent wrote its calls into texts (ReAct), so that none can be replayed."""
    if any(turn.calls for dialogue in log.dialogues for turn in dialogue.turns):
        return False
    texts = (turn.text for dialogue in log.dialogues for turn in dialogue.turns if turn.speaker == "system")
    return any("Action:" in text and '"name"' in text for text in texts)


def replay_conversation(dialogue: Dialogue, task: ToolTask, world: ToolDomain | None) -> ReplayedConversation:
    """Replay the recorded calls and judge the result; without a world, only what texts and calls say."""
    calls = list(dialogue.calls())
    done = tools.replay(world, task, calls) if world is not None else None
    outcome, finished = dialogue.ended, _FINISHED[dialogue.ended.end]
    calling = {call.message for side, call in calls if side == "system" and call.message is not None}
    texts = (turn for turn in dialogue.turns if turn.speaker == "system" and turn.text)
    conduct = Conduct(
        world=done.world if done is not None else None,
        said=[AgentText(turn.text, turn.source in calling) for turn in texts],
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


def _replay_facts(done: Replay) -> dict[str, Any]:
    differing = [call for call in done.calls if call.drift == "differs"]
    first = next((call for call in done.writes() if call.drift == "differs"), next(iter(differing), None))
    return {
        "writes_done": done.writes_done,
        "writes_failed": done.writes_failed,
        "reliable": done.reliable,
        "drift": dict(done.drift()),
        "renamed": tuple(dict.fromkeys(call.renamed for call in done.calls if call.renamed)),
        "first_drift": None if first is None else (first.recorded.message, first.recorded.name),
    }
