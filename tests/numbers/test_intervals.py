"""Intervals of shares against their closed form, how often they hold, and laws; correlations against scipy.

Notices: the last digit of an interval's end or of a correlation (where both sides draw at random, of a tenth);
a dialogue missing; an interval that is too narrow; one that falls where the share rises; two measures swapped.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import surface
from hypothesis import given
from scipy import stats
from shares_oracle import closed_forms
from tracking_corpora import corpora
from tracking_oracle import States

Chances = np.ndarray[Any, np.dtype[np.float64]]

SIZES = (10, 20, 40, 100, 1_000)
SHARES = np.arange(1, 2_000) / 2_000  # .0005 to .9995


def found(counts: list[int], cases: int) -> list[tuple[float, float]]:
    """The intervals that are printed for so many right dialogues."""
    every = surface.shares_of_cases(counts, cases, measures="JGA")
    return [every[count]["JGA"] for count in counts]  # type: ignore[misc]


@pytest.mark.parametrize("cases", [2, 3, *SIZES])
def test_shares_have_the_closed_form(cases: int) -> None:
    some = sorted({0, 1, 2, cases // 7, cases // 2, cases * 9 // 10, cases - 2, cases - 1, cases})
    counts = list(range(cases + 1)) if cases <= 40 else some
    np.testing.assert_allclose(found(counts, cases), closed_forms(np.array(counts), cases), rtol=0, atol=1e-5)


@pytest.mark.parametrize("cases", [10, 40])
def test_a_higher_share_has_higher_ends(cases: int) -> None:
    for (low, high), (next_low, next_high) in pairwise(found(list(range(cases + 1)), cases)):
        assert low < next_low and high < next_high


@pytest.mark.parametrize("cases", SIZES)
def test_in_93_of_100_draws_they_hold_the_share(cases: int) -> None:
    """Exactly, by the binomial distribution, for every share from .0005 to .9995."""
    counts = np.arange(cases + 1)
    ends = closed_forms(counts, cases)
    held = (ends[:, :1] <= SHARES) & (ends[:, 1:] >= SHARES)
    chances = stats.binom.pmf(counts[:, None], cases, SHARES[None, :])
    assert (chances * held).sum(axis=0).min() >= 0.93


@given(corpora())
def test_intervals_of_any_measure_hold_their_value(data: tuple[States, States]) -> None:
    run = surface.tracking(*data, measures="all", intervals=True, resamples=50)
    values = surface.values(run)
    for name, (low, high) in surface.intervals(run).items():
        if low is not None and high is not None:
            value = values[name]
            assert value is not None and low <= value <= high, name


def turns(chance: np.random.Generator, dialogues: int = 20, right: float = 0.8) -> States:
    """Dialogues of one to five turns, each slot often there."""
    slots = {"hotel-area": "north", "hotel-stars": "4", "train-day": "monday"}
    lengths = np.random.default_rng(9).integers(1, 6, dialogues)
    return {
        f"d{number}": [{slot: value for slot, value in slots.items() if chance.random() < right} for _ in range(length)]
        for number, length in enumerate(lengths)
    }


DRAWS = 20_000


def studentised(num: Chances, den: Chances, chance: np.random.Generator) -> tuple[float, float]:
    """The interval of a ratio between 0 and 1 (docs/explanation/intervals.md): quantile of distances of resamples in
    their own standard errors, put on Wilson's scale for as many observations as the standard error is worth."""
    size, ratio = den.sum(), num.sum() / den.sum()
    weights = chance.multinomial(len(den), np.full(len(den), 1 / len(den)), DRAWS)
    drawn = (weights @ num) / (weights @ den)
    errors = np.sqrt((weights * (num - drawn[:, None] * den) ** 2).sum(axis=1)) / (weights @ den)
    error = np.sqrt(((num - ratio * den) ** 2).sum()) / size
    scored = int((den > 0).sum())
    critical = max(np.quantile(np.abs(drawn - ratio) / errors, 0.95), stats.t.ppf(0.975, scored - 1))
    observations = max(ratio * (1 - ratio) / error**2, size**2 / (den**2).sum())
    extra = critical**2 / observations
    middle = (ratio + extra / 2) / (1 + extra)
    half = np.sqrt(extra * ratio * (1 - ratio) + extra**2 / 4) / (1 + extra)
    return float(middle - half), float(middle + half)


@pytest.mark.parametrize(("seed", "right"), [(1, 0.6), (2, 0.8), (3, 0.95)])
def test_other_shares_have_the_studentised_interval(seed: int, right: float) -> None:
    """Both sides draw their own resamples, so the ends agree to a few hundredths of the width."""
    chance = np.random.default_rng(seed)
    run = surface.tracking(
        turns(chance, 30, 1.0), turns(chance, 30, right), measures="JGA,F1,Recall,SA", intervals=True, resamples=DRAWS
    )
    for measure, (low, high) in surface.intervals(run).items():
        num, den = np.array([*surface.by_dialogue(run, measure).values()], dtype=np.float64).T
        assert low is not None and high is not None
        assert (low, high) == pytest.approx(studentised(num, den, chance), abs=0.04 * (high - low)), measure


