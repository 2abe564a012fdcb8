"""The rules one by one, each on a conversation of a few turns (specification, sections 6 and 7)."""

from __future__ import annotations

import pytest

from dialgauge.dialogue import Dialogue, Task
from dialgauge.users import GcdfConfig, Scorer
from dialgauge.users.scorer import DialogueScore
from dialgauge.users.verdicts import behaviours
from support.talks import configured, mishear, talk

HOTEL = {"hotel": Task(info={"area": "north"}, book={"day": "monday"}, requests=("phone",))}
NORTH = ("hotel inform area=north",)


def scored(dialogue: Dialogue, **overrides: object) -> DialogueScore:
    changed = {path.replace("__", "."): value for path, value in overrides.items()}
    return Scorer(configured(changed)).score(dialogue)


def labels(result: DialogueScore, tree: str) -> list[str]:
    found = [each.label for each in behaviours(result.verdicts, result.goal, GcdfConfig())]
    return [label.removeprefix(f"{tree}/") for label in found if label.startswith(tree)]


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (("hotel request area",), "elicited_by_sys_question"),
        (("booking nobook day=monday",), "elicited_by_booking_failure"),
        (("hotel nooffer area=north",), "elicited_by_no_offers"),
        (("hotel inform choice=3",), "confirmed_choice_params"),
        (("hotel recommend name=acorn",), "repeated_while_booking"),
        (("booking inform day=monday",), "repeated_while_booking"),
        (("hotel request stars",), "repeated_when_answering_request"),
        (("train inform day=monday",), "switched_between_domains"),
        (("hotel inform area=north",), "unmatched"),
        (("booking inform day=x", "booking nobook day=x"), "elicited_by_booking_failure"),
    ],
)
def test_why_a_constraint_is_repeated(answer: tuple[str, ...], label: str) -> None:
    result = scored(talk(HOTEL, NORTH, answer, NORTH, ()))
    assert labels(result, "multiple_constraint_informs") == [label]
    verdict = next(each for each in result.verdicts if each.turn == 2)
    assert verdict.verdict == ("repeated-penalised" if label == "unmatched" else "repeated-forgiven")


def test_a_failure_no_longer_excuses_once_the_talk_went_forward() -> None:
    dialogue = talk(
        HOTEL, NORTH, ("hotel nooffer area=north",), ("general thank",), ("hotel recommend name=a",), NORTH, ()
    )
    assert labels(scored(dialogue), "multiple_constraint_informs") == [
        "nooffer_validation_failure",
        "repeated_while_booking",
    ]


def test_what_the_system_did_not_hear_may_be_said_again() -> None:
    dialogue = mishear(talk(HOTEL, NORTH, (), NORTH, ()), 0, "hotel inform area=south")
    assert labels(scored(dialogue), "multiple_constraint_informs") == ["failed_sys_nlu"]


@pytest.mark.parametrize(
    ("said", "answer", "label"),
    [
        ("stars=dontcare", (), "auto_matched_value"),
        ("stars=4", ("hotel inform stars=4",), "elicited_by_sys_offer"),
        ("name=acorn", ("hotel recommend area=north",), "elicited_by_recommendation"),
        ("name=acorn", ("booking nobook day=x",), "elicited_by_booking_failure"),
        ("name=acorn", ("booking inform day=x",), "elicited_by_booking_acceptance"),
        ("stars=4", ("hotel request stars",), "unmatched"),
    ],
)
def test_why_a_constraint_outside_the_goal_is_said(said: str, answer: tuple[str, ...], label: str) -> None:
    result = scored(talk(HOTEL, NORTH, answer, (f"hotel inform {said}",), ()))
    assert labels(result, "constraints_not_in_goal") == [label]
    verdict = next(each for each in result.verdicts if each.turn == 2)
    assert verdict.verdict == ("out-of-goal" if label == "unmatched" else "out-of-goal-credited")


def test_a_name_said_while_ordering_a_taxi_is_no_constraint() -> None:
    turn = ("hotel inform name=acorn", "taxi inform departure=acorn")
    result = scored(talk(HOTEL, NORTH, ("hotel recommend name=acorn",), turn, ()))
    assert labels(result, "wrong_taxi_annotations")


def test_of_several_values_in_a_turn_single_ones_come_first_and_later_acts_before_earlier() -> None:
    turn = ("hotel inform a=1|2", "hotel inform b=3", "hotel inform c=4|5")
    said = [each.item for each in Scorer().score(talk(HOTEL, turn, ())).verdicts if each.turn == 0]
    assert said == ["b===3", "c===4", "c===5", "a===1", "a===2"]


@pytest.mark.parametrize(
    ("between", "label"),
    [
        (("hotel inform phone=1",), "repeated_despite_receiving_answer"),
        (("hotel request area",), "user_prempted_request"),
        (("hotel inform area=north",), "delayed_response"),
        (("hotel recommend phone=1",), "delayed_response"),
    ],
)
def test_why_a_request_is_repeated(between: tuple[str, ...], label: str) -> None:
    ask = ("hotel request phone",)
    result = scored(talk(HOTEL, ask, between, ask, ()))
    assert labels(result, "multiple_slot_requests") == [label]
    verdict = next(each for each in result.verdicts if each.turn == 2)
    answered = label == "repeated_despite_receiving_answer"
    assert verdict.verdict == ("repeated-penalised" if answered else "repeated-forgiven")


def test_a_request_that_was_not_heard_may_be_repeated() -> None:
    ask = ("hotel request phone",)
    dialogue = mishear(talk(HOTEL, ask, ("hotel inform area=north",), ask, ()), 0)
    assert labels(scored(dialogue), "multiple_slot_requests") == ["system_req_nlu_failure", "delayed_response"]


@pytest.mark.parametrize(("exchanges", "spurious"), [(3, False), (4, True)])
def test_a_request_long_after_in_a_turn_about_several_domains_is_spurious(exchanges: int, spurious: bool) -> None:
    ask = ("hotel request phone", "train inform day=monday")
    between = [("train inform day=monday", "hotel inform area=north"), ("train inform day=monday",)] * exchanges
    dialogue = talk(HOTEL, ask, *between[:-1], ("hotel request phone",), ())
    assert (labels(scored(dialogue), "multiple_slot_requests") == ["spurious_annotation"]) is spurious
