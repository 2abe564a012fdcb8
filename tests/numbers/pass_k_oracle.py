"""pass^k, flips, noise and their intervals from their definitions (``specs/small-sample-intervals.md``).

A task is the list of its verdicts. Shares come from counting all subsets or pairs of trials, not from a formula.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from statistics import NormalDist, fmean

import numpy as np

Task = Sequence[bool]
REACH = NormalDist().inv_cdf(0.975)


def pass_shares(tasks: Sequence[Task], k: int) -> list[float]:
    """For each task with k trials or more, the share of its sets of k trials that all passed."""
    return [fmean(map(all, combinations(task, k))) for task in tasks if len(task) >= k]


def pass_share_of_counts(passed: int, trials: int, k: int) -> float:
    """The same by binomial coefficients."""
    return math.comb(passed, k) / math.comb(trials, k)


def flip_shares(tasks: Sequence[Task]) -> list[float]:
    """For each task tried twice or more, the share of its pairs of trials that differ."""
    return [fmean(one != other for one, other in permutations(task, 2)) for task in tasks if len(task) > 1]


def _spread(task: Task) -> float:
    """The unbiased variance of one trial."""
    return float(np.var([float(each) for each in task], ddof=1))


def noise_floor(tasks: Sequence[Task]) -> float:
    """The difference in pass^1 that two runs of one agent stay below 95% of the time (section 3)."""
    tried = [task for task in tasks if len(task) > 1]
    variance = sum(_spread(task) / len(task) for task in tried)
    more = 1 / fmean(map(len, tried)) ** 2
    return min(REACH * math.sqrt(2 * (variance + more)) / len(tried), 1.0)


def rerun_interval(tasks: Sequence[Task]) -> tuple[float, float]:
    """pass^1 of these very tasks, all tried equally often (section 1, fixed tasks)."""
    [trials] = {len(task) for task in tasks}
    reach = REACH * math.sqrt((sum(map(_spread, tasks)) + 1 / trials) / trials) / len(tasks)
    value = fmean(map(fmean, tasks))
    return max(value - reach, 0.0), min(value + reach, 1.0)


def one_more(values: Sequence[float]) -> tuple[float, float]:
    """The interval of a mean of values in [0, 1] by one more task that fails or passes all (section 1)."""
    value = fmean(values)
    low = solve(lambda x: 0.75 * below(values, 0.0, x) + 0.25 * below(values, 1.0, x), 0.025, 0.0)
    high = solve(lambda x: 0.25 * below(values, 0.0, x) + 0.75 * below(values, 1.0, x), 0.975, 0.0)
    return min(low, value), max(high, value)


def one_more_difference(values: Sequence[float]) -> tuple[float, float]:
    """The interval of a mean of paired differences (section 2)."""

    def chance(x: float) -> float:
        return fmean(below(values, extra, x) for extra in (-1.0, 0.0, 1.0))

    return solve(chance, 0.025, -1.0), solve(chance, 0.975, -1.0)


def solve(chance: Callable[[float], float], target: float, least: float) -> float:
    low, high = least, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < target else (low, middle)
    return low


def bisected(chance: Callable[[float], float], target: float, middle: float, width: float) -> float:
    """Where a rising chance reaches the target, at most so far from a middle."""
    return middle - width + 2 * width * solve(lambda x: chance(middle - width + 2 * width * x), target, 0.0)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(600)
_S = (_NODES + 1) / 2
_T, _DT = _S / (1 - _S), _WEIGHTS / 2 / (1 - _S) ** 2


def below(values: Sequence[float], extra: float, x: float) -> float:
    """The chance that the mean with Dirichlet(1, ..., 1) weights is at most x."""
    times = Counter([*values, extra])
    if all(value <= x for value in times):
        return 1.0
    if all(value >= x for value in times):
        return 0.0
    scale = math.sqrt(sum(count * (value - x) ** 2 for value, count in times.items()))
    angle, logarithm = np.zeros_like(_T), np.zeros_like(_T)
    for value, count in times.items():
        slope = (value - x) / scale
        angle += count * np.arctan(slope * _T)
        logarithm += count / 2 * np.log1p((slope * _T) ** 2)
    return float(0.5 - np.sum(_DT * np.sin(angle) * np.exp(-logarithm) / _T) / math.pi)
