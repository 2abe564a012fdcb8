"""A run of trials beside what graders say of its conversations: pass^k under each, and how much of it is the grader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import polars as pl
from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError
from dialgauge.rendering import Table
from dialgauge.runs import Run
from dialgauge.trials.grading import JudgeFigures, judge_figures, majority
from dialgauge.trials.judge_views import judge_tables
from dialgauge.trials.verdict_files import GraderVerdict

GRADINGS, GRADERS = "gradings", "graders"
#: What the recorded verdict is called among graders.
LOG = "the log"


class RecordedVerdict(Struct, frozen=True):
    """A conversation of a log: its task, and whether the log says that it passed."""

    conversation: str
    task: str
    success: bool | None


class GradedLog(Struct, frozen=True):
    """What graders say of a log; verdicts on conversations that it does not have are left out, and counted."""

    figures: JudgeFigures
    verdicts: tuple[GraderVerdict, ...]
    elsewhere: int


def grade_log(
    verdicts: Sequence[GraderVerdict], recorded: Sequence[RecordedVerdict], name: str, *, resamples: int, seed: int
) -> GradedLog:
    """The verdicts on a log beside its own, which counts as one more grader; tasks are those of the log."""
    known = {each.conversation: each for each in recorded}
    own = [structs.replace(each, task=known[each.conversation].task) for each in verdicts if each.conversation in known]
    if not own:
        raise DialgaugeError(
            f"no verdict of --judge is about a conversation of {name}: they name '{verdicts[0].conversation}', the log "
            f"has '{next(iter(known), '')}'"
        )
    if any(each.grader == LOG for each in own):
        raise DialgaugeError(f"'{LOG}' stands for the recorded verdicts; give the grader another name")
    given = [
        GraderVerdict(each.conversation, each.task, LOG, "1", each.success)
        for each in recorded
        if each.success is not None
    ]
    figures = judge_figures([*given, *own], resamples=resamples, seed=seed)
    return GradedLog(figures, tuple(own), len(verdicts) - len(own))


def gradings_frame(graded: GradedLog) -> pl.DataFrame:
    """Every verdict of every grader."""
    rows = [(each.conversation, each.grader, each.replicate, each.passed) for each in graded.verdicts]
    schema = {"dialogue": pl.String, "grader": pl.String, "replicate": pl.String, "passed": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def stored_graders(run: Run) -> JudgeFigures | None:
    """What a run says of its graders; None where nobody graded it."""
    stored = run.details.get(GRADERS)
    return None if stored is None else msgspec.convert(stored, JudgeFigures)


def grader_tables(run: Run) -> list[Table]:
    """Graders of a run beside its log."""
    figures = stored_graders(run)
    return [] if figures is None else judge_tables(figures)


def grader_pairs(run: Run) -> pl.DataFrame:
    """Each conversation with the graders that disagree with the log, by the majority of their gradings."""
    success = dict(run.table("trials").select("dialogue", "success").iter_rows())
    verdicts: dict[tuple[str, str], list[bool]] = {}
    for dialogue, grader, passed in run.table(GRADINGS).select("dialogue", "grader", "passed").iter_rows():
        verdicts.setdefault((dialogue, grader), []).append(passed)
    rows = [
        (dialogue, against(grader, passed=majority(replicates)))
        for (dialogue, grader), replicates in verdicts.items()
        if success.get(dialogue) is not None and majority(replicates) != success[dialogue]
    ]
    return pl.DataFrame(rows, schema={"dialogue": pl.String, "graders": pl.String}, orient="row")


def against(grader: str, *, passed: bool) -> str:
    """How a grader disagrees with the log."""
    return f"{grader} passes what the log fails" if passed else f"{grader} fails what the log passes"


def grader_details(graded: GradedLog | None, *, per_task: bool) -> dict[str, Any]:
    """What a run keeps of its graders; nothing by task where its conversations do not belong to their tasks."""
    if graded is None:
        return {}
    figures = graded.figures if per_task else structs.replace(graded.figures, pass_parts=())
    return {GRADERS: msgspec.to_builtins(figures)}
