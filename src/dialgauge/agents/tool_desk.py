"""A tool domain as agents meet it: each side has a list of tools, a text, and ``call``; every call is on the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dialgauge.dialogue import Call
from dialgauge.worlds.tools import CallOutcome, ToolTask, World

#: The outcome of a recorded call, as results of the benchmarks have it.
DONE, ERROR = "done", "error"


class ToolDesk:
    """One conversation's world. To a system, whose ``office`` it is: ``tools``, ``policy`` and ``call``."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.title, self.policy = world.domain.title, world.domain.policy
        self._calls: list[Call] = []

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Name, description and parameters (JSON Schema) of each tool of the system."""
        return self.side("system").tools

    def call(self, name: str, arguments: object) -> str:
        """What a tool answers to the system, as text; an error begins with that word."""
        return self.make(name, arguments, "system").text

    def side(self, side: str) -> DeskSide:
        """What one of the two holds."""
        return DeskSide(self, side)

    @property
    def ended(self) -> bool:
        """Whether a tool was called that ends the conversation."""
        return self.world.ended

    def take_calls(self) -> tuple[Call, ...]:
        """The calls since this was last asked."""
        calls, self._calls = tuple(self._calls), []
        return calls

    def make(self, name: str, arguments: object, side: str) -> CallOutcome:
        """Make a call, and put it on the record."""
        given = arguments
        if isinstance(arguments, str):
            given = None
            with suppress(ValueError, RecursionError):
                given = json.loads(arguments or "{}")
        outcome = self.world.call(name, given, "user" if side == "user" else "system")
        self._calls.append(
            Call(
                name=name,
                domain="user" if side == "user" else "",
                arguments=dict(given) if isinstance(given, Mapping) else arguments,
                result=outcome.text,
                failed=not outcome.ok,
            )
        )
        return outcome


class DeskSide:
    """The tools of one side."""

    def __init__(self, desk: ToolDesk, side: str) -> None:
        self._desk, self._side = desk, side
        self.tools: list[dict[str, Any]] = desk.world.domain.schemas("user" if side == "user" else "system")
        #: What a model believes the user to want cannot be seen here.
        self.state = None

    def use(self, name: str, arguments: object) -> Any:
        """What a tool answers, or the error as the caller sees it."""
        outcome = self._desk.make(name, arguments, self._side)
        return outcome.result if outcome.ok else {"error": outcome.reason}


class ToolPlan:
    """What a user of a tool domain is given: the task's instruction, what it knows, and its own tools."""

    def __init__(self, task: ToolTask, desk: ToolDesk) -> None:
        self.title, self.instruction, self.knows = desk.title, task.instruction, task.knows
        self.desk = desk.side("user")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
