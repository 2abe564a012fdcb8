"""A set of tasks audited as a whole: which are unfair, and what an agent earns that does nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.trials.facts import TaskFacts, task_facts
from dialgauge.trials.log_audit import LogAudit
from dialgauge.worlds.tools import (
    Conduct,
    ToolDomain,
    ToolTask,
    judge,
    load_tool_domain,
    read_tool_tasks,
)


class NullAgent(Struct, frozen=True):
    """What an agent earns that says and changes nothing: right data, whole reward, and on which tasks."""

    database: float
    reward: float
    tasks_with_reward: tuple[str, ...]


class TaskSetAudit(Struct, frozen=True, kw_only=True):
    """The facts of all tasks; ``null_agent`` is None where there is no world."""

    domain: str | None
    facts: tuple[TaskFacts, ...]
    null_agent: NullAgent | None = None


def audit_task_set(
    logs: Sequence[LogAudit], *, domain: str | None, tasks: Path | None, root: Path | None
) -> TaskSetAudit:
    """The tasks that a command is about: those of a file, of a domain, or of the first log."""
    named = domain or (logs[0].domain if logs else None)
    world = load_tool_domain(named, root=root) if named else None
    if tasks is not None:
        chosen = read_tool_tasks(tasks)
    elif logs:
        chosen = list(logs[0].tasks)
    else:
        chosen = list(world.tasks) if world else []
    rules = {task.rules for task in chosen}
    if world is not None and world.benchmark and rules - {world.benchmark, "own"}:
        raise DialgaugeError(
            f"these tasks are of {', '.join(sorted(rules))}, and the records and tools of '{world.name}' are those of "
            f"{world.benchmark}: they were made for another world; leave out --domain for what their texts say",
            file=str(tasks) if tasks else None,
        )
    known = logs[0].facts if logs else ()
    same = [facts.id for facts in known] == [task.id for task in chosen]
    return audit_tasks(chosen, world, known if same else None)


def audit_tasks(
    tasks: Sequence[ToolTask], domain: ToolDomain | None, known: Sequence[TaskFacts] | None = None
) -> TaskSetAudit:
    """Audit tasks, in the world of a domain or by their texts alone; ``known`` are their facts, where there are any."""
    facts = tuple(task_facts(tasks, domain) if known is None else known)
    return TaskSetAudit(
        domain=domain.name if domain else None,
        facts=facts,
        null_agent=_null_agent(tasks, facts, domain) if domain and tasks else None,
    )


def _null_agent(tasks: Sequence[ToolTask], facts: Sequence[TaskFacts], domain: ToolDomain) -> NullAgent:
    rewarded = tuple(task.id for task in tasks if judge(task, Conduct(world=domain.world(task))).success)
    right = sum(each.null_pass is True for each in facts)
    return NullAgent(right / len(tasks), len(rewarded) / len(tasks), rewarded)
