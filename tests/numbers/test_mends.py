"""False numbers that were printed once, each with the numbers that are right, counted by hand or by closed forms.

Notices: the last digit of a value or of an interval's end, one dialogue missing.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import surface

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


# A part that a measure does not have


TWO = {"a": [{"hotel-area": "north"}], "b": [{"train-day": "monday"}]}
HALF = {"a": TWO["a"], "b": [{}]}


@pytest.mark.parametrize(
    "measure", ["JGA[taxi]", "F1(average=slot)[taxi]", "FGA@0.5[turn=3]", "SA[x]", "AGA[domains=2]"]
)
def test_trackers_have_no_such_part(measure: str) -> None:
    assert surface.values(surface.tracking(TWO, HALF, measures="JGA")) == {"JGA": 0.5}
    assert surface.refused(surface.tracking, TWO, HALF, measures=measure)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("JGA[hotel]", 1.0),
        ("JGA[train]", 0.0),
        ("JGA[train-day]", 0.5),
        ("F1(average=slot)[hotel]", 1.0),
        ("FGA@0.5[train]", 0.0),
        ("JGA[turn=0]", 0.5),
        ("AGA[domains=1]", 0.5),
    ],
)
def test_a_part_has_its_own_value(measure: str, value: float) -> None:
    assert surface.values(surface.tracking(TWO, HALF, measures=measure)) == {measure: value}


@pytest.mark.parametrize("measure", ["Turns[x]", "ToolCalls[x]", "pass^1[x]", "Reward[x]"])
def test_agents_have_none_either(measure: str) -> None:
    assert surface.refused(surface.agent_by_verdicts, {"a": [True]}, measures=[measure])


@pytest.mark.parametrize("measure", ["BLEU[hotel]", "OfferP[hotel]", "Inform[museum]"])
def test_a_domain_that_responses_do_not_have(measure: str) -> None:
    town = EXAMPLES / "town"
    assert surface.refused(surface.task_responses, town / "gold.json", {"it": town / "terse.json"}, measures=measure)


def test_commands_refuse_it_too() -> None:
    files = str(EXAMPLES / "gold.jsonl"), str(EXAMPLES / "careful.jsonl")
    assert surface.exit_code("score", *files, "-m", "JGA") == 0
    assert surface.exit_code("score", *files, "-m", "JGA[taxi]") == 2


# Flags: right or wrong by the place of a slot, without names and values


#: The places of the flags that are used here, in the order of the file's 30 slots.
PEOPLE, AREA, STARS, LEAVE = 11, 15, 18, 25


def flags(*wrong: int) -> list[int]:
    return [int(place not in wrong) for place in range(30)]


@pytest.mark.parametrize("profile", ["canon", "plain", "verbatim", "mwzeval", "convlab3", "trippy"])
@pytest.mark.parametrize("people", ["book people", "book_people", "people"])
def test_flags_are_about_golds_slots_whatever_their_names(profile: str, people: str, tmp_path: Path) -> None:
    first = {"hotel-area": "north", f"hotel-{people}": "2"}
    gold = {"MUL0001.json": [first, {**first, "train-leaveAt": "09:15"}]}
    file = tmp_path / "flags.json"
    file.write_text(json.dumps({"MUL0001.json": {"0": flags(PEOPLE), "1": flags(AREA, STARS)}}))
    found = surface.values(surface.tracking(gold, file, profile=profile))
    # First turn: one of gold's two slots is right. Second: two of three, and the stars are spurious.
    assert found["JGA"] == 0
    assert found["AGA"] == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-12)
    assert found["RSA"] == pytest.approx((1 / 2 + 2 / 4) / 2, abs=1e-12)


# Shares of cases have one interval


#: Right cases, cases, and the interval to three digits.
SHARES = [(36, 40, 0.769, 0.970), (35, 40, 0.738, 0.956), (96, 100, 0.903, 0.988)]


@pytest.mark.parametrize(("right", "cases", "low", "high"), SHARES)
def test_a_share_has_one_interval_whoever_prints_it(right: int, cases: int, low: float, high: float) -> None:
    tracked = surface.shares_of_cases([right], cases)[right]
    tried = surface.intervals(surface.agent_by_verdicts({f"t{n}": [n < right] for n in range(cases)}))
    for made in (*tracked.values(), tried["pass^1"]):
        assert made == pytest.approx((low, high), abs=0.0005)
    assert len(set(tracked.values())) == 1
    assert tried["pass^1"] == pytest.approx(tracked["JGA"], abs=1e-12)


# One number has one interval, in a comparison or not


def talks(seed: int) -> dict[str, list[dict[str, str]]]:
    """Thirty dialogues of one to six turns; seed 0 is gold, others err now and then."""
    lengths, errors = random.Random(1), random.Random(seed)
    return {
        f"d{number}": [{"hotel-area": "north" if not seed or errors.random() < 0.7 else "south"} for _ in range(length)]
        for number, length in enumerate([lengths.randint(1, 6) for _ in range(30)])
    }


@pytest.mark.parametrize("seed", [0, 5])
def test_a_comparison_has_the_intervals_of_the_scores(seed: int) -> None:
    gold, systems = talks(0), {"a": talks(1), "b": talks(2)}
    comparison = surface.compared(gold, systems, seed=seed, resamples=50)
    for name, predicted in systems.items():
        scored = surface.tracking(gold, predicted, intervals=True, seed=seed)
        for measure, (low, high) in surface.intervals(scored).items():
            assert low is not None and high is not None and low < high
            value, interval = surface.compared_score(comparison, name, measure)
            assert value == pytest.approx(surface.values(scored)[measure], abs=1e-12)
            assert interval == pytest.approx((low, high), abs=1e-12)


def test_so_have_values_of_several_sums() -> None:
    town = EXAMPLES / "town"
    systems = dict.fromkeys("ab", town / "terse.json")
    scored = surface.task_responses(town / "gold.json", systems, measures="BLEU,Combined,Inform")
    comparison = surface.compared_runs(*scored.values(), resamples=50)
    for measure, interval in surface.intervals(scored["a"]).items():
        assert surface.compared_score(comparison, "a", measure)[1] == pytest.approx(interval, abs=1e-12)


# The headline measure is tested by itself, the others as a family


def logged(name: str, passed: int, cost: float) -> Any:
    """A log of 20 tasks: the first ones pass, each costs so much and a bit of its own."""
    random_bits = random.Random(name)
    records = [
        {
            "task_id": f"t{n}",
            "trial": 0,
            "success": n < passed,
            "cost": cost + random_bits.random(),
            "tokens": 10 + n % 3,
        }
        for n in range(20)
    ]
    return surface.agent(records, name=name)


def holm(p: list[float]) -> list[float]:
    """Holm's correction by its definition."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    corrected, largest = [0.0] * len(p), 0.0
    for step, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - step) * p[place]))
        corrected[place] = largest
    return corrected


