"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from dialgauge.cli.choices import PROFILES, measures_of
from dialgauge.cli.common import (
    AddressOption,
    CoverageOption,
    EngineOption,
    ExcludeOption,
    FigureFormatOption,
    FiguresOption,
    FromRunsOption,
    GoldFormatOption,
    JsonOption,
    PredFormatOption,
    ResamplesOption,
    RunOption,
    SeedOption,
    StoreOption,
    TableOption,
    ViewOption,
    WideOption,
    WorkersOption,
    WorstOption,
    place_from,
    working_store,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import BuildGate, FailOnDropOption, FailUnderOption
from dialgauge.cli.options import Argument, Option, application
from dialgauge.cli.output import OnScreen, Output, refuse
from dialgauge.cli.screen import out
from dialgauge.errors import DialgaugeError

#: What --worst goes by unless it is said.
WORST_BY = "FGA@0.5"
#: In place of GOLD: each prediction file brings its own gold.
SELF = "self"

app = application("State-tracking scores of predicted against gold dialogue states.")


@app.command()
def score(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="[GOLD] PRED...",
            help="The gold file, then prediction files, in any known format. A single file, or 'self' in place of "
            "GOLD, uses the gold states inside the prediction files; a GOLD file takes precedence.",
        ),
    ] = None,
    from_runs: FromRunsOption = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            known=measures_of("tracking", check=["all", "default"]),
            help="Measures, comma-separated: JGA, FGA@0.5(rule=paper), ...; 'all' for every one.",
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            known=PROFILES,
            help="Value-matching rules: a profile name or a YAML file; repeatable.",
        ),
    ] = None,
    by: Annotated[
        list[Literal["domain", "service", "slot", "turn", "n-domains"]] | None,
        Option(metavar="WHAT", help="Break scores down by domain, service, slot, turn or n-domains; repeatable."),
    ] = None,
    faults: Annotated[
        bool, Option("--faults", help="Show where it goes wrong: errors by slot, confused values, first errors.")
    ] = False,
    worst: WorstOption = 0,
    worst_by: Annotated[
        str,
        Option(
            metavar="MEASURE",
            known=measures_of("tracking", check=[], several=False),
            help="Measure that ranks dialogues for --worst.",
        ),
    ] = WORST_BY,
    sensitivity: Annotated[
        bool,
        Option(
            "--sensitivity",
            help="Score the first measure under every built-in profile, and show what each rule changes.",
        ),
    ] = False,
    coverage: CoverageOption = "intersection",
    exclude: ExcludeOption = None,
    gold_format: GoldFormatOption = None,
    pred_format: PredFormatOption = None,
    ontology: Annotated[Path | None, Option(metavar="FILE", help="Slot inventory for profiles without one.")] = None,
    schema: Annotated[
        Path | None, Option(metavar="FILE", help="SGD schema: also compute the official SGD scores.")
    ] = None,
    train_schema: Annotated[
        Path | None, Option(metavar="FILE", help="SGD training schema: separates seen from unseen services.")
    ] = None,
    sgd_matching: Annotated[
        Literal["levenshtein", "difflib", "exact"] | None,
        Option(
            metavar="NAME",
            help="How SGD's non-categorical values are compared: levenshtein (default), difflib or exact.",
        ),
    ] = None,
    sgd_exact: Annotated[bool, Option("--sgd-exact", help="Short for --sgd-matching exact.")] = False,
    sgd_across_turn: Annotated[
        bool, Option("--sgd-across-turn", help="Multiply SGD joint scores over the services of a turn.")
    ] = False,
    no_intervals: Annotated[
        bool, Option("--no-intervals", help="Skip confidence intervals, as --resamples 0 does.")
    ] = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    json: JsonOption = None,
    table: TableOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    fail_under: FailUnderOption = None,
    fail_on_drop: FailOnDropOption = None,
    run: RunOption = False,
    view: ViewOption = False,
    wide: WideOption = False,
    store: StoreOption = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    workers: WorkersOption = None,
) -> int:
    """Score trackers: every measure the papers report, with intervals and signatures.

    With --engine, each PRED may be a folder, a quoted pattern or a URL (s3://...) of many files. Workers score them one
    by one and send back sums, so you get the totals, but nothing by turn or slot.

    Exit code: 0 all gold turns were scored, 1 some had no prediction and were left out, 2 nothing could be scored,
    3 a --fail-under or --fail-on-drop check failed.
    """
    out.wide = wide
    from dialgauge.tracking import SgdScoring, TrackingRuns, chosen_measures, ranking_measure, require_view, score

    output = Output(
        json, table, figures, figure_format, run=run and not from_runs, view=view and not from_runs, store=store
    )
    gate = BuildGate.of(
        fail_under, fail_on_drop, store, kinds=("tracking",), family="tracking", check_names=schema is None
    )
    where = place_from(engine, workers, address)
    if worst or worst_by != WORST_BY:
        ranking_measure(worst_by)
    for name in by or ():
        require_view(name)
    matching = _sgd_matching(sgd_matching, exact=sgd_exact)
    unfit: dict[str, object]
    if schema is None:
        unfit = {
            "--train-schema": train_schema, "--sgd-matching": sgd_matching, "--sgd-exact": sgd_exact,
            "--sgd-across-turn": sgd_across_turn,
        }  # fmt: skip
        _refuse_all(unfit, "SGD scores need the schema; add --schema FILE")
    if from_runs:
        given = {
            "GOLD PRED": files, "--measures": measures, "--profile": profile, "--sensitivity": sensitivity,
            "--exclude": exclude, "--ontology": ontology, "--schema": schema, "--run": run,
            "--gold-format": gold_format, "--pred-format": pred_format, "--no-intervals": no_intervals,
            "--resamples": resamples != 1000, "--seed": seed, "--coverage": coverage != "intersection",
        }  # fmt: skip
        refuse("--from shows a run that is already scored", given)
        from dialgauge.runs import Store

        results = TrackingRuns(Store(store).open(one) for one in from_runs)
        if looks := [name for name, value in {"--by": by, "--faults": faults, "--worst": worst}.items() if value]:
            results.require_turns(", ".join(looks))
    else:
        if where.asked:
            unfit = {
                "--by": by, "--faults": faults, "--worst": worst, "--sensitivity": sensitivity, "--schema": schema,
                "more than one --profile": len(profile or ()) > 1,
            }  # fmt: skip
            _refuse_all(unfit, "with --engine only sums come back from the workers; leave it out, or --engine")
        if schema is None:
            gate.require(chosen_measures(measures or None))
        gold, *systems = files or [SELF]
        if not systems:
            gold, systems = SELF, [name for name in files or () if name != SELF]
        if not systems:
            raise DialgaugeError("name the gold file and at least one prediction file: dialgauge score GOLD PRED...")
        results = score(
            gold,
            systems,
            measures=measures or None,
            profile=profile or None,
            coverage=coverage,
            exclude=exclude or (),
            ontology=ontology,
            sgd=SgdScoring.read(schema, train_schema, matching=matching, across_turn=sgd_across_turn)
            if schema
            else None,
            sensitivity=sensitivity,
            intervals=not no_intervals,
            resamples=resamples,
            seed=seed,
            gold_format=gold_format,
            pred_format=pred_format,
            workers=where if where.asked else None,
            store=working_store(store) if where.asked else None,
            progress=OnScreen(),
        )
    runs = output.present(
        results,
        "score",
        tables=results.tables(by=by or (), faults=faults),
        texts=results.worst(worst, worst_by) if worst else (),
        document=lambda: results.document(by=by or (), faults=faults),
    )
    if view and from_runs:
        from dialgauge.cli.explore import view_runs

        view_runs(runs, store)
    return gate.exit_code(runs, 0 if results.complete else EXIT_INCOMPLETE)


def _refuse_all(options: Mapping[str, object], why: str) -> None:
    if given := [name for name, value in options.items() if value]:
        raise DialgaugeError(f"{', '.join(given)}: {why}")


def _sgd_matching(named: str | None, *, exact: bool) -> str:
    if exact and named not in (None, "exact"):
        raise DialgaugeError(f"--sgd-exact and --sgd-matching {named} contradict each other; drop one")
    return named or ("exact" if exact else "")
