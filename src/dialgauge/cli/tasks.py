"""``dialgauge tasks``: was the job done? Inform, Success, BLEU of recorded responses, and what these numbers hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

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
    check_table,
    draw_scores,
    figure_kinds,
    kept_for_good,
    on_screen,
    place_from,
    present_tables,
    tables_document,
    working_store,
    write_document,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import BuildGate, FailOnDropOption, FailUnderOption
from dialgauge.cli.options import Argument, Option, application
from dialgauge.cli.screen import err, out, progress_bar, tracked

if TYPE_CHECKING:
    from dialgauge.engine import WorkPlace
    from dialgauge.runs import Run
    from dialgauge.tasks import TaskEvaluation, TaskWork

_REWARD_PARTS = {"Reward": "part of the reward"}
_REWARD_WORDS = {
    "r_actions": "right actions (r_actions)", "r_outputs": "right outputs (r_outputs)", "DB": "right database (DB)",
    "COMMUNICATE": "told the user (COMMUNICATE)", "ACTION": "right actions (ACTION)",
    "ENV_ASSERTION": "checks of the environment (ENV_ASSERTION)",
    "NL_ASSERTION": "checks in words (NL_ASSERTION)",
}  # fmt: skip
#: How many missing dialogues are named.
_MOST = 5

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
    from dialgauge.tasks import score_tables, worst_dialogues

    _check_output(table, by)
    figure_kinds(figure_format, figures)
    gate = BuildGate.of(fail_under, fail_on_drop, store, kinds=("tasks", "trials"))
    where = place_from(engine, workers, address)
    if (results := _results(files, from_runs, store)) is not None:
        unfit = {
            "--database": database, "--domains": domains, "--unanswered": unanswered != "skip", "--strict": strict,
            "--references": references, "--references-are": references_are, "--by": by, "--worst": worst,
            "--no-human": no_human,
        }  # fmt: skip
        drawing = partial(
            draw_scores, folder=figures, figure_format=figure_format, parts=_REWARD_PARTS, names=_REWARD_WORDS
        )
        return _score_results(
            results, measures or (), resamples, seed, unfit, table, json, store, gate, where, drawing, keep=run
        )
    scoring = {
        "GOLD PRED": files, "--database": database, "--domains": domains, "--unanswered": unanswered != "skip",
        "--strict": strict, "--references": references, "--references-are": references_are, "--measures": measures,
        "--no-human": no_human, "--resamples": resamples != 1000, "--seed": seed, "--run": run,
    }  # fmt: skip
    if from_runs:
        runs = _stored(from_runs, store, scoring, by)
    else:
        gold, systems = _named(files)
        names = [*(measures or ["default"]), *(["domains"] if by else [])]
        options = _options(domains, unanswered, strict, names, resamples, seed)
        if where.asked:
            work = _response_work(gold, database, references, references_are, options, human=not no_human)
            runs = _scored_elsewhere(work, systems, where, store)
        else:
            evaluation = _evaluation(gold, database, references, references_are, options)
            runs = _scored(evaluation, systems, human=not no_human)
    _tell(runs)
    tables = [*score_tables(runs), *(worst_dialogues(each, worst) for each in runs if worst)]
    present_tables(tables, table, json)
    write_document(json, "tasks-score", _document(runs))
    if run and not from_runs:
        _store(runs, store)
    if figures is not None:
        from dialgauge.tasks import figure_look

        draw_scores(folder=figures, figure_format=figure_format, **figure_look(runs))
    return gate.exit_code(runs, 0 if all(each.coverage.complete for each in runs) else EXIT_INCOMPLETE)


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
    from dialgauge.errors import DialgaugeError
    from dialgauge.tasks import explanation

    _check_output(table, None)
    *files, dialogue = names
    if len(files) != (2 if from_run is None else 0):
        raise DialgaugeError(
            "give GOLD, PRED and the dialogue (dialgauge tasks explain GOLD PRED DIALOGUE), or the dialogue and a "
            "stored run (dialgauge tasks explain DIALOGUE --from RUN)"
        )
    if from_run is not None:
        unfit = {"--database": database, "--domains": domains, "--strict": strict}
        (presented,) = _stored([from_run], store, unfit, None)
    else:
        options = _options(domains, "skip", strict, ["Inform", "Success"], 0, 0)
        evaluation = _evaluation(files[0], database, None, None, options)
        (presented,) = _scored(evaluation, _named(files[:2])[1], human=False)
    tables = explanation(presented, dialogue)
    _tell([presented])
    present_tables(tables, table, json)
    write_document(json, "tables", tables_document(tables))


def _results(files: Sequence[str] | None, from_runs: Sequence[str] | None, store: Path | None) -> list[Any] | None:
    """The results of agents that are named, files or stored runs; None where something else is."""
    from dialgauge.tasks import are_results

    if from_runs and not files:
        from dialgauge.runs import Store

        opened = [Store(store).open(one) for one in from_runs]
        return opened if all(one.kind == "trials" for one in opened) else None
    if not files or from_runs:
        return None
    # What can be read only once is not looked at before; GOLD never comes alone.
    once = len(files) == 1 and (files[0] == "-" or Path(files[0]).is_fifo())
    return list(files) if once or are_results(files, native=True) else None


def _score_results(
    results: Sequence[Any],
    measures: Sequence[str],
    resamples: int,
    seed: int,
    unfit: Mapping[str, object],
    table: Path | None,
    json: Path | None,
    store: Path | None,
    gate: BuildGate,
    where: WorkPlace,
    drawing: Callable[[list[Run]], None],
    *,
    keep: bool,
) -> int:
    """Results of agents, or runs that are scored already."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import system_names
    from dialgauge.tasks import coverage_sentences, results_document, score_results, trial_tables

    if given := [name for name, value in unfit.items() if value]:
        raise DialgaugeError(f"agent results are already scored; leave out {', '.join(given)}")
    files = [one for one in results if isinstance(one, str)]
    names = system_names(files)
    with kept_for_good():
        if files and where.asked:
            from dialgauge.tasks import ResultsWork

            work = ResultsWork(measures, resamples, seed)
            runs = _scored_elsewhere(work, dict(zip(files, names, strict=True)), where, store)
        else:
            runs = score_results(files, measures=measures, resamples=resamples, seed=seed) if files else list(results)
    screen = out if on_screen(json) else err
    for sentence in coverage_sentences(runs):
        screen.print(sentence)
    for run in runs:
        for note in run.notes:
            err.print(f"{run.name}: {note}", style="dim")
    present_tables(trial_tables(runs), table, json)
    if json is not None:
        write_document(json, "tasks-trials", results_document(runs))
    if files and keep:
        _store(runs, store)
    drawing(runs)
    return gate.exit_code(runs, 0 if all(run.coverage.complete for run in runs) else EXIT_INCOMPLETE)


