"""Language models as user and system: what they are told, what they may do, and that nothing they write breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialgauge.agents import (
    ENDPOINT_ERROR,
    EXPLANATION,
    TOKEN_BUDGET,
    Agent,
    Limits,
    converse,
    make_agent,
)
from dialgauge.dialogue import Act, Dialogue, SideUsage
from dialgauge.draws import Draws
from dialgauge.lab import AgentSpec, LabConfig, LoadedDomain, lab_scenario, open_domain
from dialgauge.worlds.domain import ServiceDesk
from support.model_server import ModelServer, model_server, said, tool_call
from support.soak import soak

HOSTILE = (
    *("empty", "null", "control", "long", "unknown-tool", "bad-arguments", "list-arguments", "odd-arguments"),
    *("unknown-column", "unknown-domain", "no-such-place", "headers", "no-usage"),
)


@pytest.fixture(scope="module")
def town() -> LoadedDomain:
    return open_domain(count=4)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as one:
        yield one


def agent(name: str, server: ModelServer, **settings: object) -> Agent:
    given = {"endpoint": server.url, "model": "m", "backoff": "0.001", "retries": "1", **settings}
    return make_agent(name, {key: str(value) for key, value in given.items()})


def talk(town: LoadedDomain, user: Agent, system: Agent, goal: int = 0, exchanges: int = 3) -> Dialogue:
    limits = Limits(exchanges=exchanges, characters=2000, acts=12)
    sitting = LabConfig(user=AgentSpec(""), system=AgentSpec(""), level="text", limits=limits)
    scenario = lab_scenario(town.search, town.goals[goal], sitting)
    return converse(user, system, scenario)


def test_both_sides(town: LoadedDomain, server: ModelServer) -> None:
    held = talk(town, agent("llm-user", server), agent("llm-system", server))
    assert held.outcome is not None
    assert (held.outcome.reason, held.outcome.success) == ("user_done", True)
    assert held.outcome.usage == {
        "user": SideUsage(calls=3, tokens=330, tokens_in=300, tokens_out=30),
        "agent": SideUsage(calls=6, tokens=660, tokens_in=600, tokens_out=60),
    }
    assert [turn.text for turn in held.turns[::2]] == [
        "I need a restaurant in the north.",
        "What is the phone number?",
        "Thank you, goodbye.",
    ]
    first = held.turns[0]
    assert Act("Restaurant-Inform", "restaurant", "area", ("north",)) in (first.acts or ())
    assert first.predicted == {"restaurant": {"area": ("north",)}}
    assert held.turns[2].requested == {"restaurant": ("restaurant-phone",)}
    (call,) = held.turns[1].calls or ()
    assert (call.name, call.arguments) == ("search", {"area": "north"})


@pytest.mark.parametrize(
    ("written", "text", "reason", "success"),
    [
        ("Bye.\n[DONE]", "Bye.", "user_done", True),
        ("Bye. [done]", "Bye.", "user_done", True),
        ("Bye.\nDONE", "Bye.", "user_done", True),
        ("That is no use.\n[GIVE UP]", "That is no use.", "user_gave_up", False),
        ("We are done here.", "We are done here.", "max_exchanges", False),
    ],
)
def test_markers(town: LoadedDomain, server: ModelServer, written: str, text: str, reason: str, success: bool) -> None:
    server.reply = lambda question: said(written)
    held = talk(town, agent("llm-user", server), make_agent("rule-system"), exchanges=1)
    assert held.outcome is not None
    assert (held.turns[0].text, held.outcome.reason, held.outcome.success) == (text, reason, success)
    assert held.turns[-1].speaker == "system"


@pytest.mark.parametrize(
    ("way", "tools"),
    [
        (way, tools) if place % 2 == column else soak(way, tools)
        for place, way in enumerate(HOSTILE)
        for column, tools in enumerate(("native", "json"))
    ],
)
def test_hostile_output_breaks_nothing(town: LoadedDomain, server: ModelServer, way: str, tools: str) -> None:
    server.misbehave(*[way] * 200)
    unharmed(talk(town, make_agent("agenda"), agent("llm-system", server, tools=tools)))


def unharmed(held: Dialogue) -> None:
    assert held.outcome is not None
    assert held.outcome.reason not in (ENDPOINT_ERROR, TOKEN_BUDGET), held.outcome
    assert len(held.turns) >= 2
    for turn in held.turns:
        assert len(turn.text) <= 2000
        assert all(sign.isprintable() or sign == "\n" for sign in turn.text)


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("filter", "a content filter withheld"),
        ("status:500", "status 500: not now"),
        ("status:400", "status 400: not now"),
        ("close", "did not answer"),
        ("no-choices", "an empty list of choices"),
    ],
)
def test_what_ends_a_dialogue_and_no_other(town: LoadedDomain, server: ModelServer, way: str, why: str) -> None:
    user, system = make_agent("agenda"), agent("llm-system", server, retries=0)
    server.misbehave("", "", way)
    held = talk(town, user, system)
    assert held.outcome is not None
    assert held.outcome.reason == ENDPOINT_ERROR
    assert why in held.outcome.facts[EXPLANATION]
    assert len(held.turns) == 3  # what was said stays
    assert held.outcome.usage["agent"].calls == (3 if way == "filter" else 2)  # what was filtered was paid
    assert "traceback" not in held.outcome.facts
    again = talk(town, user, system, goal=1)
    assert again.outcome is not None
    assert again.outcome.reason != ENDPOINT_ERROR


def test_six_tool_calls_a_reply(town: LoadedDomain, server: ModelServer) -> None:
    server.reply = lambda question: tool_call("search_hotel", {})
    held = talk(town, make_agent("agenda"), agent("llm-system", server), exchanges=1)
    assert len(held.turns[1].calls or ()) == 6
    assert len(server.received) == 7
    assert server.received[-1]["tool_choice"] == "none"
    many = [tool_call("search_hotel", {})["message"]["tool_calls"][0]] * 30
    server.reply = lambda question: said("x", tool_calls=many)
    held = talk(town, make_agent("agenda"), agent("llm-system", server), exchanges=1)
    assert len(held.turns[1].calls or ()) == 6


def test_json_instead_of_tools(town: LoadedDomain, server: ModelServer) -> None:
    held = talk(town, make_agent("agenda"), agent("llm-system", server, tools="json"), exchanges=1)
    assert held.turns[1].text == "Which area would you like?"
    assert [call.name for call in held.turns[1].calls or ()] == ["search"]
    assert "tools" not in server.received[0]
    assert server.received[0]["response_format"]["type"] == "json_schema"


def test_the_desk_books_what_it_found(town: LoadedDomain) -> None:
    desk = ServiceDesk(town.search, Draws(1, "desk"))
    found = desk.call("search_restaurant", '{"area": "NORTH"}').answer
    name = found["rows"][0]["name"]
    assert desk.call("book_restaurant", {"name": name, "people": 2}).answer == {
        "outcome": "incomplete",
        "message": "Not booked: day, time are missing.",
    }
    booked = desk.call("book_restaurant", {"name": name, "people": 2, "day": "monday", "time": "18:00"}).answer
    assert booked["outcome"] == "booked"
    assert len(booked["Ref"]) == 8
    assert desk.call("search_train", {"day": "friday"}).answer["rows"][-1]["day"] == "friday"
    assert "leaveAt is missing" in desk.call("book_taxi", {"departure": "a", "destination": "b"}).answer["message"]
    assert (
        desk.call("book_taxi", {"departure": "a", "destination": "b", "leaveAt": "10:00"}).answer["outcome"] == "booked"
    )
    assert desk.state == {
        "restaurant": {"area": ("north",), "day": ("monday",), "people": ("2",), "time": ("18:00",)},
        "train": {"day": ("friday",)},
        "taxi": {"departure": ("a",), "destination": ("b",), "leaveAt": ("10:00",)},
    }
