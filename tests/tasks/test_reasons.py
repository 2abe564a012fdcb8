"""Reasons of failure: every code has words, is given by the rules, and comes from a stored run onto a page."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import dialgauge.tasks
from dialgauge.dialogue import Task
from dialgauge.tasks import REASON_GROUPS, TaskEvaluation, TaskFailure, TaskOptions, failure_texts, predictions_from
from support.recorded import compat, conversation, system, user
from support.source_trees import syntax_nodes
from support.town import responses, small_gold, town

#: Of each code arguments as they occur, and what people read.
EXAMPLES: dict[str, tuple[dict[str, Any], str]] = {
    "nothing_named": ({}, "nothing was named"),
    "broken_off": ({"given": ("time limit",)}, "infrastructure broke the conversation: time limit"),
    "turned_down": (
        {"entity": "acorn", "turn": 4, "slot": "area", "wanted": "north"},
        "acorn was turned down in turn 4: the user asked for area north",
    ),
    "given_up": ({"entity": "acorn", "turn": 9}, "acorn was given up in turn 9: the system said that there is none"),
    "unfit": (
        {"entity": "wadebridge", "turn": 9, "slot": "type", "given": ("college",), "wanted": "nightclub"},
        "wadebridge (since turn 9) has type college, wanted nightclub",
    ),
    "no_taxi": ({}, "no taxi was sent"),
    "taxi_differs": (
        {"turn": 9, "slot": "leaveAt", "given": ("unknown",), "wanted": "10:00"},
        "the taxi of turn 9 has leaveAt unknown, wanted 10:00",
    ),
    "taxi_end_missing": (
        {"turn": 9, "slot": "departure", "wanted": "hotel"}, "departure is to be the hotel, and the user has none",
    ),
    "never_tried": ({}, "not booked: it was never tried"),
    "not_booked": ({"turn": 5, "given": ("refused",)}, "not booked (refused in turn 5)"),
    "booked_otherwise": (
        {"turn": 7, "slot": "people", "given": ("3",), "wanted": "4"}, "booked in turn 7 with people 3, wanted 4",
    ),
    "booked_besides": (
        {"turn": 7, "given": ("day friday", "hours 2")},
        "a further booking was made in turn 7 that nobody asked for: day friday, hours 2",
    ),
    "refusal_denied": (
        {"turn": 7}, "the user was told in turn 7 that it is booked, and the booking was refused",
    ),
    "refusal_untold": ({"turn": 7}, "the booking was refused in turn 7, and the user was not told"),
    "booking_untold": ({"turn": 7}, "that it is booked since turn 7 was never told"),
    "outcome_unread": ({"turn": 7}, "the lab could not read what was told of the booking of turn 7"),
    "reference_untold": (
        {"turn": 7, "wanted": "AB12"}, "the reference AB12 of the booking of turn 7 was never told",
    ),
    "reference_wrong": (
        {"turn": 7, "given": ("XX", "YY"), "wanted": "AB12"}, "the reference was told as XX, YY in turn 7; it is AB12",
    ),
    "untold": ({"slot": "entrance fee"}, "entrance fee was never told"),
    "told_wrong": (
        {"slot": "phone", "turn": 3, "given": ("1",), "wanted": "2"}, "phone was told as 1 in turn 3; it is 2",
    ),
    "told_of_nothing": ({"slot": "phone", "turn": 3}, "phone was told in turn 3, of nothing that the user has"),
    "told_of_another": (
        {"slot": "phone", "turn": 3, "entity": "adc", "wanted": "jesus green"},
        "phone was told as unknown in turn 3, of adc and not of jesus green",
    ),
    "no_booking_heard": ({}, "no booking was heard of"),
    "booked_unfit": ({"given": ("8",)}, "the row heard to be booked (number 8) fails constraints"),
    "never_heard": ({"slot": "phone"}, "never heard: phone"),
    "no_row": ({}, "for the dialogue: no row has these constraints and anything like these answers"),
    "nothing_to_do": ({}, "nothing to book, and nothing to ask"),
    "no_responses": ({}, "the system has no responses for this dialogue"),
    "nothing_offered": ({"wanted": "[name]"}, "nothing was offered: no response that counts for hotel has a [name]"),
    "state_lacks_domain": ({"turn": 3}, "the state at the offer, in turn 3, does not have hotel"),
    "state_fits_nothing": (
        {"turn": 1, "given": ("a=never told: x",)},
        "the state at the offer, in turn 1, fits nothing in the database: a=never told: x",
    ),
    "state_differs": (
        {"turn": 1}, "the state at the last offer, in turn 1, does not say what the goal says: nothing",
    ),
    "offer_unfit": (
        {"turn": 3, "rows": 1200, "unfit": 1, "entity": "a", "slot": "b", "given": ("c",), "wanted": "d"},
        "in turn 3 the state led to 1,200 rows, 1 of which does not fit the goal, such as a: b is c, wanted d",
    ),
    **{
        code: (
            {"slot": slot, "turn": 3, "wanted": "x1"},
            f"the lab could not read what was told of the {slot} in turn 3; it is x1",
        )
        for code, slot in (("unread", "phone"), ("reference_unread", "reference"))
    },
    "never_told": ({"slot": "phone"}, "never told: phone"),
    "told_for_another": (
        {"slot": "phone", "turn": 3, "given": ("train", "taxi")},
        "given in the wrong place: phone (turn 3: treated as the train, taxi domain)",
    ),
    "told_for_none": (
        {"slot": "phone", "turn": 3}, "given in the wrong place: phone (turn 3: treated as no domain)",
    ),
    "told_unbooked": (
        {"slot": "reference", "turn": 3},
        "given in the wrong place: reference (turn 3: nothing was booked yet by the human wizard)",
    ),
    "told_stuffed": (
        {"slot": "phone", "turn": 3}, "given in the wrong place: phone (turn 3: the response is stuffed)",
    ),
    "told_of_other": (
        {"slot": "phone", "turn": 3, "given": ("train",)},
        "given in the wrong place: phone (turn 3: it belongs to train)",
    ),
    "told_off_goal": (
        {"slot": "phone", "turn": 3}, "given in the wrong place: phone (turn 3: the state does not fit the goal)",
    ),
    "another_failed": (
        {"given": ("train",)}, "under mwzeval a domain cannot succeed while another fails (train)",
    ),
}  # fmt: skip


def test_every_code_has_an_example_and_is_given_by_the_rules() -> None:
    written = {
        node.value
        for path in Path(dialgauge.tasks.__file__).parent.rglob("*.py")
        if path.name != "reasons.py"
        for node in syntax_nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert EXAMPLES.keys() == REASON_GROUPS.keys() <= written


@pytest.mark.parametrize("code", EXAMPLES)
def test_a_reason_in_words(code: str) -> None:
    arguments, words = EXAMPLES[code]
    assert failure_texts([TaskFailure(reason=code, **arguments)], "hotel") == [words]


def test_reasons_of_one_kind_are_one_sentence() -> None:
    tries = [TaskFailure(reason="not_booked", turn=turn, given=("refused",)) for turn in (5, 5, 9)]
    assert failure_texts(tries) == ["not booked (refused in turn 5, refused in turn 5, refused in turn 9)"]
    told = [("never_told", "post", None), ("never_told", "phone", None), ("told_stuffed", "address", 3)]
    told += [("told_off_goal", "address", 5), ("told_stuffed", "address", 7), ("told_stuffed", "reference", 7)]
    assert failure_texts(TaskFailure(reason=code, slot=slot, turn=turn) for code, slot, turn in told) == [
        "never told: post, phone",
        "given in the wrong place: address (turn 3, 7: the response is stuffed; "
        "turn 5: the state does not fit the goal)",
        "given in the wrong place: reference (turn 7: the response is stuffed)",
    ]


def test_an_unknown_code_is_its_own_word() -> None:
    assert failure_texts([TaskFailure(reason="{odd}")]) == ["{odd}"]


def test_codes_that_no_other_test_brings_about(tmp_path: Path) -> None:
    idle = compat(conversation({"hotel": Task(info={"area": "north"})}, user("general-greet"), system("general-greet")))
    assert idle.failures == {"hotel": (TaskFailure(reason="nothing_to_do"),)}
    dialogues: dict[str, Any] = responses()
    dialogues["mul0001"][1]["response"] = "[phone] [address] [postcode] [reference]"
    evaluation = TaskEvaluation(small_gold(tmp_path), town(), options=TaskOptions(resamples=0))
    reasons = evaluation.score(predictions_from("mine", dialogues)).table("reasons")
    assert ("grounded", "told_stuffed", "phone", 3) in reasons.select("rule", "reason", "slot", "turn").rows()
