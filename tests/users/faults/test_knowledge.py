"""What an instruction has the user know, in the shapes in which people write it."""

from __future__ import annotations

import pytest

from dialgauge.dialogue import Dialogue, Goal, Turn
from dialgauge.users.faults import check_user, faults_run, known_things, known_values


@pytest.mark.parametrize(
    ("instruction", "known"),
    [
        ("Your user id is user_001.", {"user id": ("user_001",)}),
        ("Your username: 'ann.lee'.", {"user id": ("ann.lee",)}),
        ("You are ann7, and want a refund.", {"user id": ("ann7",)}),
        ("You are 25 years old.", {}),
        ("You are ann_lee_2041.", {"user id": ("ann_lee_2041",)}),
        ("Cancel order #4711 and order number 4712.", {"order id": ("#4711", "4712")}),
        ("Your order number: A-17", {"order id": ("a-17",)}),
        ("Your confirmation code is 'QWERTY'.", {"reservation id": ("qwerty",)}),
        ("Your customer number is 99-12.", {"customer number": ("99-12",)}),
        ("Your account number = 12345.", {"account number": ("12345",)}),
        ("Ask for your order. You have no id.", {}),
        ('Your id is "user_001".', {"id": ("user_001",)}),
        ("You are member #user_001.", {"member number": ("#user_001",)}),
        ("My account user_001 is locked.", {"account number": ("user_001",)}),
        ("Your customer code is ZQ0003KK.", {"customer number": ("zq0003kk",)}),
        ("Your member code: ZQ0003KK", {"member number": ("zq0003kk",)}),
        ("You know your PIN 4821.", {"pin": ("4821",)}),
        ("Your policy number is 99-881-2.", {"policy number": ("99-881-2",)}),
        ("Your badge number is 7734.", {"badge number": ("7734",)}),
        ("Your user id is: ann.lee", {"user id": ("ann.lee",)}),
        ("Your customer number is 123 456 789.", {"customer number": ("123 456 789",)}),
        ("Your pet is 'Rex the Third'.", {"pet": ("rex the third",)}),
        ("The serial no. of your router is SN77Q12.", {"serial no": ("sn77q12",)}),
        ("The number of your order is 4711.", {"order id": ("4711",)}),
        ("Your Kundennummer ist 443312.", {"kundennummer": ("443312",)}),
        ("Su número de cliente es A-443312.", {"número de cliente": ("a-443312",)}),
        ("Your dog's name is Rexomatic3.", {"dog's name": ("rexomatic3",)}),
        ("The price of your ticket is 12345.", {}),
        ("Your plan is 10GB, your seat was 12A, your age is 25. Your flight is HAT123.", {}),
        ("Your flight number is HAT123, the total number is 120.", {}),
        ("Your reservation is 2024-05-12, your order was 2nd. Your user id is unknown.", {}),
        ("Your phone is 030 123.", {"phone number": ("030 123",)}),
        ("knows locker: B12", {}),  # words of a message, as any others
    ],
)
def test_things_are_known_by_shape_or_by_name(instruction: str, known: dict[str, tuple[str, ...]]) -> None:
    assert {thing.name: thing.values for thing in known_things(Goal(message=(instruction,)))} == known


def test_things_are_known_that_the_goal_has_by_name() -> None:
    things = known_things(Goal(knows={"locker": "B12", "user_id": "u9"}))
    assert {thing.name: thing.values for thing in things} == {"locker": ("b12",), "user id": ("u9",)}


def test_values_are_given_as_written() -> None:
    goal = Goal(message=("Your user id is User_001, order #W77.",), knows={"locker": "B12"})
    assert known_values(goal) == ["User_001", "W77", "B12"]


def talk(goal: str, answer: str, asked: str = "What is your user id?", **knows: str) -> Dialogue:
    turns = (
        Turn(speaker="user", text="Please help me with a refund."),
        Turn(speaker="system", text=asked),
        Turn(speaker="user", text=answer),
    )
    return Dialogue(id=answer, turns=turns, goal=Goal(message=(goal,), knows=knows) if goal else None)


