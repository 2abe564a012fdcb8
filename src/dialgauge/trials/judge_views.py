"""What is told of graders: tables that fit a screen, and the same as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from dialgauge.rendering import Cell, Column, Table
from dialgauge.trials.grading import FEWEST_TASKS, JudgeEstimate, JudgeFigures


def _shares(*titles: str) -> list[Column]:
    return [Column(title, percent=True, digits=1, align="right") for title in titles]


def judge_tables(figures: JudgeFigures) -> list[Table]:
    """Graders by themselves, in pairs, in pass^k, and against the truth."""
    tables = [_corrected_table(figures), _grader_table(figures), _pair_table(figures), _pass_table(figures)]
    return [table for table in tables if len(table)]


def _grader_table(figures: JudgeFigures) -> Table:
    columns = [Column(name, align="right") for name in ("conversations", "verdicts")]
    table = Table("Graders", ["grader", *columns, *_shares("passes", "flips")], unit="percent")
    for each in figures.graders:
        table.add(each.grader, each.conversations, each.verdicts, _cell(each.pass_rate), _cell(each.flip_rate))
    table.notes.append(
        "Flips: the chance that two gradings of one conversation by this grader differ. 95% intervals are those of "
        "pass^k: what one more task would change."
    )
    if once := [each.grader for each in figures.graders if each.flip_rate is None]:
        table.notes.append(f"Graded everything once, so that its flips are unknown: {', '.join(once)}.")
    return table


def _pair_table(figures: JudgeFigures) -> Table:
    columns = [Column("both graded", align="right"), *_shares("agree (%)")]
    table = Table("Agreement", ["graders", *columns, Column("kappa", digits=2, align="right")])
    for each in figures.pairs:
        table.add(f"{each.first}, {each.second}", each.conversations, _cell(each.agreement), _cell(each.kappa))
    table.notes.append(
        "Each grader by the majority of its gradings; a tie is no pass. Kappa's 95% interval resamples tasks, where "
        f"there are {FEWEST_TASKS} of them."
    )
    if len(figures.graders) > 2 and figures.alpha is not None:
        table.notes.append(f"Krippendorff's alpha of all graders: {figures.alpha:.2f}.")
    return table


def _pass_table(figures: JudgeFigures) -> Table:
    shares = _shares("value", "spread by tasks", "by grading", "grader's part")
    columns = [Column("grader"), Column("measure"), Column("tasks", align="right"), *shares]
    table = Table("How much of pass^k is the grader", columns, unit="percent")
    for each in figures.pass_parts:
        measure = f"pass^{each.k}"
        table.add(each.grader, measure, each.tasks, each.value, each.tasks_spread, each.grader_spread, each.grader_part)
    values: dict[int, list[float]] = {}
    for each in figures.pass_parts:
        values.setdefault(each.k, []).append(each.value)
    spans = [f"pass^{k} {100 * min(each):.1f} to {100 * max(each):.1f}" for k, each in values.items() if len(each) > 1]
    if spans:
        table.notes.append(f"Over graders, each on what it graded: {', '.join(spans)}.")
    table.notes.append(
        "Spread: standard deviation of pass^k by one grading of each conversation. By tasks: without what the grading "
        "adds. The grader's part is its share of the variance of both; what was graded once is taken to waver as the "
        "rest."
    )
    return table


def _corrected_table(figures: JudgeFigures) -> Table:
    shares = _shares("sensitivity", "specificity", "majority", "corrected")
    title = f"Pass rate corrected for errors against {figures.truth}"
    table = Table(title, ["grader", Column("labelled", align="right"), *shares], unit="percent")
    for each in figures.corrected:
        sensitivity, specificity = _cell(each.sensitivity), _cell(each.specificity)
        table.add(each.grader, each.labelled, sensitivity, specificity, each.apparent, _cell(each.corrected))
        if each.refused:
            table.notes.append(f"{each.grader} is not corrected: {each.refused}.")
    if len(table):
        table.notes.append(
            "Majority: what passes by most of its gradings; a tie is no pass. Rogan and Gladen's estimate, "
            "Lang and Reiczigel's 95% interval, as if conversations were independent and "
            "labelled at random."
        )
    return table


def _cell(figure: JudgeEstimate | None) -> Cell | None:
    return None if figure is None else Cell(figure.value, figure.low, figure.high)


def judge_document(figures: JudgeFigures) -> dict[str, Any]:
    """Everything as JSON."""
    document: dict[str, Any] = msgspec.to_builtins(figures)
    return document
