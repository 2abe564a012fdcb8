"""What several trials of one task tell: pass^k, how often a second trial changes the verdict, and the noise of both.

These cards serve all evidence that can say how the trials of its tasks ended (:class:`TrialVerdicts`): results of
tau-bench, and the lab's recordings, where a task is a goal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import NO_INTERVAL, Card, Interval, Measure, Parameter, Rows, Settings
from dialgauge.text import counted, times

FAMILY = "outcomes"
PASS, FLIPS, NOISE = "pass", "Flips", "TrialNoise"
REWARD = "reward"
TRIAL_RULES = Parameter(
    "rules", REWARD, (REWARD, "strict", "compat"),
    "reward: the verdict in the file; strict and compat judge the lab's recordings, by our rules and by ConvLab-2's",
)  # fmt: skip
#: 95% of the differences that chance makes lie within this many standard deviations.
_REACH = NormalDist().inv_cdf(0.975)
_TAU = "Yao et al. 2024, tau-bench"
_OURS = "dialgauge"


@runtime_checkable
class TrialVerdicts(Protocol):
    """Evidence whose units are conversations, several for each task."""

    dialogues: int
    dialogue: NDArray[np.integer[Any]]
    #: What is tried several times: a task, a goal.
    tried: str

    def trial_verdicts(self, settings: Settings) -> Sequence[tuple[int, Sequence[bool]]]:
        """For each task the place of its first conversation, and the verdicts on those that have one."""

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """Why there are no verdicts by these rules, as the end of a sentence."""


def pass_chance(successes: int, trials: int, k: int) -> float:
    """The chance that k of the trials, drawn without replacement, are all successes.

    >>> pass_chance(3, 4, 2)
    0.5
    """
    return math.comb(successes, k) / math.comb(trials, k)


def flip_chance(successes: int, trials: int) -> float:
    """The chance that two different trials, drawn at random, have different verdicts: an unbiased 2p(1-p).

    >>> flip_chance(1, 2), flip_chance(4, 4)
    (1.0, 0.0)
    """
    return 2 * successes * (trials - successes) / (trials * (trials - 1))


def uneven_trials(rests: Mapping[str, int], tried: str = "task") -> str:
    """How many tasks each pass^k rests on, where not all rest on the same; empty where they do.

    >>> uneven_trials({"pass^1": 2, "pass^2": 2})
    ''
    """
    if len(set(rests.values())) < 2:
        return ""
    (first, number), *others = rests.items()
    rest = ", ".join(f"{name} on {count:,}" for name, count in others)
    return (
        f"the {tried}s are not the same for every k, as only those with k trials or more count: {first} rests on "
        f"{counted(number, tried)}, {rest}, so scores and intervals need not fall with k; flip rate and noise floor "
        "rest on those of pass^2"
    )


def without_noise(measures: Sequence[Measure[Any]], made: Sequence[Interval]) -> list[Interval]:
    """The intervals but for that of the noise floor, which is a limit with a margin in it, and no estimate."""
    return [
        NO_INTERVAL if measure.card.name == NOISE else interval
        for measure, interval in zip(measures, made, strict=True)
    ]


def _units(evidence: TrialVerdicts) -> int:
    return len(evidence.dialogue)


def _pass(evidence: TrialVerdicts, settings: Settings) -> Rows:
    """On the first conversation of each task that was tried k times."""
    k, above, below = int(settings["k"]), np.zeros(_units(evidence)), np.zeros(_units(evidence))
    for index, verdicts in evidence.trial_verdicts(settings):
        if len(verdicts) >= k:
            above[index], below[index] = pass_chance(sum(verdicts), len(verdicts), k), 1.0
    return above, below


def _flips(evidence: TrialVerdicts, settings: Settings) -> Rows:
    above, below = np.zeros(_units(evidence)), np.zeros(_units(evidence))
    for index, verdicts in evidence.trial_verdicts(settings):
        if len(verdicts) > 1:
            above[index], below[index] = flip_chance(sum(verdicts), len(verdicts)), 1.0
    return above, below


def _no_rows(evidence: TrialVerdicts, settings: Settings) -> Rows:
    """A root of a sum is no ratio of sums."""
    return np.zeros(_units(evidence)), np.zeros(_units(evidence))


def noise_sums(evidence: TrialVerdicts, settings: Settings) -> NDArray[np.float64]:
    """For each task the variance of its share of successes, p(1-p)/n without bias, its trials, and 1."""
    sums = np.zeros((3, evidence.dialogues))
    for index, verdicts in evidence.trial_verdicts(settings):
        trials = len(verdicts)
        if trials > 1:
            sums[:, evidence.dialogue[index]] += (flip_chance(sum(verdicts), trials) / (2 * trials), trials, 1.0)
    return sums


def rerun_reach(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far pass^1 lies from what the agent would reach on these very tasks, 95% of the time.

    Added to the variance is 1 / n², n the mean number of trials: a few tasks that happened not to flip are no proof
    that none would. Without it, 5 tasks of 2 trials stayed within it 72% of the time.
    """
    variance, trials, tasks = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach: NDArray[np.float64] = _REACH * np.sqrt(variance + (tasks / trials) ** 2) / tasks
    return reach


def _noise(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two runs both vary; no difference is above 1."""
    noise: NDArray[np.float64] = np.minimum(math.sqrt(2) * rerun_reach(sums), 1.0)
    return noise


def _too_few(evidence: Any, settings: Settings) -> str | None:
    if not isinstance(evidence, TrialVerdicts):
        return "it judges recorded conversations, and these are responses"
    if why := evidence.verdict_obstacle(settings):
        return why
    needed = int(settings.get("k", 2))
    most = max((len(verdicts) for _, verdicts in evidence.trial_verdicts(settings)), default=0)
    return None if most >= needed else f"no {evidence.tried} was tried {times(needed)}"


_TRIED = {"c": "successful trials of a task", "n": "trials of that task"}
_CHOICES = {"C(m, k)": "the number of ways to choose k of m things"}

CARDS: tuple[Card[Any], ...] = (
    Card(
        name=PASS, family=FAMILY, title="pass^k", source=_TAU,
        summary="The chance that k trials of one task (goal), drawn without replacement, all succeed; mean over tasks.",
        formula="mean over tasks of C(successes, k) / C(trials, k)", symbols=_CHOICES,
        rows=_pass, parameters=(TRIAL_RULES,), parts=True, mark="^", one_more=True,
        cutoff=Parameter("k", 1, summary="how many trials must all succeed", whole=True), obstacle=_too_few,
    ),
    Card(
        name=FLIPS, family=FAMILY, title="flip rate", source=_OURS, higher_is_better=False,
        summary="The chance that a second trial of the same task changes the verdict; mean over tasks.",
        formula="mean over tasks of 2c(n - c) / (n(n - 1))", symbols=_TRIED,
        rows=_flips, parameters=(TRIAL_RULES,), parts=True, obstacle=_too_few, one_more=True,
    ),
    Card(
        name=NOISE, family=FAMILY, title="noise floor over trials", source=_OURS, higher_is_better=False,
        summary="The difference in pass^1 that two runs of the same agent on the same tasks, with as many trials, stay "
        "below 95% of the time: anything smaller may be chance.",
        formula="1.96 sqrt(2 (sum of c(n - c) / (n^2 (n - 1)) + 1 / N^2)) / tasks, at most 1",
        symbols=_TRIED | {"N": "mean of n over the tasks"},
        rows=_no_rows, parameters=(TRIAL_RULES,), parts=True,
        statistics=noise_sums, of_sums=_noise, obstacle=_too_few,
    ),
)  # fmt: skip