@pytest.mark.parametrize(("passed", "cost"), [(19, 1.0), (13, 1.0), (13, 1.5)])
def test_p_of_the_headline_is_its_own(passed: int, cost: float) -> None:
    comparison = surface.compared_runs(logged("a", 11, 1.0), logged("b", passed, cost))
    headline, *others = surface.verdicts(comparison)
    assert headline["measure"] == "pass^1" and len(others) > 1
    p = {each["measure"]: surface.difference(comparison, "a", "b", each["measure"])["adjusted"] for each in others}
    # As an exact sign test says, but for the chance of the swaps.
    assert headline["p"] == surface.difference(comparison, "a", "b", "pass^1")["adjusted"]
    assert headline["p"] == pytest.approx(min(1.0, 2 * 0.5 ** (passed - 11)), abs=0.02)
    assert headline["clear"] == (headline["p"] < 0.05)
    for each, corrected in zip(others, holm(list(p.values())), strict=True):
        assert each["p"] == p[each["measure"]]
        assert each["p_family"] == pytest.approx(corrected, abs=1e-12)
        assert each["clear"] == (corrected < 0.05)


# In bold: not worse than the best by the paired test


def right_in(count: int, dialogues: int = 40) -> dict[str, list[dict[str, str]]]:
    return {f"d{n}": [{"hotel-area": "north"} if n < count else {}] for n in range(dialogues)}


def test_bold_is_what_the_test_does_not_find_worse_than_the_best() -> None:
    gold, systems = right_in(40), {"best": right_in(36), "close": right_in(33), "far": right_in(20)}
    comparison = surface.compared(gold, systems, measures="JGA,SA")
    # 3 dialogues of one sort and none of the other leave p at 1/4; 13 and 16 leave nothing.
    assert {name for name, measure in surface.in_bold(comparison) if measure == "JGA"} == {"best", "close"}
    assert surface.difference(comparison, "best", "close", "JGA")["significant"] is False
    assert surface.difference(comparison, "best", "far", "JGA")["significant"] is True
    assert surface.in_bold(surface.scored_together(gold, systems, measures="JGA,SA")) == set()


def test_where_no_test_can_find_anything_nothing_is_bold() -> None:
    five = surface.compared(right_in(5, 5), {"all": right_in(5, 5), "none": right_in(0, 5)}, measures="JGA")
    assert surface.in_bold(five) == set()
    six = surface.compared(right_in(6, 6), {"all": right_in(6, 6), "none": right_in(0, 6)}, measures="JGA")
    assert surface.in_bold(six) == {("all", "JGA")}


def test_of_costs_the_lower_are_bold() -> None:
    cheap, dear = logged("cheap", 10, 1.0), logged("dear", 10, 3.0)
    bold = surface.in_bold(surface.compared_runs(cheap, dear))
    assert {name for name, measure in bold if measure == "Cost"} == {"cheap"}
    assert {name for name, measure in bold if measure == "pass^1"} == {"cheap", "dear"}
