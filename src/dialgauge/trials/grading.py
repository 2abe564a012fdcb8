"""What graders' verdicts say of the graders: agreement, flips, errors against people, their part in pass^k."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import isnan
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import flip_chance
from dialgauge.stats import cohen_kappa, krippendorff_alpha, rogan_gladen, share_interval, share_mean_interval
from dialgauge.trials.verdict_files import GraderVerdict

#: Fewer tasks give no interval: drawing them again hides how much they vary.
FEWEST_TASKS = 10
#: A grader's verdicts on each conversation, one for each replicate.
Graded = Mapping[str, Sequence[bool]]


class JudgeEstimate(Struct, frozen=True):
    """A value with its 95% interval; without one where it cannot be told."""

    value: float
    low: float | None = None
    high: float | None = None


class GraderFigures(Struct, frozen=True, kw_only=True):
    """One grader: how much it graded, how often it passes, and how often it changes its mind."""

    grader: str
    conversations: int
    verdicts: int
    pass_rate: JudgeEstimate
    #: The chance that two gradings of one conversation differ; None where nothing was graded twice.
    flip_rate: JudgeEstimate | None
    graded_twice: int


class PairFigures(Struct, frozen=True, kw_only=True):
    """Two graders on the conversations that both graded, each by the majority of its replicates."""

    first: str
    second: str
    conversations: int
    #: None where they share no conversation.
    agreement: JudgeEstimate | None
    kappa: JudgeEstimate | None


class PassPart(Struct, frozen=True, kw_only=True):
    """pass^k of one grader, and where its spread comes from: which tasks there are, and how they happened to be graded.

    Spreads are those of gradings of each conversation once; the tasks' is what is left without the grading.
    ``grader_part`` is the grader's share of the variance; None where nothing was graded twice, or for one task.
    """

    grader: str
    k: int
    tasks: int
    value: float
    tasks_spread: float
    grader_spread: float | None
    grader_part: float | None


class Corrected(Struct, frozen=True, kw_only=True):
    """A grader against the truth, and the pass rate that its errors leave; ``refused`` says why there is none."""

    grader: str
    labelled: int
    sensitivity: JudgeEstimate | None
    specificity: JudgeEstimate | None
    apparent: float
    corrected: JudgeEstimate | None = None
    refused: str | None = None


class JudgeFigures(Struct, frozen=True, kw_only=True):
    """Everything about some graders."""

    graders: tuple[GraderFigures, ...]
    pairs: tuple[PairFigures, ...]
    #: Krippendorff's alpha of all graders together, by their majorities.
    alpha: float | None
    pass_parts: tuple[PassPart, ...]
    truth: str | None = None
    corrected: tuple[Corrected, ...] = ()


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
    draws = _Draws(tasks, resamples, seed)
    return JudgeFigures(
        graders=tuple(_grader(name, graded[name], tasks, intervals=bool(resamples)) for name in graded),
        pairs=tuple(
            _pair(first, second, graded[first], graded[second], draws) for first, second in combinations(graded, 2)
        ),
        alpha=_alpha(list(graded.values()), list(tasks)),
        pass_parts=tuple(part for name in graded for part in _pass_parts(name, graded[name], tasks)),
        truth=truth,
        corrected=tuple(_corrected(name, graded[name], graded[truth]) for name in graded if name != truth)
        if truth is not None
        else (),
    )


class _Draws:
    """Conversations drawn by their tasks, with replacement, for intervals."""

    def __init__(self, tasks: Mapping[str, str], resamples: int, seed: int) -> None:
        self._tasks, self._resamples, self._seed = tasks, resamples, seed

    def figure(
        self, conversations: Sequence[str], value: Callable[[Sequence[str]], float | None]
    ) -> JudgeEstimate | None:
        """A value over conversations with its interval; None where it cannot be told."""
        whole = value(conversations)
        if whole is None:
            return None
        groups: dict[str, list[str]] = defaultdict(list)
        for name in conversations:
            groups[self._tasks[name]].append(name)
        if len(groups) < FEWEST_TASKS or not self._resamples:
            return JudgeEstimate(whole)
        draw, units = random.Random(self._seed), list(groups.values())  # noqa: S311
        drawn = ([name for unit in draw.choices(units, k=len(units)) for name in unit] for _ in range(self._resamples))
        values = sorted(figure for each in drawn if (figure := value(each)) is not None)
        if not values:
            return JudgeEstimate(whole)
        return JudgeEstimate(whole, values[int(0.025 * len(values))], values[max(int(0.975 * len(values)) - 1, 0)])


def majority(replicates: Sequence[bool]) -> bool:
    """What most replicates say; a tie is no pass.

    >>> majority([True, False]), majority([True, True, False])
    (False, True)
    """
    return 2 * sum(replicates) > len(replicates)


def _grader(name: str, graded: Graded, tasks: Mapping[str, str], *, intervals: bool) -> GraderFigures:
    twice = {each: flip_chance(sum(own), len(own)) for each, own in graded.items() if len(own) > 1}
    return GraderFigures(
        grader=name,
        conversations=len(graded),
        verdicts=sum(map(len, graded.values())),
        pass_rate=_mean_share({each: fmean(own) for each, own in graded.items()}, tasks, intervals=intervals),
        flip_rate=_mean_share(twice, tasks, intervals=intervals) if twice else None,
        graded_twice=len(twice),
    )


def _mean_share(shares: Mapping[str, float], tasks: Mapping[str, str], *, intervals: bool) -> JudgeEstimate:
    """The mean over conversations, with the interval that pass^k has: what one more task would change."""
    mean = fmean(shares.values())
    if not intervals:
        return JudgeEstimate(mean)
    units: dict[str, list[float]] = defaultdict(list)
    for conversation, share in shares.items():
        units[tasks[conversation]].append(share)
    ends = share_mean_interval([sum(each) for each in units.values()], [len(each) for each in units.values()])
    return JudgeEstimate(mean, *(None if isnan(end) else end for end in ends))


def _pair(first: str, second: str, ours: Graded, theirs: Graded, draws: _Draws) -> PairFigures:
    shared = [name for name in ours if name in theirs]
    verdicts = {name: (majority(ours[name]), majority(theirs[name])) for name in shared}
    agreed = sum(verdict == other for verdict, other in verdicts.values())
    return PairFigures(
        first=first,
        second=second,
        conversations=len(shared),
        agreement=JudgeEstimate(agreed / len(shared), *share_interval(agreed, len(shared))) if shared else None,
        kappa=draws.figure(shared, lambda names: cohen_kappa([verdicts[name] for name in names])) if shared else None,
    )


def _alpha(graders: Sequence[Graded], conversations: Sequence[str]) -> float | None:
    if len(graders) < 2:
        return None
    missing = float("nan")
    rows = [
        [float(majority(graded[name])) if name in graded else missing for graded in graders] for name in conversations
    ]
    return krippendorff_alpha(rows)


def _pass_parts(name: str, graded: Graded, tasks: Mapping[str, str]) -> list[PassPart]:
    """The variance of pass^k where each conversation is graded once, without bias, whatever gradings there are."""
    doubts = [_doubt(replicates) for replicates in graded.values() if len(replicates) > 1]
    doubt = fmean(doubts) if doubts else None
    trials: dict[str, list[Sequence[bool]]] = defaultdict(list)
    for conversation, replicates in graded.items():
        trials[tasks[conversation]].append(replicates)
    moments = [_pass_moments(each, doubt or 0.0) for each in trials.values()]
    parts = []
    for k in range(1, max(map(len, trials.values())) + 1):
        of_k = [each[k - 1] for each in moments if len(each) >= k]
        count, means = len(of_k), [each.mean for each in of_k]
        noise = fmean(each.noise for each in of_k) if doubts else 0.0
        of_tasks = max(variance(means) - noise, 0.0) / count if count > 1 else 0.0
        of_grader = max(fmean(each.of_one for each in of_k), 0.0) / count if doubts else None
        whole = of_tasks + (of_grader or 0.0)
        parts.append(
            PassPart(
                grader=name,
                k=k,
                tasks=count,
                value=fmean(means),
                tasks_spread=of_tasks**0.5,
                grader_spread=None if of_grader is None else of_grader**0.5,
                grader_part=None if of_grader is None or not whole or count < 2 else of_grader / whole,
            )
        )
    return parts


def _doubt(replicates: Sequence[bool]) -> float:
    """The variance of one grading of a conversation, without bias, from two gradings or more."""
    share, count = fmean(replicates), len(replicates)
    return share * (1 - share) * count / (count - 1)


class _PassMoments(NamedTuple):
    """pass^k of a task by all its gradings, and the grader's variance of it as it is and with one grading each."""

    mean: float
    noise: float
    of_one: float


