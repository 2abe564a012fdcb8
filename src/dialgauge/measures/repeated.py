"""Several trials of one task: pass^k, how often a second trial changes the verdict, and the noise of both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist

import numpy as np

from dialgauge.measures.base import Floats
from dialgauge.text import counted

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
