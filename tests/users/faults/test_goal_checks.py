"""The checks by acts: exact against a goal of slots, and silent on a user that does as it should."""

from __future__ import annotations

import pytest

from dialgauge.dialogue import Dialogue, Task
from dialgauge.users.faults import UserFault, check_user
from support.talks import mishear, talk

HOTEL = {"hotel": Task(info={"area": "north"}, book={"day": "monday"}, requests=("phone",))}
GOOD = (
    ("hotel inform area=north",),
    ("hotel recommend name=acorn",),
    ("hotel request phone",),
    ("hotel inform phone=123", "booking request day"),
    ("hotel inform day=monday",),
    ("booking book Ref=X1",),
    ("general bye",),
)


def found(dialogue: Dialogue) -> list[UserFault]:
    return check_user(dialogue).faults


def changed(place: int, *acts: str) -> Dialogue:
    return talk(HOTEL, *(acts if number == place else said for number, said in enumerate(GOOD)))


def test_a_good_user_has_no_fault_and_every_act_was_looked_at() -> None:
    checked = check_user(talk(HOTEL, *GOOD))
    assert checked.faults == []
    extents = {finding.kind: finding.extent for finding in checked.findings}
    assert {kind for kind, extent in extents.items() if extent == "none"} == {"leaked", "disobeyed"}
    assert {kind for kind, extent in extents.items() if extent == "part"} == set()


@pytest.mark.parametrize(
    ("place", "acts", "kind", "turn"),
    [
        (0, ("hotel inform area=south",), "contradicted", 0),
        (0, ("hotel inform area=dontcare",), "contradicted", 0),
        (0, ("hotel inform area=north", "hotel inform stars=4"), "invented", 0),
        (0, ("hotel inform area=north", "hotel recommend name=acorn"), "role_swap", 0),
        (4, ("hotel request phone",), "withheld", 4),
        (2, (), "empty", 2),
    ],
)
def test_one_fault(place: int, acts: tuple[str, ...], kind: str, turn: int) -> None:
    faults = [fault for fault in found(changed(place, *acts)) if fault.kind == kind]
    assert [(fault.turn, fault.length) for fault in faults] == [(turn, 1)]


def test_ending_with_something_unsaid() -> None:
    [fault] = [one for one in found(talk(HOTEL, *GOOD[:2], ("general bye",))) if one.kind == "early_end"]
    assert fault.turn == 2
    assert fault.wanted == ("hotel day", "hotel phone?")


def test_nothing_is_open_where_nothing_was_found() -> None:
    nothing = talk(HOTEL, ("hotel inform area=north",), ("hotel nooffer area=north",), ("general bye",))
    assert [fault.kind for fault in found(nothing)] == []


def test_what_the_system_said_may_be_said() -> None:
    assert found(changed(2, "hotel request phone", "hotel inform name=acorn")) == []


def test_first_tries_of_the_goal_are_no_contradiction() -> None:
    goal = {"hotel": Task(info={"area": "north"}, fail_info={"area": "south"})}
    tried = talk(goal, ("hotel inform area=south",), ("hotel nooffer area=south",), ("hotel inform area=north",))
    assert [fault.kind for fault in found(tried)] == []


def test_a_run_of_repetitions_counts_once() -> None:
    again = ("hotel request phone",), ("hotel inform phone=123",)
    looping = talk(HOTEL, *GOOD[:2], *again, *again, *again, again[0])
    [fault] = [one for one in found(looping) if one.kind == "repeated"]
    assert (fault.turn, fault.length) == (4, 3)


def test_saying_again_what_was_not_heard_is_no_repetition() -> None:
    said = ("hotel inform area=north",)
    twice = talk(HOTEL, said, ("hotel recommend name=acorn",), said)
    assert [fault.kind for fault in found(twice)] == ["repeated"]
    assert found(mishear(twice, 0)) == []
    assert found(talk(HOTEL, said, ("hotel request area",), said)) == []


def test_a_question_that_was_not_heard_is_not_withheld() -> None:
    ignored = changed(4, "hotel request phone")
    assert "withheld" in {fault.kind for fault in found(ignored)}
    unheard = mishear(ignored, 3, "hotel inform phone=123")
    assert "withheld" not in {fault.kind for fault in found(unheard)}


def test_a_goodbye_after_going_in_circles_may_be_that_of_a_step_limit() -> None:
    said = ("hotel inform area=north",), ("hotel request area",)
    stuck = check_user(talk(HOTEL, *said, *said, *said, ("general bye",))).of_kind("early_end")
    assert (stuck.extent, stuck.faults) == ("none", ())
