"""An agent that fails ends its own conversation, with the reason and a sentence, and no other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dialgauge.agents import BUILT_IN, EXPLANATION
from dialgauge.dialogue import Dialogue
from dialgauge.lab import LAB_LIMITS, AgentSpec, LabConfig, hold_conversations
from dialgauge.worlds.domain import DomainGoal, ServiceTask
from support.bad_agents import FAILURES
from support.town import town_search

GOALS = [
    DomainGoal(
        id=name,
        tasks=(
            ServiceTask(domain="restaurant", info={"food": food, "area": area}, requests=("phone",)),
            ServiceTask(domain="attraction", info={"type": "theatre"}, requests=("entrance fee",)),
        ),
    )
    for name, food, area in (("one", "indian", "centre"), ("two", "chinese", "east"), ("three", "portuguese", "south"))
]
SENTENCES = {
    "raises": "the agent failing raised KeyError: 'nothing there'",
    "hangs": "the conversation took longer than 0.5 seconds; the agent failing was to answer",
    "100,000 acts": "the agent failing said 100,000 acts at once; 12 are allowed",
    "100,000 words": "the agent failing said 500,000 characters at once; 2,000 are allowed",
    "nothing": "the agent failing returned NoneType instead of a Reply",
    "a word": "the agent failing returned str instead of a Reply",
    "no turn": "the agent failing returned no turn and is not done",
    "a turn that is none": "the agent failing returned something other than a turn with a text",
    "text that is none": "the agent failing returned something other than a turn with a text",
    "acts that are none": "the agent failing returned something other than acts",
    "the other side": "the agent failing returned a turn of the user where it is the system",
}


def conversations(system: AgentSpec, seconds: float = 0.5) -> list[Dialogue]:
    limits = replace(LAB_LIMITS, seconds=seconds)
    sitting = LabConfig(user=AgentSpec("agenda"), system=system, limits=limits)
    return list(hold_conversations(town_search, GOALS, sitting, workers=1))


@pytest.mark.parametrize("how", FAILURES)
def test_a_failing_system_ends_its_own_conversation(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "failing", "support.bad_agents:FailingSystem")
    fine = conversations(AgentSpec("rule-system"), seconds=0)
    held = conversations(AgentSpec("failing", {"how": how, "at": "two"}))
    assert [dialogue.id for dialogue in held] == ["one", "two", "three"]
    assert [held[0], held[2]] == [fine[0], fine[2]]
    outcome = held[1].outcome
    assert outcome is not None
    assert outcome.reason == ("time_budget" if how == "hangs" else "agent_error")
    assert (outcome.success, outcome.ended_by) == (False, "system")
    assert outcome.facts[EXPLANATION] == SENTENCES[how]
    assert len(held[1].turns) == 3  # what was said before the failure stays
    assert ("traceback" in outcome.facts) == (how == "raises")


@pytest.mark.parametrize("user", ["agenda", "agenda-baseline"])
@pytest.mark.parametrize("system", ["silent", "echo"])
def test_nobody_there(user: str, system: str) -> None:
    sitting = LabConfig(user=AgentSpec(user), system=AgentSpec(system))
    held = list(hold_conversations(town_search, GOALS, sitting, workers=1))
    reasons = {dialogue.outcome.reason for dialogue in held if dialogue.outcome}
    assert reasons <= ({"user_gave_up"} if user == "agenda" else {"max_exchanges", "user_gave_up"})
    assert all(dialogue.outcome and not dialogue.outcome.success for dialogue in held)
    assert all(dialogue.turns[-1].speaker == "system" for dialogue in held)
