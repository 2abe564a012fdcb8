"""``dialgauge lab call``: make a list of calls on a fresh copy of a tool domain, and see what came of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from dialgauge.cli.choices import names_of
from dialgauge.cli.common import TableOutput
from dialgauge.cli.options import Argument, CommandGroup, Option

ToolDomainOption = Annotated[
    str,
    Option(
        "--domain",
        metavar="NAME|FOLDER",
        known=names_of("worlds.tools", "installed_domains", closed=False),
        help="Tool domain: airline, retail, depot, an installed one, or the path of a folder (./mine).",
    ),
]
#: Letters of a result that the table shows.
_SHOWN = 120


def register(app: CommandGroup) -> None:
    """Add the command to ``dialgauge lab``."""
    app.command("call")(call)


def call(
    calls: Annotated[
        Path, Argument(metavar="CALLS.json", help='A JSON list of {"name": …, "arguments": {…}}; - for stdin.')
    ],
    domain: ToolDomainOption,
    task: Annotated[
        str | None, Option("--task", metavar="ID", help="Begin with the state in which this task starts.")
    ] = None,
    *,
    output: TableOutput,
) -> None:
    """Call tools of a domain on a fresh copy of its records: each outcome and result, and the records that changed.

    The code of a domain's folder runs with your own rights.
    """
    from dialgauge.data import data_folder
    from dialgauge.errors import DialgaugeError, nearest
    from dialgauge.report import Table
    from dialgauge.worlds.tools import field_changes, load_tool_domain, read_calls

    wanted = read_calls(calls)
    loaded = load_tool_domain(domain, root=data_folder().root)
    begun = loaded.task(task) if task is not None else None
    if task is not None and begun is None:
        raise DialgaugeError(f"there is no task '{task}'.{nearest(task, [each.id for each in loaded.tasks])}")
    world = loaded.world(begun)
    outcomes = world.call_all(wanted)
    changed = world.changes()
    made = Table(f"Calls in {loaded.name}", ["#", "tool", "outcome", "result"])
    for number, (each, outcome) in enumerate(zip(wanted, outcomes, strict=True), 1):
        made.add(number, each.name, "ok" if outcome.ok else "error", _short(outcome.text))
    records = Table("What changed", ["record", "field", "before", "after"])
    for key, record in changed.items():
        before = loaded.record(key)
        if before is None or record is None:
            records.add(key, None, _shown(before), _shown(record))
            continue
        for field, old, new in field_changes(before, record):
            records.add(key, field, _shown(old), _shown(new))
    output.show([made, records] if changed else [made])
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


def _shown(value: Any) -> str | None:
    import msgspec

    return None if value is None else _short(msgspec.json.encode(value).decode())


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
