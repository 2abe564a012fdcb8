"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    check_table,
    draw_scores,
    figure_kinds,
    kept_for_good,
    on_screen,
    place_from,
    print_tables,
    working_store,
    write_document,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import BuildGate, FailOnDropOption, FailUnderOption
from dialgauge.cli.options import Argument, Option, application
from dialgauge.cli.screen import err, out, progress_bar

if TYPE_CHECKING:
    from dialgauge.dialogue import Ontology
    from dialgauge.engine import WorkPlace
    from dialgauge.measures import Measure, Resampling
    from dialgauge.runs import Run
    from dialgauge.tracking import Matching, Results, SgdScoring, SystemInput, SystemScores
    from dialgauge.values import Profile

#: What --worst goes by unless it is said.
_WORST_BY = "FGA@0.5"

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
            help="Measures, comma-separated: JGA, FGA@0.5(rule=paper), ...; 'all' for every one.",
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            help="Value-matching rules: a profile name or a YAML file; repeatable.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        Option(metavar="WHAT", help="Break scores down by domain, service, slot, turn or n-domains; repeatable."),
    ] = None,
    faults: Annotated[
        bool, Option("--faults", help="Show where it goes wrong: errors by slot, confused values, first errors.")
    ] = False,
    worst: WorstOption = 0,
    worst_by: Annotated[str, Option(metavar="MEASURE", help="Measure that ranks dialogues for --worst.")] = _WORST_BY,
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
        str | None,
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
    check_table(table)
    figure_kinds(figure_format, figures)
    gate = BuildGate.of(
        fail_under, fail_on_drop, store, kinds=("tracking",), family="tracking", check_names=schema is None
    )
    where = place_from(engine, workers, address)
    if view:
        from dialgauge.cli.explore import require_explorer

        require_explorer()
    if (run or view) and not from_runs:
        from dialgauge.runs import Store

        Store(store).check_writable()
    ranking = _ranking(worst_by) if worst or worst_by != _WORST_BY else None
    sgd_options = {
        "--train-schema": train_schema, "--sgd-matching": sgd_matching, "--sgd-exact": sgd_exact,
        "--sgd-across-turn": sgd_across_turn,
    }  # fmt: skip
    if schema is None and any(sgd_options.values()):
        _need_schema([name for name, value in sgd_options.items() if value])
    matching = _sgd_matching(sgd_matching, exact=sgd_exact)
    if by:
        from dialgauge.tracking import require_view

        for name in by:
            require_view(name)
    if from_runs:
        scoring = {
            "GOLD PRED": files, "--measures": measures, "--profile": profile, "--sensitivity": sensitivity,
            "--exclude": exclude, "--ontology": ontology, "--schema": schema, "--run": run,
            "--gold-format": gold_format, "--pred-format": pred_format, "--no-intervals": no_intervals,
            "--resamples": resamples != 1000, "--seed": seed, "--coverage": coverage != "intersection",
        }  # fmt: skip
        results = _stored(from_runs, store, scoring)
        _require_turns(results, {"--by": by, "--faults": faults, "--worst": worst})
    elif where.asked:
        unfit = {
            "--by": by, "--faults": faults, "--worst": worst, "--sensitivity": sensitivity, "--schema": schema,
            "more than one --profile": len(profile or ()) > 1,
        }  # fmt: skip
        _refuse_by_file(unfit)
        from dialgauge.tracking import chosen_measures, required_measures

        chosen = chosen_measures(measures or None)
        gate.require(chosen)
        _require_use(ontology, _profiles(profile or []))
        results = _score_files(
            files or [],
            where,
            measures=chosen,
            required=required_measures(measures),
            profile=profile[0] if profile else None,
            coverage=coverage,
            exclude=exclude or (),
            ontology=_ontology(ontology),
            resampling=None if no_intervals or not resamples else _resampling(resamples, seed),
            store=working_store(store),
            formats=(gold_format, pred_format),
        )
        _say_coverage(results)
    else:
        from dialgauge.tracking import build_study, chosen_measures, required_measures, score_study

        chosen = chosen_measures(measures or None)
        if schema is None:
            gate.require(chosen)
        profiles = _profiles(profile or (["verbatim"] if schema else []))
        _require_use(ontology, profiles)
        gold, systems = _read(files or [], gold_format, pred_format)
        slots = _ontology(ontology or schema)
        study = build_study(gold, systems, coverage=coverage, exclude=exclude or (), ontology=slots)
        others = _compared_profiles(profiles) if sensitivity else []
        with _progress_of_profiles(len(study.systems), others) as advance:
            results = score_study(
                study,
                chosen,
                profiles,
                resampling=None if no_intervals or not resamples else _resampling(resamples, seed),
                required=required_measures(measures),
                sgd=_sgd(schema, train_schema, matching=matching, across_turn=sgd_across_turn) if schema else None,
                sensitivity=others,
                advance=advance,
            )
        _say_coverage(results)
    _present(results, by or [], faults=faults, worst=worst, ranking=ranking, json=json, table=table)
    runs = results.runs
    if not from_runs and (run or view):
        runs = _store(results, store)
    _draw(results, figures, figure_format)
    if view:
        from dialgauge.cli.explore import view_runs

        view_runs(runs, store)
    return gate.exit_code(runs, 0 if all(system.coverage.all_gold_scored for system in results) else EXIT_INCOMPLETE)


