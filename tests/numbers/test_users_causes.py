"""Whose fault is a lost point of GCDF1: the user's policy, its understanding, the system's understanding or policy?

Notices: the fault of another verdict, a lost point that is missing or has no fault, a share of F1 of another fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import surface
from users_oracle import mishear, talk

HOTEL = {"hotel": {"info": {"area": "north"}, "reqt": {"phone": "?"}}}
NORTH, PHONE, ANSWER = "hotel inform area=north", "hotel request phone", "hotel inform phone=1"
POLICY, HEARING, SYSTEM_HEARING, SYSTEM = "user policy", "user NLU", "system NLU", "system policy"
FOUR_STARS, TYPE_INN = "hotel inform stars=4", "hotel inform type=inn"
TRAIN = {"train": {"info": {"day": "friday", "departure": "ely"}, "reqt": {"price": "?"}}}
OFFER = ("train offerbook day=friday", "train offerbook departure=ely")


def causes(record: dict[str, Any], verdict: str, measure: str = "", *, without: Sequence[str] = ()) -> list[str]:
    """The faults behind the lost points of a verdict; some excuses are switched off."""
    overrides = {f"igcd_f1.repetitions.user_behaviours.{excuse}": False for excuse in without}
    found = surface.lost_points(surface.users([record], overrides=overrides))
    return [row[4] for row in found if row[3] == verdict and measure in ("", row[0])]


@pytest.mark.parametrize(
    ("answer", "heard", "cause"),
    [
        (FOUR_STARS, FOUR_STARS, POLICY),
        ("taxi inform phone=1", "taxi inform phone=1", SYSTEM),
        (FOUR_STARS, "train inform day=x", HEARING),
        (FOUR_STARS, "hotel recommend stars=4", POLICY),
        (FOUR_STARS, "hotel request stars", HEARING),
        (FOUR_STARS, "hotel nooffer stars=4", HEARING),
        (FOUR_STARS, "hotel nobook stars=4", HEARING),
        ("hotel offerbooked ref=1", "hotel inform ref=1", HEARING),
        ("hotel book ref=1", "hotel offerbooked ref=1", POLICY),
    ],
)
def test_a_repetition_without_excuse(answer: str, heard: str, cause: str) -> None:
    record = mishear(talk(HOTEL, [NORTH], [answer], [NORTH, PHONE], []), 1, heard)
    excuses = ("repeats_while_requesting_info", "proposes_multiple_domains", "repeats_while_booking")
    assert causes(record, "repeated-penalised", without=excuses) == [cause]


@pytest.mark.parametrize(
    ("heard", "cause"),
    [
        ((*OFFER, "train request day"), HEARING),
        (("train select day=friday", OFFER[1]), HEARING),
        ((*OFFER, "train request departure"), POLICY),
        ((OFFER[0],), POLICY),
        (OFFER, POLICY),
    ],
)
def test_a_prompt_that_was_never_given_explains_a_later_repetition(heard: tuple[str, ...], cause: str) -> None:
    first = ["train inform day=friday", "train inform departure=ely"]
    price = (["train request price"], ["train inform price=9"])
    record = mishear(talk(TRAIN, first, OFFER, *price, ["train inform day=friday"], []), 1, *heard)
    assert causes(record, "repeated-penalised", without=["repeats_while_booking"]) == [cause]


def test_a_request_repeated_after_its_answer() -> None:
    record = talk(HOTEL, [NORTH, PHONE], [ANSWER], [PHONE], [ANSWER])
    assert causes(record, "repeated-penalised") == [POLICY]
    for other in (FOUR_STARS, "train inform phone=1", PHONE):
        assert causes(mishear(record, 1, other), "repeated-penalised") == [HEARING]


def lost_labels(record: dict[str, Any]) -> list[set[str]]:
    """Our reasons for the points that repetitions lose."""
    penalised = [row for row in surface.user_verdicts(surface.users([record])) if row[4] == "repeated-penalised"]
    return [{label.removeprefix("lost/") for label in row[6] if label.startswith("lost/")} for row in penalised]


def test_reasons_of_repetitions() -> None:
    """Seven of nine are forgiven where the system asks again; none without a reason."""
    assert lost_labels(talk(HOTEL, *([NORTH], ["hotel request area"]) * 9)) == [{"limit_exceeded", "loop"}] * 2
    assert lost_labels(talk(HOTEL, *([NORTH], []) * 4)) == [{"loop"}] * 3
    assert lost_labels(talk(HOTEL, [NORTH, PHONE], [ANSWER], [PHONE], [ANSWER])) == [{"answer_heard"}]


def test_a_request_that_the_system_does_not_understand() -> None:
    """Three repetitions are forgiven; two more cost a point each, which the system loses."""
    again = [turn for number in range(5) for turn in ([PHONE, f"hotel inform type={number}"], [FOUR_STARS])]
    record = talk(HOTEL, [NORTH, PHONE], [FOUR_STARS], *again)
    for place in range(0, 12, 2):
        record = mishear(record, place, NORTH)
    assert causes(record, "repeated-penalised", "R-GCDF1") == [SYSTEM_HEARING] * 2
    assert lost_labels(record) == [{"limit_exceeded"}] * 2


def test_what_the_goal_does_not_have() -> None:
    assert causes(talk(HOTEL, ["hotel inform area=south"], []), "wrong-value") == [POLICY]
    assert causes(talk(HOTEL, [NORTH, "hotel request stars"], []), "out-of-goal") == [POLICY]
    prompted = talk(HOTEL, [NORTH], [TYPE_INN], [FOUR_STARS], [])
    assert causes(prompted, "out-of-goal") == [POLICY]
    assert causes(mishear(prompted, 1, "hotel request stars"), "out-of-goal") == [HEARING]
    declined = talk(HOTEL, [NORTH], ["hotel recommend ref=1"], ["hotel inform notbook=none"], [])
    assert causes(declined, "out-of-goal") == [POLICY]
    assert causes(mishear(declined, 1, "booking book ref=1"), "out-of-goal") == [HEARING]

    asked = talk(HOTEL, [NORTH], ["hotel request stars"], [FOUR_STARS], [])
    assert causes(asked, "out-of-goal") == [POLICY]
    first = [("Hotel-Inform", "stars", "4")]
    last = surface.heard_users([(first, None), ([], [("Hotel-Request", "stars", "?")])])
    assert [row[4] for row in surface.lost_points(last) if row[3] == "out-of-goal"] == [POLICY]


@pytest.mark.parametrize(
    ("said", "heard", "errors"),
    [
        ((FOUR_STARS,), (FOUR_STARS,), []),
        ((FOUR_STARS, TYPE_INN), (TYPE_INN, FOUR_STARS), []),
        ((FOUR_STARS,), ("hotel inform stars=3",), ["value"]),
        ((FOUR_STARS,), ("hotel recommend stars=4",), ["act"]),
        ((FOUR_STARS,), ("hotel inform area=4",), ["slot"]),
        ((FOUR_STARS,), ("train recommend day=friday",), ["invented", "missed"]),
        ((FOUR_STARS, TYPE_INN), ("hotel inform stars=3", "hotel inform area=inn"), ["slot", "value"]),
        ((FOUR_STARS,), (), ["missed"]),
        ((FOUR_STARS,), (FOUR_STARS, TYPE_INN), ["invented"]),
    ],
)
def test_kinds_of_mishearings(said: tuple[str, ...], heard: tuple[str, ...], errors: list[str]) -> None:
    """Acts are paired by the most that they share; what finds no partner was missed or invented."""
    record = mishear(talk(HOTEL, [NORTH], said, [PHONE], []), 1, *heard)
    found = surface.mishearings(surface.users([record]))
    assert sorted(error for turn, error, _, _ in found if turn == 1) == errors


def test_who_heard_something() -> None:
    """One turn is enough."""
    north: list[tuple[str, str, str]] = [("Hotel-Inform", "area", "north")]
    for heard, counts in (((north, None), (1, 0)), ((None, north), (0, 1)), ((None, None), (0, 0))):
        turns = [(north, heard[0]), (north, heard[1]), (north, None), ([], None)]
        assert surface.heard_by(surface.heard_users(turns)) == counts


def test_requests_that_acts_alone_make() -> None:
    first = [("Hotel-Inform", "area", "north"), ("Hotel-Request", "phone", "?")]
    run = surface.heard_users([(first, None), ([], None)])  # an answer would count as told unasked
    assert surface.values(run)["R-GCDF1"] == 1.0


def test_requests_in_the_other_form_are_refused() -> None:
    record = talk(HOTEL, [NORTH, PHONE], [ANSWER])
    assert not surface.refused(surface.users, [record])
    record["turns"][0]["frames"][0]["state"]["requested_slots"] = ["phone"]
    assert surface.refused(surface.users, [record])


def test_what_a_loop_kept_the_user_from_saying() -> None:
    goal = {"hotel": {"info": {"area": "north"}}, "train": {"info": {"day": "friday"}, "reqt": {"price": "?"}}}
    loop = ([NORTH], ["hotel recommend name=x"]) * 4
    stuck = talk(goal, *loop)
    for place in (1, 3, 5):
        stuck = mishear(stuck, place, "train inform day=x")
    assert causes(stuck, "missing") == [HEARING] * 2
    assert causes(talk(goal, [NORTH], [], ["general bye"], []), "missing") == [POLICY] * 2
    moved_on = talk(goal, ["train inform day=monday"], [], *loop)
    for place in (3, 5, 7):
        moved_on = mishear(moved_on, place, "train inform day=x")
    assert set(causes(moved_on, "missing")) == {POLICY}


def test_how_conversations_end() -> None:
    bye: list[list[str]] = [["general bye"], []]
    ways = {"goodbye": ([NORTH], [], *bye), "open": ([NORTH], []), "loop": (*([NORTH], []) * 4, *bye)}
    for end, turns in ways.items():
        run = surface.users([talk(HOTEL, *turns)])
        assert surface.rows(run, "conversation_facts", "end") == [(end,)]


def test_shares_of_f1() -> None:
    """One of two users forgets its only request."""
    talks = [talk(HOTEL, [NORTH], [], id="a"), talk(HOTEL, [NORTH, PHONE], [], id="b")]
    shares = surface.lost_shares(surface.users(talks, measures="all"))
    assert shares["R-GCDF1"] == {"user policy": 0.5, "user NLU": 0.0, "system": 0.0}
    assert shares["I-GCDF1"] == {"user policy": 0.0, "user NLU": 0.0, "system": 0.0}


def test_what_is_pooled_costs_its_fault_nothing_in_the_combined_score() -> None:
    """The train's wrong day is the hotel's missing one: of three lost points one is left, and one is right."""
    goal = {"hotel": {"info": {"day": "monday"}}, "train": {"info": {"day": "friday"}}}
    run = surface.users([talk(goal, ["train inform day=monday"], [])], measures="all")
    assert sum(row[5] for row in surface.lost_points(run)) == 3
    assert surface.lost_shares(run)["I-GCDF1"]["user policy"] == pytest.approx(1 / 3)
    assert surface.values(run)["I-GCDF1"] == pytest.approx(2 / 3)
