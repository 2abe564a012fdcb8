"""``dialgauge tasks``: was the job done? Inform, Success, BLEU of recorded responses, and what these numbers hide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from dialgauge.cli.choices import measures_of
from dialgauge.cli.common import (
    AddressOption,
    EngineOption,
    FigureFormatOption,
    FiguresOption,
    FromOption,
    FromRunsOption,
    JsonOption,
    ResamplesOption,
    RunOption,
    SeedOption,
    StoreOption,
    TableOption,
    WideOption,
    WorkersOption,
    WorstOption,
    on_screen,
    place_from,
    tables_document,
    working_store,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import BuildGate, FailOnDropOption, FailUnderOption
from dialgauge.cli.options import Argument, Option, application
from dialgauge.cli.output import OnScreen, Output, refuse
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError
from dialgauge.text import plain

if TYPE_CHECKING:
    from dialgauge.report import RunSet
    from dialgauge.runs import Run
    from dialgauge.tasks import TaskRuns

app = application(
    "Was the job done? Responses scored against the user's goal and the database; agent results over trials."
)

DatabaseFolder = Annotated[
    Path | None,
    Option("--database", metavar="FOLDER", help="MultiWOZ database. Default: the folder db next to GOLD."),
]
Domains = Annotated[
    Literal["file", "state", "placeholders"] | None,
    Option(
        "--domains",
        metavar="MODE",
        help="How to tell a response's domain: file (active_domains), state (what changed) or placeholders (their "
        "names). Default: file if every turn has active_domains, else state.",
    ),
]
UnansweredOption = Annotated[
    Literal["skip", "fail"],
    Option("--unanswered", metavar="HOW", help="Dialogues without responses: skip (as mwzeval does) or fail."),
]
Strict = Annotated[bool, Option("--strict", help="Reject files where only some turns have states or active_domains.")]


@app.command()
def score(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD PRED... | RESULTS...",
            help="The MultiWOZ file with goals, then one response file (mwzeval format) per system; or one or more "
            "agent result files (tau-bench, tau2-bench).",
        ),
    ] = None,
    database: DatabaseFolder = None,
    domains: Domains = None,
    unanswered: UnansweredOption = "skip",
    strict: Strict = False,
    references: Annotated[
        Path | None, Option(metavar="FILE", help="Your own BLEU references (JSON): dialogue id to list of texts.")
    ] = None,
    references_are: Annotated[
        Literal["raw", "clean"] | None,
        Option(metavar="KIND", help="Kind of --references: raw (placeholders in brackets) or clean (used as is)."),
    ] = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            known=measures_of("tasks", "trials"),
            help="Measures, comma-separated: Success, Inform(rules=grounded), Success[hotel], BLEU; or a list: "
            "'domains', 'richness', 'all'.",
        ),
    ] = None,
    by: Annotated[
        Literal["domain"] | None, Option(metavar="domain", help="Break Inform and Success down by domain.")
    ] = None,
    worst: WorstOption = 0,
    from_runs: FromRunsOption = None,
    no_human: Annotated[bool, Option("--no-human", help="Leave out the scores of the human responses.")] = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    json: JsonOption = None,
    table: TableOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    fail_under: FailUnderOption = None,
    fail_on_drop: FailOnDropOption = None,
    run: RunOption = False,
    wide: WideOption = False,
    store: StoreOption = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    workers: WorkersOption = None,
) -> int:
    """Inform, Success, BLEU and Combined as the standard evaluator computes them, and by rules that are harder to game.

    For agent results: pass^k, rewards, costs, and how much of them is chance; missing trials come first.

    Exit code: 0 all dialogues were answered, 1 some were not and were left out, 2 nothing could be scored, 3 a
    --fail-under or --fail-on-drop check failed.
    """
    out.wide = wide
    from dialgauge.tasks import TaskRuns, TrialRuns, coverage_sentences, score_results, score_tasks

    _check_by(by)
    output = Output(json, table, figures, figure_format, run=run and not from_runs, store=store)
    gate = BuildGate.of(fail_under, fail_on_drop, store, kinds=("tasks", "trials"))
    where = place_from(engine, workers, address)
    elsewhere: dict[str, Any] = {
        "workers": where if where.asked else None,
        "store": working_store(store) if where.asked else None,
        "progress": OnScreen(),
    }
    responses: dict[str, object] = {
        "--database": database, "--domains": domains, "--unanswered": unanswered != "skip", "--strict": strict,
        "--references": references, "--references-are": references_are, "--no-human": no_human,
    }  # fmt: skip
    if from_runs:
        refuse("--from shows a run that is already scored", {"GOLD PRED": files})
    stored = _opened(from_runs or (), store)
    results: RunSet
    if all(one.kind == "trials" for one in stored) if stored else files and _are_results(files):
        refuse("agent results are already scored", {**responses, "--by": by, "--worst": worst})
        if files:
            results = score_results(files, measures=measures or (), resamples=resamples, seed=seed, **elsewhere)
        else:
            results = TrialRuns(stored)
        schema, screen = "tasks-trials", out if on_screen(json) else err
        for sentence in coverage_sentences(results.runs):
            screen.print(sentence)
        for each in results.runs:
            for note in each.notes:
                err.print(f"{each.name}: {note}", style="dim")
    else:
        schema = "tasks-score"
        if stored:
            given = {"--measures": measures, "--resamples": resamples != 1000, "--seed": seed}
            refuse("--from shows a run that is already scored", {**given, **responses, "--run": run})
            results = _with_domains(TaskRuns(stored), by)
        else:
            gold, systems = _named(files)
            results = score_tasks(
                gold,
                systems,
                database=database,
                references=references,
                references_are=references_are,
                mode=domains,
                missing=unanswered,
                strict=strict,
                measures=[*(measures or ["default"]), *(["domains"] if by else [])],
                resamples=resamples,
                seed=seed,
                human=not no_human,
                **elsewhere,
            )
        for note in results.notes:
            err.print(plain(note))
    tables = [*results.tables(), *(results.worst(worst) if worst else ())]
    runs = output.present(results, schema, tables=tables)
    return gate.exit_code(runs, 0 if results.complete else EXIT_INCOMPLETE)


@app.command()
def explain(
    names: Annotated[
        list[str],
        Argument(
            metavar="[GOLD PRED] DIALOGUE", help="The files, unless --from names a stored run, and the dialogue id."
        ),
    ],
    database: DatabaseFolder = None,
    domains: Domains = None,
    strict: Strict = False,
    from_run: FromOption = None,
    wide: WideOption = False,
    store: StoreOption = None,
    json: JsonOption = None,
    table: TableOption = None,
) -> None:
    """Explain the verdicts on one dialogue: per domain, what was offered when, what is wrong, which request was unmet.

    dialgauge tasks explain test.json augpt.json MUL0003, or from a stored run:
    dialgauge tasks explain MUL0003 --from RUN
    """
    out.wide = wide
    from dialgauge.tasks import TaskRuns, score_tasks

    output = Output(json, table)
    *files, dialogue = names
    if len(files) != (2 if from_run is None else 0):
        raise DialgaugeError(
            "give GOLD, PRED and the dialogue (dialgauge tasks explain GOLD PRED DIALOGUE), or the dialogue and a "
            "stored run (dialgauge tasks explain DIALOGUE --from RUN)"
        )
    if from_run is not None:
        unfit = {"--database": database, "--domains": domains, "--strict": strict}
        refuse("--from shows a run that is already scored", unfit)
        results = TaskRuns(_opened([from_run], store))
    else:
        gold, systems = _named(files)
        results = score_tasks(
            gold,
            systems,
            database=database,
            mode=domains,
            strict=strict,
            measures=["Inform", "Success"],
            resamples=0,
            human=False,
            progress=OnScreen(),
        )
    tables = [part for part in results.explain(dialogue) if not isinstance(part, str)]
    for note in results.notes:
        err.print(plain(note))
    output.present(results, "tables", tables=tables, document=lambda: tables_document(tables))


def _check_by(by: str | None) -> None:
    if by not in (None, "domain"):
        raise DialgaugeError(f"--by accepts only 'domain' (got '{by}')")


def _opened(ids: Sequence[str], store: Path | None) -> list[Run]:
    from dialgauge.runs import Store

    return [Store(store).open(one) for one in ids]


def _are_results(files: Sequence[str]) -> bool:
    """Are the files results of agents? What can be read only once is not looked at before; GOLD never comes alone."""
    from dialgauge.tasks import are_results

    once = len(files) == 1 and (files[0] == "-" or Path(files[0]).is_fifo())
    return once or are_results(files, native=True)


def _with_domains(results: TaskRuns, by: str | None) -> TaskRuns:
    for run in results.runs:
        if by and not any("[" in name for name in run.scores):
            raise DialgaugeError(f"the run {run.id} has no scores by domain; rescore the files with --by domain")
    return results


def _named(files: Sequence[str] | None) -> tuple[str, list[str]]:
    """The gold file, and the prediction files."""
    if not files or len(files) < 2:
        from dialgauge.tasks import refuse_unreadable

        for file in files or ():
            refuse_unreadable(file)
        raise DialgaugeError("give the gold file and at least one response file: dialgauge tasks score GOLD PRED...")
    return files[0], list(files[1:])
