"""The checks of texts: for each kind what is a fault, what only looks like one, and where it cannot look."""

from __future__ import annotations

import random

import pytest

from dialgauge.dialogue import Call, Dialogue, Goal, Outcome, Speaker, Turn
from dialgauge.users.faults import KINDS, FaultKind, UserFault, check_user
from dialgauge.users.faults.records import FAULT_WORDINGS, SCOPE_WORDINGS, fault_words, scope_words

ANN = "You are ann_lee_2041. You want to cancel reservation QX7RT2."
ASK = "Could you please provide your user ID and the reservation ID?"
STOP = "###STOP###"


def conversation(told: str | Goal, *said: str) -> Dialogue:
    """Turns of user and agent by turns; messages stand at every third place of the file."""
    speakers: tuple[Speaker, Speaker] = ("user", "system")
    turns = (Turn(speaker=speakers[at % 2], text=text, source=3 * at + 1) for at, text in enumerate(said))
    goal = told if isinstance(told, Goal) else Goal(message=(told,)) if told else None
    return Dialogue(id="d", turns=tuple(turns), goal=goal, outcome=Outcome(success=None))


def faults(kind: FaultKind, dialogue: Dialogue) -> tuple[UserFault, ...]:
    return check_user(dialogue).of_kind(kind).faults


def test_every_kind_is_reported_on_and_what_takes_understanding_is_left_to_a_judge() -> None:
    for dialogue in (conversation(ANN, "hello", "hello"), Dialogue(id="e", turns=())):
        assert [finding.kind for finding in check_user(dialogue).findings] == list(KINDS)
    checked = check_user(conversation(ANN, "hello", "hello"))
    unchecked = {finding.kind: finding.reason for finding in checked.findings if not finding.checked}
    left = dict.fromkeys(("contradicted", "role_swap", "disobeyed"), "ask_a_judge")
    assert unchecked == left | {"early_end": "no_stop_token"}


# Withheld


@pytest.mark.parametrize(
    "question",
    [
        ASK,
        "I need a few things:\n\n1. Your user ID.\n2. Your reason",
        "To proceed I'll need your user ID. What is the reason?",
    ],
)
def test_not_given_when_asked(question: str) -> None:
    found = faults("withheld", conversation(ANN, "hi", question, "It is QX7RT2, my plans changed."))
    assert [fault.about for fault in found] == ["user id"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ASK, "My user id is ann_lee_2041 and the reservation is QX7RT2."),
        ("Please provide your user ID or the reservation ID.", "It is QX7RT2."),
        ("I can look up your user ID. What is the reason for cancelling QX7RT2?", "My plans changed."),
        ("Here you are:\n- User ID: ann_lee_2041\n- Reservation ID: QX7RT2\nIs that right?", "Yes."),
        (ASK, STOP),
    ],
)
def test_given_or_not_asked_for(question: str, answer: str) -> None:
    assert faults("withheld", conversation(ANN, "hi", question, answer)) == ()


def test_what_was_said_before_need_not_be_said_again_and_a_run_counts_once() -> None:
    told = conversation(ANN, "I am ann_lee_2041, booking QX7RT2.", ASK, "I told you already.")
    assert faults("withheld", told) == ()
    again = conversation(ANN, "It is QX7RT2.", ASK, "No idea.", ASK, "Really not.", ASK, "ann_lee_2041")
    assert [(fault.turn, fault.length) for fault in faults("withheld", again)] == [(2, 2)]


def test_what_the_goal_declares() -> None:
    """Anything may be declared, under any name; what is secret need not be given."""
    asked, answer = "What is the number of the parcel?", "I do not know."
    knows = {"number of the parcel": "4711", "user_id": "guest"}
    found = check_user(conversation(Goal(message=("Ask.",), knows=knows), "hi", asked, answer)).of_kind("withheld")
    assert [fault.about for fault in found.faults] == ["number of the parcel"]
    assert (
        scope_words({"reason": found.reason, "about": found.about}) == "questions for number of the parcel and user id"
    )
    secret = Goal(message=("Ask.",), knows=knows, secret=("number of the parcel",))
    assert faults("withheld", conversation(secret, "hi", asked, answer)) == ()
    assert faults("withheld", conversation(Goal(knows=knows), "hi", asked, "4 711")) == ()


@pytest.mark.parametrize(
    "order",
    [
        "You do not want to share your user id.",
        "You refuse to provide your user id.",
        "You have forgotten your user id.",
        "Your user id, ann_lee_2041, must not be shared.",
        "You are not comfortable sharing personal information.",
    ],
)
def test_not_where_the_instruction_may_say_not_to(order: str) -> None:
    told = f"You are Ann Lee and your user id is ann_lee_2041. {order}"
    found = check_user(conversation(told, "hi", ASK, "I would rather not.")).of_kind("withheld")
    assert (found.extent, found.reason) == ("none", "not_to_give")


def test_a_log_without_instructions_is_not_compared() -> None:
    checked = check_user(conversation("", "hi", ASK, "No."))
    assert not checked.told
    assert {checked.of_kind(kind).reason for kind in ("withheld", "invented")} == {"no_instruction"}
    nothing = check_user(conversation("You want to fly.", "hi", ASK, "No.")).of_kind("withheld")
    assert (nothing.extent, nothing.reason) == ("none", "gives_nothing")


# Invented

LISTED = "I found two reservations: QX7RT2 and ZZABPL. Which one is it?"
TOLD = "You are ann_lee_2041. You want to change your trip from BOS to SEA."


