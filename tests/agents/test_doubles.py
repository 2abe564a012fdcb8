"""People from a corpus, an echo and silence as agents of the town."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from dialgauge.agents import EXPLANATION, SystemContext, UserContext, make_agent
from dialgauge.dialogue import Turn
from dialgauge.formats import read
from dialgauge.lab import LAB_LIMITS, AgentSpec, LabConfig, hold_conversations
from dialgauge.worlds.domain import DomainGoal, DomainSearch, ServiceTask, act, multiwoz_goal, read_database, town_of
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


def test_a_recorded_system_that_has_no_more_to_say_leaves(corpus: str) -> None:
    sitting = LabConfig(user=AgentSpec("silent"), system=AgentSpec("corpus-system", {"corpus": corpus}))
    [held] = hold_conversations(town_search, [goal("SNG1")], sitting, workers=1)
    assert held.outcome is not None
    assert (held.outcome.reason, held.outcome.ended_by) == ("system_quit", "system")
    assert held.outcome.facts[EXPLANATION] == "the recorded system says no more after 1 turn"


def test_a_dialogue_that_nobody_recorded_is_an_error_of_its_own_conversation(corpus: str) -> None:
    sitting = LabConfig(user=AgentSpec("corpus-user", {"corpus": corpus}), system=AgentSpec("rule-system"))
    unknown, known = hold_conversations(town_search, [goal("SNG2"), goal("SNG1")], sitting, workers=1)
    assert unknown.outcome is not None and known.outcome is not None
    assert (unknown.outcome.reason, known.outcome.reason) == ("agent_error", "user_done")
    assert unknown.outcome.facts == {EXPLANATION: f"corpus-user has no dialogue 'SNG2' in {corpus} to replay"}


def test_echo_and_silence_on_both_sides() -> None:
    told = Turn(speaker="system", text="hello", acts=(act("general-greet"),))
    echo, silent = make_agent("echo"), make_agent("silent")
    for agent in (echo, silent):
        agent.start(UserContext(dialogue_id="d", goal=None))
        assert agent.respond(None).turn == Turn(speaker="user", acts=())
    assert echo.respond(told).turn == replace(told, speaker="user")
    assert silent.respond(told).turn == Turn(speaker="user", acts=())
    silent.start(SystemContext(dialogue_id="d"))
    assert silent.respond(replace(told, speaker="user")).turn == Turn(speaker="system", acts=())


@pytest.mark.soak
def test_the_human_test_dialogues_are_replayed_word_for_word(shared_data: Path) -> None:
    path = shared_data / "multiwoz21" / "test.json.gz"
    search = DomainSearch(town_of(read_database(shared_data / "multiwoz21" / "db")))
    recorded = list(read(path).dialogues)
    goals = [multiwoz_goal(one.id, one.goal, search) for one in recorded if one.goal]
    spec = {"corpus": str(path)}
    sitting = LabConfig(
        user=AgentSpec("corpus-user", spec),
        system=AgentSpec("corpus-system", spec),
        limits=replace(LAB_LIMITS, acts=20),  # one wizard said 18 things at once
    )
    held = list(hold_conversations(lambda: search, goals, sitting, workers=1))
    assert [[turn.text for turn in one.turns] for one in held] == [
        [turn.text for turn in one.turns] for one in recorded
    ]
    assert {one.outcome.reason for one in held if one.outcome} == {"user_done"}
