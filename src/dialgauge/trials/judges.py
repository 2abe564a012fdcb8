"""Graders (people, models, rules): their verdicts from files, and how far they agree, waver and err.

Verdicts are plain files, CSV or JSON Lines, one line for each conversation, grader and replicate:

==============  ====================================================================================================
conversation    also ``dialogue`` or ``id``; or ``task`` and ``trial``, which make ``task#trial``
verdict         also ``passed``, ``success`` or ``label``: pass or fail, yes or no, true or false, 1 or 0
grader          also ``judge``, ``rater`` or ``labeller``; without one, the name of the file
replicate       optional: which time this grader graded this conversation
==============  ====================================================================================================
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import polars as pl
from msgspec import Struct, structs

from dialgauge.comparison import read_csv
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import Corpus
from dialgauge.measures import flip_chance
from dialgauge.runs import frame_of
from dialgauge.stats import cohen_kappa, krippendorff_alpha, rogan_gladen, share_interval, share_mean_interval
from dialgauge.text import Note, counted
from dialgauge.trials.log import TrialLog

#: What the recorded verdict is called among graders.
LOG = "the log"
#: Fewer tasks give no interval: drawing them again hides how much they vary.
FEWEST_TASKS = 10
_CONVERSATION = ("conversation", "dialogue", "id")
_VERDICT = ("verdict", "passed", "success", "label")
_GRADER = ("grader", "judge", "rater", "labeller")
_REPLICATE = ("replicate", "repeat", "sample")
_PASS = frozenset({"pass", "passed", "yes", "true", "1", "1.0", "success", "correct"})
_FAIL = frozenset({"fail", "failed", "no", "false", "0", "0.0", "failure", "incorrect"})
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
    """A value with its 95% interval; without one where it cannot be told."""

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
    graded_twice: int
    #: The standard deviation of pass^1 where each conversation is graded once; None where nothing was graded twice.
    spread: float | None


class PairFigures(Struct, frozen=True, kw_only=True):
    """Two graders on the conversations that both graded, each by the majority of its replicates."""

    first: str
    second: str
    conversations: int
    #: None where they share no conversation.
    agreement: Estimate | None
    kappa: Estimate | None


class Corrected(Struct, frozen=True, kw_only=True):
    """A grader against the truth, and the pass rate that its errors leave; ``refused`` says why there is none."""

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
    """A log with its graders as scores, what can be said of them, and all verdicts as a table."""

    log: TrialLog
    figures: JudgeFigures
    table: pl.DataFrame
    notes: tuple[Note, ...] = ()


def grade_log(
    log: TrialLog, verdicts: Sequence[GraderVerdict], *, truth: str | None = None, resamples: int = 1000, seed: int = 0
) -> GradedLog:
    """A log with a score of 0 or 1 for each grader; its own verdict is one more grader."""
    own = {attempt.id: attempt for attempt in log.attempts}
    ours = [structs.replace(each, task=own[each.conversation].task) for each in verdicts if each.conversation in own]
    if not ours:
        raise DialgaugeError(
            f"none of {counted(len(verdicts), 'verdict')} is about a conversation of {log.name}, such as "
            f"{next(iter(own), 'none')} (a verdict names {verdicts[0].conversation})"
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
    dialogues = [
        structs.replace(
            dialogue,
            outcome=structs.replace(
                dialogue.ended,
                scores={
                    **dialogue.ended.scores,
                    **{grader: float(majority(own)) for grader, own in said.get(dialogue.id, {}).items()},
                },
            ),
        )
        for dialogue in log.dialogues
    ]
    rows = (
        (each.conversation, each.grader, each.replicate, each.passed, own[each.conversation].success) for each in ours
    )
    elsewhere = len(verdicts) - len(ours)
    left = f"{counted(elsewhere, 'verdict')} of graders about conversations that are not in this log: left out"
    corpus: Corpus | list[Any] = dialogues if log.corpus is None else structs.replace(log.corpus, dialogues=dialogues)
    return GradedLog(
        log=TrialLog(log.name, corpus, graders=list(names)),
        figures=judge_figures([*recorded, *ours], truth=truth, resamples=resamples, seed=seed),
        table=frame_of(rows, _GRADINGS),
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
    missing = float("nan")
    rows = [[float(majority(own[name])) if name in own else missing for own in graded.values()] for name in tasks]
    return JudgeFigures(
        graders=tuple(_grader(name, graded[name], tasks, intervals=bool(resamples)) for name in graded),
        pairs=tuple(
            _pair(first, second, graded[first], graded[second], tasks, resamples, seed)
            for first, second in combinations(graded, 2)
        ),
        alpha=krippendorff_alpha(rows) if len(graded) > 1 else None,
        truth=truth,
        corrected=()
        if truth is None
        else tuple(_corrected(name, graded[name], graded[truth]) for name in graded if name != truth),
    )


def majority(replicates: Sequence[bool]) -> bool:
    """What most replicates say; a tie is no pass.

    >>> majority([True, False]), majority([True, True, False])
    (False, True)
    """
    return 2 * sum(replicates) > len(replicates)


def _grader(name: str, graded: Graded, tasks: Mapping[str, str], *, intervals: bool) -> GraderFigures:
    twice = {each: flip_chance(sum(own), len(own)) for each, own in graded.items() if len(own) > 1}
    rates = {each: fmean(own) for each, own in graded.items()}
    return GraderFigures(
        grader=name,
        conversations=len(graded),
        verdicts=sum(map(len, graded.values())),
        pass_rate=_mean_share(rates, tasks, intervals=intervals),
        flip_rate=_mean_share(twice, tasks, intervals=intervals) if twice else None,
        graded_twice=len(twice),
        spread=_spread(graded, tasks) if twice else None,
    )


def _mean_share(shares: Mapping[str, float], tasks: Mapping[str, str], *, intervals: bool) -> Estimate:
    """The mean over conversations, with the interval that pass^k has: what one more task would change."""
    mean = fmean(shares.values())
    if not intervals:
        return Estimate(mean)
    units = _by_task(shares, tasks)
    of_task = [[shares[name] for name in names] for names in units]
    ends = share_mean_interval([sum(each) for each in of_task], [len(each) for each in of_task])
    return Estimate(mean, *(None if isnan(end) else end for end in ends))


def _by_task(names: Iterable[str], tasks: Mapping[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[tasks[name]].append(name)
    return list(groups.values())


def _spread(graded: Graded, tasks: Mapping[str, str]) -> float:
    """The standard deviation of pass^1 where each conversation is graded once.

    What was graded once itself gets the average variance of the grader.
    """
    variances = {
        name: fmean(own) * (1 - fmean(own)) * len(own) / (len(own) - 1) for name, own in graded.items() if len(own) > 1
    }
    usual, units = fmean(variances.values()), _by_task(graded, tasks)
    of_task = (sum(variances.get(name, usual) for name in names) / len(names) ** 2 for names in units)
    return float(sum(of_task) ** 0.5 / len(units))


def _pair(
    first: str, second: str, ours: Graded, theirs: Graded, tasks: Mapping[str, str], resamples: int, seed: int
) -> PairFigures:
    shared = [name for name in ours if name in theirs]
    verdicts = {name: (majority(ours[name]), majority(theirs[name])) for name in shared}
    agreed = sum(verdict == other for verdict, other in verdicts.values())

    def kappa(names: Sequence[str]) -> float | None:
        return cohen_kappa([verdicts[name] for name in names])

    return PairFigures(
        first=first,
        second=second,
        conversations=len(shared),
        agreement=Estimate(agreed / len(shared), *share_interval(agreed, len(shared))) if shared else None,
        kappa=_resampled(kappa, _by_task(shared, tasks), resamples, seed) if shared else None,
    )


def _resampled(
    figure: Callable[[Sequence[str]], float | None], units: Sequence[Sequence[str]], resamples: int, seed: int
) -> Estimate | None:
    """A figure of conversations with its interval; tasks are drawn with replacement."""
    whole = figure([name for unit in units for name in unit])
    if whole is None:
        return None
    if len(units) < FEWEST_TASKS or not resamples:
        return Estimate(whole)
    draw = random.Random(seed)  # noqa: S311
    drawn = ([name for unit in draw.choices(units, k=len(units)) for name in unit] for _ in range(resamples))
    values = sorted(value for each in drawn if (value := figure(each)) is not None)
    if not values:
        return Estimate(whole)
    return Estimate(whole, values[int(0.025 * len(values))], values[max(int(0.975 * len(values)) - 1, 0)])


def _corrected(name: str, graded: Graded, truth: Graded) -> Corrected:
    """Rogan and Gladen's estimate of the true pass rate behind a grader that errs."""
    verdicts = {each: majority(replicates) for each, replicates in graded.items()}
    pairs = [(majority(truth[each]), passed) for each, passed in verdicts.items() if each in truth]
    hits, positives = sum(right and passed for right, passed in pairs), sum(right for right, _ in pairs)
    negatives = len(pairs) - positives
    rejections = sum(not right and not passed for right, passed in pairs)
    corrected, refused = None, None
    if not positives:
        refused = "its sensitivity is unknown: no labelled conversation passed"
    elif not negatives:
        refused = "its specificity is unknown: every labelled conversation passed"
    else:
        try:
            corrected = Estimate(
                *rogan_gladen(sum(verdicts.values()), len(verdicts), hits, positives, rejections, negatives)
            )
        except DialgaugeError:
            refused = "its verdicts tell nothing of the truth (sensitivity and specificity add up to 1 or less)"
    return Corrected(
        grader=name,
        labelled=len(pairs),
        sensitivity=Estimate(hits / positives, *share_interval(hits, positives)) if positives else None,
        specificity=Estimate(rejections / negatives, *share_interval(rejections, negatives)) if negatives else None,
        apparent=sum(verdicts.values()) / len(verdicts),
        corrected=corrected,
        refused=refused,
    )


