"""``dialgauge tasks``: was the job done, by recorded responses; ``dialgauge review``: can I trust this agent's log?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from msgspec.structs import replace

from dialgauge import report, tasks as scoring, trials
from dialgauge.cli.app import EXIT_INCOMPLETE, command, group
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import PATH, TOOL_DOMAINS, bundle, format_option, given, measures_option, option, options
from dialgauge.cli.output import OnScreen, Output, Resampling, named_systems, runs_page
from dialgauge.errors import DialgaugeError
from dialgauge.text import note_kind

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: Measures of several logs that are shown unasked.
_SHOWN = 3

tasks = group("tasks", "Was the job done? Responses scored against the user's goal and the database.")


@options
class Responses:
    """How responses are read and scored."""

    measures: tuple[str, ...] = measures_option(
        "Measures, comma-separated: Success, Inform(rules=grounded), Success[hotel], BLEU; or a list: 'richness', "
        "'all'.",
        "tasks",
    )
    database: Path | None = option(
        "--database", type=PATH, metavar="FOLDER", help="MultiWOZ database. Default: the folder db next to GOLD."
    )
    mode: Literal["file", "state", "placeholders"] | None = option(
        "--domains",
        type=click.Choice(["file", "state", "placeholders"]),
        help="How to tell a response's domain: file (active_domains), state (what changed) or placeholders (their "
        "names). Default: file if every turn has active_domains, else state.",
    )
    missing: Literal["skip", "fail"] = option(
        "--unanswered",
        type=click.Choice(["skip", "fail"]),
        default="skip",
        help="Dialogues without responses: skip (as mwzeval does) or fail.",
    )


@tasks.command("score")
@click.argument(
    "files",
    nargs=-1,
    metavar="GOLD PRED...",
    help="The MultiWOZ file with goals, then one response file (mwzeval format) per system, FILE or NAME=FILE.",
)
@bundle(responses=Responses, resampling=Resampling, output=Output, gates=Gates)
def score(files: tuple[str, ...], responses: Responses, resampling: Resampling, output: Output, gates: Gates) -> int:
    """Score MultiWOZ responses: Inform, Success, BLEU, Combined.

    As the standard evaluator does, and by rules that are harder to game.

    Exit code: 0 all dialogues were answered, 1 some were not and were left out, 2 nothing could be scored, 3 a
    --fail-under or --fail-on-drop check failed.
    """
    if len(files) < 2:
        raise DialgaugeError(
            "give the gold file and at least one response file: dialgauge tasks score GOLD PRED... (logs of agents: "
            "dialgauge review LOG)",
            file=files[0] if files else None,
        )
    gate = gates.gate(output.store, "tasks")
    results = scoring.score_tasks(
        files[0], named_systems(files[1:]), progress=OnScreen(), **given(responses), **given(resampling)
    )
    checks = gate.check(results.runs)
    output.present_runs(results, checks, named=bool(responses.measures))
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


@options
class Reviewing:
    """How logs are read and graded."""

    measures: tuple[str, ...] = measures_option(
        "Measures, comma-separated: pass^4, Reward[DB], Cost(of=agent), pass^1[NAME] of a score.", "trials"
    )
    domain: str | None = option(
        "--domain",
        metavar="NAME|FOLDER",
        shell_complete=TOOL_DOMAINS,
        help="Tool domain to replay calls in. Default: airline or retail, if the log is from there.",
    )
    tasks: Path | None = option(
        "--tasks", type=PATH, help="Grade the log again by the tasks of this file, and compare."
    )
    judges: tuple[str, ...] = option(
        "--judge", multiple=True, metavar="FILE", help="Verdicts of graders (CSV); repeatable."
    )
    truth: str | None = option(
        "--truth", metavar="GRADER", help="Correct the others' pass rates by this grader's verdicts."
    )
    format: str | None = format_option()
    success: str | None = option("--success", metavar="FIELD", help="The field of a log that says whether it passed.")


@command("review")
@click.argument(
    "logs",
    nargs=-1,
    required=True,
    metavar="LOG...",
    help="Logs of agents in any known format (tau, chat messages, inspect, ...), each FILE or NAME=FILE.",
)
@bundle(reviewing=Reviewing, resampling=Resampling, output=Output, gates=Gates)
def review(logs: tuple[str, ...], reviewing: Reviewing, resampling: Resampling, output: Output, gates: Gates) -> int:
    """Review logs of agents: pass^k, whether conversations match their tasks, verdicts replay and tasks were
    fair, and a suspect for each failure.

    Several logs are compared. No language model is used. Code in a domain's folder runs with your permissions.
    'dialgauge show latest --all' has everything.

    Exit code: 0 nothing contradicts the log, 1 something does or it is incomplete, 3 a --fail-under or --fail-on-drop
    check failed.
    """
    from dialgauge import api

    gate = gates.gate(output.store, "trials")
    results = api.review(named_systems(logs), progress=OnScreen(), **given(reviewing), **given(resampling))
    checks = gate.check(results.runs)
    stored = report.RunSet(output.store_runs(results.runs))
    screen = _screen(stored, named=bool(reviewing.measures))
    page = _everything(stored.runs[0]) if len(stored) == 1 else screen
    output.present(page, screen=screen, runs=stored.runs, checks=checks)
    sound = stored.complete and not any(map(trials.doubts, stored.runs))
    return checks.exit_code(0 if sound else EXIT_INCOMPLETE)


def _everything(run: Run) -> report.Page:
    """All tables for files but where the run comes from, which its manifest says."""
    return report.run_page(run, [name for name in report.run_tables(run) if name != "provenance"])


def _screen(results: report.RunSet, *, named: bool) -> report.Page:
    """The answers about one log and its failures; several logs side by side, and their comparison.

    Scores of one log are shown if the user named measures.
    """
    runs: list[Run] = results.runs
    if len(runs) == 1:
        notes = [note for note in runs[0].notes if note_kind(note) in ("read_as", "verdict", "trials")]
        page = report.run_page(runs[0], ["summary", "failures"])
        own = {"scores": report.score_table(runs, heads=list(runs[0].scores))} if named else {}
        return replace(page, tables={**own, **page.tables}, notes=notes)
    table = report.Table("", ["log", "conversations", "problems"])
    for name, run in results.items():
        count = run.coverage["conversations"]
        scored = f"{count.scored:,}" if run.coverage.complete else f"{count.scored:,} of {count.expected:,}"
        table.add(name, scored, " ".join(trials.doubts(run)) or "none")
    page, told = runs_page(results, named=named), results.page().warnings
    for scores in page.tables.values():
        if not named and scores.columns[0].name == "measure":
            scores.first = _SHOWN
    warnings = [warning for warning in page.warnings if warning not in told]
    return replace(page, warnings=warnings, tables={"logs": table, **page.tables}, notes=())
