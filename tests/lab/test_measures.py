from __future__ import annotations

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.lab import score_conversations
from dialgauge.measures import Count


def ended(name: str, success: bool | None, by: str = "user") -> Dialogue:
    return Dialogue(id=name, turns=(), outcome=Outcome(success=success, ended_by=by))


def test_completed_is_the_share_of_what_can_be_judged() -> None:
    scores = score_conversations([ended("a", True), ended("b", False), ended("c", None), Dialogue(id="d", turns=())])
    assert scores["completed"].value == 0.5
    assert scores.frame().rows() == [("a", "completed", 1.0, 1.0), ("b", "completed", 0.0, 1.0)]
    assert scores.coverage["dialogues"] == Count(expected=4, read=4, scored=2, failed=2)
