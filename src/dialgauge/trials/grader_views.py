"""What is shown of graders: what passes under each, how far they agree, and the pass rate behind their errors."""

from __future__ import annotations

import msgspec
import polars as pl

from dialgauge.report import PERCENT, Cell, Column, Number, Table, count_cell, score_cell
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.trials.judges import LOG, Estimate, JudgeFigures, majority
from dialgauge.trials.words import percent


def graders(run: Run) -> Table | None:
    """What passes under each grader, and where graders and log disagree."""
    figures = stored_graders(run)
    if figures is None:
        return None
    pairs = grader_pairs(run)
    passes = [name for name in run.scores if name.startswith("pass^") and "[" not in name]
    most = max((int(name.removeprefix("pass^")) for name in passes), default=run.details["planned"]["trials"])
    columns = [Column("grader"), Column("graded"), Column("passes", PERCENT), Column("flips", PERCENT, spare=1),
               Column("passes more", spare=3, help="conversations that it passes and the log fails"),
               Column("fails more", spare=3, help="conversations that it fails and the log passes"),
               *(Column(f"pass^{k}", PERCENT) for k in range(1, most + 1))]  # fmt: skip
    table = Table("What passes, by grader", columns)
    rates = [each.pass_rate.value for each in figures.graders]
    number = counted(len(rates), "grader")
    who = f"{number}, including the log" if figures.graders[0].grader == LOG else number
    span = f"{percent(min(rates))} to {percent(max(rates))}"
    table.answer = f"{span} of conversations pass, depending on the grader ({who})."
    for each in figures.graders:
        apart = [
            None if each.grader == LOG else count_cell(pairs, {"graders": against(each.grader, passed=passed)})
            for passed in (True, False)
        ]
        part = "" if each.grader == LOG else f"[{each.grader}]"
        scores = (score_cell(run.scores.get(f"pass^{k}{part}")) for k in range(1, most + 1))
        flip = estimate_cell(each.flip_rate)
        table.add(each.grader, each.conversations, estimate_cell(each.pass_rate), flip, *apart, *scores)
    return table


def agreement(run: Run) -> Table | None:
    """How far graders agree, in pairs."""
    figures = stored_graders(run)
    if figures is None or not figures.pairs:
        return None
    kappa = Column("kappa", Number(2), help="by the majority of each grader's gradings; a tie is no pass")
    table = Table("Do graders agree?", ["graders", "both graded", Column("agree", PERCENT), kappa])
    for each in figures.pairs:
        named = f"{each.first}, {each.second}"
        table.add(named, each.conversations, estimate_cell(each.agreement), estimate_cell(each.kappa))
    if len(figures.graders) > 2 and figures.alpha is not None:
        table.answer = f"Krippendorff's alpha of all {len(figures.graders)} graders: {figures.alpha:.2f}."
    elif figures.pairs[0].agreement is not None and figures.pairs[0].kappa is not None:
        pair, agree, chance = figures.pairs[0], figures.pairs[0].agreement, figures.pairs[0].kappa
        table.answer = f"{pair.first} and {pair.second} agree on {percent(agree.value)} (kappa {chance.value:.2f})."
    return table


def corrected(run: Run) -> Table | None:
    """The pass rate behind a grader that errs, where another's verdicts count as right."""
    figures = stored_graders(run)
    if figures is None or not figures.corrected:
        return None
    shares = (Column(name, PERCENT) for name in ("sensitivity", "specificity", "majority", "corrected"))
    table = Table(f"Pass rate corrected for errors against {figures.truth}", ["grader", "labelled", *shares])
    for each in figures.corrected:
        table.add(
            each.grader, each.labelled, estimate_cell(each.sensitivity), estimate_cell(each.specificity), each.apparent,
            estimate_cell(each.corrected),
        )  # fmt: skip
        if each.refused:
            table.notes.append(f"{each.grader} is not corrected: {each.refused}.")
    rates = [
        f"{each.grader} {percent(each.corrected.value)} (graded {percent(each.apparent)})"
        for each in figures.corrected
        if each.corrected is not None
    ]
    table.answer = f"Pass rate if {figures.truth} is right: {', '.join(rates)}." if rates else ""
    table.notes.append(
        "Rogan and Gladen's estimate, Lang and Reiczigel's 95% interval, as if conversations were independent and "
        "labelled at random."
    )
    return table


def stored_graders(run: Run) -> JudgeFigures | None:
    """What a run says of its graders; None where nobody graded it."""
    stored = run.details.get("graders")
    return None if stored is None else msgspec.convert(stored, JudgeFigures)


def estimate_cell(figure: Estimate | None) -> Cell:
    """A share with its interval; kappa is written by its column."""
    return Cell(None) if figure is None else Cell(figure.value, figure.low, figure.high)


def grader_pairs(run: Run) -> pl.DataFrame:
    """Each conversation with the graders that disagree with the log, by the majority of their gradings."""
    said = (
        run.table("gradings").group_by("dialogue", "grader", maintain_order=True).agg("passed", pl.col("log").first())
    )
    rows = [
        (dialogue, against(grader, passed=majority(replicates)))
        for dialogue, grader, replicates, recorded in said.iter_rows()
        if recorded is not None and majority(replicates) != recorded
    ]
    return pl.DataFrame(rows, schema={"dialogue": pl.String, "graders": pl.String}, orient="row")


def against(grader: str, *, passed: bool) -> str:
    """How a grader disagrees with the log."""
    return f"{grader} passes what the log fails" if passed else f"{grader} fails what the log passes"
