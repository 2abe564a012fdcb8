"""What graders' verdicts say of the graders: agreement, flips, errors against people, their part in pass^k."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, variance

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.stats import cohen_kappa, krippendorff_alpha, rogan_gladen, share_interval
from dialgauge.tasks.judges.verdict_files import GraderVerdict
from dialgauge.tasks.trials.trial_measures import flip_chance, pass_chance

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

    ``grader_part`` is the grader's share of the variance; None where nothing was graded twice.
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
        graders=tuple(_grader(name, graded[name], draws) for name in graded),
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
        values = sorted(found for each in drawn if (found := value(each)) is not None)
        if not values:
            return JudgeEstimate(whole)
        return JudgeEstimate(whole, values[int(0.025 * len(values))], values[max(int(0.975 * len(values)) - 1, 0)])


def majority(replicates: Sequence[bool]) -> bool:
    """What most replicates say; a tie is no pass.

    >>> majority([True, False]), majority([True, True, False])
    (False, True)
    """
    return 2 * sum(replicates) > len(replicates)


def _grader(name: str, graded: Graded, draws: _Draws) -> GraderFigures:
    twice = [each for each in graded if len(graded[each]) > 1]
    rate = draws.figure(list(graded), lambda names: fmean(fmean(graded[each]) for each in names))
    chances = {each: flip_chance(sum(graded[each]), len(graded[each])) for each in twice}
    flips = draws.figure(twice, lambda names: fmean(chances[each] for each in names)) if twice else None
    return GraderFigures(
        grader=name,
        conversations=len(graded),
        verdicts=sum(map(len, graded.values())),
        pass_rate=rate or JudgeEstimate(0.0),
        flip_rate=flips,
        graded_twice=len(twice),
    )


def _pair(first: str, second: str, ours: Graded, theirs: Graded, draws: _Draws) -> PairFigures:
    shared = [name for name in ours if name in theirs]
    said = {name: (majority(ours[name]), majority(theirs[name])) for name in shared}
    agreed = sum(one == other for one, other in said.values())
    return PairFigures(
        first=first,
        second=second,
        conversations=len(shared),
        agreement=JudgeEstimate(agreed / len(shared), *share_interval(agreed, len(shared))) if shared else None,
        kappa=draws.figure(shared, lambda names: cohen_kappa([said[name] for name in names])) if shared else None,
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
    trials: dict[str, list[float]] = defaultdict(list)
    for conversation, replicates in graded.items():
        trials[tasks[conversation]].append(fmean(replicates))
    repeated = any(len(replicates) > 1 for replicates in graded.values())
    parts = []
    for k in range(1, max(map(len, trials.values())) + 1):
        moments = [pass_moments(chances, k) for chances in trials.values() if len(chances) >= k]
        count, means = len(moments), [mean for mean, _ in moments]
        of_tasks = variance(means) / count if count > 1 else 0.0
        of_grader = sum(spread for _, spread in moments) / count**2 if repeated else None
        whole = of_tasks + (of_grader or 0.0)
        parts.append(
            PassPart(
                grader=name,
                k=k,
                tasks=count,
                value=fmean(means),
                tasks_spread=of_tasks**0.5,
                grader_spread=None if of_grader is None else of_grader**0.5,
                grader_part=None if of_grader is None or not whole else of_grader / whole,
            )
        )
    return parts


def pass_moments(chances: Sequence[float], k: int) -> tuple[float, float]:
    """Mean and variance of a task's pass^k where each trial is graded once, and passes with its own chance.

    >>> pass_moments([1.0, 0.5], 1)
    (0.75, 0.0625)
    """
    passing = [1.0]  # the chance of each number of passes
    for chance in chances:
        stays, rises = [each * (1 - chance) for each in passing], [each * chance for each in passing]
        passing = [stay + rise for stay, rise in zip([*stays, 0.0], [0.0, *rises], strict=True)]
    values = [pass_chance(passes, len(chances), k) for passes in range(len(passing))]
    mean = sum(chance * value for chance, value in zip(passing, values, strict=True))
    square = sum(chance * value**2 for chance, value in zip(passing, values, strict=True))
    return mean, max(square - mean**2, 0.0)


def _corrected(name: str, graded: Graded, truth: Graded) -> Corrected:
    said = {each: majority(replicates) for each, replicates in graded.items()}
    pairs = [(majority(truth[each]), passed) for each, passed in said.items() if each in truth]
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
                *rogan_gladen(sum(said.values()), len(said), hits, positives, rejections, negatives)
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
        apparent=sum(said.values()) / len(said),
        corrected=corrected,
        refused=refused,
    )
