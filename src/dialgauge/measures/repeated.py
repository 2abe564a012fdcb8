"""Several trials of one task: pass^k, how often a second trial changes the verdict, and the noise of both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures.base import Card, Floats, Parameter, Settings, UnitNumbers
from dialgauge.text import counted, times

#: 95% of the differences that chance makes lie within this many standard deviations.
_REACH = NormalDist().inv_cdf(0.975)


def pass_chance(successes: int, trials: int, k: int) -> float:
    """The chance that k of the trials, drawn without replacement, are all successes.

    >>> pass_chance(3, 4, 2)
    0.5
    """
    return math.comb(successes, k) / math.comb(trials, k)


def pass_rate(tasks: Iterable[Sequence[bool]], k: int) -> float | None:
    """pass^k: the mean chance over the tasks with k trials or more; None where there are none.

    >>> pass_rate([[True, False], [True, True], [True]], 2)
    0.5
    """
    chances = [pass_chance(sum(trials), len(trials), k) for trials in tasks if len(trials) >= k]
    return sum(chances) / len(chances) if chances else None


def flip_chance(successes: int, trials: int) -> float:
    """The chance that two different trials, drawn at random, have different verdicts: an unbiased 2p(1-p).

    >>> flip_chance(1, 2), flip_chance(4, 4)
    (1.0, 0.0)
    """
    return 2 * successes * (trials - successes) / (trials * (trials - 1))


def noise_sums(tasks: Iterable[Sequence[bool]]) -> Floats:
    """For each task, (3, tasks): the variance of its share of successes, p(1-p)/n without bias, its trials, and 1.

    Nothing for a task that was tried once.
    """
    columns = [
        (flip_chance(sum(trials), len(trials)) / (2 * len(trials)), len(trials), 1.0)
        if len(trials) > 1
        else (0.0, 0.0, 0.0)
        for trials in tasks
    ]
    return np.array(columns, np.float64).reshape(-1, 3).T


def rerun_reach(totals: Floats) -> Floats:
    """How far pass^1 lies from what the agent would reach on these very tasks, 95% of the time.

    Added to the variance is 1 / n², n the mean number of trials: a few tasks that happened not to flip are no proof
    that none would. Without it, 5 tasks of 2 trials stayed within it 72% of the time.
    """
    variance, trials, tasks = np.moveaxis(totals, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(_REACH * np.sqrt(variance + (tasks / trials) ** 2) / tasks)


def noise_floor(totals: Floats) -> Floats:
    """The difference between two runs that chance alone makes 95% of the time: both vary, and none is above 1."""
    return np.minimum(math.sqrt(2) * rerun_reach(totals), 1.0)


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


_FAMILY = "outcomes"
PASS, FLIPS, NOISE = "pass", "Flips", "TrialNoise"
REWARD = "reward"
TRIAL_RULES = Parameter(
    "rules", REWARD, (REWARD, "strict", "compat"),
    "reward: the verdict in the file; strict and compat judge the lab's recordings, by our rules and by ConvLab-2's",
)  # fmt: skip
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

    @property
    def scored(self) -> NDArray[np.bool_]:
        """The conversations that count."""

    def part(self, name: str) -> Self:
        """The verdicts on a part of each conversation, or by another score."""

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """Why there are no verdicts by these rules, as the end of a sentence."""


def _units(evidence: TrialVerdicts) -> int:
    return len(evidence.dialogue)


def _pass(evidence: TrialVerdicts, settings: Settings) -> UnitNumbers:
    """On the first conversation of each task that was tried k times."""
    k, above, below = int(settings["k"]), np.zeros(_units(evidence)), np.zeros(_units(evidence))
    for index, verdicts in evidence.trial_verdicts(settings):
        if len(verdicts) >= k:
            above[index], below[index] = pass_chance(sum(verdicts), len(verdicts), k), 1.0
    return above, below


def _flips(evidence: TrialVerdicts, settings: Settings) -> UnitNumbers:
    above, below = np.zeros(_units(evidence)), np.zeros(_units(evidence))
    for index, verdicts in evidence.trial_verdicts(settings):
        if len(verdicts) > 1:
            above[index], below[index] = flip_chance(sum(verdicts), len(verdicts)), 1.0
    return above, below


def trial_noise_sums(evidence: TrialVerdicts, settings: Settings) -> Floats:
    """The sums behind the noise floor of pass^1, of each task at its first conversation."""
    verdicts = evidence.trial_verdicts(settings)
    sums = np.zeros((3, evidence.dialogues))
    sums[:, evidence.dialogue[[index for index, _ in verdicts]]] = noise_sums(each for _, each in verdicts)
    return sums


def _never(settings: Settings) -> bool:
    """The noise floor never has an interval: it is itself an upper limit."""
    return False


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

TRIAL_CARDS: tuple[Card[Any], ...] = (
    Card(
        name=PASS, family=_FAMILY, title="all k trials pass", source=_TAU,
        summary="The chance that k trials of one task (goal), drawn without replacement, all succeed; mean over tasks.",
        formula="mean over tasks of C(successes, k) / C(trials, k)", symbols=_CHOICES,
        units=_pass, parameters=(TRIAL_RULES,), parts=True, mark="^", one_more=True,
        cutoff=Parameter("k", 1, summary="how many trials must all succeed", whole=True), obstacle=_too_few,
    ),
    Card(
        name=FLIPS, family=_FAMILY, title="flip rate", source=_OURS, higher_is_better=False,
        summary="The chance that a second trial of the same task changes the verdict; mean over tasks.",
        formula="mean over tasks of 2c(n - c) / (n(n - 1))", symbols=_TRIED,
        units=_flips, parameters=(TRIAL_RULES,), parts=True, obstacle=_too_few, one_more=True,
    ),
    Card(
        name=NOISE, family=_FAMILY, title="noise floor over trials", source=_OURS, higher_is_better=False,
        summary="The difference in pass^1 that two runs of the same agent on the same tasks, with as many trials, stay "
        "below 95% of the time: anything smaller may be chance.",
        formula="1.96 sqrt(2 (sum of c(n - c) / (n^2 (n - 1)) + 1 / N^2)) / tasks, at most 1",
        symbols=_TRIED | {"N": "mean of n over the tasks"},
        sums=trial_noise_sums, of=noise_floor, has_interval=_never, parameters=(TRIAL_RULES,), parts=True,
        obstacle=_too_few,
    ),
)  # fmt: skip