def _check_output(table: Path | None, by: str | None) -> None:
    from dialgauge.errors import DialgaugeError

    check_table(table)
    if by not in (None, "domain"):
        raise DialgaugeError(f"--by accepts only 'domain' (got '{by}')")


def _named(files: Sequence[str] | None) -> tuple[str, dict[str, str]]:
    """The gold file, and the prediction files, each with its name."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import system_names
    from dialgauge.tasks import refuse_unreadable

    if not files or len(files) < 2:
        for file in files or ():
            refuse_unreadable(file)
        raise DialgaugeError("give the gold file and at least one response file: dialgauge tasks score GOLD PRED...")
    gold, *systems = files
    return gold, dict(zip(systems, system_names(systems), strict=True))


def _options(
    domains: str | None, missing: str, strict: bool, measures: Sequence[str], resamples: int, seed: int
) -> Any:
    from dialgauge.tasks import TaskOptions

    chosen: Any = {"mode": domains, "missing": missing}  # checked there
    return TaskOptions(**chosen, strict=strict, measures=tuple(measures), resamples=resamples, seed=seed)


def _evaluation(
    gold: str, database: Path | None, references: Path | None, references_are: str | None, options: Any
) -> TaskEvaluation:
    from dialgauge.tasks import TaskEvaluation

    with kept_for_good(), err.status("reading gold"):
        return TaskEvaluation(gold, database, references, cast(Any, references_are), options)


def _scored(evaluation: TaskEvaluation, systems: Mapping[str, str], *, human: bool) -> list[Run]:
    from dialgauge.tasks import read_predictions

    def each() -> Iterator[Run]:
        for source, name in systems.items():
            yield evaluation.score(read_predictions(source, name), human=human).run

    return list(tracked(each(), "scoring", len(systems)))


def _response_work(
    gold: str, database: Path | None, references: Path | None, references_are: str | None, options: Any, *, human: bool
) -> TaskWork:
    from dialgauge.tasks import ResponseWork

    return ResponseWork(
        gold,
        None if database is None else str(database),
        None if references is None else str(references),
        cast(Any, references_are),
        options,
        human=human,
    )


def _scored_elsewhere(work: TaskWork, systems: Mapping[str, str], where: WorkPlace, store: Path | None) -> list[Run]:
    from dialgauge.tasks import TaskSource, score_elsewhere

    sources = [TaskSource(source, name) for source, name in systems.items()]
    with progress_bar("scoring", len(sources)) as advance:
        return score_elsewhere(work, sources, store=working_store(store), workers=where, on_unit=advance)


def _stored(ids: Sequence[str], store: Path | None, scoring: Mapping[str, object], by: str | None) -> list[Run]:
    from dialgauge.errors import DialgaugeError
    from dialgauge.runs import Store
    from dialgauge.tasks import TaskScores

    if unfit := [name for name, value in scoring.items() if value]:
        raise DialgaugeError(f"--from shows a run that is already scored; leave out {', '.join(unfit)}")
    place = Store(store)
    runs = [TaskScores(place.open(one)).run for one in ids]
    for run in runs:
        if by and not any("[" in name for name in run.scores):
            raise DialgaugeError(f"the run {run.id} has no scores by domain; rescore the files with --by domain")
    return runs


def _tell(runs: Sequence[Run]) -> None:
    """What a reader must know of each system: how much was scored, what was switched, what looks gamed."""
    from dialgauge.report import plain
    from dialgauge.tasks import warnings

    for run in runs:
        err.print(plain(f"{run.name}: {run.coverage.sentence()}"), style="dim")
        if lacking := run.details["missing_dialogues"]:
            named = ", ".join(lacking[:_MOST]) + (", ..." if len(lacking) > _MOST else "")
            err.print(plain(f"{run.name}: no responses for {named}; {run.coverage.policy}"))
        for note in run.notes:
            err.print(plain(f"{run.name}: {note}"))
        for warning in warnings(run):
            err.print(plain(f"{run.name}: WARNING: {warning}"))


def _document(runs: Sequence[Run]) -> dict[str, object]:
    """The layout of ``dialgauge score --json``."""
    from dialgauge.measures import Signature
    from dialgauge.tasks import as_system

    systems = [as_system(run) for run in runs]
    signature = Signature.shared(Signature.parse(run.signature) for run in runs).long()
    return {
        "signature": signature,
        "coverage": {system["name"]: system["coverage"] for system in systems},
        "systems": systems,
    }


def _store(runs: Sequence[Run], store: Path | None) -> None:
    from dialgauge.runs import Store

    chosen = Store(store)
    for run in runs:
        err.print(f"stored as run {chosen.add(run).id} in {chosen.folder}")
