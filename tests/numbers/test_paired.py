"""Paired tests against all swaps of the dialogues of two systems, counted one by one.

Notices: the sign or the last digit of a difference, p of another pair or measure, a dialogue missing, a correction for
too few pairs. p is counted in 20,000 random swaps, so it may be off by 0.015.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import surface
from tasks_town import answer, gold_dialogue, turn, write_town

#: Numerator and denominator of every dialogue.
Sums = Mapping[str, tuple[float, float]]
RESAMPLES = 20_000
OFF = 0.015
MEASURES = ("JGA", "F1")
SLOTS = ("hotel-area", "hotel-stars", "train-day")


def gold_states() -> dict[str, list[dict[str, str]]]:
    """Nine dialogues of one to four turns."""
    chance = random.Random(0)
    return {
        f"d{number}": [{slot: "a" for slot in SLOTS if chance.random() < 0.8} for _ in range(chance.randint(1, 4))]
        for number in range(9)
    }


def system(seed: int, right: float) -> dict[str, list[dict[str, str]]]:
    """Gold with values changed, and left out, now and then."""
    chance = random.Random(seed)
    return {
        name: [
            {slot: value if chance.random() < right else "b" for slot, value in state.items() if chance.random() < 0.95}
            for state in turns
        ]
        for name, turns in gold_states().items()
    }


def differences(first: Sums, second: Sums) -> np.ndarray[Any, np.dtype[np.float64]]:
    """First minus second under every one of the swaps; the first of them swaps nothing."""
    sides = np.array([[first[name], second[name]] for name in sorted(first)])
    swaps = np.array(list(product([0, 1], repeat=len(sides))))
    rows = np.arange(len(sides))
    mine, theirs = sides[rows, swaps].sum(axis=1), sides[rows, 1 - swaps].sum(axis=1)
    return np.asarray(mine[:, 0] / mine[:, 1] - theirs[:, 0] / theirs[:, 1])


def step_down(every: list[np.ndarray[Any, np.dtype[np.float64]]]) -> list[float]:
    """p of each pair, corrected for all pairs: the largest statistic of each swap (Westfall and Young, 1993)."""
    scaled = [np.abs(each) / each.std() for each in every]
    order = sorted(range(len(every)), key=lambda pair: -scaled[pair][0])
    corrected, largest = [0.0] * len(every), 0.0
    for step, pair in enumerate(order):
        most = np.max([scaled[other] for other in order[step:]], axis=0)
        largest = max(largest, float(np.mean(most >= scaled[pair][0] - 1e-9)))
        corrected[pair] = largest
    return corrected


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p_and_its_correction_by_counting_all_swaps(seed: int) -> None:
    gold = gold_states()
    systems = {name: system(10 * seed + number, 0.5 + 0.2 * number) for number, name in enumerate("abc")}
    comparison = surface.compared(gold, systems, measures=",".join(MEASURES), resamples=RESAMPLES)
    runs = surface.trackers(gold, systems, measures=",".join(MEASURES))
    pairs = list(combinations("abc", 2))
    for measure in MEASURES:
        sums = {name: surface.by_dialogue(run, measure) for name, run in runs.items()}
        every = [differences(sums[first], sums[second]) for first, second in pairs]
        corrected = step_down(every)
        for (first, second), found, adjusted in zip(pairs, every, corrected, strict=True):
            ours = surface.difference(comparison, first, second, measure)
            assert ours["difference"] == pytest.approx(found[0], abs=1e-12)
            assert ours["p"] == pytest.approx(np.mean(np.abs(found) >= abs(found[0]) - 1e-12), abs=OFF)
            assert ours["adjusted"] == pytest.approx(adjusted, abs=OFF)
            assert ours["adjusted"] >= ours["p"] - 1e-12
            assert ours["significant"] == (not ours["low"] <= 0 <= ours["high"])
            if abs(adjusted - 0.05) > OFF:
                assert ours["significant"] == (adjusted < 0.05)
            better = [sums[first][name][0] / sums[first][name][1] - sums[second][name][0] / sums[second][name][1]
                      for name in gold if sums[first][name][1] and sums[second][name][1]]  # fmt: skip
            signs = [sum(each > 1e-12 for each in better), sum(each < -1e-12 for each in better)]
            assert [ours["wins"], ours["losses"]] == signs
            assert ours["wins"] + ours["ties"] + ours["losses"] == len(better)


def test_values_of_several_sums_by_counting_all_swaps(tmp_path: Path) -> None:
    """BLEU of two systems; a true difference shrinks with the share of the dialogues that do not change sides."""
    chance, names = random.Random(3), [f"d{number}" for number in range(11)]
    said = {name: [chance.choice("abcd") for _ in range(12)] for name in names}
    gold = write_town(tmp_path, {name: gold_dialogue({"taxi": {"reqt": ["phone"]}}, [answer()]) for name in names})
    references = tmp_path / "references.json"
    references.write_text(json.dumps({name: [" ".join(words)] for name, words in said.items()}))
    systems = {
        system: {
            name: [turn(" ".join(word if chance.random() < right else "x" for word in said[name]))] for name in names
        }
        for system, right in (("a", 0.92), ("b", 0.75))
    }
    options = {"measures": "BLEU", "references": references, "references_are": "clean"}
    runs = surface.responses(gold, systems, **options)
    sums = np.array([[surface.bleu_counts(runs[system])[name] for name in names] for system in "ab"], dtype=np.float64)

    def bleu(totals: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
        matches, of, length, reference = totals[:, :4], totals[:, 4:8], totals[:, 8], totals[:, 9]
        assert (matches > 0).all() and (length == reference).all()
        return np.asarray(100 * np.exp(np.log(matches / of).mean(axis=1)))

    swaps = np.array(list(product([0, 1], repeat=len(names))))
    moved = swaps @ (sums[1] - sums[0])
    every = bleu(sums[0].sum(axis=0) + moved) - bleu(sums[1].sum(axis=0) - moved)
    ours = surface.difference(surface.compared_runs(*runs.values(), resamples=RESAMPLES), "a", "b", "BLEU")
    assert ours["difference"] == pytest.approx(every[0], abs=1e-9)
    assert ours["p"] == pytest.approx(np.mean(np.abs(every) >= abs(every[0]) - 1e-9), abs=OFF)
    slopes = 1 - 2 * swaps.mean(axis=1)
    most = np.quantile(np.abs(every) / every.std(), 0.95)
    for end in (ours["low"], ours["high"]):
        spread = np.sqrt(np.mean((every - end * slopes) ** 2))
        assert abs(every[0] - end) == pytest.approx(most * spread, rel=0.04)