def _pass_moments(trials: Sequence[Sequence[bool]], doubt: float) -> list[_PassMoments]:
    """The moments for each k; a trial that was graded once has the grader's usual ``doubt``."""
    shares = [fmean(each) for each in trials]
    # A share's square is the chance's square and the share's own variance: without that it has no bias.
    squares = [share - (_doubt(each) if len(each) > 1 else doubt) for share, each in zip(shares, trials, strict=True)]
    means, of_chances = pass_squares(shares, squares)
    _, as_graded = pass_squares(shares, [share**2 for share in shares])
    _, graded_once = pass_squares(shares, shares)
    return [
        _PassMoments(mean, seen - free, once - free)
        for mean, seen, once, free in zip(means, as_graded, graded_once, of_chances, strict=True)
    ]


def pass_squares(chances: Sequence[float], squares: Sequence[float]) -> tuple[list[float], list[float]]:
    """For each k the mean of pass^k and of its square, where each trial has this mean and this mean square.

    pass^k is the product over k trials, a mean over all choices of them; its square is the same over two choices, in
    which a trial that is in both counts with its square.

    >>> pass_squares([1.0, 0.5], [1.0, 0.5])
    ([0.75, 0.5], [0.625, 0.5])
    """
    size = len(chances)
    drawn = np.zeros((size + 1, size + 1))  # by the sizes of both choices
    drawn[0, 0] = 1.0
    for count, (chance, square) in enumerate(zip(chances, squares, strict=True), start=1):
        within = np.minimum(np.arange(size + 1) / count, 1.0)
        without = 1 - within
        longer = np.zeros((size + 2, size + 2))
        longer[1:, 1:] = drawn
        both, first, second = longer[:-1, :-1], longer[:-1, 1:], longer[1:, :-1]
        drawn = (
            np.outer(without, without) * drawn
            + chance * (np.outer(within, without) * first + np.outer(without, within) * second)
            + square * np.outer(within, within) * both
        )
    return drawn[1:, 0].tolist(), np.diagonal(drawn)[1:].tolist()


def _corrected(name: str, graded: Graded, truth: Graded) -> Corrected:
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
            corrected = JudgeEstimate(
                *rogan_gladen(sum(verdicts.values()), len(verdicts), hits, positives, rejections, negatives)
            )
        except DialgaugeError:
            refused = "sensitivity and specificity add up to no more than 1: its verdicts tell nothing of the truth"
    return Corrected(
        grader=name,
        labelled=len(pairs),
        sensitivity=JudgeEstimate(hits / positives, *share_interval(hits, positives)) if positives else None,
        specificity=JudgeEstimate(rejections / negatives, *share_interval(rejections, negatives))
        if negatives
        else None,
        apparent=sum(verdicts.values()) / len(verdicts),
        corrected=corrected,
        refused=refused,
    )
