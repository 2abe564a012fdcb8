"""Several systems at once: intervals of the step that decided, what a test set can tell apart, amounts, equal systems.

Notices: an end of an interval by a twentieth of its width, p by 0.015, a pair or a dialogue missing, an end that is
another step's, the last digit of a share of pairs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, product
from statistics import NormalDist
from typing import Any

import numpy as np
import pass_k_oracle as oracle
import pytest
import surface

DIALOGUES, SWAPS, ALPHA, OFF = 40, 20_000, 0.05, 0.015
LENGTHS = [1 + number % 4 for number in range(DIALOGUES)]


def states(right: Sequence[Sequence[bool]]) -> dict[str, list[dict[str, str]]]:
    return {
        f"d{number}": [{"hotel-area": "x" if each else "y"} for each in turns] for number, turns in enumerate(right)
    }


def tracker(seed: int, share: float) -> dict[str, list[dict[str, str]]]:
    chance = random.Random(seed)
    return states([[chance.random() < share for _ in range(length)] for length in LENGTHS])


GOLD = states([[True] * length for length in LENGTHS])


class Steps:
    """All pairs of systems whose turns are the same, by random swaps of our own."""

    def __init__(self, right: Sequence[Sequence[int]], sizes: Sequence[int]) -> None:
        self.sizes = np.array(sizes, float)
        self.pairs = list(combinations(range(len(right)), 2))
        self.moved = np.array([np.subtract(right[a], right[b]) for a, b in self.pairs], float)
        signs = np.random.default_rng(7).choice([-1.0, 1.0], (SWAPS, len(sizes)))
        self.difference = self.moved.sum(axis=1) / self.sizes.sum()
        spread = np.array([self.error(row, 0.0) for row in range(len(self.pairs))])
        self.statistic = np.abs(self.difference) / spread
        drawn = np.abs(signs @ self.moved.T) / self.sizes.sum() / spread
        self.critical, self.adjusted = np.full((2, len(self.pairs)), np.nan)
        left, least = sorted(range(len(self.pairs)), key=lambda row: -self.statistic[row]), 0.0
        order = list(left)
        for step, row in enumerate(order):
            least = max(least, float(np.mean(drawn[:, order[step:]].max(axis=1) >= self.statistic[row] - 1e-9)))
            self.adjusted[row] = least
        self.first = float(np.quantile(drawn.max(axis=1), 1 - ALPHA))
        while left:
            value = float(np.quantile(drawn[:, left].max(axis=1), 1 - ALPHA))
            self.critical[left] = value
            rest = [row for row in left if self.statistic[row] <= value]
            left = [] if len(rest) == len(left) else rest

    def error(self, row: int, true: float) -> float:
        """The standard deviation over all swaps, a true difference subtracted first."""
        return float(np.sqrt(((self.moved[row] - true * self.sizes) ** 2).sum()) / self.sizes.sum())

    def end(self, row: int, critical: float, way: int) -> float:
        """The farthest true difference that is not rejected."""
        near, far = float(self.difference[row]), float(self.difference[row]) + 2 * way
        for _ in range(40):
            middle = (near + far) / 2
            kept = abs(self.difference[row] - middle) <= critical * self.error(row, middle)
            near, far = (middle, far) if kept else (near, middle)
        return near

    def ends(self, row: int) -> tuple[float, float]:
        """Those of the first step; the end that faces 0 is that of the step that told the pair apart."""
        own = self.critical[row] if self.adjusted[row] < ALPHA else self.first
        up = self.difference[row] > 0
        return self.end(row, own if up else self.first, -1), self.end(row, self.first if up else own, 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ends_of_the_step_that_decided(seed: int) -> None:
    names = {"a": 0.95, "b": 0.55, "c": 0.72, "d": 0.5}
    systems = {name: tracker(10 * seed + ord(name), share) for name, share in names.items()}
    comparison = surface.compared(GOLD, systems, measures="JGA", resamples=SWAPS)
    runs = surface.trackers(GOLD, systems, measures="JGA")
    right = [[int(num) for num, _ in surface.by_dialogue(runs[name], "JGA").values()] for name in names]
    steps = Steps(right, [int(den) for _, den in surface.by_dialogue(runs["a"], "JGA").values()])
    assert (steps.critical < steps.first - 0.1).any()  # some pair is told apart by a later step
    reaches, found, small = [], [], 0
    for row, (first, second) in enumerate(combinations(names, 2)):
        ours = surface.difference(comparison, first, second, "JGA")
        low, high = steps.ends(row)
        assert (ours["low"], ours["high"]) == pytest.approx((low, high), abs=0.03 * (high - low))
        assert ours["adjusted"] == pytest.approx(steps.adjusted[row], abs=OFF)
        difference, way = steps.difference[row], 1 if steps.difference[row] < 0 else -1
        reaches.append(abs(difference - (low if way < 0 else high)))
        error = steps.error(row, difference)
        found.append(abs(difference - steps.end(row, steps.first, way)) + NormalDist().inv_cdf(0.8) * error)
        small += ours["p"] < ALPHA
    [told] = surface.told_apart(comparison)
    assert (told["noise_floor"], told["resolved"]) == pytest.approx((min(reaches), max(reaches)), rel=0.03)
    assert told["detectable"] == pytest.approx(max(found), rel=0.03)
    assert told["discriminative_power"] == small / 6


def test_a_copy_changes_nothing_for_the_others() -> None:
    systems = {"a": tracker(1, 0.9), "b": tracker(2, 0.6)}
    alone = surface.difference(surface.compared(GOLD, systems, measures="JGA,F1"), "a", "b", "JGA")
    three = surface.compared(GOLD, {**systems, "copy": systems["a"]}, measures="JGA,F1")
    for name in ("a", "copy"):
        assert surface.difference(three, name, "b", "JGA") == pytest.approx(alone, abs=1e-12)
    same = surface.difference(three, "a", "copy", "JGA")
    assert (same["difference"], same["p"], same["adjusted"], same["significant"]) == (0, 1, 1, False)
    assert np.isnan(same["low"]) and np.isnan(same["high"])


def test_systems_that_differ_alike_everywhere_have_no_interval() -> None:
    """All right against all wrong: nothing varies, though the difference is sure."""
    wrong = states([[False] * length for length in LENGTHS])
    comparison = surface.compared(GOLD, {"a": GOLD, "b": wrong}, measures="JGA", resamples=1_000)
    found = surface.difference(comparison, "a", "b", "JGA")
    assert (found["difference"], found["significant"], found["p"]) == (1, True, pytest.approx(1 / 1_001))
    assert np.isnan(found["low"]) and np.isnan(found["high"])
    [told] = surface.told_apart(comparison)
    assert (told["noise_floor"], told["detectable"]) == (None, None)


@pytest.mark.parametrize("resamples", [18, 19, 20, 39])
def test_how_many_swaps_can_find_a_difference(resamples: int) -> None:
    """With n swaps p is at least 1 / (1 + n), and no critical value leaves p below 0.05 where that is not."""
    systems = {"a": tracker(1, 0.95), "b": tracker(2, 0.3)}
    comparison = surface.compared(GOLD, systems, measures="JGA", resamples=resamples)
    ours = surface.difference(comparison, "a", "b", "JGA")
    assert ours["p"] == ours["adjusted"] == pytest.approx(1 / (1 + resamples))
    assert ours["significant"] == (resamples > 19) == np.isfinite([ours["low"], ours["high"]]).all()


# Amounts: what one more unit, as far off as it may lie, would change

Unit = tuple[float, float]


def mean(units: Sequence[Unit]) -> float:
    return sum(num for num, _ in units) / sum(den for _, den in units)


def chances(units: Sequence[Unit], x: float, least: float = -np.inf) -> tuple[float, float]:
    """That the mean is at most x, one more unit at the low and at the high end of where it may lie."""
    middle, values = mean(units), [num / den for num, den in units]
    longest, farther = max(den for _, den in units), 1 + 15 / len(units)
    pulls = [num - x * den for num, den in units]
    low, high = (
        oracle.below(pulls, longest * (max(middle + farther * (end - middle), least) - x), 0.0)
        for end in (min(values), max(values))
    )
    return low, high


def amount_ends(units: Sequence[Unit], alpha: float, least: float = -np.inf) -> tuple[float, float]:
    values = [num / den for num, den in units]
    width = max(values) - min(values)

    def end(outwards: float, share: float) -> float:
        """One more unit at the low end of where it may lie weighs so much, at the high end the rest."""

        def chance(x: float) -> float:
            low, high = chances(units, x, least)
            return outwards * low + (1 - outwards) * high

        return oracle.bisected(chance, share, mean(units), 5 * width)

    return end(0.75, alpha / 2), end(0.25, 1 - alpha / 2)


def alone(units: Sequence[Unit]) -> float:
    low, high = chances(units, 0.0)
    return min(1.0, 2 * min(0.75 * low + 0.25 * high, 1 - (0.25 * low + 0.75 * high)))


TASKS = 9


def costs(seed: int, middle: float, trials: int, *, uneven: bool = False) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {"task_id": f"t{task}", "trial": trial, "success": True, "cost": round(chance.lognormvariate(middle, 0.5), 4)}
        for task in range(TASKS)
        for trial in range(1 + task % 3 if uneven else trials)
    ]


def units_of(records: list[dict[str, Any]]) -> list[Unit]:
    tasks = [[each["cost"] for each in records if each["task_id"] == f"t{task}"] for task in range(TASKS)]
    return [(sum(each), float(len(each))) for each in tasks]


@pytest.mark.parametrize("uneven", [False, True])
def test_an_amount_has_the_interval_of_one_more_unit(uneven: bool) -> None:
    records = costs(3, 0.0, 2, uneven=uneven)
    run = surface.agent(records)
    assert surface.values(run)["Cost"] == pytest.approx(mean(units_of(records)), abs=1e-12)
    assert surface.intervals(run)["Cost"] == pytest.approx(amount_ends(units_of(records), ALPHA, 0.0), abs=1e-4)


def test_differences_of_amounts() -> None:
    """The larger of the p-values of all 512 swaps and of one more unit, each corrected in its own way."""
    records = [costs(seed, middle, 2) for seed, middle in ((1, 0.0), (2, 0.25), (3, 1.3))]
    runs = [surface.agent(each, name=name) for name, each in zip("abc", records, strict=True)]
    comparison = surface.compared_runs(*runs, resamples=SWAPS)
    values = [[num / den for num, den in units_of(each)] for each in records]
    pairs = list(combinations(range(3), 2))
    moved = [np.subtract(values[a], values[b]) for a, b in pairs]
    swaps = np.array(list(product([-1, 1], repeat=TASKS))) @ np.transpose(moved) / TASKS
    scaled = np.abs(swaps) / swaps.std(axis=0)
    own = [alone([(each, 1.0) for each in row]) for row in moved]
    holm, stepped, most = [0.0] * 3, [0.0] * 3, 0.0
    for step, row in enumerate(sorted(range(3), key=lambda row: own[row])):
        holm[row] = most = min(1.0, max(most, (3 - step) * own[row]))
    most = 0.0
    order = sorted(range(3), key=lambda row: -scaled[-1][row])
    for step, row in enumerate(order):
        stepped[row] = most = max(most, float(np.mean(scaled[:, order[step:]].max(axis=1) >= scaled[-1][row] - 1e-9)))
    for row, (a, b) in enumerate(pairs):
        ours = surface.difference(comparison, "abc"[a], "abc"[b], "Cost")
        by_swaps = float(np.mean(np.abs(swaps[:, row]) >= abs(swaps[-1, row]) - 1e-12))
        assert ours["difference"] == pytest.approx(moved[row].mean(), abs=1e-12)
        assert ours["p"] == pytest.approx(max(by_swaps, own[row]), abs=OFF)
        assert ours["adjusted"] == pytest.approx(max(stepped[row], holm[row]), abs=OFF)
        low, high = amount_ends([(each, 1.0) for each in moved[row]], ALPHA / 3)
        if not ours["significant"]:
            assert (ours["low"], ours["high"]) == pytest.approx((min(low, 0), max(high, 0)), abs=1e-3)
        else:  # the end that faces away from 0
            assert ours["low"] == pytest.approx(low, abs=1e-3) and ours["high"] < 0
    assert [surface.difference(comparison, "a", other, "Cost")["significant"] for other in "bc"] == [False, True]


def test_what_amounts_tell_apart_is_the_same_from_the_other_side() -> None:
    made = [surface.agent(costs(seed, middle, 2), name=name) for seed, middle, name in ((1, 0.0, "a"), (2, 1.0, "b"))]
    ours, theirs = (surface.told_apart(surface.compared_runs(*pair)) for pair in (made, made[::-1]))
    for mine, other in zip(ours, theirs, strict=True):
        for what, value in mine.items():
            assert value == (other[what] if value is None else pytest.approx(other[what], rel=1e-6)), what


def test_amounts_of_tasks_tried_unevenly() -> None:
    """The difference of two ratios of sums, each linearised around itself."""
    first, second = costs(1, 0.0, 0, uneven=True), costs(2, 0.2, 2)
    comparison = surface.compared_runs(surface.agent(first, name="a"), surface.agent(second, name="b"))
    ours = surface.difference(comparison, "a", "b", "Cost")
    pulled = []
    for units in (units_of(first), units_of(second)):
        middle, length = mean(units), sum(den for _, den in units) / TASKS
        pulled.append([(num - middle * den) / length for num, den in units])
    apart = mean(units_of(first)) - mean(units_of(second))
    low, high = amount_ends([(apart + one - other, 1.0) for one, other in zip(*pulled, strict=True)], ALPHA)
    assert ours["difference"] == pytest.approx(apart, abs=1e-12)
    assert not ours["significant"]
    assert (ours["low"], ours["high"]) == pytest.approx((min(low, 0), max(high, 0)), abs=1e-3)
