"""Laws of GCDF1: order, merging, bounds, closed forms of what is said, repeated and missed.

Notices: one dialogue missing, dialogues mixed up, domains swapped, F1 in place of precision, I-GCDF1 in place of
R-GCDF1, the last digit of a mean.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import surface
import users_oracle as oracle
from hypothesis import HealthCheck, assume, given, settings, strategies as st

MEASURES = ("I-GCDF1", "R-GCDF1")
SLOTS = ("area", "day", "name", "food", "stars", "people", "type")
VALUES = ("north", "monday", "dontcare", "acorn")
QUICK = settings(suppress_health_check=[HealthCheck.too_slow])

pairs = st.dictionaries(st.sampled_from(SLOTS[:4]), st.sampled_from(VALUES), max_size=3)
requests = st.lists(st.sampled_from(SLOTS[:4]), unique=True).map(lambda slots: dict.fromkeys(slots, "?"))
tasks = st.fixed_dictionaries({"info": pairs, "fail_info": pairs, "book": pairs, "reqt": requests})
goals = st.dictionaries(st.sampled_from(("hotel", "restaurant", "train", "taxi")), tasks, min_size=1, max_size=2)
domains = st.sampled_from(("hotel", "restaurant", "train", "taxi"))
slots = st.sampled_from(SLOTS[:4])
informs = st.builds("{} inform {}={}".format, domains, slots, st.sampled_from(VALUES))
asks = st.builds("{} request {}".format, domains, slots)
answers = st.builds(
    "{} {} {}={}".format,
    domains,
    st.sampled_from(("inform", "recommend", "nooffer")),
    slots,
    st.sampled_from(VALUES),
)
user_acts = st.lists(informs | informs | asks, max_size=3)
system_acts = st.lists(answers | asks, max_size=3)
exchanges = st.lists(st.tuples(user_acts, system_acts), min_size=1, max_size=5)
talks = st.builds(lambda goal, of: oracle.talk(goal, *(acts for pair in of for acts in pair)), goals, exchanges)


def named(talk: dict[str, Any], name: str) -> dict[str, Any]:
    return {**talk, "dialogue_id": name}


def scores(*records: dict[str, Any], **options: Any) -> dict[str, dict[str, dict[str, oracle.Triple]]]:
    return surface.user_scores(surface.users(list(records), **{"mode": "recommended", **options}))


def of_one(record: dict[str, Any], measure: str = "I-GCDF1", **options: Any) -> dict[str, oracle.Triple]:
    """The scores of one conversation by domain."""
    return scores(record, **options)[measure].get("d1", {})


# Any conversation


@QUICK
@given(talks)
def test_bounds(talk: dict[str, Any]) -> None:
    for by_dialogue in scores(talk).values():
        for f1, precision, recall in by_dialogue.get("d1", {}).values():
            assert 0 <= precision <= 1
            assert 0 <= recall <= 1
            assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


@QUICK
@given(talks)
def test_what_is_lost_and_f1_sum_to_1(talk: dict[str, Any]) -> None:
    run = surface.users([talk], mode="recommended", measures="all")
    for measure, lost in surface.lost_shares(run).items():
        f1 = surface.values(run).get(measure)
        if f1 is not None:
            assert len(lost) == 3 and min(lost.values()) >= 0
            assert sum(lost.values()) + f1 == pytest.approx(1, abs=1e-12)


@QUICK
@given(st.lists(talks, min_size=1, max_size=3), st.lists(talks, min_size=1, max_size=3))
def test_merging(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """Two sets of conversations scored together, in another order, give the scores of each, and their means."""
    left = [named(talk, f"a{place}") for place, talk in enumerate(ours)]
    right = [named(talk, f"b{place}") for place, talk in enumerate(theirs)]
    one, other, both = scores(*left), scores(*right), surface.users(right + left, mode="recommended")
    for measure in MEASURES:
        assert surface.user_scores(both)[measure] == one[measure] | other[measure]
        assert oracle.same(surface.user_means(both)[measure], oracle.means(one[measure] | other[measure]))


@QUICK
@given(talks, st.randoms(use_true_random=False))
def test_the_order_of_services_in_a_turn_does_not_matter(talk: dict[str, Any], shuffle: random.Random) -> None:
    turns = [{**turn, "frames": shuffle.sample(turn["frames"], len(turn["frames"]))} for turn in talk["turns"]]
    assert scores({**talk, "turns": turns}) == scores(talk)


@QUICK
@given(goals, user_acts, st.data())
def test_leaving_a_constraint_out_lowers_recall(goal: dict[str, Any], more: list[str], data: st.DataObject) -> None:
    """Of a user that says everything once, and a system that says nothing: no repetition or refusal earns credit."""
    needed = [f"{domain} inform {constraint}" for domain, task in goal.items() for constraint in sorted(wanted(task))]
    assume(needed)
    dropped = data.draw(st.sampled_from(needed))
    said = list(dict.fromkeys([*needed, *more]))
    domain = dropped.split()[0]
    full = of_one(oracle.talk(goal, said, []))[domain]
    less = of_one(oracle.talk(goal, [act for act in said if act != dropped], []))[domain]
    assert less[2] < full[2] == 1


def wanted(task: dict[str, Any]) -> set[str]:
    """The constraints of a goal in one domain."""
    return {
        f"{slot}={value}"
        for part in ("book", "fail_book", "info", "fail_info")
        for slot, value in task.get(part, {}).items()
    }


# Closed forms


@QUICK
@given(goals)
def test_a_user_that_says_its_whole_goal_once_scores_1(goal: dict[str, Any]) -> None:
    turns: list[list[str]] = []
    for domain, task in goal.items():
        stated = [f"{domain} inform {constraint}" for constraint in sorted(wanted(task))]
        turns += [[*stated, *(f"{domain} request {slot}" for slot in task["reqt"])], []]
    for mode in ("reference", "recommended"):
        run = surface.users([oracle.talk(goal, *turns)], mode=mode)
        [(slots, uttered)] = surface.rows(run, "conversation_facts", "slots_wanted", "slots_uttered")
        assert uttered == slots == sum(len({*task["info"], *task["fail_info"], *task["book"], *task["reqt"]})
                                       for task in goal.values())  # fmt: skip
        found = surface.user_scores(run)
        assert found["I-GCDF1"].get("d1", {}).keys() - {oracle.COMBINED} == {d for d in goal if wanted(goal[d])}
        assert found["R-GCDF1"].get("d1", {}).keys() - {oracle.COMBINED} == {d for d in goal if goal[d]["reqt"]}
        for by_dialogue in found.values():
            assert all(triple == (1, 1, 1) for triple in by_dialogue.get("d1", {}).values())


@QUICK
@given(goals)
def test_a_silent_user_has_precision_1_and_recall_0(goal: dict[str, Any]) -> None:
    run = surface.users([oracle.talk(goal, [], [])], mode="recommended")
    assert surface.rows(run, "conversation_facts", "slots_uttered") == [(0,)]
    found = surface.user_scores(run)
    for by_dialogue in found.values():
        assert all(triple == (0, 1, 0) for triple in by_dialogue.get("d1", {}).values())
    assert bool(found["I-GCDF1"]) == any(wanted(task) for task in goal.values())


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_precision_and_recall_of_a_first_turn(right: int, missed: int, strange: int) -> None:
    """Slots outside the goal get no credit in the first turn."""
    assume(right + missed)
    goal = {"hotel": {"info": dict.fromkeys(SLOTS[: right + missed], "x")}}
    said = [f"hotel inform {slot}=x" for slot in SLOTS[:right]] + [f"hotel inform odd{n}=x" for n in range(strange)]
    f1, precision, recall = of_one(oracle.talk(goal, said, []), mode="reference")["hotel"]
    assert precision == pytest.approx(right / len(said) if said else 1)
    assert recall == pytest.approx(right / (right + missed))
    assert f1 == pytest.approx(2 * right / (2 * right + missed + strange))


HOTEL = {"hotel": {"info": {"area": "north"}, "reqt": {"phone": "?"}}}
NORTH, PHONE = ["hotel inform area=north"], ["hotel request phone"]


@pytest.mark.parametrize("times", range(1, 12))
def test_repetitions(times: int) -> None:
    """Without a reason none is forgiven. When the system asks again the first six are, of a request the first three."""

    def repeated(said: list[str], answer: list[str], measure: str) -> oracle.Triple:
        return of_one(oracle.talk(HOTEL, *([said, answer] * times)), measure, mode="reference")["hotel"]

    assert repeated(NORTH, [], "I-GCDF1") == pytest.approx((2 / (times + 1), 1 / times, 1))
    forgiven = min(times, 1 + 6) / times
    assert repeated(NORTH, ["hotel request area"], "I-GCDF1")[1:] == pytest.approx((forgiven, 1))
    delayed = min(times, 1 + 3) / times
    assert repeated(PHONE, ["hotel inform area=north"], "R-GCDF1")[1:] == pytest.approx((delayed, 1))
    answered = repeated(PHONE, ["hotel inform phone=1"], "R-GCDF1")
    assert answered == pytest.approx((2 / (times + 1), 1 / times, 1))


@pytest.mark.parametrize("times", range(1, 10))
def test_constraints_outside_the_goal(times: int) -> None:
    """Don't-care earns credit six times; an offer does so for the first six mentions, but not in the first turn."""
    plain = [["hotel inform stars=dontcare"], []] * times
    found = of_one(oracle.talk(HOTEL, NORTH, [], *plain), mode="reference")["hotel"]
    assert found[1:] == pytest.approx(((1 + min(times, 6)) / (1 + times), 1))
    offered = [["hotel inform stars=4"], ["hotel inform stars=4"]] * times
    found = of_one(oracle.talk(HOTEL, *offered, NORTH, []), mode="reference")["hotel"]
    credited = max(0, min(times, 6) - 1)
    assert found[1:] == pytest.approx(((1 + credited) / (1 + times), 1))


