"""``dialgauge tasks``: was the job done? Inform, Success, BLEU of recorded responses, and what these numbers hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from dialgauge.cli.common import (
    StoreOption,
    WideOption,
    err,
    kept_for_good,
    on_screen,
    out,
    present_tables,
    tracked,
    write_json,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application

if TYPE_CHECKING:
    from dialgauge.report import Table
    from dialgauge.runs import Run
    from dialgauge.tasks import TaskEvaluation

#: How many missing dialogues are named.
_MOST = 5

app = application(
    "Was the job done? Recorded responses against the user's goal and the database; results of agents over trials."
)

DatabaseFolder = Annotated[
    Path | None,
    Option("--database", metavar="FOLDER", help="The MultiWOZ database; without it, the folder db beside GOLD."),
]
Domains = Annotated[
    str | None,
    Option(
        "--domains",
        metavar="MODE",
        help="What a response is about: file (its active_domains), state (what changed) or placeholders (their "
        "names). Without it, file where every turn has the key, else state.",
    ),
]
MissingOption = Annotated[
    str, Option(metavar="POLICY", help="A dialogue without responses under mwzeval: skip (as the standard) or fail.")
]
Strict = Annotated[
    bool, Option("--strict", help="Refuse a file in which only some turns have states or active_domains.")
]
TableFile = Annotated[Path | None, OutputFile(metavar="FILE", help="Write the tables: .md, .tex, .html, .csv, .json.")]


@app.command()
def score(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD PRED... | RESULTS...",
            help="The MultiWOZ file with goals, then one file of responses (mwzeval format) per system; or results of "
            "agents (tau-bench, tau2-bench), one file or more.",
        ),
    ] = None,
    database: DatabaseFolder = None,
    domains: Domains = None,
    missing: MissingOption = "skip",
    strict: Strict = False,
    references: Annotated[
        Path | None, Option(metavar="FILE", help="Your own references for BLEU (JSON): dialogue to list of texts.")
    ] = None,
    references_are: Annotated[
        str | None,
        Option(metavar="KIND", help="What they are: raw (placeholders in brackets) or clean (used as they are)."),
    ] = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            help="Measures, comma-separated: Success, Inform(rules=grounded), Success[hotel], BLEU; 'domains', "
            "'richness' and 'all' are lists.",
        ),
    ] = None,
    by: Annotated[str | None, Option(metavar="domain", help="Also Inform and Success of every domain.")] = None,
    worst: Annotated[int, Option(metavar="N", min=0, help="Also the N dialogues where most went wrong, and why.")] = 0,
    explain: Annotated[str | None, Option(metavar="DIALOGUE", help="Explain the verdicts on one dialogue.")] = None,
    from_runs: Annotated[
        list[str] | None,
        Option("--from", metavar="RUN", help="Show a stored run instead of scoring files; repeat for several."),
    ] = None,
    no_human: Annotated[bool, Option("--no-human", help="Without the human responses' values.")] = False,
    resamples: Annotated[int, Option(min=0, help="Resamples of dialogues for the 95% intervals; 0: none.")] = 1000,
    seed: Annotated[int, Option(min=0, help="Seed of the resampling.")] = 0,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write the scores as JSON; - is the screen.")] = None,
    table: TableFile = None,
    run: Annotated[bool, Option("--run", help="Store the results, one run per system.")] = False,
    store: StoreOption = None,
    wide: WideOption = False,
) -> int:
    """Inform, Success, BLEU and Combined as the standard evaluator computes them, and by rules that are harder to game.

    Of results of agents: pass^k, rewards, costs, and how much of that is chance; what is missing comes first.

    Exit code: 0 all dialogues were answered, 1 some were not and are left out, 2 nothing could be scored.
    """
    out.wide = wide
    from dialgauge.tasks import explanation, score_tables, worst_dialogues

    _check_output(table, by)
    if (results := _results(files, from_runs, store)) is not None:
        unfit = {
            "--database": database, "--domains": domains, "--missing": missing != "skip", "--strict": strict,
            "--references": references, "--references-are": references_are, "--by": by, "--worst": worst,
            "--explain": explain, "--no-human": no_human,
        }  # fmt: skip
        return _score_results(
            results, measures or (), resamples, seed, unfit, table, json, store, keep=run or bool(store)
        )
    scoring = {
        "GOLD PRED": files, "--database": database, "--domains": domains, "--missing": missing != "skip",
        "--strict": strict, "--references": references, "--references-are": references_are, "--measures": measures,
        "--no-human": no_human, "--resamples": resamples != 1000, "--seed": seed, "--run": run,
    }  # fmt: skip
    if from_runs:
        runs = _stored(from_runs, store, scoring, by)
    else:
        gold, systems = _named(files)
        names = [*(measures or ["default"]), *(["domains"] if by else [])]
        options = _options(domains, missing, strict, names, resamples, seed)
        evaluation = _evaluation(gold, database, references, references_are, options)
        runs = _scored(evaluation, systems, human=not no_human)
    _tell(runs)
    tables: list[Table] = []
    if explain is not None:
        tables += [part for each in runs for part in explanation(each, explain)]
    else:
        tables += score_tables(runs)
        tables += [worst_dialogues(each, worst) for each in runs if worst]
    present_tables(tables, table, json)
    if json is not None:
        write_json(json, _document(runs))
    if not from_runs and (run or store):
        _store(runs, store)
    return 0 if all(each.coverage.complete for each in runs) else EXIT_INCOMPLETE


@app.command()
def explain(
    names: Annotated[
        list[str],
        Argument(metavar="[GOLD PRED] DIALOGUE", help="The files, unless --run names a stored run, and the dialogue."),
    ],
    database: DatabaseFolder = None,
    domains: Domains = None,
    strict: Strict = False,
    run: Annotated[str | None, Option("--run", metavar="ID", help="Explain a stored run instead.")] = None,
    store: StoreOption = None,
    table: TableFile = None,
    wide: WideOption = False,
) -> None:
    """For each domain of a goal what was offered, when, what does not fit, and which request was never met.

    dialgauge tasks explain test.json augpt.json MUL0003, or of a stored run: dialgauge tasks explain MUL0003 --run ID
    """
    out.wide = wide
    from dialgauge.errors import DialgaugeError
    from dialgauge.tasks import explanation

    _check_output(table, None)
    *files, dialogue = names
    if len(files) != (2 if run is None else 0):
        raise DialgaugeError(
            "name GOLD, PRED and the dialogue (dialgauge tasks explain GOLD PRED DIALOGUE), or a stored run and the "
            "dialogue (dialgauge tasks explain DIALOGUE --run ID)"
        )
    if run is not None:
        unfit = {"--database": database, "--domains": domains, "--strict": strict}
        (presented,) = _stored([run], store, unfit, None)
    else:
        options = _options(domains, "skip", strict, ["Inform", "Success"], 0, 0)
        evaluation = _evaluation(files[0], database, None, None, options)
        (presented,) = _scored(evaluation, {files[1]: None}, human=False)
    tables = explanation(presented, dialogue)
    _tell([presented])
    present_tables(tables, table, None)


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
    *,
    keep: bool,
) -> int:
    """Results of agents, or runs that are scored already."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.tasks import coverage_sentences, results_document, score_results, trial_tables

    if given := [name for name, value in unfit.items() if value]:
        raise DialgaugeError(f"results of agents are judged already, so leave out {', '.join(given)}")
    files = [one for one in results if isinstance(one, str)]
    if len(set(files)) < len(files):
        raise DialgaugeError("a file of results is named twice; name each once")
    with kept_for_good():
        runs = score_results(files, measures=measures, resamples=resamples, seed=seed) if files else list(results)
    screen = out if on_screen(json) else err
    for sentence in coverage_sentences(runs):
        screen.print(sentence)
    for run in runs:
        for note in run.notes:
            err.print(f"{run.name}: {note}", style="dim")
    present_tables(trial_tables(runs), table, json)
    if json is not None:
        write_json(json, results_document(runs))
    if files and keep:
        _store(runs, store)
    return 0 if all(run.coverage.complete for run in runs) else EXIT_INCOMPLETE