@pytest.mark.parametrize(
    ("goal", "answer", "faulty"),
    [
        ("Your user id is user_001.", "I would rather not say.", True),
        ("Your user id is user_001.", "It is user_001.", False),
        ("Your user id is user_001. Do not share it.", "I would rather not say.", False),
    ],
)
def test_what_is_known_and_asked_for_is_withheld_or_given(goal: str, answer: str, faulty: bool) -> None:
    assert bool(check_user(talk(goal, answer)).of_kind("withheld").faults) is faulty


@pytest.mark.parametrize(
    ("goal", "answer", "faulty"),
    [
        ("Get it opened.", "No.", True),
        ("Get it opened.", "b12, near the door", False),
        ("Never share your user id.", "No.", False),
    ],
)
def test_what_the_goal_has_by_name_is_withheld_or_given(goal: str, answer: str, faulty: bool) -> None:
    spoken = talk(goal, answer, "What is your locker?", locker="B12")
    assert bool(check_user(spoken).of_kind("withheld").faults) is faulty


@pytest.mark.parametrize(
    ("goal", "asked", "answer", "faulty"),
    [
        ('Your id is "user_001".', "Please give me the id.", "No.", True),
        ("My account user_001 is locked.", "What is your account number?", "I have none.", True),
        ("Your customer code is ZQ0003KK.", "What is your customer number or code?", "No.", True),
        ("Your customer code is ZQ0003KK.", "What is your customer code?", "zq0003kk", False),
        ("Your customer code is ZQ0003KK. Never share your customer code.", "Your customer code?", "No.", False),
        ("Your customer code is ZQ0003KK.", "What is your zip code?", "No.", False),
        ("Your PIN is 4821.", "What is your PIN?", "No.", True),
        ("Your PIN is 4821. Do not tell your PIN.", "What is your PIN?", "No.", False),
        ("Cancel order #W7731.", "What is your order number?", "It is W7731.", False),
        ("You have a booking under reference 'ABZZQT'.", "What is your booking reference?", "No.", True),
        ("Never tell your booking reference ABZZQT.", "What is your booking reference?", "No.", False),
        ("The serial no. of your router is SN77Q12.", "What is its serial number?", "No.", True),
        ("Your badge number is LK-003-Z.", "What is your badge number?", "LK003Z.", False),
    ],
)
def test_questions_name_what_is_known(goal: str, asked: str, answer: str, faulty: bool) -> None:
    assert bool(check_user(talk(goal, answer, asked)).of_kind("withheld").faults) is faulty


@pytest.mark.parametrize("instruction", ["Dein Schalter: «Grün 7».", "You want a hotel."])
def test_what_is_not_recognised_is_not_said_to_be_absent(instruction: str) -> None:
    findings = check_user(talk(instruction, "No.")).of_kind("withheld")
    assert not findings.checked
    assert findings.scope.startswith("nothing in the instruction is recognised") and "`knows`" in findings.scope


def test_an_instruction_that_gives_nothing_to_compare_with_makes_no_share() -> None:
    run = faults_run([talk("You want a hotel.", "I do not have that.")], "hotel", resamples=0)
    assert "NoFaultFound" not in run.scores
    assert "compared" in run.details["left_out"]["NoFaultFound"]


def test_users_that_were_told_nothing_are_not_checked_instead_of_faultless() -> None:
    untold = faults_run([talk("", "No, thank you, that is all for now.")], "untold", resamples=0)
    assert "NoFaultFound" not in untold.scores
    assert "instruction" in untold.details["left_out"]["NoFaultFound"]
    both = [talk("", "No, thank you."), talk("Your user id is user_001.", "It is user_001.")]
    mixed = faults_run(both, "mixed", resamples=0)
    assert (mixed["NoFaultFound"].value, mixed.details["compared"]) == (1.0, 1)
