"""Language models as user and system: what they are told, what they may do, and that nothing they write breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialgauge.agents import (
    ENDPOINT_ERROR,
    EXPLANATION,
    TOKEN_BUDGET,
    Agent,
    Limits,
    Scenario,
    Vocabulary,
    converse,
    make_agent,
)
from dialgauge.agents.llm import goal_prompt, json_instructions
from dialgauge.dialogue import Act, Dialogue, SideUsage
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.lab import AgentSpec, LabConfig, LoadedDomain, lab_scenario, open_domain
from dialgauge.worlds.domain import DomainGoal, ServiceDesk, ServiceTask, load_domain
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


def test_what_the_models_are_told(town: LoadedDomain, server: ModelServer) -> None:
    talk(town, agent("llm-user", server), agent("llm-system", server), exchanges=2)
    user, system, results = server.received[:3]
    assert user["messages"][0]["content"] == goal_prompt(town.goals[0], Vocabulary(town.search.domain))
    assert user["seed"] != system["seed"]
    assert [tool["function"]["name"] for tool in system["tools"]] == [
        *("search_restaurant", "book_restaurant", "search_hotel", "book_hotel", "search_attraction"),
        *("search_train", "book_train", "book_taxi", "search_hospital", "search_police"),
    ]
    assert system["messages"][0]["content"].startswith("You work at the information desk of a town.")
    told = json.loads(results["messages"][-1]["content"])
    assert told["count"] > len(told["rows"]) == 5
    assert results["messages"][-1]["tool_call_id"] == results["messages"][-2]["tool_calls"][0]["id"]
    # The system never sees the goal, nor the user the database.
    assert "british" not in json.dumps(system)


def test_the_instructions_of_a_goal() -> None:
    goal = DomainGoal(
        id="x",
        tasks=(
            ServiceTask(
                domain="hotel",
                info={"area": "north", "stars": "4"},
                first={"area": "north", "stars": "5"},
                book={"day": "monday", "people": "2", "stay": "3"},
                book_first={"day": "monday", "people": "2", "stay": "5"},
            ),
            ServiceTask(domain="restaurant", info={"food": "thai"}, requests=("phone", "postcode")),
            ServiceTask(
                domain="taxi", info={"leaveAt": "10:00"}, links={"departure": "hotel", "destination": "restaurant"}
            ),
        ),
    )
    lines = [line for line in goal_prompt(goal, Vocabulary(load_domain("town"))).splitlines() if line[:1].isdigit()]
    assert lines == [
        "1. You need a place to stay. Your wishes: area: north, stars: 5.",
        "2. Only if there is none like that, change this and keep the rest: stars: 4.",
        "3. Then book it: day: monday, people: 2, nights: 5.",
        "4. Only if that booking is refused, change this and keep the rest: nights: 3.",
        "5. Make sure that you are told: reference number.",
        "6. You need a restaurant. Your wishes: food: thai.",
        "7. Find out: phone, postcode.",
        "8. You want to book a taxi: departure time: 10:00; for the departure place, say the name of the hotel that "
        "you settled on; for the destination, say the name of the restaurant that you settled on.",
    ]


def test_the_instructions_of_an_own_domain() -> None:
    """What is booked without rows is one line, and a wish that falls away leaves the rest as it is."""
    tasks = (
        ServiceTask(domain="ride", book={"pickup": "Imaging", "time": "09:30", "vehicle": "car"}),
        ServiceTask(domain="doctor", info={"specialty": "eye care"}, first={"specialty": "eye care", "fee": "1"}),
    )
    clinic = load_domain(Path(__file__).parents[3] / "docs" / "examples" / "domains" / "clinic")
    lines = goal_prompt(DomainGoal(id="x", tasks=tasks), Vocabulary(clinic)).splitlines()
    assert [line for line in lines if line[:1].isdigit()] == [
        "1. You want to book a ride home: pickup: Imaging, time: 09:30, vehicle: car.",
        "2. Make sure that you are told: reference.",
        "3. You need a doctor. Your wishes: specialty: eye care, fee: at most 1.",
        "4. Only if there is none like that, ask for just this instead: specialty: eye care.",
    ]


def test_tools_say_what_their_fields_mean(town: LoadedDomain) -> None:
    tools = {tool["name"]: tool for tool in ServiceDesk(town.search, Draws(1, "desk")).tools()}
    fields = tools["book_hotel"]["parameters"]["properties"]
    assert fields["stay"]["description"] == "stay: nights" and "reference number" in tools["book_hotel"]["description"]
    train = tools["book_train"]["parameters"]["properties"]["trainID"]
    assert train["description"] == "which one to book: its train ID, as a search gave it"
    assert "stay* 1..9 (nights)" in json_instructions(tools.values())


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


def test_a_marker_alone_says_nothing(town: LoadedDomain, server: ModelServer) -> None:
    server.reply = lambda question: said("[DONE]")
    held = talk(town, agent("llm-user", server), make_agent("rule-system"))
    assert held.turns == ()
    assert held.outcome is not None
    assert held.outcome.reason == "user_done"


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


@pytest.mark.parametrize("way", HOSTILE)
def test_hostile_output_of_a_user_breaks_nothing(town: LoadedDomain, server: ModelServer, way: str) -> None:
    server.misbehave(*[way] * 200)
    unharmed(talk(town, agent("llm-user", server), make_agent("rule-system")))


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


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"say": "Hello there', "Hello there"),
        ('{ "say" : "Café at', "Café at"),
        ('{"say": 7}', ""),
        ("plain words", "plain words"),
        ('{"tool": "search", "argum', ""),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_json_that_is_none(town: LoadedDomain, server: ModelServer, written: str, text: str) -> None:
    server.reply = lambda question: said(written)
    held = talk(town, make_agent("agenda"), agent("llm-system", server, tools="json"), exchanges=1)
    assert held.turns[1].text == text


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


@pytest.mark.parametrize(
    ("tool", "arguments", "found"),
    [
        ("search_restaurant", {"area": "city centre"}, True),
        ("search_restaurant", {"pricerange": "mid-range"}, True),
        ("search_hotel", {"stars": "4"}, True),
        ("search_hotel", {"parking": True}, True),
        ("search_train", {"leaveAt": "15:00"}, True),
        ("search_restaurant", {"area": "moon"}, "Values are: centre, east, north, south, west."),
        ("search_restaurant", {"colour": "red"}, "not by 'colour'"),
        ("search_train", {"leaveAt": "soon"}, "must be a time of day"),
        ("search_restaurant", {"area": ["centre", "north"]}, "area takes one value as text or number"),
        ("search_restaurant", {"area": {"is": "centre"}}, "not a list or an object"),
        ("book_restaurant", {"name": "NAME", "day": "monday", "people": 10**400, "time": "18:00"}, "from 1 to 9"),
        ("book_restaurant", {"name": "NAME", "day": "monday", "people": -3, "time": "18:00"}, "from 1 to 9"),
        ("book_restaurant", {"name": "NAME", "day": "someday", "people": 3, "time": "99:99"}, "a day of the week"),
        ("book_restaurant", {"name": "nowhere at all"}, "there is no restaurant named"),
        ("fly", {}, "there is no tool 'fly'"),
    ],
)
def test_the_desk_finds_or_says_what_there_is(
    town: LoadedDomain, tool: str, arguments: dict[str, Any], found: bool | str
) -> None:
    desk = ServiceDesk(town.search, Draws(1, "desk"))
    if arguments.get("name") == "NAME":
        arguments = {**arguments, "name": desk.call("search_restaurant", {}).answer["rows"][0]["name"]}
    answer = desk.call(tool, arguments).answer
    if isinstance(found, str):
        assert found in json.dumps(answer)
    else:
        assert answer["count"] > 0


def test_tools_say_what_they_take(town: LoadedDomain) -> None:
    tools = {tool["name"]: tool["parameters"] for tool in ServiceDesk(town.search, Draws(1, "desk")).tools()}
    search = tools["search_restaurant"]["properties"]
    assert set(search["pricerange"]["enum"]) == {"cheap", "moderate", "expensive"}
    book = tools["book_restaurant"]
    assert book["properties"]["people"]["minimum"] == 1 and book["required"] == ["name", "day", "people", "time"]


def test_rows_of_one_name_are_told_apart(tmp_path: Path, town: LoadedDomain, server: ModelServer) -> None:
    (tmp_path / "domain.yaml").write_text(
        "domain: kennels\nservices:\n  kennel:\n    title: a kennel\n    rows: kennels.csv\n    name: kennel\n"
        "    id: code\n    search: {village: same}\n    answer: [phone]\n"
    )
    rows = "code,kennel,village,phone\nK1,Happy Tails,Ashby,01632 960101\nK2,Happy Tails,Wexcombe,01632 960102\n"
    (tmp_path / "kennels.csv").write_text(rows)
    kennels = open_domain(str(tmp_path), count=1)
    for domain, told in ((kennels, True), (town, False)):
        talk(domain, make_agent("agenda"), agent("llm-system", server), exchanges=1)
        prompt = server.received[-1]["messages"][0]["content"]
        assert ("More than one kennel may have the same name: tell them apart by code" in prompt) is told


def test_the_budget_of_a_dialogue_ends_it(town: LoadedDomain, server: ModelServer) -> None:
    held = talk(town, agent("llm-user", server, dialogue_tokens=200), make_agent("rule-system"), exchanges=9)
    assert held.outcome is not None
    assert held.outcome.reason == TOKEN_BUDGET
    assert len(server.received) == 2
    assert held.outcome.usage["user"].calls == 2


def test_what_an_agent_is_not(town: LoadedDomain, server: ModelServer) -> None:
    with pytest.raises(DialgaugeError, match="no setting 'modle' of llm-user"):
        make_agent("llm-user", {"modle": "x"})
    with pytest.raises(DialgaugeError, match="max_tokens of llm-system must be a whole number"):
        make_agent("llm-system", {"max_tokens": "many"})
    with pytest.raises(DialgaugeError, match="tools must be native or json"):
        agent("llm-system", server, tools="some")
    scenario = Scenario(dialogue_id="x")
    for user, system in (
        (agent("llm-system", server), agent("llm-system", server)),
        (agent("llm-user", server), agent("llm-user", server)),
    ):
        outcome: Any = converse(user, system, scenario).outcome
        assert outcome.reason == ENDPOINT_ERROR


def test_models_without_a_tool_protocol_are_told_values_ranges_and_what_is_required() -> None:
    fields = {
        "day": {"type": "string", "enum": ["monday", "friday"], "description": "day"},
        "people": {"type": "integer", "minimum": 1, "maximum": 8, "description": "people"},
        "price": {"type": "number", "description": "price: at most this (euros)"},
    }
    tool = {"name": "book_x", "description": "Book it.", "parameters": {"properties": fields, "required": ["day"]}}
    line = json_instructions([tool]).splitlines()[-1]
    assert line == "- book_x(day* monday|friday, people 1..8, price (at most this (euros))): Book it."