def _check_output(table: Path | None, by: str | None) -> None:
    from dialgauge.errors import DialgaugeError
    from dialgauge.report import format_of

    if table is not None:
        format_of(table)
    if by not in (None, "domain"):
        raise DialgaugeError(f"scores can be shown by domain, not by '{by}'; write --by domain")


def _named(files: Sequence[str] | None) -> tuple[str, dict[str, str | None]]:
    """The gold file, and the prediction files, each with a name where its own would not tell it apart."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import system_name

    if not files or len(files) < 2:
        raise DialgaugeError(
            "name the gold file and at least one file of responses: dialgauge tasks score GOLD PRED..."
        )
    gold, *systems = files
    if len(set(systems)) < len(systems):
        raise DialgaugeError("a file of responses is named twice; name each once")
    short = [system_name(system) for system in systems]
    return gold, {
        system: None if short.count(name) == 1 else system for system, name in zip(systems, short, strict=True)
    }


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


def _scored(evaluation: TaskEvaluation, systems: Mapping[str, str | None], *, human: bool) -> list[Run]:
    from dialgauge.tasks import read_predictions

    def each() -> Iterator[Run]:
        for source, name in systems.items():
            yield evaluation.score(read_predictions(source, name), human=human).run

    return list(tracked(each(), "scoring", len(systems)))


def _stored(ids: Sequence[str], store: Path | None, scoring: Mapping[str, object], by: str | None) -> list[Run]:
    from dialgauge.errors import DialgaugeError
    from dialgauge.runs import Store
    from dialgauge.tasks import TaskScores

    if unfit := [name for name, value in scoring.items() if value]:
        raise DialgaugeError(f"a stored run is scored already, so leave out {', '.join(unfit)}")
    place = Store(store)
    runs = [TaskScores(place.open(one)).run for one in ids]
    for run in runs:
        if by and not any("[" in name for name in run.scores):
            raise DialgaugeError(f"the run {run.id} has no scores by domain; score the files again with --by domain")
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
