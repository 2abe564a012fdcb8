"""Tasks and records of tool domains as τ-bench and τ²-bench publish them: files that go with agents' results.

They are listed and counted here; ``dialgauge.worlds.tools`` makes a domain of them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Peek, Resource, ResourceFormat, decode
from dialgauge.formats.source import Part

#: What a task has, in the first version of the benchmark and in the second.
_TASKS = ({"instruction", "actions"}, {"user_scenario", "evaluation_criteria"})
#: What a record of a flight, reservation, user or product has.
_RECORDS = (
    {"flight_number", "dates"},
    {"reservation_id", "payment_history"},
    {"email", "payment_methods"},
    {"product_id", "variants"},
)
_LIST = msgspec.json.Decoder(list[dict[str, Any]])
_OBJECT = msgspec.json.Decoder(dict[str, dict[str, Any]])


class ToolTasks(ResourceFormat):
    """A list of tasks."""

    name = "tool-tasks"
    summary = "tasks of agents that call tools, as tau-bench (JSON) or tau2-bench writes them"
    kind = "tasks"

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and any(keys <= first.keys() for keys in _TASKS)

    def load(self, part: Part, notes: Notes) -> Resource:
        tasks = decode(_LIST, part.read(), part)
        odd = next((place for place, task in enumerate(tasks) if not any(keys <= task.keys() for keys in _TASKS)), None)
        if odd is not None:
            raise DialgaugeError(
                f"entry {odd} is not a task: it has no instruction or no expected actions", file=part.name
            )
        return Resource(kind="tasks", texts=tuple(str(task.get("id", place)) for place, task in enumerate(tasks)))


class ToolRecords(ResourceFormat):
    """One table of records by id, or several tables."""

    name = "tool-records"
    summary = "records of a tool domain: flights, reservations, users, products, orders by id"
    kind = "records"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        inner = next(iter(peek.first[1].values()), None)
        return _is_record(peek.first[1]) or _is_record(inner)

    def load(self, part: Part, notes: Notes) -> Resource:
        tables = decode(_OBJECT, part.read(), part)
        if all(map(_is_record, tables.values())):
            return Resource(kind="records", texts=tuple(tables))
        for name, table in tables.items():
            if not all(isinstance(record, dict) for record in table.values()):
                raise DialgaugeError(f"'{name}' is neither a record nor a table of records", file=part.name)
        return Resource(kind="records", texts=tuple(key for table in tables.values() for key in table))


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and any(keys <= value.keys() for keys in _RECORDS)
