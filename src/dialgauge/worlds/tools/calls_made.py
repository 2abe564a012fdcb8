"""The page of ``dialgauge lab call``: what some calls return, and what they change."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import msgspec

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Cell, Page, Table
from dialgauge.text import counted
from dialgauge.worlds.tools.tool_domain import ToolDomain, field_changes
from dialgauge.worlds.tools.tool_tasks import ToolCall


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