@pytest.mark.parametrize("size", range(4))
@pytest.mark.parametrize("ago", range(1, 4))
def test_an_offer_counts_for_so_many_turns(size: int, ago: int) -> None:
    path = "igcd_f1.constraints_not_in_goal.sys_checks.sys_context_size"
    between: list[list[str]] = [[], []] * (ago - 1)
    record = oracle.talk(HOTEL, NORTH, ["hotel inform stars=4"], *between, ["hotel inform stars=4"], [])
    found = of_one(record, mode="reference", overrides={path: size})["hotel"]
    assert found[1:] == (1 if ago <= size else 0.5, 1)


def test_the_combined_score_of_constraints_forgets_domains_and_that_of_requests_keeps_them() -> None:
    goal = {
        "hotel": {"info": {"day": "monday"}, "reqt": {"phone": "?"}},
        "train": {"info": {"people": "2"}, "reqt": {"price": "?"}},
    }
    said = ["train inform day=monday", "train inform people=2", "train request phone", "train request price"]
    found = scores(oracle.talk(goal, said, []), mode="reference")
    constraints, asked = found["I-GCDF1"]["d1"], found["R-GCDF1"]["d1"]
    assert constraints == {
        "hotel": (0, 1, 0),
        "train": pytest.approx((2 / 3, 0.5, 1)),
        oracle.COMBINED: (1, 1, 1),
    }
    assert asked == {
        "hotel": (0, 1, 0),
        "train": pytest.approx((2 / 3, 0.5, 1)),
        oracle.COMBINED: (0.5, 0.5, 0.5),
    }


