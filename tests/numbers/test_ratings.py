"""People's ratings: how far raters agree, by its definitions, and how measures go with them, by scipy.

Notices: the last digit of kappa, of an alpha or of a correlation; a rating missing; two dialogues swapped. Intervals
are drawn on both sides, so their ends may be a tenth of the width off.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import surface
from scipy import stats

SLOTS = ("hotel-area", "hotel-stars", "train-day", "train-people")
RATERS = "abc"
KINDS: dict[str, Any] = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
#: What each of three raters, from 1 to 5, says of 24 dialogues.
Sheet = list[list[float]]


def states() -> tuple[dict[str, Any], dict[str, Any]]:
    chance = random.Random(3)
    gold = {f"d{number}": [dict.fromkeys(SLOTS, "x")] * chance.randint(2, 4) for number in range(24)}
    wrong = {name: chance.random() * 0.6 for name in gold}
    said = {
        name: [{slot: "y" if chance.random() < wrong[name] else "x" for slot in SLOTS} for _ in turns]
        for name, turns in gold.items()
    }
    return gold, said


def sheet(*, whole: bool) -> Sheet:
    """A missing rating is NaN; every dialogue has two at least."""
    chance = random.Random(5)
    liked = [1 + sum("y" not in turn.values() for turn in turns) for turns in states()[1].values()]
    rows = [[float(min(5, max(1, level + chance.choice((-1, 0, 0, 0, 1))))) for _ in RATERS] for level in liked]
    for row in [] if whole else rows[::3]:
        row[chance.randrange(3)] = math.nan
    return rows


def rated(rows: Sheet) -> Any:
    gold, said = states()
    lines = [
        (f"d{number}", rater, rating)
        for number, row in enumerate(rows)
        for rater, rating in zip(RATERS, row, strict=True)
        if not math.isnan(rating)
    ]
    return surface.rated(gold, said, lines, measures="JGA,SA,F1,FGA@0.5")


def fleiss(rows: Sheet) -> float:
    pairs = fmean(one == other for row in rows for one, other in permutations(row, 2))
    every = [rating for row in rows for rating in row]
    chance = sum((every.count(rating) / len(every)) ** 2 for rating in set(every))
    return (pairs - chance) / (1 - chance)


def krippendorff(rows: Sheet, distance: Callable[[float, float, list[float]], float]) -> float:
    """Mean squared distance of two ratings of one dialogue, over that of any two ratings."""
    given = [[rating for rating in row if not math.isnan(rating)] for row in rows]
    every = [rating for row in given if len(row) > 1 for rating in row]
    within = sum(
        sum(distance(*pair, every) for pair in permutations(row, 2)) / (len(row) - 1) for row in given if len(row) > 1
    )
    return 1 - within * (len(every) - 1) / sum(distance(*pair, every) for pair in permutations(every, 2))


def between(one: float, other: float, every: list[float]) -> float:
    """How many ratings lie between two, those of the two by half."""
    low, high = sorted((one, other))
    return (sum(low <= each <= high for each in every) - (every.count(low) + every.count(high)) / 2) ** 2


@pytest.mark.parametrize("whole", [True, False])
def test_agreement_of_raters(whole: bool) -> None:
    rows = sheet(whole=whole)
    agreement = rated(rows)["agreement"]
    assert agreement["Fleiss' kappa"] == (pytest.approx(fleiss(rows), abs=1e-12) if whole else None)
    distances = {
        "nominal": lambda one, other, _: float(one != other),
        "ordinal": between,
        "interval": lambda one, other, _: (one - other) ** 2,
    }
    for level, distance in distances.items():
        assert agreement[f"Krippendorff's alpha ({level})"] == pytest.approx(krippendorff(rows, distance), abs=1e-12)


def test_raters_who_all_say_the_same() -> None:
    agreement = rated([[4.0] * 3] * 24)["agreement"]
    assert set(agreement.values()) == {None}


def drawn_ends(kind: str, scores: Sequence[float], means: Sequence[float]) -> Any:
    chance, pairs = np.random.default_rng(0), np.array([scores, means])
    drawn = [KINDS[kind](*pairs[:, chance.integers(0, len(scores), len(scores))]).statistic for _ in range(1_000)]
    return np.nanquantile(drawn, (0.025, 0.975))


def test_correlations_with_ratings() -> None:
    rows = sheet(whole=False)
    found = {row["measure"]: row for row in rated(rows)["correlations"]}
    run = surface.tracking(*states(), measures="JGA,SA,F1,FGA@0.5")
    means = [float(np.nanmean(row)) for row in rows]
    best = max(row["mean"]["pearson"] for row in found.values())
    for measure, row in found.items():
        sums = surface.by_dialogue(run, measure)
        scores = [sums[f"d{number}"][0] / sums[f"d{number}"][1] for number in range(24)]
        single = [(score, rating) for score, each in zip(scores, rows, strict=True) for rating in each]
        known = [pair for pair in single if not math.isnan(pair[1])]
        for kind, correlation in KINDS.items():
            assert row["mean"][kind] == pytest.approx(correlation(scores, means).statistic, abs=1e-9), (measure, kind)
            assert row["single"][kind] == pytest.approx(correlation(*zip(*known, strict=True)).statistic, abs=1e-9)
            low, high = drawn_ends(kind, scores, means)
            assert row["intervals"][kind] == pytest.approx((low, high), abs=0.1 * (high - low)), (measure, kind)
        if row["behind"]:
            assert row["behind"][0] == pytest.approx(best - row["mean"]["pearson"], abs=1e-12)
            assert row["behind"][1] <= row["behind"][0] <= row["behind"][2]
