"""A log reviewed: scored, held against its tasks, replayed, graded by others, and each failure with a suspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from dialgauge.data import data_folder
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.text import Note, counted, some_of
from dialgauge.trials.audit import audit_log, regrade
from dialgauge.trials.judges import grade_log, read_verdicts
from dialgauge.trials.log import TrialLog
from dialgauge.trials.scoring import score_log
from dialgauge.trials.suspects import UserCheck, blame_table, failures
from dialgauge.worlds.tools import read_tool_tasks

#: Tasks that a note names.
_NAMED = 8


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
    given = read_tool_tasks(tasks)
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
    regraded = regrade(log, given, world)
    left_out = {
        "with other instructions": regraded.other_instruction,
        f"that {tasks.name} does not have": regraded.missing,
    }
    notes = [
        Note("left_out", f"{counted(len(names), 'task')} {why} left out: {some_of(names, _NAMED)}")
        for why, names in left_out.items()
        if names
    ]
    if regraded.open:
        told = f"{counted(len(regraded.open), 'conversation')} that only a model could judge again left out"
        notes.append(Note("left_out", f"{told}: {some_of(regraded.open, _NAMED)}"))
    return [
        score_log(each, details={"graded_by": by}, notes=notes, measures=measures, resamples=resamples, seed=seed)
        for each, by in ((regraded.before, "the log"), (regraded.after, tasks.name))
    ]
