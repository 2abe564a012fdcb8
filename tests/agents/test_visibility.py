"""The user never sees the backend, the system never sees the goal: neither in its context nor anywhere behind it."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from dialgauge.agents import RandomStreams, Scenario, SystemContext, UserContext, make_agent
from dialgauge.dialogue import Goal, Turn
from dialgauge.worlds.domain import DomainGoal, DomainSearch, ServiceDesk, ServiceTask, act
from support.town import town_search

USERS = ["agenda", "agenda-baseline", "echo", "silent"]
SYSTEMS = ["rule-system", "rule-baseline", "echo", "silent"]
BACKSTAGE = (ServiceDesk, DomainSearch)
PRIVATE = (DomainGoal, ServiceTask, Goal)
GOAL = DomainGoal(
    id="goal",
    tasks=(
        ServiceTask(
            domain="hotel",
            info={"area": "north"},
            book={"day": "monday", "people": "2", "stay": "3"},
            book_first={"day": "monday", "people": "2", "stay": "5"},
        ),
    ),
)
_LEAVES = (str, bytes, int, float, complex, bool, type(None), type, types.ModuleType, types.BuiltinFunctionType)


def scenario() -> Scenario:
    search = town_search()
    streams = RandomStreams(0, "goal")
    return Scenario(
        dialogue_id="goal",
        office=ServiceDesk(search, streams("backend"), GOAL),
        goal=GOAL.recorded(),
        plan=GOAL,
        domain=search.domain.public,
        streams=streams,
        ontology=search.domain.tracked,
        domains=GOAL.domains,
        level="act",
    )


def parts(thing: Any) -> Iterator[Any]:
    """What an object holds: members, elements, the variables a function has taken along."""
    if isinstance(thing, dict):
        yield from thing.keys()
        yield from thing.values()
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from thing
    elif isinstance(thing, types.FunctionType):
        yield from (cell.cell_contents for cell in thing.__closure__ or ())
        yield from thing.__defaults__ or ()
        yield from (thing.__kwdefaults__ or {}).values()
    elif isinstance(thing, types.MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, msgspec.Struct):
        yield from (getattr(thing, name) for name in thing.__struct_fields__)
    yield from vars(thing).values() if hasattr(thing, "__dict__") else ()


def reachable(*roots: Any) -> list[Any]:
    """All that can be reached from some objects."""
    seen: dict[int, Any] = {}
    left = list(roots)
    while left:
        thing = left.pop()
        if id(thing) not in seen and not isinstance(thing, _LEAVES):
            seen[id(thing)] = thing
            left += parts(thing)
    return list(seen.values())


def held(things: list[Any], kinds: tuple[type, ...]) -> list[str]:
    return [type(thing).__name__ for thing in things if isinstance(thing, kinds)]


@pytest.mark.parametrize("name", USERS)
def test_a_user_sees_no_backend(name: str) -> None:
    agent, context = make_agent(name), scenario().user_context()
    agent.start(context)
    agent.respond(None)
    agent.respond(Turn(speaker="system", acts=(act("Hotel-Request", "area", "?"),)))
    things = reachable(agent, context)
    assert held(things, BACKSTAGE) == []
    assert held(things, (DomainGoal,)) == ["DomainGoal"]  # the walk does reach what a user holds


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_sees_no_goal(name: str) -> None:
    agent, context = make_agent(name), scenario().system_context()
    agent.start(context)
    agent.respond(Turn(speaker="user", acts=(act("Hotel-Inform", "area", "north"),)))
    things = reachable(agent, context)
    assert held(things, PRIVATE) == []
    assert set(held(things, BACKSTAGE)) == {"ServiceDesk", "DomainSearch"}


def test_contexts_have_no_room_for_what_is_not_to_be_seen() -> None:
    assert {"goal", "plan"} <= set(UserContext.__struct_fields__)
    assert not {"office", "database"} & set(UserContext.__struct_fields__)
    assert not {"goal", "plan", "domains"} & set(SystemContext.__struct_fields__)


def test_the_walk_finds_what_is_hidden_in_functions() -> None:
    secret = scenario().office
    assert held(reachable(lambda: secret), BACKSTAGE)[0] == "ServiceDesk"