@pytest.mark.parametrize(
    ("answer", "about"),
    [
        ("My e-mail is ann@example.com.", "e-mail address"),
        ("My booking is PL0K9D.", "reservation id"),
        ("I want flight HAT101.", "flight number"),
        ("It is 555-010-2002.", "phone number"),
    ],
)
def test_nobody_gave_it(answer: str, about: str) -> None:
    [fault] = faults("invented", conversation(TOLD, "hi", "Tell me more.", answer))
    assert fault.about == about
    assert faults("invented", conversation(f"{TOLD} {answer}", "hi", "Tell me more.", answer)) == ()
    assert faults("invented", conversation(TOLD, "hi", f"I see: {answer}", answer)) == ()


@pytest.mark.parametrize("answer", ["It is ZZABPL.", "Please change QX7RT2."])
def test_a_guess_among_listed_bookings(answer: str) -> None:
    [fault] = faults("invented", conversation(TOLD, "hi", LISTED, answer))
    assert (fault.about, fault.reason) == ("booking", "booking_guessed")


@pytest.mark.parametrize(
    ("listed", "answer"),
    [
        ("Your bookings:\n- QX7RT2: from BOS to SEA\n- ZZ81PL: from SEA to BOS", "It is QX7RT2."),
        (LISTED, "Could you check QX7RT2 and ZZABPL?"),
        (LISTED, "I do not know which."),
    ],
)
def test_no_guess_where_the_list_tells_or_nothing_is_claimed(listed: str, answer: str) -> None:
    assert faults("invented", conversation(TOLD, "hi", listed, answer)) == ()


def test_what_its_own_tools_show_is_known_and_inventing_may_be_allowed() -> None:
    shown = Call(name="mailbox", result="booking PL0K9D")
    turns = (Turn(speaker="system", text="Which booking?"), Turn(speaker="user", text="It is PL0K9D.", calls=(shown,)))
    assert faults("invented", Dialogue(id="d", turns=turns, goal=Goal(message=(TOLD,)))) == ()
    free = f"{TOLD} If asked for anything else, make something up."
    found = check_user(conversation(free, "hi", "Your e-mail?", "ann@example.com")).of_kind("invented")
    assert (found.extent, found.reason) == ("none", "may_invent")


# The end


@pytest.mark.parametrize(
    ("last", "answer", "reason"),
    [
        ("Could you provide your user ID?", STOP, "stops_when_asked"),
        ("Shall I proceed with it?", f"Yes, please. {STOP}", "stops_confirming"),
        ("It is done. Could you tell me if there is anything else?", STOP, ""),
        ("It is cancelled. Is there anything else I can help you with?", f"No, thank you. {STOP}", ""),
        ("YOU ARE BEING TRANSFERRED TO A HUMAN AGENT.", STOP, ""),
        ("What would you prefer?", STOP, ""),
    ],
)
def test_an_end_too_early_or_in_good_time(last: str, answer: str, reason: str) -> None:
    found = faults("early_end", conversation(ANN, "Cancel it.", last, answer))
    assert [fault.reason for fault in found] == ([reason] if reason else [])


def test_asked_for_what_it_must_not_give_it_may_stop() -> None:
    told = f"{ANN} Do not give your user id."
    assert faults("early_end", conversation(told, "Cancel it.", "Could you provide your user id?", STOP)) == ()


# Single messages


def test_empty() -> None:
    assert [fault.turn for fault in faults("empty", conversation(ANN, "hi", "yes?", "", "yes?", "  "))] == [2]
    call = Turn(speaker="user", calls=(Call(name="reboot"),))
    assert faults("empty", Dialogue(id="d", turns=(call, Turn(speaker="system", text="ok")))) == ()


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        (f"Bye. {STOP} Oh, one more thing.", True),
        ('<tool_call>{"name": "cancel"}</tool_call>', True),
        ("I want to cancel reservation QX7RT2.", False),
        (f"Bye. {STOP}", False),
    ],
)
def test_leaked(text: str, leaks: bool) -> None:
    assert bool(faults("leaked", conversation(ANN, text, "hello"))) == leaks


def test_the_third_copy_of_a_message_is_a_repetition_unless_it_is_asked_for() -> None:
    copy = "Thank you, I will wait for the agent."
    talk = conversation(ANN, *[copy, "You are welcome."] * 4)
    assert [(fault.turn, fault.length, fault.earlier) for fault in faults("repeated", talk)] == [(4, 2, 1)]
    assert faults("repeated", conversation(ANN, *[copy, "Which reservation is it?"] * 4)) == ()
    assert faults("repeated", conversation(ANN, *["Yes, please.", "Done."] * 4)) == ()


PIECES = (
    ANN, ASK, STOP, "up to\n$100", "Yes, please.", "an additional $120?", "QX7RT2, ZZ81PL", "the 31st", "'", "(",
    "\ud800", "reservation", "May 99", "a@b.c", "\n- user id:", "I’m", "###", "", "{0} {",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_said_is_checked_and_has_words(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(20):
        texts = ["".join(draw.choices(PIECES, k=draw.randrange(4))) for _ in range(draw.randrange(1, 7))]
        checked = check_user(conversation(" ".join(draw.choices(PIECES, k=3)), *texts))
        assert all(fault.turn % 2 == 0 for fault in checked.faults)
        assert {finding.reason for finding in checked.findings} <= SCOPE_WORDINGS.keys()
        assert {fault.reason for fault in checked.faults} <= FAULT_WORDINGS.keys()
        for fault in checked.faults:
            assert fault_words({"reason": fault.reason, "about": fault.about, "given": fault.given})
    assert fault_words({"reason": "of {another} version"}) == "of {another} version"
