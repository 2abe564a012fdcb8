"""The desk of a tool domain: the calls of both sides on one conversation's records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialgauge.dialogue import Call
from dialgauge.worlds.desk import CallOutcome, Side, as_arguments
from dialgauge.worlds.tools.task_files import ToolTask
from dialgauge.worlds.tools.world import World


class ToolDesk:
    """One conversation's world, every call on the record."""

    #: What the system believes the user to want does not show in calls of tools.
    state = None

    def __init__(self, world: World) -> None:
        self.world = world
        self.title, self.policy = world.domain.title, world.domain.policy
        self._calls: list[Call] = []

    def tools(self, side: Side = "system") -> list[dict[str, Any]]:
        """Name, description and parameters (JSON Schema) of each tool of a side."""
        return self.world.domain.schemas(side)

    def call(self, name: str, arguments: object, side: Side = "system") -> CallOutcome:
        """Make a call, and put it on the record."""
        given = as_arguments(arguments)
        outcome = self.world.call(name, given, side)
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

    @property
    def ended(self) -> bool:
        """Was a tool called that ends the conversation?"""
        return self.world.ended

    def take_calls(self) -> tuple[Call, ...]:
        """The calls since this was last asked."""
        calls, self._calls = tuple(self._calls), []
        return calls


class ToolPlan:
    """What the user of a tool domain gets: the task's instruction, what it knows, and the desk with its own tools."""

    def __init__(self, task: ToolTask, desk: ToolDesk) -> None:
        self.title, self.instruction, self.knows = desk.title, task.instruction, task.knows
        self.desk = desk
