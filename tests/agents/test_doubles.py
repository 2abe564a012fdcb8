"""People from a corpus, an echo and silence as agents of the town."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.lab import AgentSpec, LabConfig, hold_conversations
from dialgauge.worlds.domain import DomainGoal, ServiceTask, act
from support.town import town_search

RECORDED = {
    "SNG1": {
        "goal": {"taxi": {"info": {"leaveAt": "17:15"}, "reqt": ["phone"], "fail_info": {}}, "message": ["a taxi"]},
        "log": [
            {
                "text": "A taxi at 17:15 , and the phone number ?",
                "metadata": {},
                "dialog_act": {"Taxi-Inform": [["Leave", "17:15"]], "Taxi-Request": [["Phone", "?"]]},
            },
            {
                "text": "Where to ? The phone number is 07 .",
                "metadata": {"taxi": {"semi": {"leaveAt": "17:15"}, "book": {"booked": []}}},
                "dialog_act": {"Taxi-Inform": [["Phone", "07"]], "general-reqmore": [["none", "none"]]},
            },
        ],
    }
}


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "test.json"
    path.write_text(json.dumps(RECORDED), encoding="utf-8")
    return str(path)


def goal(identifier: str) -> DomainGoal:
    return DomainGoal(
        id=identifier, tasks=(ServiceTask(domain="taxi", info={"leaveAt": "17:15"}, requests=("phone",)),)
    )


def test_people_say_what_they_said(corpus: str) -> None:
    sitting = LabConfig(
        user=AgentSpec("corpus-user", {"corpus": corpus}),
        system=AgentSpec("corpus-system", {"corpus": corpus}),
        trials=2,
    )
    first, second = hold_conversations(town_search, [goal("SNG1")], sitting, workers=1)
    assert (first.id, second.id) == ("SNG1#1", "SNG1#2")
    asked, answered = first.turns
    assert asked.acts == (act("Taxi-Inform", "leaveAt", "17:15"), act("Taxi-Request", "phone", "?"))
    assert asked.requested == {"taxi": ("taxi-phone",)}
    assert answered.acts == (act("Taxi-Inform", "phone", "07"), act("general-reqmore"))
    assert (asked.text, answered.text) == tuple(str(turn["text"]) for turn in RECORDED["SNG1"]["log"])  # type: ignore[index]
    assert asked.heard == asked.acts
    assert first.outcome is not None
    assert (first.outcome.reason, first.outcome.success) == ("user_done", None)
