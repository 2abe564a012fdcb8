"""The lab in tool domains: ``lab call`` makes a list of calls, ``lab run --domain`` holds conversations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct

from dialgauge import data, engine, lab, report, runs
from dialgauge.cli.choices import TOOL_DOMAINS
from dialgauge.cli.common import TableOutput
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.lab_options import named_settings
from dialgauge.cli.options import Argument, Option, command
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.worlds import tools

if TYPE_CHECKING:
    from dialgauge.cli.gates import Gates
    from dialgauge.cli.lab_options import Agents
    from dialgauge.cli.output import Output

_DOMAIN = Option(
    metavar="NAME|FOLDER",
    known=TOOL_DOMAINS,
    help="Tool domain: airline, retail, depot, an installed one, or the path of a folder (./mine).",
)
ToolDomainOption = Annotated[str, _DOMAIN]
#: Letters of a result that the screen shows; files have all of it.
_SHOWN = 120
_MODELS = ("llm-system", "llm-user")


@command()
def call(
    calls: Annotated[
        Path, Argument(metavar="CALLS.json", help='A JSON list of {"name": …, "arguments": {…}}; - for stdin.')
    ],
    domain: ToolDomainOption,
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

    def tables(most: int | None) -> list[report.Table]:
        made = report.Table(f"Calls in {loaded.name}", ["#", "tool", "outcome", "result"])
        for number, (each, outcome) in enumerate(zip(wanted, outcomes, strict=True), 1):
            made.add(number, each.name, "ok" if outcome.ok else "error", _short(outcome.text, most))
        records = report.Table("What changed", ["record", "field", "before", "after"])
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
    import msgspec

    return None if value is None else _short(msgspec.json.encode(value).decode(), most)


def _short(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else f"{text[:most]}…"


class LabOfTools(Struct, frozen=True):
    """``lab run --domain``: conversations about the tasks of a tool domain."""

    domain: str
    count: int | None
    trials: int
    seed: int
    resamples: int
    exchanges: int
    seconds: float
    place: engine.WorkPlace

    @staticmethod
    def _partner(system: str) -> str:
        """Who takes the agenda user's place, which knows no tasks: a model before a model, else a reader."""
        return "llm-user" if system == "llm-system" else "reader"

    def run(self, agents: Agents, asked: Mapping[str, str], output: Output, gates: Gates) -> int:
        """Hold, score and store them; the exit code."""
        from dialgauge.agents import Limits
        from dialgauge.tasks import coverage_sentences

        gate = gates.gate(output.store, kinds=("trials",))
        load = partial(tools.load_tool_domain, self.domain, root=data.data_folder().root)
        loaded = load()
        tasks = list(loaded.tasks)[: self.count]
        sides = {}
        for side in ("system", "user"):
            name, given = agents.given(side)
            name = self._partner(agents.system) if (side, name) == ("user", "agenda") else name
            general = {key: text for key, text in asked.items() if text} if name in _MODELS else {}
            sides[side] = (name, {**general, **named_settings(given, f"--{side}-set")})
        err.print(f"the user is {sides['user'][0]}")
        with progress_bar("conversations", len(tasks) * self.trials) as advance:
            results = lab.run_tool_domain(
                loaded,
                system=sides["system"],
                user=sides["user"],
                tasks=tasks,
                trials=self.trials,
                seed=self.seed,
                limits=Limits(exchanges=self.exchanges, seconds=self.seconds),
                resamples=self.resamples,
                advance=advance,
                workers=self.place,
                again=load,
                store=runs.Store(output.store),
            )
        screen = out if output.on_screen else err
        for sentence in coverage_sentences(results.runs):
            screen.print(sentence)
        checks = gate.check(results.runs)
        output.present(results, "tasks-trials", tables=results.tables(), checks=checks, verdict=True)
        return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)
