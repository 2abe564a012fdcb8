"""A judge adds to the checks and never takes away; whatever it answers, it is a verdict or a sentence."""

from __future__ import annotations

import json

import pytest

import dialgauge
from dialgauge.dialogue import Dialogue, Goal, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.users.faults import (
    CheckedConversation,
    FaultJudge,
    FaultKind,
    UserFault,
    check_user,
    judge_prompt,
    load_labels,
)

TALK = Dialogue(
    id="d",
    turns=(
        Turn(speaker="user", text="Hello, my cat is ill.", source=1),
        Turn(speaker="system", text="Please provide your user ID.", source=2),
        Turn(speaker="user", text="I have none.", source=5),
    ),
    goal=Goal(message=("You are ann_lee_2041.",)),
)


def answering(*faults: tuple[str, int], around: str = "{}") -> FaultJudge:
    said = json.dumps({"faults": [{"kind": kind, "message": message, "sentence": "so"} for kind, message in faults]})
    return FaultJudge(lambda prompt: around.replace("{}", said), name="stub")


def judged(judge: FaultJudge) -> list[CheckedConversation]:
    return judge.add_faults([check_user(TALK)], [TALK])


def test_it_adds_what_the_checks_did_not_find() -> None:
    before = check_user(TALK)
    [after] = judged(answering(("invented", 1), ("invented", 5)))
    assert [(one.kind, one.message, one.length, one.by) for one in after.faults] == [
        ("invented", 1, 2, "stub"),
        ("withheld", 5, 1, "check"),
    ]
    assert set(before.faults) <= set(after.faults)


def test_it_replaces_nothing() -> None:
    before = check_user(TALK)
    assert judged(answering(("withheld", 1))) == judged(answering()) == [before]


def test_faults_of_users_are_asked_for_with_a_judge() -> None:
    alone = dialgauge.user_faults({"mine": [TALK]}, resamples=0)
    judged = dialgauge.user_faults({"mine": [TALK]}, resamples=0, judge=answering(("invented", 1)))
    assert alone["mine"]["UserFault[invented]"] == 0.0 and judged["mine"]["UserFault[invented]"] == 1.0
    assert "judge:stub" in judged.signature and "judge:stub" not in alone.signature
    assert judged[0].details["judged"] == []
    silent = dialgauge.user_faults([TALK], resamples=0, judge=FaultJudge(lambda prompt: "I would rather not say."))
    assert silent[0].table("faults").equals(alone[0].table("faults"))


def test_what_it_looked_at_where_a_check_could_not_is_not_called_unchecked() -> None:
    [after] = judged(answering(("disobeyed", 1)))
    assert check_user(TALK).of_kind("disobeyed").extent == "none"
    assert after.of_kind("disobeyed").extent == "part"


def test_words_around_the_verdict_and_messages_of_the_agent_are_passed_over() -> None:
    judge = answering(("invented", 1), ("invented", 2), around="Sure:\n```json\n{}\n```")
    assert [fault.message for fault in judge.faults(TALK)] == [1]


@pytest.mark.parametrize(
    "answer", ["", "no idea", '{"faults": [{"kind": "rude", "message": 1}]}', '{"faults": 3}', "}{"]
)
def test_an_answer_that_is_no_verdict(answer: str) -> None:
    with pytest.raises(DialgaugeError, match="not a verdict"):
        FaultJudge(lambda prompt: answer).faults(TALK)


def test_a_judge_needs_an_instruction() -> None:
    with pytest.raises(DialgaugeError, match="instruction"):
        judge_prompt(Dialogue(id="d", turns=TALK.turns))


def test_its_agreement_with_labels() -> None:
    labels = load_labels()[:20]
    perfect, silent = answering(), answering()
    perfect.judged = {label.key: [_fault(fault.kind, fault.message) for fault in label.faults] for label in labels}
    silent.judged = {label.key: [] for label in labels}
    for row in perfect.agreement():
        marked = sum(label.has(row["kind"]) for label in labels)
        assert (row["right"], row["wrong"], row["missed"], row["labelled"]) == (marked, 0, 0, 20)
    assert all(row["right"] == 0 and row["precision"]["value"] is None for row in silent.agreement())


def _fault(kind: FaultKind, message: int) -> UserFault:
    return UserFault(kind, message, message, "as labelled")