@pytest.mark.parametrize("wrong", [0.0004, 0.3, 0.9996])
def test_shares_of_many_dialogues_have_the_linearised_interval(wrong: float) -> None:
    """Beyond 5,000 dialogues nothing is drawn: Student's quantile and the error of the residuals, on Wilson's scale."""
    chance = np.random.default_rng(5)
    lengths = chance.integers(1, 4, 5_200)
    gold: States = {f"d{place}": [{"hotel-area": "x"}] * length for place, length in enumerate(lengths)}
    said: States = {
        name: [{"hotel-area": "xy"[int(chance.random() < wrong)]} for _ in each] for name, each in gold.items()
    }
    run = surface.tracking(gold, said, measures="JGA", intervals=True)
    num, den = np.array([*surface.by_dialogue(run, "JGA").values()], dtype=np.float64).T
    ratio, size = num.sum() / den.sum(), den.sum()
    error = np.sqrt(((num - ratio * den) ** 2).sum()) / size
    observations = max(ratio * (1 - ratio) / error**2, size**2 / (den**2).sum())
    extra = stats.t.ppf(0.975, len(den) - 1) ** 2 / observations
    middle = (ratio + extra / 2) / (1 + extra)
    half = np.sqrt(extra * ratio * (1 - ratio) + extra**2 / 4) / (1 + extra)
    [ends] = surface.intervals(run).values()
    assert 0 < ratio < 1
    assert ends == pytest.approx((middle - half, middle + half), abs=1e-9)


@pytest.mark.parametrize(("dialogues", "off"), [(30, 1e-5), (2, 0.3)])
def test_a_mean_over_slots_has_the_jackknifes_interval(dialogues: int, off: float) -> None:
    """Student's quantile is an expansion, which for two dialogues is a quarter too small."""
    chance = np.random.default_rng(4)
    gold, predicted = turns(chance, dialogues, 1.0), turns(chance, dialogues, 0.8)
    run = surface.tracking(gold, predicted, measures="F1(average=gold-slot)", intervals=True)
    counted: dict[str, dict[str, Chances]] = {}
    for (dialogue, slot), (correct, wrong, missed, spurious) in surface.counts_by_slot(run).items():
        row = np.array([2 * correct, 2 * correct + 2 * wrong + missed + spurious], dtype=np.float64)
        counted.setdefault(slot, {})[dialogue] = row

    def mean(left_out: str) -> float:
        sums = [sum(row for dialogue, row in rows.items() if dialogue != left_out) for rows in counted.values()]
        return float(np.mean([num / den for num, den in sums]))  # type: ignore[misc]

    [value], [(low, high)] = surface.values(run).values(), surface.intervals(run).values()
    assert value == pytest.approx(mean(""), abs=1e-12)
    without = np.array([mean(dialogue) for dialogue in gold])
    error = np.sqrt((len(gold) - 1) / len(gold) * ((without - without.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, len(gold) - 1) * error
    ends = max(value - reach, 0), min(value + reach, 1)
    assert (low, high) == pytest.approx(ends, abs=off * reach)
    z, n = stats.norm.ppf(0.975), len(gold) - 1  # Abramowitz and Stegun, 26.7.5
    terms = z**3 + z, 5 * z**5 + 16 * z**3 + 3 * z, 3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z
    expanded = (z + terms[0] / (4 * n) + terms[1] / (96 * n**2) + terms[2] / (384 * n**3)) * error
    assert (low, high) == pytest.approx((max(value - expanded, 0), min(value + expanded, 1)), abs=1e-11)


@pytest.mark.parametrize(("own", "there"), [(["y"], False), (["x"], True), (["y", "x"], True), (["y", "y"], False)])
def test_a_slot_seen_in_one_dialogue_and_never_right_has_no_interval(own: list[str], there: bool) -> None:
    """More dialogues would bring more such slots: what was seen once tells how much is unseen."""
    gold = {f"d{number}": [{"hotel-area": "x"}] * 2 for number in range(9)}
    said = {name: [{"hotel-area": "xy"[int(name[1:]) % 3 == 0]}, {"hotel-area": "x"}] for name in gold}
    gold["d9"], said["d9"] = [{"hotel-stars": "x"}] * len(own), [{"hotel-stars": each} for each in own]
    run = surface.tracking(gold, said, measures="F1(average=gold-slot)", intervals=True)
    [(low, high)] = surface.intervals(run).values()
    assert (low is not None, high is not None) == (there, there)


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_correlations_are_scipys(kind: str) -> None:
    chance = np.random.default_rng(0)
    names = ("JGA", "SA", "AGA", "RSA")
    run = surface.tracking(turns(chance), turns(chance), measures=",".join(names))
    by_turn = [surface.turn_values(run, name) for name in names]
    few = surface.tracking({"d": [{"hotel-area": "x"}] * 2}, {"d": [{"hotel-area": "x"}, {}]}, measures="JGA,SA")
    assert surface.turn_correlations(few, kind) == [[pytest.approx(1)] * 2] * 2
    theirs: Any = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    for row, first in zip(surface.turn_correlations(run, kind), by_turn, strict=True):
        for value, second in zip(row, by_turn, strict=True):
            both = [(first[turn], second[turn]) for turn in first if None not in (first[turn], second[turn])]
            assert value == pytest.approx(theirs(*zip(*both, strict=True)).statistic, abs=1e-9)
