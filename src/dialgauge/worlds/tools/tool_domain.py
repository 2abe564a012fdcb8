"""A tool domain: tools, the records they work on, tasks and a policy, ready to make worlds from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.worlds.desk import Side
from dialgauge.worlds.tools.tables import Comparison, RecordTable
from dialgauge.worlds.tools.task_files import GoldCall, ToolTask
from dialgauge.worlds.tools.tool import Tool
from dialgauge.worlds.tools.world import World


class ToolDomain(Struct, frozen=True, kw_only=True):
    """Everything a conversation in the domain needs. ``records`` is never changed; each world has its own copy."""

    name: str
    title: str
    folder: Path
    tools: Mapping[str, Tool]
    records: Mapping[str, Any]
    checks: Mapping[str, Callable[..., Any]] = {}
    tasks: Sequence[ToolTask] = ()
    policy: str = ""
    compare: Comparison = "by-value"
    #: Tools whose results are sentences: a replay does not compare their wording.
    prose: frozenset[str] = frozenset()
    #: Whose logs can be replayed here; empty: anybody's.
    benchmark: str = ""
    #: Comes with dialgauge: its tools work on :class:`RecordTable`.
    ours: bool = False

    def world(self, task: ToolTask | None = None) -> World:
        """A fresh world; with a task, after the calls and records that it starts with."""
        if self.ours:
            data: dict[str, Any] = {name: RecordTable(records) for name, records in self.records.items()}
        else:
            data = msgspec.json.decode(msgspec.json.encode(self.records))
        world = World(self, data)
        if task is not None:
            _lay_over(data, task.start_data)
            world.call_all(task.start)
            world.ended = False
        return world

    def target(self, task: ToolTask, calls: Sequence[GoldCall] | None = None) -> World:
        """The world that a task asks for: its expected calls, but for those that end, errors ignored."""
        world = self.world(task)
        expected = (task.expected or ()) if calls is None else calls
        for call in expected:
            tool = self.tools.get(call.name)
            if tool is None or not tool.ends:
                world.call(call.name, call.arguments, call.side)
        return world

    def record(self, key: str) -> Any:
        """The fresh record that ``table/id`` names; None where there is none."""
        table, _, name = key.partition("/")
        records = self.records.get(table)
        if isinstance(records, list):
            return records[int(name)] if name.isdecimal() and int(name) < len(records) else None
        return records.get(name) if isinstance(records, Mapping) else records

    def schemas(self, side: Side) -> list[dict[str, Any]]:
        """What a model on that side is told of its tools."""
        return [tool.schema() for tool in self.tools.values() if tool.side == side]

    def task(self, name: str) -> ToolTask | None:
        """The task of that id."""
        return next((task for task in self.tasks if task.id == name), None)


def _lay_over(data: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Records of a task's initial state, key by key, over those of the tables."""
    for name, records in over.items():
        if name in data and isinstance(records, dict):
            for key, record in records.items():
                before = data[name].get(key)
                both = isinstance(before, dict) and isinstance(record, dict)
                data[name][key] = {**before, **record} if both else record
        else:
            data[name] = records
