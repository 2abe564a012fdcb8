"""``dialgauge tasks``: was the job done? Inform, Success, BLEU of recorded responses, and what these numbers hide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click
import msgspec

from dialgauge import data, formats, rendering, tasks, trials
from dialgauge.cli import common
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.common import TableOutput
from dialgauge.cli.gates import BuildGate, Gates
from dialgauge.cli.options import (
    FORMATS,
    PATH,
    TOOL_DOMAINS,
    Whole,
    bundle,
    measures_of,
    option,
    options,
    refuse,
)
from dialgauge.cli.output import OldOutput, OnScreen, Output
from dialgauge.cli.screen import Screen, err, out, progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import tools

if TYPE_CHECKING:
    from dialgauge.report import RunSet
    from dialgauge.runs import Run


app = group(
    "tasks", "Was the job done? Responses scored against the user's goal and the database; agent results over trials."
)


@options
class Responses:
    """How responses are read and scored."""

    database: Path | None = option(
        "--database", type=PATH, metavar="FOLDER", help="MultiWOZ database. Default: the folder db next to GOLD."
    )
    domains: Literal["file", "state", "placeholders"] | None = option(
        "--domains",
        type=click.Choice(["file", "state", "placeholders"]),
        help="How to tell a response's domain: file (active_domains), state (what changed) or placeholders (their "
        "names). Default: file if every turn has active_domains, else state.",
    )
    unanswered: Literal["skip", "fail"] = option(
        "--unanswered",
        type=click.Choice(["skip", "fail"]),
        default="skip",
        help="Dialogues without responses: skip (as mwzeval does) or fail.",
    )
    references: Path | None = option(
        "--references", type=PATH, help="Your own BLEU references (JSON): dialogue id to list of texts."
    )
    references_are: Literal["raw", "clean"] | None = option(
        "--references-are",
        type=click.Choice(["raw", "clean"]),
        help="Kind of --references: raw (placeholders in brackets) or clean (used as is).",
    )
    no_human: bool = option("--no-human", is_flag=True, help="Leave out the scores of the human responses.")


@app.command()
@click.argument(
    "files",
    nargs=-1,
    metavar="GOLD PRED... | RESULTS...",
    help="The MultiWOZ file with goals, then one response file (mwzeval format) per system, FILE or NAME=FILE; or "
    "one or more logs of agents (chat messages, inspect, OpenTelemetry, Langfuse, tau), files or folders.",
)
@click.option(
    "-m",
    "--measures",
    "measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("tasks", "trials"),
    help="Measures, comma-separated: Success, Inform(rules=grounded), Success[hotel], BLEU; or a list: 'richness', "
    "'all'.",
)
@click.option(
    "--tasks",
    "tasks",
    type=PATH,
    help="Grade agent results again under another version of their tasks, and show what flips.",
)
@click.option(
    "--domain",
    "domain",
    metavar="NAME|FOLDER",
    shell_complete=TOOL_DOMAINS,
    help="Tool domain for --tasks. Default: airline or retail, if the log is from there.",
)
@click.option(
    "--judge",
    "judge",
    multiple=True,
    metavar="FILE",
    help="Verdicts of graders on agent results (as for 'tasks judges'): pass^k under each, and the log's.",
)
@click.option(
    "--format", "format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
)
@click.option(
    "--success", "success", default="", metavar="FIELD", help="The field of a log that says whether it passed."
)
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="Bootstrap resamples for the 95% intervals; 0 for none.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for resampling.")
@bundle(responses=Responses, output=OldOutput, gates=Gates)
def score(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    tasks: Path | None,
    domain: str | None,
    judge: tuple[str, ...],
    format: str | None,
    success: str,
    resamples: int,
    seed: int,
    responses: Responses,
    output: OldOutput,
    gates: Gates,
) -> int:
    """Score logs of agents (pass^k, rewards, costs), or MultiWOZ responses (Inform, Success, BLEU, Combined).

    Logs: missing trials are reported first, and how much of each score is chance. Responses: scored as the standard
    evaluator does, and by rules that are harder to game.

    Exit code: 0 all dialogues were answered, 1 some were not and were left out, do not belong to their tasks, or are
    most likely no trials of one agent, 2 nothing could be scored, 3 a --fail-under or --fail-on-drop check failed.
    """
    if tasks is not None:
        refuse("--tasks grades results again", names=("measures", "run", "format", "judge"))
        return _grade_again(files or [], tasks, domain, resamples, seed, output)
    gate = gates.gate(output.store, kinds=("tasks", "trials"), scores_files=True)
    how: dict[str, Any] = {"resamples": resamples, "seed": seed, "progress": OnScreen()}
    if format or (files and _are_results(files)):
        refuse("agent results are already scored", Responses)
        chosen = {"measures": measures or (), "judges": judge or (), "format": format, "success": success}
        scored = _scored_results(files, {**how, **chosen})
        _print_coverage(scored.results.runs, out if output.on_screen else err)
        checks = gate.check(scored.results.runs, scored.score_file)
        output.present(scored.results, scored.schema, tables=scored.results.tables(), checks=checks)
        return checks.exit_code(0 if scored.stands else EXIT_INCOMPLETE)
    refuse("graders judge agent results", names=("judge",))
    return _score_responses(files, {**how, "measures": measures or ["default"]}, responses, output, gate)


class _Scored(NamedTuple):
    """Runs, the schema of their JSON, whether all are valid, and a function that scores another file alike."""

    results: rendering.RunSet
    schema: str
    stands: bool
    score_file: Callable[[str], Run] | None


def _scored_results(files: Sequence[str], how: Mapping[str, Any]) -> _Scored:
    """Logs of agents."""
    from dialgauge.api import log_findings

    def scored(results_files: Sequence[str] | Mapping[str, str]) -> trials.TrialRuns:
        return trials.score_results(results_files, findings=log_findings, **how)

    results = scored(common.named_systems(files))
    stands = results.complete and all(map(trials.per_task_stands, results.runs))
    return _Scored(results, "tasks-trials", stands, lambda file: scored([file]).runs[0])


def _score_responses(
    files: Sequence[str], how: Mapping[str, Any], responses: Responses, output: OldOutput, gate: BuildGate
) -> int:
    """Responses to the turns of a corpus."""
    usage = "give the gold file and at least one response file: dialgauge tasks score GOLD PRED..."
    if len(files) < 2:
        reason = f"{trials.no_log(files[0]).message}; to score responses, " if files else ""
        raise DialgaugeError(f"{reason}{usage}", file=files[0] if files else None)

    def scored(answers: Sequence[str] | Mapping[str, str]) -> RunSet:
        return tasks.score_tasks(
            files[0],
            answers,
            database=responses.database,
            references=responses.references,
            references_are=responses.references_are,
            mode=responses.domains,
            missing=responses.unanswered,
            human=not responses.no_human,
            **how,
        )

    results = scored(common.named_systems(list(files[1:])))
    checks = gate.check(results.runs, lambda file: scored([file]).runs[0])
    screen = Output(
        json=output.json,
        table=output.table,
        figures=output.figures,
        wide=output.wide,
        store=output.store,
        no_store=False,
    )
    screen.present(results, checks=checks)
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


def _print_coverage(runs: Sequence[Run], screen: Screen) -> None:
    for sentence in trials.coverage_sentences(runs):
        screen.print(sentence)
    for run in runs:
        for note in run.notes:
            err.print(f"{run.name}: {note}", style="dim")


def _are_results(files: Sequence[str]) -> bool:
    """Are the files logs of agents? A stream that can be read only once is taken for one, as GOLD never comes alone."""
    once = len(files) == 1 and (files[0] == "-" or Path(files[0]).is_fifo())
    named = common.named_systems(files)
    return once or trials.are_results(list(named.values()) if isinstance(named, dict) else named, native=True)


def _grade_again(
    files: Sequence[str], tasks: Path, domain: str | None, resamples: int, seed: int, output: OldOutput
) -> int:
    """``dialgauge tasks score RESULTS --tasks FILE``: recorded logs under another version of their tasks."""
    from dialgauge.trials import regrade, regrading_sentences, regrading_table

    if not files:
        raise DialgaugeError("name the results to grade again: dialgauge tasks score RESULTS --tasks FILE")
    root = data.data_folder().root
    graded = [
        regrade(source, tasks, name=name, domain=domain, root=root, resamples=resamples, seed=seed)
        for name, source in formats.named_files(list(files)).items()
    ]
    screen = out if output.on_screen else err
    for each in graded:
        for sentence in regrading_sentences(each):
            screen.print(sentence)
    output.show([regrading_table(each) for each in graded if each.pass_k])
    output.document("tasks-regrade", {"tasks": str(tasks), "logs": msgspec.to_builtins(graded)})
    whole = all(not (each.other_instruction or each.missing or each.open) for each in graded)
    return 0 if whole else EXIT_INCOMPLETE


@app.command()
@click.argument("results", nargs=-1, help="Agent result files (tau-bench, tau2-bench). Default: audit tasks alone.")
@click.option(
    "--format", "format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
)
@click.option(
    "--domain",
    "domain",
    metavar="NAME|FOLDER",
    shell_complete=TOOL_DOMAINS,
    help="Tool domain to replay calls in. Default: airline or retail, if the log is from there.",
)
@click.option("--tasks", "tasks", type=PATH, help="Tasks to judge by. Default: those of the log or domain.")
@click.option(
    "--limit", "limit", type=Whole(0), default=20, help="Rows to show of each list; 0 for all. Files have all."
)
@bundle(output=common.TableOutput)
def audit(
    results: tuple[str, ...],
    format: str | None,
    domain: str | None,
    tasks: Path | None,
    limit: int,
    output: common.TableOutput,
) -> int:
    """Replay recorded calls without a language model, and report what a pass rate hides.

    Checks whether each conversation belongs to its task, compares recorded with replayed verdicts, splits pass^k by
    whether anything must change, and lists unfair tasks. Code in a domain's folder runs with your permissions. Exit
    code: 0 the log is consistent, 1 conversations do not belong to their tasks or verdicts do not replay.
    """
    from dialgauge.trials import audit_document, audit_logs, audit_task_set, log_tables, task_set_tables

    if not results and domain is None and tasks is None:
        raise DialgaugeError("name a results file, or tasks to audit: --domain NAME|FOLDER, --tasks FILE")
    root = data.data_folder().root
    named = formats.named_files(results) if results else {}
    with progress_bar("auditing", len(named)) as advance:
        logs = audit_logs(named, domain=domain, tasks=tasks, root=root, format=format, advance=advance)
    task_set = audit_task_set(logs, domain=domain, tasks=tasks, root=root)
    same = tools.same_logs((each.name, each.integrity) for each in logs)
    screen = out if output.on_screen else err
    for each in logs:
        if each.plan is not None and each.plan.missing:
            screen.print(f"{each.name}: {each.plan.sentence()}.")
        for sentence in tools.integrity_sentences(each.name, each.integrity):
            screen.print(sentence)
    for names in same:
        screen.print(f"{' and '.join(names)} are the same log under different names.")
    if logs:
        screen.print()
    about_tasks = task_set_tables(task_set)
    shown = [table for each in logs for table in log_tables(each, limit or None)]
    in_file = [table for each in logs for table in log_tables(each)]
    output.show([*shown, *about_tasks], in_file=[*in_file, *about_tasks])
    output.document("tasks-audit", audit_document(task_set, logs, same))
    sound = all(not each.integrity.foreign and not each.contradicted for each in logs)
    return 0 if sound else EXIT_INCOMPLETE


@app.command()
@click.argument("results", nargs=-1, required=True, help="Agent result files (tau-bench, tau2-bench).")
@click.option("--dialogue", "dialogue", metavar="ID", help="Show all evidence on one failure (task#trial).")
@click.option(
    "--format", "format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
)
@click.option(
    "--domain",
    "domain",
    metavar="NAME|FOLDER",
    shell_complete=TOOL_DOMAINS,
    help="Tool domain to replay calls in. Default: airline or retail, if the log is from there.",
)
@click.option(
    "--limit", "limit", type=Whole(0), default=20, help="Rows to show of each list; 0 for all. Files have all."
)
@bundle(output=common.TableOutput)
def blame(
    results: tuple[str, ...],
    dialogue: str | None,
    format: str | None,
    domain: str | None,
    limit: int,
    output: common.TableOutput,
) -> None:
    """Say whose fault each failure was: agent, user, both, task, infrastructure, or unclear. No language model is used.

    The evidence: writes that are missing, extra or wrong, where wrong values came from, wishes that were never voiced,
    refused or left open, who stopped, and oddities of the task. If both sides deviate, the verdict is unclear, and
    names the side it leans to.
    """
    from dialgauge.api import blame_results

    named = formats.named_files(results)
    logs = []
    with progress_bar("blaming", len(named)) as advance:
        for name, source in named.items():
            logs += blame_results({name: source}, domain=domain, format=format)
            advance(1)
    screen = out if output.on_screen else err
    for log in logs:
        if log.plan is not None and log.plan.missing:
            screen.print(f"{log.name}: {log.plan.sentence()}.")
        if log.integrity.foreign:
            for sentence in tools.integrity_sentences(log.name, log.integrity):
                screen.print(sentence)
    if dialogue is not None:
        output.show([table for log in logs for table in log.explain(dialogue)])
    else:
        in_file = [table for log in logs for table in log.tables()]
        output.show([table for log in logs for table in log.tables(limit or None)], in_file=in_file)
    output.document("tasks-blame", trials.blame_document(logs))


@app.command()
@click.argument(
    "verdicts",
    nargs=-1,
    required=True,
    help="CSV or JSON Lines with conversation (or task and trial), verdict, and optionally grader, replicate.",
)
@click.option(
    "--truth",
    "truth",
    metavar="GRADER",
    help="Grader to take as correct; the others' pass rates are corrected by its verdicts.",
)
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="Bootstrap resamples for the 95% intervals; 0 for none.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for resampling.")
@bundle(output=TableOutput)
def judges(verdicts: tuple[str, ...], truth: str | None, resamples: int, seed: int, output: TableOutput) -> None:
    """Compare graders (people, models, rules): agreement, kappa, flips, and how much of pass^k depends on them.

    With --truth, sensitivity and specificity of each other grader, and the pass rate corrected for its errors.
    """
    figures = trials.judge_figures(trials.read_verdicts(verdicts), truth=truth, resamples=resamples, seed=seed)
    output.show(trials.judge_tables(figures))
    output.document("tasks-judges", trials.judge_document(figures))
