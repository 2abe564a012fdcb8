"""A run of trials beside what graders say of its conversations: pass^k under each, and how much of it is the grader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import polars as pl
from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError
from dialgauge.presentation import TRIALS, Facet, Panel, PanelCell, PanelRow, RunTables
from dialgauge.rendering import Table
from dialgauge.runs import Run
from dialgauge.tasks.judges.grading import JudgeFigures, judge_figures, majority
from dialgauge.tasks.judges.judge_views import judge_tables
from dialgauge.tasks.judges.verdict_files import GraderVerdict
from dialgauge.text import counted

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


def _grader_pairs(library: RunTables, run: Run) -> pl.DataFrame:
    """Each conversation with the graders that disagree with the log, by the majority of their gradings."""
    success = dict(library.table(run, TRIALS).select("dialogue", "success").rows())
    verdicts: dict[tuple[str, str], list[bool]] = {}
    for dialogue, grader, passed in library.table(run, GRADINGS).select("dialogue", "grader", "passed").rows():
        verdicts.setdefault((dialogue, grader), []).append(passed)
    rows = [
        (dialogue, _against(grader, passed=majority(replicates)))
        for (dialogue, grader), replicates in verdicts.items()
        if success.get(dialogue) is not None and majority(replicates) != success[dialogue]
    ]
    return pl.DataFrame(rows, schema={"dialogue": pl.String, "value": pl.String}, orient="row")


def _against(grader: str, *, passed: bool) -> str:
    return f"{grader} passes what the log fails" if passed else f"{grader} fails what the log passes"


GRADER_FACET = Facet("grader", "graders against the log", GRADINGS, (), made=_grader_pairs)


def grader_panel(library: RunTables, run: Run) -> Iterator[Panel]:
    """pass^k under each grader, and where graders and log disagree."""
    figures = stored_graders(run)
    if figures is None or GRADINGS not in run.tables:
        return
    against: Mapping[str, int] = dict(_grader_pairs(library, run).group_by("value").len().rows())
    values: dict[str, dict[int, float]] = {}
    shares: dict[str, float | None] = {}
    for part in figures.pass_parts:
        values.setdefault(part.grader, {})[part.k] = part.value
        if part.k == 1:
            shares[part.grader] = part.grader_part
    most = max((k for own in values.values() for k in own), default=0)
    rates = {each.grader: each.pass_rate.value for each in figures.graders}
    findings = [
        PanelRow(
            each.grader,
            [
                PanelCell(f"{each.conversations:,}"),
                *(_disagreement(each.grader, against, passed=passed) for passed in (True, False)),
                *(PanelCell(_percent(values.get(each.grader, {}).get(k))) for k in range(1, most + 1)),
                PanelCell(_percent(shares.get(each.grader))),
            ],
        )
        for each in figures.graders
    ]
    spread = f"from {100 * min(rates.values()):.1f}% to {100 * max(rates.values()):.1f}%"
    others = counted(len(figures.graders) - 1, "grader")
    yield Panel(
        "graders",
        "How much of it is the grader?",
        f"By the log and {others} beside it, what passes goes {spread}, each on what it graded.",
        ("grader", "graded", "passes what the log fails", "fails what it passes",
         *(f"pass^{k}" for k in range(1, most + 1)), "grader's part"),
        findings,
        ["Grader's part: its share of the variance of pass^1, the rest is which tasks there are; unknown (–) where "
         "nothing was graded twice."],
    )  # fmt: skip


def _disagreement(grader: str, against: Mapping[str, int], *, passed: bool) -> PanelCell:
    words = _against(grader, passed=passed)
    if grader == LOG:
        return PanelCell("")
    return PanelCell(f"{against[words]:,}", {"grader": words}) if words in against else PanelCell("0")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def grader_details(graded: GradedLog | None, *, per_task: bool) -> dict[str, Any]:
    """What a run keeps of its graders; nothing by task where its conversations do not belong to their tasks."""
    if graded is None:
        return {}
    figures = graded.figures if per_task else structs.replace(graded.figures, pass_parts=())
    return {GRADERS: msgspec.to_builtins(figures)}
