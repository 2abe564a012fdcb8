"""The session loop: what crosses to the other side, what is recorded, how conversations end, and agents that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.agents import EXPLANATION, Limits, Reply, Scenario, SystemContext, UserContext, converse
from dialgauge.dialogue import Act, Call, Dialogue, Fact, Goal, Outcome, Speaker, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.restaurant import (
    FactDatabase,
)

INN = Fact("inn", "R_cuisine", "thai")
DATABASE = FactDatabase([INN])
GOAL = Goal(tasks={"restaurant": Task(info={"cuisine": "thai"})})


class Scripted:
    """Gives its replies in order and remembers what it was told."""

    name = "scripted"

    def __init__(self, speaker: Speaker, *replies: Reply | str | Callable[[], Any]) -> None:
        self._speaker, self._replies = speaker, replies
        self.contexts: list[UserContext | SystemContext] = []
        self.heard: list[Turn | None] = []

    def start(self, context: UserContext | SystemContext) -> None:
        self.contexts.append(context)
        self._left = iter(self._replies)

    def respond(self, turn: Turn | None) -> Reply:
        self.heard.append(turn)
        reply = next(self._left)
        if isinstance(reply, str):
            return Reply(turn=Turn(speaker=self._speaker, text=reply))
        return reply if isinstance(reply, Reply) else reply()


BYE = Reply(turn=None, done=True, success=True)


def talk(user: Any, system: Any, **options: Any) -> Dialogue:
    return converse(user, system, Scenario(dialogue_id="d", database=DATABASE, goal=GOAL, **options))


def said(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]


def test_the_user_speaks_first_and_may_leave_without_a_word() -> None:
    user, system = Scripted("user", "hi", "thai please", BYE), Scripted("system", "hello", "sure")
    dialogue = talk(user, system, domains=("restaurant",))
    assert said(dialogue) == [("user", "hi"), ("system", "hello"), ("user", "thai please"), ("system", "sure")]
    assert (dialogue.id, dialogue.goal, dialogue.domains) == ("d", GOAL, ("restaurant",))
    assert dialogue.outcome == Outcome(success=True, reason="user_done", ended_by="user")
    assert user.heard == [None, Turn(speaker="system", text="hello"), Turn(speaker="system", text="sure")]


@pytest.mark.parametrize("last", ["closed", None])
def test_a_system_may_end_it(last: str | None) -> None:
    turn = None if last is None else Turn(speaker="system", text=last)
    dialogue = talk(Scripted("user", "hi"), Scripted("system", Reply(turn=turn, done=True)))
    assert dialogue.outcome == Outcome(success=None, reason="system_quit", ended_by="system")
    assert len(dialogue.turns) == (1 if last is None else 2)


def test_only_words_cross_and_at_the_level_of_acts_the_acts() -> None:
    full = Turn(speaker="user", text="thai", acts=(Act("inform"),), state={"restaurant": {}}, requested={"r": ("x",)})
    for level, acts in (("text", None), ("act", (Act("inform"),))):
        user, system = Scripted("user", Reply(turn=full), BYE), Scripted("system", "sure")
        assert talk(user, system, level=level).turns[0] == full
        assert system.heard == [Turn(speaker="user", text="thai", acts=acts)]


def test_the_database_answers_calls_between_the_turns() -> None:
    user = Scripted("user", "thai", "so?", "ah", BYE)
    system = Scripted("system", "api_call thai R_location R_price", "api_call greek R_location R_price", "inn")
    dialogue = talk(user, system, environment=DATABASE)
    assert [turn.results for turn in dialogue.turns] == [None, None, (INN,), None, (), None]
    assert [turn and turn.results for turn in system.heard] == [None, (INN,), ()]
    assert [turn and turn.results for turn in user.heard] == [None, (INN,), (), None]


@given(st.integers(1, 5))
def test_no_conversation_is_longer_than_the_limit(most: int) -> None:
    user, system = Scripted("user", *["a"] * 9), Scripted("system", *["b"] * 9)
    dialogue = talk(user, system, limits=Limits(exchanges=most))
    assert len(dialogue.turns) == 2 * most
    assert dialogue.outcome is not None
    assert (dialogue.outcome.success, dialogue.outcome.reason) == (False, "max_exchanges")
    done = talk(Scripted("user", *["a"] * most, BYE), Scripted("system", *["b"] * most), limits=Limits(exchanges=most))
    assert done.outcome is not None and done.outcome.success


def crash() -> Reply:
    raise ZeroDivisionError("oops")


def refuse() -> Reply:
    raise DialgaugeError("the server is away")


def thousand() -> Reply:
    return Reply(turn=Turn(speaker="system", text="x", acts=(Act("inform"),) * 1001))


@pytest.mark.parametrize(
    ("failing", "why"),
    [
        (crash, "the agent scripted raised ZeroDivisionError: oops"),
        (refuse, "the server is away"),
        (lambda: "hello", "the agent scripted returned str instead of a Reply"),
        (lambda: None, "the agent scripted returned NoneType instead of a Reply"),
        (lambda: Reply(turn=None), "the agent scripted returned no turn and is not done"),
        (lambda: Reply(turn=Turn(speaker="user", text="x")), "returned a turn of the user where it is the system"),
        (lambda: Reply(turn=Turn(speaker="system", text="x" * 100_001)), "said 100,001 characters at once"),
        (thousand, "said 1,001 acts at once; 1,000 are allowed"),
    ],
)
def test_an_agent_that_fails_ends_its_conversation_only(failing: Callable[[], Any], why: str) -> None:
    dialogue = talk(Scripted("user", "hi", "so"), Scripted("system", "hello", failing))
    assert said(dialogue) == [("user", "hi"), ("system", "hello"), ("user", "so")]
    outcome = dialogue.outcome
    assert outcome is not None
    assert (outcome.success, outcome.reason, outcome.ended_by) == (False, "agent_error", "system")
    assert why in outcome.facts[EXPLANATION]
    assert ("traceback" in outcome.facts) == (failing is crash)


def test_ctrl_c_is_no_failure_of_an_agent() -> None:
    def interrupt() -> Reply:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        talk(Scripted("user", interrupt), Scripted("system"))


def test_users_of_ours_see_calls_and_others_do_not() -> None:
    class Office:
        def take_calls(self) -> tuple[Call, ...]:
            return (Call(name="search"),)

    for sees in (False, True):
        user = Scripted("user", "hello", BYE)
        user.sees_calls = sees  # type: ignore[attr-defined]
        talk(user, Scripted("system", "hi"), office=Office())
        told = user.heard[-1]
        assert told is not None and bool(told.calls) is sees