def read_verdicts(paths: Iterable[str | Path]) -> list[GraderVerdict]:
    """All verdicts of some files; the same grader, conversation and replicate twice is an error."""
    verdicts: dict[tuple[str, str, str], GraderVerdict] = {}
    files = list(map(Path, paths))
    for path in files:
        times: Counter[tuple[str, str]] = Counter()
        for line, row in _rows(path):
            verdict = _verdict(row, path, line, times)
            key = (verdict.grader, verdict.conversation, verdict.replicate)
            if key in verdicts:
                raise DialgaugeError(
                    f"{verdict.grader} grades {verdict.conversation} twice as replicate {verdict.replicate}; number "
                    "the replicates, or name the graders apart",
                    file=str(path),
                    line=line,
                )
            verdicts[key] = verdict
    if files and not verdicts:
        raise DialgaugeError("there are no verdicts in it", file=", ".join(map(str, files)))
    return list(verdicts.values())


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix not in (".jsonl", ".ndjson"):
        lines = read_csv(path)
        names = [name.lower() for name in lines[0][1]] if lines else []
        for line, cells in lines[1:]:
            yield line, dict(zip(names, cells, strict=True))
        return
    try:
        content = path.read_bytes().splitlines()
    except OSError as error:
        raise DialgaugeError(f"it cannot be read ({error.strerror or error})", file=str(path)) from error
    for line, text in enumerate(content, start=1):
        try:
            if text.strip():
                yield line, msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise DialgaugeError(f"it is no JSON object ({error})", file=str(path), line=line) from error


def _verdict(row: Mapping[str, Any], path: Path, line: int, times: Counter[tuple[str, str]]) -> GraderVerdict:
    task, trial, name = _first(row, ("task",)), _first(row, ("trial",)), _first(row, _CONVERSATION)
    if name is None and task is not None:
        name = f"{task}#{trial or 0}"
    if name is None:
        raise DialgaugeError(
            "a line needs a conversation (conversation, dialogue, id), or a task and a trial", file=str(path), line=line
        )
    grader = _first(row, _GRADER) or path.name.split(".")[0]
    times[grader, name] += 1
    given = _first(row, _VERDICT)
    if given is None or given.lower() not in _PASS | _FAIL:
        shown = f"it says '{given[:40]}'" if given else "there is none"
        raise DialgaugeError(
            f"the verdict must be pass or fail, yes or no, true or false, 1 or 0 ({shown})", file=str(path), line=line
        )
    replicate = _first(row, _REPLICATE) or str(times[grader, name])
    return GraderVerdict(name, task or name.rpartition("#")[0] or name, grader, replicate, given.lower() in _PASS)


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of some columns that has a value, as text."""
    values = (row.get(name) for name in names)
    return next((str(value).strip() for value in values if value is not None and str(value).strip()), None)