def test_what_the_system_says_need_not_be_said_and_what_cannot_be_had_is_not_missed() -> None:
    goal = {"hotel": {"info": {"area": "north", "stars": "4"}, "reqt": {"phone": "?"}}}
    told = scores(oracle.talk(goal, NORTH, ["hotel inform stars=4", "hotel inform phone=1"]), mode="reference")
    assert told["I-GCDF1"]["d1"]["hotel"] == told["R-GCDF1"]["d1"]["hotel"] == (1, 1, 1)
    void = scores(oracle.talk(goal, NORTH, ["hotel nooffer area=north"]), mode="reference")
    assert void["I-GCDF1"]["d1"]["hotel"] == (1, 1, 1)
    assert void["R-GCDF1"] == {}
    silent = scores(oracle.talk(goal, NORTH, []), mode="reference")
    assert silent["I-GCDF1"]["d1"]["hotel"] == pytest.approx((2 / 3, 1, 0.5))
    assert silent["R-GCDF1"]["d1"]["hotel"] == (0, 1, 0)


#: How three things are brought across: which of them in which turn of the user, and what figures 4 and 6a call it.
WAYS: dict[str, list[list[int]]] = {
    "no_miss_one": [[0, 1, 2]], "no_miss_mult": [[0], [1], [2]], "miss_one": [[], [0, 1]], "miss_mult": [[], [0], [1]],
    "miss_all": [[], []],
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3])
def test_patterns_of_the_figures(size: int) -> None:
    """Of parts of the goal that want more than one thing."""
    wanted = {"info": {"area": "north", "stars": "4", "type": "inn"}, "reqt": {"phone": "?", "post": "?", "fee": "?"}}
    goal = {"hotel": {part: dict(list(slots.items())[:size]) for part, slots in wanted.items()}}
    acts = [[f"inform {slot}={value}" for slot, value in wanted["info"].items()],
            [f"request {slot}" for slot in wanted["reqt"]]]  # fmt: skip
    records = []
    for name, way in WAYS.items():
        turns = [[f"hotel {each[thing]}" for each in acts for thing in turn if thing < size] for turn in way]
        records.append(oracle.talk(goal, *(said for turn in turns for said in (turn, [])), id=name))
    figures = surface.user_figures(surface.users(records))
    bars = {3: dict.fromkeys(WAYS, 1), 2: {"no_miss_one": 2, "no_miss_mult": 2, "miss_all": 1}, 1: {}}[size]
    for figure in ("4a", "6a"):
        found = {name: counts["hotel"] for name, counts in figures[figure]["counts"].items() if counts}
        assert found == bars, figure
