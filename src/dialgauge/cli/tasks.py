"""``dialgauge tasks``: was the job done? Inform, Success, BLEU of recorded responses, and what these numbers hide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Struct

from dialgauge import data, formats, rendering, runs, tasks
from dialgauge.cli import common, writing
from dialgauge.cli.choices import TOOL_DOMAINS, measures_of
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import Argument, Option, application
from dialgauge.cli.output import OnScreen, Output, refuse
from dialgauge.cli.screen import Screen, err, out
from dialgauge.errors import DialgaugeError
from dialgauge.text import plain

if TYPE_CHECKING:
    from dialgauge.runs import Run

app = application(
    "Was the job done? Responses scored against the user's goal and the database; agent results over trials.",
    parts=__name__,
)


DatabaseFolder = Annotated[
    Path | None, Option(metavar="FOLDER", help="MultiWOZ database. Default: the folder db next to GOLD.")
]
Domains = Annotated[
    Literal["file", "state", "placeholders"] | None,
    Option(
        metavar="MODE",
        help="How to tell a response's domain: file (active_domains), state (what changed) or placeholders (their "
        "names). Default: file if every turn has active_domains, else state.",
    ),
]
UnansweredOption = Annotated[
    Literal["skip", "fail"], Option(metavar="HOW", help="Dialogues without responses: skip (as mwzeval does) or fail.")
]
Strict = Annotated[bool, Option(help="Reject files where only some turns have states or active_domains.")]


class ResponseReading(Struct, frozen=True):
    """How responses are read."""

    not_with: ClassVar = ("--from",)
    database: DatabaseFolder = None
    domains: Domains = None
    strict: Strict = False


class Responses(ResponseReading, frozen=True):
    """How responses are scored."""

    unanswered: UnansweredOption = "skip"
    references: Annotated[
        Path | None, Option(help="Your own BLEU references (JSON): dialogue id to list of texts.")
    ] = None
    references_are: Annotated[
        Literal["raw", "clean"] | None,
        Option(
            metavar="KIND",
            help="Kind of --references: raw (placeholders in brackets) or clean (used as is).",
        ),
    ] = None
    no_human: Annotated[bool, Option(help="Leave out the scores of the human responses.")] = False

    @property
    def scoring(self) -> dict[str, object]:
        """The options as ``score_tasks`` takes them."""
        return {
            "database": self.database,
            "references": self.references,
            "references_are": self.references_are,
            "mode": self.domains,
            "missing": self.unanswered,
            "strict": self.strict,
            "human": not self.no_human,
        }


@app.command()
def score(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD PRED... | RESULTS...",
            not_with=("--from",),
            help="The MultiWOZ file with goals, then one response file (mwzeval format) per system, FILE or NAME=FILE; "
            "or one or more logs of agents (chat messages, inspect, OpenTelemetry, Langfuse, tau), files or folders.",
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            known=measures_of("tasks", "trials"),
            not_with=("--from",),
            help="Measures, comma-separated: Success, Inform(rules=grounded), Success[hotel], BLEU; or a list: "
            "'domains', 'richness', 'all'.",
        ),
    ] = None,
    tasks: Annotated[
        Path | None,
        Option(
            not_with=("--from", "--measures", "--by", "--worst", "--run", "--format"),
            help="Grade agent results again under another version of their tasks, and show what flips.",
        ),
    ] = None,
    domain: Annotated[
        str | None,
        Option(
            metavar="NAME|FOLDER",
            known=TOOL_DOMAINS,
            needs="--tasks",
            help="Tool domain for --tasks. Default: airline or retail, if the log is from there.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            not_with=("--from", "--tasks"),
            help="Verdicts of graders on agent results (as for 'tasks judges'): pass^k under each, and the log's.",
        ),
    ] = None,
    by: Annotated[Literal["domain"] | None, Option(help="Break Inform and Success down by domain.")] = None,
    format: common.FormatOption = None,
    worst: common.WorstOption = 0,
    from_runs: common.FromRunsOption = None,
    resamples: common.ResamplesOption = 1000,
    seed: common.SeedOption = 0,
    *,
    responses: Responses,
    output: Output,
    gates: Gates,
) -> int:
    """Score logs of agents (pass^k, rewards, costs), or MultiWOZ responses (Inform, Success, BLEU, Combined).

    Logs: missing trials are reported first, and how much of each score is chance. Responses: scored as the standard
    evaluator does, and by rules that are harder to game.

    Exit code: 0 all dialogues were answered, 1 some were not and were left out, do not belong to their tasks, or are
    most likely no trials of one agent, 2 nothing could be scored, 3 a --fail-under or --fail-on-drop check failed.
    """
    if tasks is not None:
        return _grade_again(files or [], tasks, domain, resamples, seed, output)
    gate = gates.gate(output.store, kinds=("tasks", "trials"), scores_files=not from_runs)
    how: dict[str, Any] = {"resamples": resamples, "seed": seed, "progress": OnScreen()}
    stored = _opened(from_runs or (), output.store)
    if all(run.kind == "trials" for run in stored) if stored else format or (files and _are_results(files)):
        refuse("agent results are already scored", responses, by=by, worst=worst)
        scored = _scored_results(
            stored, files or [], {**how, "measures": measures or (), "judges": judge or (), "format": format}
        )
        _print_coverage(scored.results.runs, out if output.on_screen else err)
    else:
        refuse("graders judge agent results", judge=judge)
        named = [*(measures or ["default"]), *(["domains"] if by else [])]
        scored = _scored_responses(stored, files, by, {**how, **responses.scoring, "measures": named})
        for note in scored.results.notes:
            err.print(plain(note))
    results = scored.results
    tables = [*results.tables(), *(results.worst(worst) if worst else ())]
    checks = gate.check(results.runs, scored.score_file)
    output.present(results, scored.schema, tables=tables, checks=checks)
    return checks.exit_code(0 if scored.stands else EXIT_INCOMPLETE)


class _Scored(NamedTuple):
    """Runs, the schema of their JSON, whether all are valid, and a function that scores another file alike."""

    results: rendering.RunSet
    schema: str
    stands: bool
    score_file: Callable[[str], Run] | None


def _scored_results(stored: Sequence[Run], files: Sequence[str], how: Mapping[str, Any]) -> _Scored:
    """Logs of agents."""
    from dialgauge.api import log_findings

    def scored(results_files: Sequence[str] | Mapping[str, str]) -> tasks.TrialRuns:
        findings = partial(log_findings, format=how.get("format"))
        return tasks.score_results(results_files, findings=findings, **how)

    results = scored(common.named_systems(files)) if files else tasks.TrialRuns(stored)
    stands = results.complete and results.trials_stand and all(map(tasks.per_task_stands, results.runs))
    return _Scored(results, "tasks-trials", stands, (lambda file: scored([file]).runs[0]) if files else None)


def _scored_responses(
    stored: Sequence[Run], files: Sequence[str] | None, by: str | None, how: Mapping[str, Any]
) -> _Scored:
    """Responses to the turns of a corpus."""
    if stored:
        results = _with_domains(tasks.TaskRuns(stored), by)
        return _Scored(results, "tasks-score", results.complete, None)
    gold, systems = _named(files)

    def scored(answers: Sequence[str] | Mapping[str, str]) -> tasks.TaskRuns:
        return tasks.score_tasks(gold, answers, **how)

    results = scored(common.named_systems(systems))
    return _Scored(results, "tasks-score", results.complete, lambda file: scored([file]).runs[0])


def _print_coverage(runs: Sequence[Run], screen: Screen) -> None:
    for sentence in tasks.coverage_sentences(runs):
        screen.print(sentence)
    for run in runs:
        for note in run.notes:
            err.print(f"{run.name}: {note}", style="dim")


@app.command()
def explain(
    names: Annotated[
        list[str],
        Argument(
            metavar="[GOLD PRED] DIALOGUE", help="The files, unless --from names a stored run, and the dialogue id."
        ),
    ],
    from_run: common.FromOption = None,
    store: common.StoreOption = None,
    *,
    reading: ResponseReading,
    output: common.TableOutput,
) -> None:
    """Explain the verdicts on one dialogue: per domain, what was offered when, what is wrong, which request was unmet.

    dialgauge tasks explain test.json augpt.json MUL0003, or from a stored run:
    dialgauge tasks explain MUL0003 --from RUN
    """
    *files, dialogue = names
    if len(files) != (2 if from_run is None else 0):
        raise DialgaugeError(
            "give GOLD, PRED and the dialogue (dialgauge tasks explain GOLD PRED DIALOGUE), or the dialogue and a "
            "stored run (dialgauge tasks explain DIALOGUE --from RUN)"
        )
    if from_run is not None:
        results = tasks.TaskRuns(_opened([from_run], store))
    else:
        gold, systems = _named(files)
        results = tasks.score_tasks(
            gold,
            systems,
            database=reading.database,
            mode=reading.domains,
            strict=reading.strict,
            measures=["Inform", "Success"],
            resamples=0,
            human=False,
            progress=OnScreen(),
        )
    tables = [part for part in results.explain(dialogue) if not isinstance(part, str)]
    for note in results.notes:
        err.print(plain(note))
    output.show(tables)
    output.document("tables", writing.tables_document(tables))


def _opened(ids: Sequence[str], store: Path | None) -> list[Run]:
    return [runs.Store(store).open(name) for name in ids]


def _are_results(files: Sequence[str]) -> bool:
    """Are the files logs of agents? A stream that can be read only once is taken for one, as GOLD never comes alone."""
    once = len(files) == 1 and (files[0] == "-" or Path(files[0]).is_fifo())
    named = common.named_systems(files)
    return once or tasks.are_results(list(named.values()) if isinstance(named, dict) else named, native=True)


def _with_domains(results: tasks.TaskRuns, by: str | None) -> tasks.TaskRuns:
    for run in results.runs:
        if by and not any("[" in name for name in run.scores):
            raise DialgaugeError(f"the run {run.id} has no scores by domain; rescore the files with --by domain")
    return results


def _named(files: Sequence[str] | None) -> tuple[str, list[str]]:
    """The gold file, and the prediction files."""
    if not files or len(files) < 2:
        formats = [tasks.refuse_unreadable(file) for file in files or ()]
        usage = "give the gold file and at least one response file: dialgauge tasks score GOLD PRED..."
        if not files:
            raise DialgaugeError(usage)
        seen = f", and it is in the format {formats[0]}" if formats[0] else ""
        raise DialgaugeError(
            f"a file alone must be a log of an agent{seen}; to score responses, {usage}", file=files[0]
        )
    tasks.refuse_unknown(files)
    return files[0], list(files[1:])


def _grade_again(
    files: Sequence[str], tasks: Path, domain: str | None, resamples: int, seed: int, output: Output
) -> int:
    """``dialgauge tasks score RESULTS --tasks FILE``: recorded logs under another version of their tasks."""
    from dialgauge.tasks import regrade, regrading_sentences, regrading_table

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
