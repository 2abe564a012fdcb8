"""Graders (people, models, rules): their verdicts from files, and how far they agree, waver and err.

Verdicts are CSV files with a line for each grading: ``conversation`` (or ``task`` and ``trial``, which make
``task#trial``), ``verdict`` (pass or fail, yes or no, true or false, 1 or 0), and where they are known ``grader`` (else
the name of the file) and ``replicate`` (which time this grader graded this conversation).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
from msgspec import Struct, structs

from dialgauge.comparison import read_csv
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import flip_chance
from dialgauge.runs import frame_from_rows
from dialgauge.stats import cohen_kappa, krippendorff_alpha, rogan_gladen, share_interval, share_mean_interval
from dialgauge.text import Note, counted
from dialgauge.trials.log import TrialLog

#: What the recorded verdict is called among graders.
LOG = "the log"
#: Fewer tasks give no interval: drawing them again hides how much they vary.
FEWEST_TASKS = 10
_VERDICTS = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "1", "1.0"), True),
    **dict.fromkeys(("fail", "failed", "no", "false", "0", "0.0"), False),
}
_GRADINGS: dict[str, Any] = {
    "dialogue": "String", "grader": "String", "replicate": "String", "passed": "Boolean", "log": "Boolean",
}  # fmt: skip
#: A grader's verdicts on each conversation, one for each replicate.
Graded = Mapping[str, Sequence[bool]]


class GraderVerdict(Struct, frozen=True):
    """What one grader said of one conversation, at one time."""

    conversation: str
    task: str
    grader: str
    replicate: str
    passed: bool


class Estimate(Struct, frozen=True):
    """A value with its 95% interval, where that is known."""

    value: float
    low: float | None = None
    high: float | None = None


class GraderFigures(Struct, frozen=True, kw_only=True):
    """One grader: how much it graded, how often it passes, and how often it changes its mind."""

    grader: str
    conversations: int
    verdicts: int
    pass_rate: Estimate
    #: The chance that two gradings of one conversation differ; None where nothing was graded twice.
    flip_rate: Estimate | None


class PairFigures(Struct, frozen=True, kw_only=True):
    """Two graders on the conversations that both graded, each by the majority of its replicates."""

    first: str
    second: str
    conversations: int
    #: None where they share no conversation.
    agreement: Estimate | None
    kappa: Estimate | None


class Corrected(Struct, frozen=True, kw_only=True):
    """A grader against the truth, and the pass rate corrected for its errors; ``refused`` says why there is none."""

    grader: str
    labelled: int
    sensitivity: Estimate | None
    specificity: Estimate | None
    apparent: float
    corrected: Estimate | None = None
    refused: str | None = None


class JudgeFigures(Struct, frozen=True, kw_only=True):
    """Everything about some graders."""

    graders: tuple[GraderFigures, ...]
    pairs: tuple[PairFigures, ...]
    #: Krippendorff's alpha of all graders together, by their majorities.
    alpha: float | None
    truth: str | None = None
    corrected: tuple[Corrected, ...] = ()


class GradedLog(Struct, frozen=True, kw_only=True):
    """A log with its graders as scores, their figures, and all verdicts as a table."""

    log: TrialLog
    figures: JudgeFigures
    table: pl.DataFrame
    notes: tuple[Note, ...] = ()


def read_verdicts(paths: Iterable[str | Path]) -> list[GraderVerdict]:
    """All verdicts of some files; the same grader, conversation and replicate twice is an error."""
    verdicts: dict[tuple[str, str, str], GraderVerdict] = {}
    for path in map(Path, paths):
        times: Counter[tuple[str, str]] = Counter()
        (_, heads), *lines = read_csv(path) or [(1, [""])]
        names = [head.lower() for head in heads]
        for line, cells in lines:
            try:
                verdict = _verdict(dict(zip(names, cells, strict=True)), path.name.split(".")[0], times)
                key = (verdict.grader, verdict.conversation, verdict.replicate)
                if key in verdicts:
                    raise DialgaugeError(
                        f"{verdict.grader} grades {verdict.conversation} twice as replicate {verdict.replicate}; "
                        "number the replicates, or name the graders apart"
                    )
            except DialgaugeError as error:
                raise error.at(file=str(path), line=line) from error
            verdicts[key] = verdict
        if not lines:
            raise DialgaugeError("there are no verdicts in it", file=str(path))
    return list(verdicts.values())


def _verdict(row: Mapping[str, str], grader: str, times: Counter[tuple[str, str]]) -> GraderVerdict:
    """The verdict of a line; ``times`` counts the gradings of a conversation by a grader."""
    task, grader = row.get("task", ""), row.get("grader") or grader
    name = row.get("conversation") or (task and f"{task}#{row.get('trial') or 0}")
    if not name:
        raise DialgaugeError("a line needs a conversation, or a task and a trial, in columns of these names")
    passed = _VERDICTS.get(row.get("verdict", "").lower())
    if passed is None:
        raise DialgaugeError(
            "the column verdict must have pass or fail, yes or no, true or false, 1 or 0 "
            f"(got '{row.get('verdict', '')[:40]}')"
        )
    times[grader, name] += 1
    replicate = row.get("replicate") or str(times[grader, name])
    return GraderVerdict(name, task or name.rpartition("#")[0] or name, grader, replicate, passed)


def grade_log(
    log: TrialLog, verdicts: Sequence[GraderVerdict], *, truth: str | None = None, resamples: int = 1000, seed: int = 0
) -> GradedLog:
    """A log with a score of 0 or 1 for each grader; its own verdict is one more grader."""
    attempts = {attempt.id: attempt for attempt in log.attempts}
    ours = [
        structs.replace(each, task=attempts[each.conversation].task)
        for each in verdicts
        if each.conversation in attempts
    ]
    if not ours:
        raise DialgaugeError(
            f"none of {counted(len(verdicts), 'verdict')} is about a conversation of {log.name}, such as "
            f"{next(iter(attempts), 'none')} (a verdict names {verdicts[0].conversation})"
        )
    names = dict.fromkeys(each.grader for each in ours)
    if taken := [name for name in names if name in log.numeric or name in log.labelled or name == LOG]:
        raise DialgaugeError(f"'{taken[0]}' is a score of the log, too; give the grader another name")
    recorded = [
        GraderVerdict(each.id, each.task, LOG, "1", each.success) for each in log.attempts if each.success is not None
    ]
    said: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for each in ours:
        said[each.conversation][each.grader].append(each.passed)
    dialogues = []
    for dialogue in log.dialogues:
        scores = {grader: float(majority(passed)) for grader, passed in said.get(dialogue.id, {}).items()}
        outcome = structs.replace(dialogue.ended, scores={**dialogue.ended.scores, **scores})
        dialogues.append(structs.replace(dialogue, outcome=outcome))
    rows = (
        (each.conversation, each.grader, each.replicate, each.passed, attempts[each.conversation].success)
        for each in ours
    )
    elsewhere = len(verdicts) - len(ours)
    left = f"{counted(elsewhere, 'verdict')} of graders about conversations that are not in this log: left out"
    return GradedLog(
        log=TrialLog(
            log.name,
            dialogues if log.corpus is None else structs.replace(log.corpus, dialogues=dialogues),
            graders=list(names),
        ),
        figures=judge_figures([*recorded, *ours], truth=truth, resamples=resamples, seed=seed),
        table=frame_from_rows(rows, _GRADINGS),
        notes=(Note("left_out", left),) if elsewhere else (),
    )


def judge_figures(
    verdicts: Sequence[GraderVerdict], *, truth: str | None = None, resamples: int = 1000, seed: int = 0
) -> JudgeFigures:
    """All figures; ``truth`` is the grader whose verdicts count as right."""
    graded: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    tasks: dict[str, str] = {}
    for verdict in verdicts:
        graded[verdict.grader][verdict.conversation].append(verdict.passed)
        tasks[verdict.conversation] = verdict.task
    if truth is not None and truth not in graded:
        raise DialgaugeError(f"there is no grader '{truth}'.{nearest(truth, list(graded))}")
    said = {grader: {name: majority(each) for name, each in own.items()} for grader, own in graded.items()}
    missing = float("nan")
    rows = [[float(own.get(name, missing)) for own in said.values()] for name in tasks]
    return JudgeFigures(
        graders=tuple(_grader(name, own, tasks, intervals=bool(resamples)) for name, own in graded.items()),
        pairs=tuple(_pair(*pair, said, tasks, resamples, seed) for pair in combinations(said, 2)),
        alpha=krippendorff_alpha(rows) if len(said) > 1 else None,
        truth=truth,
        corrected=() if truth is None else tuple(_corrected(name, said, truth) for name in said if name != truth),
    )


def majority(replicates: Sequence[bool]) -> bool:
    """What most replicates say; a tie is no pass.

    >>> majority([True, False]), majority([True, True, False])
    (False, True)
    """
    return 2 * sum(replicates) > len(replicates)


def _grader(name: str, graded: Graded, tasks: Mapping[str, str], *, intervals: bool) -> GraderFigures:
    rates = {each: fmean(own) for each, own in graded.items()}
    flips = {each: flip_chance(sum(own), len(own)) for each, own in graded.items() if len(own) > 1}
    return GraderFigures(
        grader=name,
        conversations=len(graded),
        verdicts=sum(map(len, graded.values())),
        pass_rate=_mean_share(rates, tasks, intervals=intervals),
        flip_rate=_mean_share(flips, tasks, intervals=intervals) if flips else None,
    )


def _mean_share(shares: Mapping[str, float], tasks: Mapping[str, str], *, intervals: bool) -> Estimate:
    """The mean over conversations, with the interval that pass^k has: what one more task would change."""
    mean = fmean(shares.values())
    if not intervals:
        return Estimate(mean)
    of_task = [[shares[name] for name in names] for names in _by_task(shares, tasks)]
    ends = share_mean_interval([sum(each) for each in of_task], [len(each) for each in of_task])
    return Estimate(mean, *(None if isnan(end) else end for end in ends))


def _by_task(names: Iterable[str], tasks: Mapping[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[tasks[name]].append(name)
    return list(groups.values())


def _pair(
    first: str,
    second: str,
    said: Mapping[str, Mapping[str, bool]],
    tasks: Mapping[str, str],
    resamples: int,
    seed: int,
) -> PairFigures:
    shared = {name: (passed, said[second][name]) for name, passed in said[first].items() if name in said[second]}
    return PairFigures(
        first=first,
        second=second,
        conversations=len(shared),
        agreement=_share(sum(ours == theirs for ours, theirs in shared.values()), len(shared)),
        kappa=_kappa([[shared[name] for name in names] for names in _by_task(shared, tasks)], resamples, seed),
    )


def _share(count: int, cases: int) -> Estimate | None:
    return Estimate(count / cases, *share_interval(count, cases)) if cases else None


def _kappa(tasks: Sequence[Sequence[tuple[bool, bool]]], resamples: int, seed: int) -> Estimate | None:
    """Kappa of two graders' verdicts with its interval; tasks are drawn with replacement."""
    whole = cohen_kappa([pair for own in tasks for pair in own])
    if whole is None:
        return None
    draw = random.Random(seed)  # noqa: S311
    drawn = (draw.choices(tasks, k=len(tasks)) for _ in range(resamples if len(tasks) >= FEWEST_TASKS else 0))
    kappas = (cohen_kappa([pair for own in each for pair in own]) for each in drawn)
    values = sorted(value for value in kappas if value is not None)
    if not values:
        return Estimate(whole)
    return Estimate(whole, values[int(0.025 * len(values))], values[max(int(0.975 * len(values)) - 1, 0)])


def _corrected(name: str, said: Mapping[str, Mapping[str, bool]], truth: str) -> Corrected:
    """Rogan and Gladen's estimate of the true pass rate behind a grader that errs."""
    verdicts, right = said[name], said[truth]
    passed = [verdict for each, verdict in verdicts.items() if right.get(each) is True]
    failed = [not verdict for each, verdict in verdicts.items() if right.get(each) is False]
    corrected, refused = None, None
    if not passed:
        refused = "its sensitivity is unknown: no labelled conversation passed"
    elif not failed:
        refused = "its specificity is unknown: every labelled conversation passed"
    else:
        errors = (sum(passed), len(passed), sum(failed), len(failed))
        try:
            corrected = Estimate(*rogan_gladen(sum(verdicts.values()), len(verdicts), *errors))
        except DialgaugeError:
            refused = "its verdicts tell nothing of the truth (sensitivity and specificity add up to 1 or less)"
    return Corrected(
        grader=name,
        labelled=len(passed) + len(failed),
        sensitivity=_share(sum(passed), len(passed)),
        specificity=_share(sum(failed), len(failed)),
        apparent=sum(verdicts.values()) / len(verdicts),
        corrected=corrected,
        refused=refused,
    )