def _refuse_by_file(unfit: Mapping[str, object]) -> None:
    from dialgauge.errors import DialgaugeError

    if given := [name for name, value in unfit.items() if value]:
        raise DialgaugeError(
            f"{', '.join(given)}: with --engine only sums come back from the workers; leave it out, or --engine"
        )


def _score_files(
    files: list[str],
    where: WorkPlace,
    *,
    profile: str | None,
    formats: tuple[str | None, str | None],
    **settings: Any,
) -> Results:
    """Systems in many files each, scored file by file."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import system_names
    from dialgauge.tracking import SELF, Results, score_shards
    from dialgauge.values import DEFAULT_PROFILE, profile_named

    if not files or files == [SELF]:
        raise DialgaugeError("name the gold file and at least one prediction file: dialgauge score GOLD PRED...")
    gold, systems = (None, files) if len(files) == 1 else (files[0], files[1:])
    chosen = profile or DEFAULT_PROFILE
    profile_named(chosen)
    systems_scored: list[SystemScores] = []
    for source, name in zip(systems, system_names(systems), strict=True):
        with progress_bar(f"scoring {name}") as advance:
            systems_scored += score_shards(
                [source],
                None if gold == SELF else gold,
                name=name,
                profile=chosen,
                workers=where,
                gold_format=formats[0],
                format=formats[1],
                on_unit=advance,
                **settings,
            )
    return Results(systems_scored)


def _stored(ids: Sequence[str], store: Path | None, scoring: Mapping[str, object]) -> Results:
    from dialgauge.errors import DialgaugeError
    from dialgauge.runs import Store
    from dialgauge.tracking import present

    if unfit := [name for name, value in scoring.items() if value]:
        raise DialgaugeError(f"--from shows a run that is already scored; leave out {', '.join(unfit)}")
    return present(Store(store).open(one) for one in ids)


def _require_turns(results: Results, asked: Mapping[str, object]) -> None:
    """An error where a view looks at turns, and a run that was scored file by file kept only sums."""
    from dialgauge.errors import DialgaugeError

    views = ", ".join(name for name, value in asked.items() if value)
    for system in results:
        if views and "turn_scores" not in system.run.tables:
            raise DialgaugeError(
                f"{views}: run {system.run.id} was scored with --engine and has no turns, only sums over dialogues; "
                "score the files again without --engine"
            )


def _present(
    results: Results,
    views: list[str],
    *,
    faults: bool,
    worst: int,
    ranking: Measure[Any] | None,
    json: Path | None,
    table: Path | None,
) -> None:
    """Everything that is shown of runs, in memory or stored."""
    if on_screen(json) or table:
        tables = results.tables(views, faults=faults)
        if on_screen(json):
            print_tables(tables)
            if worst and ranking:
                _print_worst(results, worst, ranking)
        if table:
            from dialgauge.report import write_tables

            write_tables(tables, table)
    if json:
        write_document(json, "score", results.as_dict(views, faults=faults))


def _draw(results: Results, figures: Path | None, figure_format: str) -> None:
    if figures is None:
        return
    from dialgauge.tracking import scored_figures

    several = len({system.profile for system in results}) > 1
    systems = {f"{one.name} ({one.profile})" if several else one.name: one.run for one in results}
    draw_scores(systems, figures, figure_format, more=lambda: scored_figures(systems))


def _ranking(name: str) -> Measure[Any]:
    from dialgauge.tracking import ranking_measure

    return ranking_measure(name)


def _print_worst(results: Results, most: int, measure: Measure[Any]) -> None:
    from dialgauge.tracking import layout, worst_dialogues

    for system in results:
        for dialogue, value in worst_dialogues(system, measure, most):
            shown = f"{value:.2%}" if measure.card.unit == "share" else f"{value:.4g} {measure.card.unit}"
            out.print(f"\n{system.name} ({system.profile}): dialogue {dialogue} alone has {measure} {shown}")
            out.print(layout(system, dialogue))


def _say(text: str) -> None:
    """About the work, to standard error: in one line, and names of files are never taken for markup."""
    err.print(text, style="dim")


def _read(
    files: list[str], gold_format: str | None, pred_format: str | None
) -> tuple[SystemInput | None, list[SystemInput]]:
    from dialgauge.errors import DialgaugeError
    from dialgauge.tracking import SELF, carries_gold, load, load_systems

    if not files or files == [SELF]:
        raise DialgaugeError("name the gold file and at least one prediction file: dialgauge score GOLD PRED...")
    with kept_for_good(), progress_bar("reading", len(files)) as advance:
        own_gold = len(files) == 1 or files[0] == SELF
        gold = None if own_gold else load(files[0], "gold", gold_format)
        advance(1)
        systems = load_systems(files if files[0] != SELF and own_gold else files[1:], pred_format)
    for one in [gold, *systems]:
        if one is not None:
            _say(one.described())
    if gold is not None:
        for system in systems:
            if carries_gold(system.dialogues):
                _say(f"{system.name}: ignoring its own gold states in favour of GOLD")
    return gold, systems


def _ontology(path: Path | None) -> Ontology | None:
    if path is None:
        return None
    from dialgauge.formats import read_ontology

    return read_ontology(path)


def _require_use(ontology: Path | None, profiles: Sequence[Profile]) -> None:
    if ontology is not None:
        from dialgauge.tracking import require_open_inventory

        require_open_inventory(profiles, "--ontology")


def _profiles(names: list[str]) -> list[Profile]:
    from dialgauge.values import DEFAULT_PROFILE, profile_named

    return [profile_named(name) for name in names or [DEFAULT_PROFILE]]


def _resampling(resamples: int, seed: int) -> Resampling:
    from dialgauge.measures import Resampling

    return Resampling(resamples, seed)


def _say_coverage(results: Results) -> None:
    from dialgauge.text import counted

    for system in results:
        _say(f"{system.name} ({system.profile}): {system.coverage.sentence()}")
        evidence, unknown = system.details.evidence, system.details.counts.get("off_ontology", 0)
        renamed, outside = evidence.slots_renamed, evidence.slots_out_of_scope
        facts = {
            f"{counted(renamed, 'slot name')} unified": renamed,
            f"{counted(len(outside), 'slot name')} out of scope ({_some(outside)})": outside,
            f"{counted(unknown, 'prediction')} for slots missing from the inventory": unknown,
        }
        if sentence := ", ".join(fact for fact, count in facts.items() if count):
            _say(f"{system.name} ({system.profile}): {sentence}")


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _compared_profiles(named: list[Profile]) -> list[Profile]:
    from dialgauge.values import HOUSE, profile_named

    profiles = [profile_named(name) for name in HOUSE]
    return profiles + [profile for profile in named if profile not in profiles]


def _progress_of_profiles(systems: int, profiles: list[Profile]) -> AbstractContextManager[Callable[[int], None]]:
    if not profiles:
        return nullcontext(lambda steps: None)
    return progress_bar("comparing profiles", systems * sum(1 + len(profile.values) for profile in profiles))


def _need_schema(options: Sequence[str]) -> None:
    from dialgauge.errors import DialgaugeError

    raise DialgaugeError(f"{', '.join(options)}: SGD scores need the schema; add --schema FILE")


def _sgd_matching(named: str | None, *, exact: bool) -> Matching:
    from dialgauge.errors import DialgaugeError, nearest
    from dialgauge.tracking import MATCHINGS

    if exact and named not in (None, "exact"):
        raise DialgaugeError(f"--sgd-exact and --sgd-matching {named} contradict each other; drop one")
    wanted = named or ("exact" if exact else MATCHINGS[0])
    for matching in MATCHINGS:
        if matching == wanted:
            return matching
    raise DialgaugeError(f"unknown --sgd-matching '{wanted}'.{nearest(wanted, MATCHINGS)}")


def _sgd(schema: Path, train_schema: Path | None, *, matching: Matching, across_turn: bool) -> SgdScoring:
    from dialgauge.formats import read_ontology
    from dialgauge.tracking import SgdScoring

    seen = set(read_ontology(train_schema).domains) if train_schema else None
    return SgdScoring(read_ontology(schema), seen, matching=matching, across_turn=across_turn)


def _store(results: Results, folder: Path | None) -> list[Run]:
    from dialgauge.runs import Store

    store = Store(folder)
    runs = [store.add(run) for run in results.runs]
    for run in runs:
        _say(f"stored as run {run.id}")
    return runs
