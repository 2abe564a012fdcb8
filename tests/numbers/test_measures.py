"""What every measure shares: names and their settings, means over dialogues, scores as numbers, intervals of few units.

Notices: the last digit of a value, two measures swapped, an interval made in the way of larger or of even samples.
"""

from __future__ import annotations

from statistics import fmean

import pass_k_oracle as oracle
import pytest
import surface

LENGTHS = [1, 4, 2, 3, 1, 2]
GOLD = {f"d{number}": [{"hotel-area": "x", "train-day": "x"}] * length for number, length in enumerate(LENGTHS)}
SAID = {
    name: [{"hotel-area": "x", "train-day": "xy"[(place + turn) % 3 == 0]} for turn in range(len(turns))]
    for place, (name, turns) in enumerate(GOLD.items())
}


def scored(measures: str) -> dict[str, float | None]:
    return surface.values(surface.tracking(GOLD, SAID, measures=measures))


NAMES = {
    "jga": "JGA", "JGA( over = dialogues )": "JGA(over=dialogues)", "JGA(over=turns)": "JGA", "FGA@0.50": "FGA@0.5",
    "FGA @ 1.0": "FGA@1", "FGA@inf": "FGA@inf", "FGA@1e7": "FGA@10000000.0", "JGA[hotel]": "JGA[hotel]",
    "FGA@0.25[train]": "FGA@0.25[train]",
}  # fmt: skip
WRONG = [
    "JGB", "JGA@1", "JGA^1", "FGA^1", "FGA@x", "FGA@-1", "FGA@nan", "FGA@1e999", "JGA(over=words)", "JGA(over)",
    "JGA(over=)", "JGA(under=turns)", "JGA(over=turns,over=turns)", "JGA[]", "JGA[hotel", "", "FGA@0.5(lambda=1)",
    "pass^1",
]  # fmt: skip


def test_names_with_their_settings() -> None:
    for written, name in NAMES.items():
        assert list(scored(written)) == [name]
    assert list(scored(",".join(NAMES))) == list(dict.fromkeys(NAMES.values()))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_name(name: str) -> None:
    assert surface.refused(surface.tracking, GOLD, SAID, measures=name)


def test_trials_are_counted_from_one() -> None:
    trials = {f"t{number}": [True, number < 3] for number in range(5)}
    run = surface.agent_by_verdicts(trials, measures="pass^1,pass^2")
    assert surface.values(run) == {"pass^1": pytest.approx(0.8), "pass^2": pytest.approx(0.6)}
    assert all(
        surface.refused(surface.agent_by_verdicts, trials, measures=f"pass^{k}") for k in ("0", "-1", "1.5", "x")
    )


def test_means_over_dialogues_and_parts() -> None:
    right = {name: [turn == {"hotel-area": "x", "train-day": "x"} for turn in turns] for name, turns in SAID.items()}
    values = scored("JGA,JGA(over=dialogues),JGA[hotel],JGA[train],JGA(over=dialogues)[train]")
    every, by_dialogue = fmean(each for turns in right.values() for each in turns), fmean(map(fmean, right.values()))
    assert 0.5 < every != pytest.approx(by_dialogue)
    assert list(values.values()) == pytest.approx([every, by_dialogue, 1, every, by_dialogue], abs=1e-12)


def test_measures_of_other_packages() -> None:
    """Numerators and denominators of each of the 13 turns; anything else is an error."""
    run = surface.tracking(GOLD, SAID, measures="JGA")
    assert surface.own_measure(run, [range(13), [2] * 13]) == 3
    for wrong in ([1] * 13, [[1] * 12] * 2, [[[1]] * 13] * 2, None):
        assert surface.refused(surface.own_measure, run, wrong)


def uneven(lengths: list[int]) -> tuple[float, float]:
    """The JGA interval of dialogues in which two of three turns are right; its signature tells how it was made."""
    gold = {f"d{number}": [{"hotel-area": "x"}] * length for number, length in enumerate(lengths)}
    said = {
        name: [{"hotel-area": "y" if (place + turn) % 3 == 0 else "x"} for turn in range(len(turns))]
        for place, (name, turns) in enumerate(gold.items())
    }
    run = surface.tracking(gold, said, measures="JGA", intervals=True)
    units = surface.by_dialogue(run, "JGA").values()
    longest = max(den for _, den in units)

    def end(share: float, bound: float) -> float:
        """Mostly with one more dialogue, as long as the longest, at the bound that the end faces."""

        def chance(x: float) -> float:
            pulls = [num - x * den for num, den in units]
            low, high = (oracle.below(pulls, longest * (extra - x), 0.0) for extra in (bound, 1 - bound))
            return 0.75 * low + 0.25 * high

        return oracle.solve(chance, share, 0.0)

    [(low, high)] = surface.intervals(run).values()
    ends = end(0.025, 0.0), end(0.975, 1.0)
    assert low is not None and high is not None
    return abs(low - ends[0]), abs(high - ends[1])


@pytest.mark.parametrize("lengths", [[1] * 8 + [4] * 2, [1] * 15 + [9] * 4, [1, 5], [1] * 12 + [6]])
def test_few_uneven_dialogues_have_one_more(lengths: list[int]) -> None:
    """They count as less than 70% of as many equal ones, and are fewer than 20."""
    assert sum(lengths) ** 2 < 0.7 * len(lengths) * sum(each**2 for each in lengths)
    assert uneven(lengths) == pytest.approx((0, 0), abs=1e-5)


@pytest.mark.parametrize("lengths", [[2] * 9 + [5], [1] * 16 + [9] * 4])
def test_others_are_resampled(lengths: list[int]) -> None:
    assert max(uneven(lengths)) > 1e-3


def test_one_dialogue_has_no_interval() -> None:
    run = surface.tracking({"d": GOLD["d1"]}, {"d": SAID["d1"]}, measures="JGA,F1", intervals=True)
    assert set(surface.intervals(run).values()) == {(None, None)}
    assert all(value is not None and 0 < value < 1 for value in surface.values(run).values())
