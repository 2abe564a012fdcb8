"""A log reviewed: scored, held against its tasks, replayed, graded by others, and each failure with a suspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from msgspec import structs

from dialgauge.data import data_folder
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.text import MANY_NAMED, Note, counted, some_of
from dialgauge.trials.audit import audit_log, replay_conversation
from dialgauge.trials.judges import grade_log, read_verdicts
from dialgauge.trials.log import TrialLog, has_passed
from dialgauge.trials.scoring import score_log
from dialgauge.trials.suspects import UserCheck, blame_table, failures
from dialgauge.worlds.tools import ToolDomain, ToolTask, read_tool_tasks, tasks_of_log

#: The parts that a replay cannot judge, each with the field of a task that defines it.
_DEFINED_BY = {"NL_ASSERTION": "nl_assertions", "ENV_ASSERTION": "env_assertions"}


def review_log(
    log: TrialLog,
    check: UserCheck,
    *,
    domain: str | None = None,
    judges: Sequence[str | Path] = (),
    truth: str | None = None,
    measures: str | Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> Run:
    """The run of a log with all that can be found out about it without a model.

    ``check`` says what the user of a conversation did wrong, ``domain`` in which tool domain calls are replayed,
    ``judges`` are files with the verdicts of graders, of whom ``truth`` is right.
    """
    tables: dict[str, Callable[[], pl.DataFrame]] = {}
    details: dict[str, Any] = {}
    notes, integrity = list[Note](), None
    if log.benchmark:
        world = log.domain(domain, data_folder().root)
        audit = audit_log(log, world)
        integrity = audit.integrity
        tables |= {"task_facts": audit.facts_table, "replays": audit.replays_table}
        if integrity.per_task_stands:
            tables["suspects"] = lambda: blame_table(failures(log, audit, check, world))
        details["audit"] = {
            "domain": audit.domain,
            "no_replay": audit.no_replay,
            "calls": dict(audit.drift),
            "idle": audit.idle,
        }
    elif domain is not None:
        raise DialgaugeError(
            "only logs of τ-bench and τ²-bench, which hold tasks and every call, can be replayed; leave out --domain",
            file=log.file or None,
        )
    else:
        told = [dialogue for dialogue in log.dialogues if dialogue.instruction]
        if told:
            tables["suspects"] = lambda: blame_table([], {each.id: check(each, "") for each in told})
    if judges:
        graded = grade_log(log, read_verdicts(judges), truth=truth, resamples=resamples, seed=seed)
        tables["gradings"] = lambda: graded.table
        details["graders"] = msgspec.to_builtins(graded.figures)
        log, notes = graded.log, list(graded.notes)
    elif truth is not None:
        raise DialgaugeError("--truth names one of the graders in the files of --judge; name these, too")
    return score_log(
        log,
        measures=measures,
        integrity=integrity,
        tables=tables,
        details=details,
        notes=notes,
        resamples=resamples,
        seed=seed,
    )


def regrade_log(
    log: TrialLog,
    tasks: Path,
    *,
    domain: str | None = None,
    measures: str | Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> list[Run]:
    """Two runs of the conversations that other tasks can grade: with their recorded verdicts, and graded again."""
    after = {task.id: task for task in read_tool_tasks(tasks)}
    if not log.benchmark:
        raise DialgaugeError(
            "only logs of τ-bench and τ²-bench can be graded again: they hold tasks and every call",
            file=log.file or None,
        )
    world = log.domain(domain, data_folder().root)
    if world is None:
        raise DialgaugeError(
            "its calls cannot be replayed: the tools and records of its domain are not here; --domain FOLDER names "
            "them",
            file=log.file or None,
        )
    stored = log.corpus.notes.tasks if log.corpus is not None else []
    before = {task.id: task for task in tasks_of_log(log.dialogues, stored, None, log.file) or world.tasks}
    changed = [
        task
        for task in log.tasks
        if task in before and task in after and before[task].instruction.split() != after[task].instruction.split()
    ]
    missing = [task for task in log.tasks if task not in after]
    undecided: list[str] = []
    recorded: list[Dialogue] = []
    regraded: list[Dialogue] = []
    for dialogue in log.dialogues:
        task = dialogue.ended.task
        if task in missing or task in changed:
            continue
        passed = _verdict(dialogue, before.get(task), after[task], world)
        if passed is None:
            undecided.append(dialogue.id)
            continue
        old = structs.replace(dialogue.ended, success=has_passed(dialogue), parts={})
        recorded.append(structs.replace(dialogue, outcome=old))
        new = structs.replace(old, success=passed, reward=float(passed))
        regraded.append(structs.replace(dialogue, outcome=new))
    if not recorded:
        raise DialgaugeError("no conversation can be graded by these tasks: none has their ids and instructions")
    left_out = {
        f"{counted(len(changed), 'task')} with other instructions": changed,
        f"{counted(len(missing), 'task')} that {tasks.name} does not have": missing,
        f"{counted(len(undecided), 'conversation')} that only a model could judge again": undecided,
    }
    notes = [
        Note("left_out", f"{which} left out: {some_of(names, MANY_NAMED)}")
        for which, names in left_out.items()
        if names
    ]
    logs = {
        "the log": TrialLog(f"{log.name} as recorded", recorded),
        tasks.name: TrialLog(f"{log.name} graded again", regraded),
    }
    return [
        score_log(each, details={"graded_by": by}, notes=notes, measures=measures, resamples=resamples, seed=seed)
        for by, each in logs.items()
    ]


def _verdict(dialogue: Dialogue, before: ToolTask | None, after: ToolTask, world: ToolDomain) -> bool | None:
    """The new verdict. A part that a replay cannot tell is the stored one, as long as it is about the same."""
    graded = replay_conversation(dialogue, after, world)
    if graded.finished is False or False in graded.replay_parts.values():
        return False
    for part in (part for part, holds in graded.replay_parts.items() if holds is None):
        field = _DEFINED_BY.get(part)
        same = before is not None and field is not None and getattr(before, field) == getattr(after, field)
        if not same or part not in graded.recorded_parts:
            return None
        if not graded.recorded_parts[part]:
            return False
    return graded.finished  # None: the log does not say how it ended
