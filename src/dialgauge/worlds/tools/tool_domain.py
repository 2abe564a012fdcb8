"""A tool domain, and a conversation in it: its own copy of the records, and the calls of both sides on them.

Domains that ship with dialgauge work on :class:`RecordTable`, which copies a record when a tool takes it: a world of
2,000 reservations then costs nothing until something happens in it. Everybody else's tools get plain dicts and lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Call
from dialgauge.errors import nearest
from dialgauge.worlds.desk import CallOutcome, Side, as_arguments
from dialgauge.worlds.tools.tool_tasks import GoldCall, ToolCall, ToolTask
from dialgauge.worlds.tools.tools import Tool, ToolError

#: ``as-written``: 250 and 250.0 differ; ``by-value``: they do not. The order of a list counts in both.
Comparison: TypeAlias = Literal["by-value", "as-written"]
#: Record by ``table/id``; None where it was removed.
Changes: TypeAlias = dict[str, Any]


def copied(value: Any) -> Any:
    """A deep copy of what JSON can say; five times as fast as ``copy.deepcopy``, which keeps track of identities."""
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    return [copied(each) for each in value] if isinstance(value, list) else value


class RecordTable(MutableMapping[str, Any]):
    """A table laid over one that is never changed. A record taken by its key is a copy that may be changed.

    ``values`` and ``items`` are for reading only: they hand out the records that nobody took yet as they are.
    """

    def __init__(self, base: Mapping[str, Any]) -> None:
        self._base = base
        self._taken: dict[str, Any] = {}
        self._removed: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        if key not in self._taken:
            if key in self._removed:
                raise KeyError(key)
            self._taken[key] = copied(self._base[key])
        return self._taken[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._taken[key] = value

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._taken.pop(key, None)
        self._removed.add(key)

    def __contains__(self, key: object) -> bool:
        return key in self._taken or (key in self._base and key not in self._removed)

    def __iter__(self) -> Iterator[str]:
        yield from (key for key in self._base if key in self)
        yield from (key for key in self._taken if key not in self._base)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def values(self) -> Any:
        return [self._taken[key] if key in self._taken else self._base[key] for key in self]

    def items(self) -> Any:
        return [(key, self._taken[key] if key in self._taken else self._base[key]) for key in self]

    def changes(self, compare: Comparison) -> Changes:
        """The records that differ from the base."""
        changed = {key: None for key in self._removed if key not in self._taken}
        for key, record in self._taken.items():
            if key not in self._base or canonical(record, compare) != canonical(self._base[key], compare):
                changed[key] = record
        return changed


def changes_in(data: Mapping[str, Any], base: Mapping[str, Any], compare: Comparison) -> Changes:
    """The records of all tables that differ from those of the base, by ``table/id`` (lists: by position)."""
    changed: Changes = {}
    for name in dict.fromkeys((*base, *data)):
        table, before = data.get(name), base.get(name)
        if isinstance(table, RecordTable):
            changed |= {f"{name}/{key}": record for key, record in table.changes(compare).items()}
            continue
        if table is None or before is None or type(table) is not type(before) or not isinstance(table, dict | list):
            if canonical(table, compare) != canonical(before, compare):
                changed[name] = table
            continue
        after_rows, before_rows = _rows(table), _rows(before)
        for key in dict.fromkeys((*before_rows, *after_rows)):
            record = after_rows.get(key)
            if (key in after_rows) != (key in before_rows) or canonical(record, compare) != canonical(
                before_rows[key], compare
            ):
                changed[f"{name}/{key}"] = record
    return changed


def _rows(table: dict[str, Any] | list[Any]) -> dict[str, Any]:
    return table if isinstance(table, dict) else {str(index): row for index, row in enumerate(table)}


def field_changes(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The fields in which two records differ: their path, and both values (None: not there)."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from field_changes(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from field_changes(old, new, f"{path}[{index}]")
    elif isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before:
        for index, new in enumerate(after[len(before) :], len(before)):
            yield f"{path}[{index}]", None, new
    elif canonical(before, "as-written") != canonical(after, "as-written"):
        yield path, before, after


def same_changes(changes: Changes, other: Changes, compare: Comparison) -> bool:
    """Whether two worlds over the same base are equal, by what changed in them."""
    return canonical(changes, compare) == canonical(other, compare)


def same_but_for_order(changes: Changes, other: Changes, compare: Comparison) -> bool:
    """The same once every list is taken as a multiset."""
    return canonical(_unordered(changes, compare), compare) == canonical(_unordered(other, compare), compare)


def _unordered(value: Any, compare: Comparison) -> Any:
    if isinstance(value, Mapping):
        return {key: _unordered(each, compare) for key, each in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(each, compare) for each in value), key=lambda each: canonical(each, compare))
    return value


def canonical(value: Any, compare: Comparison) -> str:
    """JSON with sorted keys and no spaces; numbers as they are written, or by their value."""
    plain = value if compare == "as-written" else _by_value(value)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _by_value(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _by_value(each) for key, each in value.items()}
    return [_by_value(each) for each in value] if isinstance(value, list) else value


# A domain and its worlds


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


class World:
    """The data of one conversation.

    What a tool changed before it failed stays changed, as in the benchmarks; arguments that do not fit its signature
    are refused before it is called.
    """

    def __init__(self, domain: ToolDomain, data: dict[str, Any]) -> None:
        self.domain = domain
        self.data = data
        #: A call that was made, whatever came of it, of a tool that ends the conversation.
        self.ended = False

    def call(self, name: str, arguments: Any, side: Side | None = None) -> CallOutcome:
        """Make a call, as the system, the user, or whoever holds the tool."""
        tool = self.domain.tools.get(name)
        if tool is None or side not in (None, tool.side):
            known = [each.name for each in self.domain.tools.values() if side in (None, each.side)]
            return CallOutcome("unknown", reason=f"there is no tool '{name}'.{nearest(name, known)}")
        self.ended = self.ended or tool.ends
        if problem := tool.refusal(arguments):
            return CallOutcome("error", reason=problem)
        # A record must share nothing with what was given, nor a result with a record.
        return _attempt(lambda: copied(tool.function(self.data, **copied(arguments))))

    def call_all(self, calls: Iterable[ToolCall]) -> list[CallOutcome]:
        """Make calls in order, whatever comes of each."""
        return [self.call(call.name, call.arguments, call.side) for call in calls]

    def holds(self, check: str) -> bool:
        """Whether a ``check_`` function says that the data are as they should be; False where it fails."""
        function = self.domain.checks.get(check)
        if function is None:
            return False
        outcome = _attempt(lambda: function(self.data))
        return outcome.ok and outcome.result is True

    def changes(self) -> Changes:
        """The records that differ from a fresh world's."""
        return changes_in(self.data, self.domain.records, self.domain.compare)

    def equals(self, other: World) -> bool:
        """Whether the data are the same, compared as the domain says."""
        return same_changes(self.changes(), other.changes(), self.domain.compare)


def _attempt(work: Callable[[], Any]) -> CallOutcome:
    try:
        return CallOutcome("ok", work())
    except ToolError as error:
        return CallOutcome("error", reason=str(error))
    except (Exception, SystemExit) as error:  # an error like any other, says the specification
        return CallOutcome("error", reason=f"{type(error).__name__}: {error}"[:500])


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
