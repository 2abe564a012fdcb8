"""A user model beside people: acts turn by turn by hand, divergences by scipy and from their curves.

Notices: the last digit of a rate or a divergence, a dialogue missing, people and the model swapped.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from statistics import fmean
from typing import Any

import pytest
import surface
from scipy import stats

#: By dialogue and user turn, slots and values.
Talks = dict[str, list[list[tuple[str, str]]]]


def talks(seed: int, slots: str) -> Talks:
    chance = random.Random(seed)
    return {
        f"d{number}": [
            [(f"slot {chance.choice(slots)}", chance.choice("xy")) for _ in range(chance.randint(1, 3))]
            for _ in range(chance.randint(1, 5))
        ]
        for number in range(25)
    }


PEOPLE, MODEL = talks(1, "aaabbc"), talks(2, "abbcd")


@pytest.fixture(scope="module")
def found() -> Any:
    return surface.likeness(PEOPLE, {**MODEL, "of nobody": [[("slot a", "x")]]})


@pytest.mark.parametrize("kind", ["acts", "values"])
def test_acts_turn_by_turn(kind: str, found: Any) -> None:
    """Every pair of turns with the same number; what is said twice in a turn counts once."""
    same = said = wanted = 0
    for name, real in PEOPLE.items():
        made = MODEL[name]
        for turn in range(max(len(real), len(made))):
            gold, ours = ({act if kind == "values" else act[0] for act in side[turn]} if turn < len(side) else set()
                          for side in (real, made))  # fmt: skip
            same, said, wanted = same + len(gold & ours), said + len(ours), wanted + len(gold)
    ours = found[kind]
    rates = (same / said, same / wanted, 2 * same / (said + wanted))
    assert (ours["precision"], ours["recall"], ours["f1"]) == pytest.approx(rates, abs=1e-12)
    assert ours["low"] < ours["f1"] < ours["high"]


def test_dialogues_of_one_act_have_the_interval_of_single_cases() -> None:
    people = {f"d{n}": [[("slot a", "x")]] for n in range(12)}
    user = {name: [[("slot a" if n < 9 else "slot b", "x")]] for n, name in enumerate(people)}
    found = surface.likeness(people, user)["acts"]
    ends = []
    for right in (9, 3):  # three of four of one more case lie at the bound that the end faces
        low, high = 0.0, 1.0
        for _ in range(60):
            share = (low + high) / 2
            chance = 0.75 * stats.beta.cdf(share, right, 13 - right) + 0.25 * stats.beta.cdf(
                share, right + 1, 12 - right
            )
            low, high = (share, high) if chance < 0.025 else (low, share)
        ends.append(low)
    assert (found["f1"], found["low"], found["high"]) == pytest.approx((0.75, ends[0], 1 - ends[1]), abs=1e-6)


def divergence(true: Counter[Any], other: Counter[Any]) -> float:
    """Of the other from the true one, in bits, half a case added to every count."""
    names = sorted({*true, *other})
    return float(stats.entropy([true[name] + 0.5 for name in names], [other[name] + 0.5 for name in names], base=2))


def apart(first: list[int], second: list[int]) -> float:
    """The root mean square of the gap of two curves, at all values of both."""
    gaps = [fmean(each <= x for each in first) - fmean(each <= x for each in second) for x in first + second]
    return math.sqrt(fmean(gap * gap for gap in gaps))


def test_divergences(found: Any) -> None:
    real, made = (
        Counter(act[0] for talk in side.values() for turn in talk for act in turn) for side in (PEOPLE, MODEL)
    )
    assert found["kl_acts"] == pytest.approx(divergence(real, made), abs=1e-12)
    lengths, own = ([len(talk) for talk in side.values()] for side in (PEOPLE, MODEL))
    assert found["kl_turns"] == pytest.approx(divergence(Counter(lengths), Counter(own)), abs=1e-12)
    assert found["cvm_turns"] == pytest.approx(apart(lengths, own), abs=1e-12)
    sizes, own_sizes = ([len(turn) for talk in side.values() for turn in talk] for side in (PEOPLE, MODEL))
    assert found["cvm_acts"] == pytest.approx(apart(sizes, own_sizes), abs=1e-12)
    assert (found["dialogues"], found["turns"], found["corpus_turns"]) == (25, sum(own), sum(lengths))
