"""Graders against each other: rates, agreement and the true pass rate behind an imperfect grader, by their definitions.

Notices: the last digit of a rate, of kappa, of alpha or of an interval's end (of
kappa's, which is drawn at random, a tenth of its width); a verdict missing; two graders swapped.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import surface
from scipy import stats
from shares_oracle import closed_forms

TASKS = 60


@pytest.fixture(scope="module", params=[0, 3])
def verdicts(request: pytest.FixtureRequest) -> dict[str, list[bool]]:
    """One verdict of each grader on every task; ann, who is the truth, looked at every second task only.

    The true share reaches down to 0 in the first draw; in the second neither end of it is cut off.
    """
    chance = random.Random(request.param)
    ann = [chance.random() < 0.5 for _ in range(TASKS)]
    return {"ann": ann, "model": [passed if chance.random() < 0.85 else not passed for passed in ann]}


@pytest.fixture(scope="module")
def found(verdicts: dict[str, list[bool]]) -> Any:
    rows = [(task, 0, "model", passed) for task, passed in enumerate(verdicts["model"])]
    return surface.graders([*rows, *((task, 0, "ann", verdicts["ann"][task]) for task in range(0, TASKS, 2))], "ann")


def both(verdicts: dict[str, list[bool]]) -> list[tuple[bool, bool]]:
    return [(verdicts["model"][task], verdicts["ann"][task]) for task in range(0, TASKS, 2)]


def ends(estimate: Any) -> tuple[float, float]:
    return estimate["low"], estimate["high"]


def of_share(right: int, cases: int) -> Any:
    """The interval of a share, as in test_intervals.py."""
    return pytest.approx(tuple(closed_forms(np.array([right]), cases)[0]), abs=1e-5)


def test_rates(verdicts: dict[str, list[bool]], found: Any) -> None:
    by_name = {each["grader"]: each for each in found["graders"]}
    assert by_name["model"]["pass_rate"]["value"] == pytest.approx(sum(verdicts["model"]) / TASKS, abs=1e-12)
    assert by_name["ann"]["pass_rate"]["value"] == pytest.approx(sum(verdicts["ann"][::2]) / (TASKS / 2), abs=1e-12)
    assert ends(by_name["model"]["pass_rate"]) == of_share(sum(verdicts["model"]), TASKS)
    assert ends(by_name["ann"]["pass_rate"]) == of_share(sum(verdicts["ann"][::2]), TASKS // 2)
    assert (by_name["model"]["conversations"], by_name["ann"]["conversations"]) == (TASKS, TASKS / 2)


def test_agreement(verdicts: dict[str, list[bool]], found: Any) -> None:
    pairs = both(verdicts)
    [pair] = found["pairs"]
    same = sum(one == other for one, other in pairs) / len(pairs)
    assert ends(pair["agreement"]) == of_share(sum(one == other for one, other in pairs), len(pairs))
    first, second = (sum(each) / len(pairs) for each in zip(*pairs, strict=True))
    chance = first * second + (1 - first) * (1 - second)
    assert pair["agreement"]["value"] == pytest.approx(same, abs=1e-12)
    assert pair["kappa"]["value"] == pytest.approx((same - chance) / (1 - chance), abs=1e-12)
    coincidences = Counter(pair for each in pairs for pair in permutations(each, 2))
    total = coincidences.total()
    apart = sum(count for pair, count in coincidences.items() if pair[0] != pair[1]) / total
    passed = sum(count for pair, count in coincidences.items() if pair[0])
    by_chance = 2 * passed * (total - passed) / (total * (total - 1))
    assert found["alpha"] == pytest.approx(1 - apart / by_chance, abs=1e-12)


def test_the_interval_of_kappa(verdicts: dict[str, list[bool]], found: Any) -> None:
    """Quantiles of resamples: drawn on both sides, so an end may be a tenth of the width off."""
    pairs = np.array(both(verdicts), dtype=float)
    drawn = pairs[np.random.default_rng(1).integers(len(pairs), size=(20_000, len(pairs)))]
    same = (drawn[..., 0] == drawn[..., 1]).mean(axis=1)
    first, second = drawn.mean(axis=1).T
    chance = first * second + (1 - first) * (1 - second)
    low, high = np.quantile((same - chance) / (1 - chance), [0.025, 0.975])
    assert ends(found["pairs"][0]["kappa"]) == pytest.approx((low, high), abs=(high - low) / 10)


def test_the_true_rate_behind_an_imperfect_grader(verdicts: dict[str, list[bool]], found: Any) -> None:
    """Rogan and Gladen (1978), with the interval of Lang and Reiczigel (2014)."""
    pairs, others = Counter(both(verdicts)), verdicts["model"]
    hits, misses = pairs[True, True], pairs[False, True]
    false, rejected = pairs[True, False], pairs[False, False]
    [grader] = found["corrected"]
    assert grader["sensitivity"]["value"] == pytest.approx(hits / (hits + misses), abs=1e-12)
    assert grader["specificity"]["value"] == pytest.approx(rejected / (rejected + false), abs=1e-12)
    assert ends(grader["sensitivity"]) == of_share(hits, hits + misses)
    assert ends(grader["specificity"]) == of_share(rejected, rejected + false)
    apparent = sum(others) / len(others)
    assert grader["apparent"] == pytest.approx(apparent, abs=1e-12)

    def true_share(share: float, sensitivity: float, specificity: float) -> float:
        return (share + specificity - 1) / (sensitivity + specificity - 1)

    z = float(stats.norm.ppf(0.975))
    n, m, k = len(others) + z * z, hits + misses + 2, rejected + false + 2
    share, se, sp = (sum(others) + z * z / 2) / n, (hits + 1) / m, (rejected + 1) / k
    middle, gain = true_share(share, se, sp), se + sp - 1
    spread = share * (1 - share) / n + middle**2 * se * (1 - se) / m + (1 - middle) ** 2 * sp * (1 - sp) / k
    shift = 2 * z * z * (middle * se * (1 - se) / m - (1 - middle) * sp * (1 - sp) / k)
    reach = z * spread**0.5 / gain
    corrected = grader["corrected"]
    assert corrected["value"] == pytest.approx(true_share(apparent, hits / (m - 2), rejected / (k - 2)), abs=1e-12)
    assert (corrected["low"], corrected["high"]) == pytest.approx(
        (max(middle + shift - reach, 0), min(middle + shift + reach, 1)), abs=1e-9
    )


def test_a_grader_that_tells_nothing_is_not_corrected() -> None:
    """Sensitivity and specificity add up to 1: the verdicts do not depend on the truth."""
    rows = [(task, 0, "ann", task % 2 == 0) for task in range(40)]
    rows += [(task, 0, "model", task % 4 < 2) for task in range(40)]
    [grader] = surface.graders(rows, "ann")["corrected"]
    assert grader["sensitivity"]["value"] + grader["specificity"]["value"] == 1
    assert grader["corrected"] is None
