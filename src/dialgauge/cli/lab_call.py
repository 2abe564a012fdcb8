"""``dialgauge lab call``: a list of calls made in a tool domain, and the records that changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from dialgauge import data, rendering
from dialgauge.cli.choices import TOOL_DOMAINS
from dialgauge.cli.common import TableOutput
from dialgauge.cli.options import Argument, Option, command
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.worlds import tools

#: Letters of a result that the screen shows; files have all of it.
_SHOWN = 120


@command()
def call(
    calls: Annotated[
        Path, Argument(metavar="CALLS.json", help='A JSON list of {"name": …, "arguments": {…}}; - for stdin.')
    ],
    domain: Annotated[
        str,
        Option(
            metavar="NAME|FOLDER",
            known=TOOL_DOMAINS,
            help="Tool domain: airline, retail, depot, an installed one, or the path of a folder (./mine).",
        ),
    ],
    task: Annotated[str | None, Option(metavar="ID", help="Begin with the state in which this task starts.")] = None,
    *,
    output: TableOutput,
) -> None:
    """Call tools of a domain on a fresh copy of its records: each outcome and result, and the records that changed.

    Code in a domain's folder runs with your permissions.
    """
    from copy import deepcopy

    wanted = tools.read_calls(calls)
    loaded = tools.load_tool_domain(domain, root=data.data_folder().root)
    begun = loaded.task(task) if task is not None else None
    if task is not None and begun is None:
        raise DialgaugeError(f"there is no task '{task}'.{nearest(task, [each.id for each in loaded.tasks])}")
    world = loaded.world(begun)
    started = deepcopy(world.changes())
    outcomes = world.call_all(wanted)
    ended = world.changes()
    after = {key: ended[key] if key in ended else loaded.record(key) for key in {**started, **ended}}
    before = {key: started[key] if key in started else loaded.record(key) for key in after}
    changed = {key: record for key, record in after.items() if record != before[key]}

    def tables(most: int | None) -> list[rendering.Table]:
        made = rendering.Table(f"Calls in {loaded.name}", ["#", "tool", "outcome", "result"])
        for number, (each, outcome) in enumerate(zip(wanted, outcomes, strict=True), 1):
            made.add(number, each.name, "ok" if outcome.ok else "error", _short(outcome.text, most))
        records = rendering.Table("What changed", ["record", "field", "before", "after"])
        for key, record in changed.items():
            was = before[key]
            if was is None or record is None:
                records.add(key, None, _shown(was, most), _shown(record, most))
                continue
            for field, old, new in tools.field_changes(was, record):
                records.add(key, field, _shown(old, most), _shown(new, most))
        return [made, records] if changed else [made]

    output.show(tables(_SHOWN), in_file=tables(None) if output.table else None)
    output.document(
        "lab-call",
        {
            "domain": loaded.name,
            "outcome": ["ok" if outcome.ok else "error" for outcome in outcomes],
            "results": [outcome.result for outcome in outcomes],
            "reasons": [outcome.reason or None for outcome in outcomes],
            "changed": changed,
        },
    )


def _shown(value: Any, most: int | None) -> str | None:
    return None if value is None else _short(msgspec.json.encode(value).decode(), most)


def _short(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else f"{text[:most]}…"
