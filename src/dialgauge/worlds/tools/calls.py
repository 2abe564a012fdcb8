"""Calls made on a fresh world: recorded ones, and how their results differ then (drift), or a list, shown as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Call
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Cell, Page, Table
from dialgauge.text import counted
from dialgauge.worlds.desk import CallOutcome, Side
from dialgauge.worlds.tools.tool_domain import ToolDomain, World, field_changes
from dialgauge.worlds.tools.tool_tasks import ToolCall, ToolTask

#: How a recorded result relates to the replayed one. ``renamed``: equal once one key has its new name; ``prose``: the
#: tool answers in sentences, which are not compared; ``skipped``: the call was not made again.
Drift: TypeAlias = Literal["equal", "renamed", "errors", "prose", "differs", "skipped"]
#: Why a call was not made again.
Skip: TypeAlias = Literal["after the end", "no recorded result"]


class ReplayedCall(Struct, frozen=True, kw_only=True):
    """A recorded call beside what came of it in the replay (None where it was not made again)."""

    recorded: Call
    outcome: CallOutcome | None = None
    skipped: Skip | None = None
    drift: Drift = "skipped"
    #: Where only the name of a key changed: the old and the new one.
    renamed: tuple[str, str] | None = None


class Replay(Struct, frozen=True):
    """The world after the recorded calls, and each call with its drift."""

    world: World
    calls: tuple[ReplayedCall, ...]

    def drift(self) -> Counter[str]:
        """How many calls have which drift."""
        return Counter(call.drift for call in self.calls)

    def writes(self) -> Iterator[ReplayedCall]:
        """The recorded calls of tools that write."""
        tools = self.world.domain.tools
        return (call for call in self.calls if call.recorded.name in tools and tools[call.recorded.name].writes)

    @property
    def writes_done(self) -> int:
        """Writes that gave no error, whether they changed something or not."""
        return sum(call.outcome is not None and call.outcome.ok for call in self.writes())

    @property
    def writes_failed(self) -> int:
        return sum(call.outcome is not None and not call.outcome.ok for call in self.writes())

    @property
    def reliable(self) -> bool:
        """Whether every write came out as it was recorded; if not, the verdict of the replay is in doubt."""
        return all(call.drift != "differs" for call in self.writes())


def replay(domain: ToolDomain, task: ToolTask | None, calls: Iterable[tuple[Side, Call]]) -> Replay:
    """Make recorded calls on a fresh world, in order, whatever comes of each; a call has the side that made it."""
    world = domain.world(task)
    made = []
    for side, call in calls:
        ends = call.name in domain.tools and domain.tools[call.name].ends
        if world.ended:
            made.append(ReplayedCall(recorded=call, skipped="after the end"))
        elif call.result is None and not ends:
            made.append(ReplayedCall(recorded=call, skipped="no recorded result"))
        else:
            outcome = world.call(call.name, call.arguments, side)
            drift, renamed = _drift(call, outcome, call.name in domain.prose)
            made.append(ReplayedCall(recorded=call, outcome=outcome, drift=drift, renamed=renamed))
    return Replay(world, tuple(made))


def _drift(call: Call, outcome: CallOutcome, prose: bool) -> tuple[Drift, tuple[str, str] | None]:
    if call.result is None:
        return "prose", None
    if call.failed or not outcome.ok:
        # Forks of the benchmarks give errors as plain texts.
        both = not outcome.ok and (call.failed or call.result.startswith("Error"))
        return ("errors" if both else "differs"), None
    if prose or outcome.text == call.result:
        return ("prose" if prose else "equal"), None
    try:
        recorded, replayed = msgspec.json.decode(call.result), msgspec.json.decode(outcome.text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return "differs", None
    recorded, replayed = _without_null(recorded), _without_null(replayed)
    if recorded == replayed:
        return "equal", None
    before, after = set(_keys(recorded)), set(_keys(replayed))
    if len(before - after) == 1 and len(after - before) == 1:
        [old], [new] = before - after, after - before
        if _renamed(recorded, old, new) == replayed:
            return "renamed", (old, new)
    return "differs", None


def _without_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    return [_without_null(each) for each in value] if isinstance(value, list) else value


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _keys(each)


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {new if key == old else key: _renamed(each, old, new) for key, each in value.items()}
    return [_renamed(each, old, new) for each in value] if isinstance(value, list) else value


def call_page(domain: ToolDomain, calls: Sequence[ToolCall], task: str | None = None) -> Page:
    """Make calls in a fresh world, or in the one in which a task starts."""
    begun = domain.task(task) if task is not None else None
    if task is not None and begun is None:
        raise DialgaugeError(f"there is no task '{task}'.{nearest(task, [each.id for each in domain.tasks])}")
    world = domain.world(begun)
    started = deepcopy(world.changes())
    outcomes = world.call_all(calls)
    ended = world.changes()
    made = Table("Calls", ["call", "tool", "outcome", "result"])
    for number, (call, outcome) in enumerate(zip(calls, outcomes, strict=True)):
        ok = Cell("ok", tone="good") if outcome.ok else Cell("error", tone="bad")
        made.add(number, call.name, ok, outcome.text)
    records = Table("What changed", ["record", "field", "before", "after"])
    for key in sorted({**started, **ended}):
        was, is_now = (state[key] if key in state else domain.record(key) for state in (started, ended))
        if was == is_now:
            continue
        fields = [("", was, is_now)] if was is None or is_now is None else field_changes(was, is_now)
        for field, old, new in fields:
            texts = (None if value is None else msgspec.json.encode(value).decode() for value in (old, new))
            records.add(key, field, *texts)
    succeeded = sum(outcome.ok for outcome in outcomes)
    changed = len({row[0].value for row in records.rows})
    return Page(
        title=f"Calls in {domain.name}",
        verdict=f"{succeeded} of {counted(len(calls), 'call')} succeeded; {counted(changed, 'record')} changed.",
        tables={"calls": made, "changes": records} if records.rows else {"calls": made},
    )
