"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli.common import (
    CoverageOption,
    ExcludeOption,
    GoldFormatOption,
    PredFormatOption,
    StoreOption,
    ViewOption,
    WideOption,
    err,
    kept_for_good,
    on_screen,
    out,
    progress_bar,
    write_json,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application

if TYPE_CHECKING:
    from dialgauge.dialogue import Ontology
    from dialgauge.measures import Measure, Resampling
    from dialgauge.runs import Run
    from dialgauge.tracking import Matching, Results, SgdScoring, SystemInput
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
            help="The gold file, then prediction files, in any known format. A single file, or the word 'self' "
            "in place of GOLD, uses the gold states inside the prediction files; a GOLD file wins over those.",
        ),
    ] = None,
    from_runs: Annotated[
        list[str] | None,
        Option("--from", metavar="RUN", help="Show a stored run instead of scoring files; repeat for several."),
    ] = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures", "-m", help="Measures, comma-separated: JGA, FGA@0.5(rule=paper), ...; 'all' is every one."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        Option("--profile", "-p", help="When two values are the same: a name or a YAML file; repeat for several."),
    ] = None,
    explain_profile: Annotated[
        str | None, Option(metavar="NAME", help="Print the rules of a profile and stop; 'list' lists them.")
    ] = None,
    explain_measures: Annotated[bool, Option("--explain-measures", help="Print all measures and stop.")] = False,
    by: Annotated[
        list[str] | None, Option(help="Also by domain, service, slot, turn or n-domains; repeat for several.")
    ] = None,
    faults: Annotated[
        bool, Option("--faults", help="Where it goes wrong: errors by slot, confused values, first errors.")
    ] = False,
    worst: Annotated[int, Option(metavar="N", min=0, help="Print the N worst dialogues turn by turn.")] = 0,
    worst_by: Annotated[str, Option(metavar="MEASURE", help="The measure that --worst goes by.")] = _WORST_BY,
    sensitivity: Annotated[
        bool,
        Option(
            "--sensitivity", help="The first measure under the house profiles and those named, and what each rule does."
        ),
    ] = False,
    coverage: CoverageOption = "intersection",
    exclude: ExcludeOption = None,
    gold_format: GoldFormatOption = None,
    pred_format: PredFormatOption = None,
    ontology: Annotated[
        Path | None, Option(metavar="FILE", help="Slot inventory for profiles that have none of their own.")
    ] = None,
    schema: Annotated[Path | None, Option(metavar="FILE", help="Also SGD's official scores, by this schema.")] = None,
    train_schema: Annotated[
        Path | None, Option(metavar="FILE", help="The training schema: tells seen from unseen services.")
    ] = None,
    sgd_matching: Annotated[
        str | None,
        Option(metavar="NAME", help="How SGD's open values are compared: levenshtein (the default), difflib or exact."),
    ] = None,
    sgd_exact: Annotated[bool, Option("--sgd-exact", help="The same as --sgd-matching exact.")] = False,
    sgd_across_turn: Annotated[
        bool, Option("--sgd-across-turn", help="SGD joint scores multiplied over the services of a turn.")
    ] = False,
    no_intervals: Annotated[bool, Option("--no-intervals", help="Without confidence intervals.")] = False,
    resamples: Annotated[
        int, Option(min=1, max=1_000_000, help="Resamples of dialogues for the 95% intervals.")
    ] = 1000,
    seed: Annotated[int, Option(min=0, help="Seed of the resampling.")] = 0,
    json: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Write the scores as JSON; '-' is the screen.")
    ] = None,
    table: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Write the tables as .md, .tex, .html, .csv or .json.")
    ] = None,
    run: Annotated[bool, Option("--run", help="Store the scores, one run per system.")] = False,
    view: ViewOption = False,
    store: StoreOption = None,
    wide: WideOption = False,
) -> int:
    """Score trackers: every measure the papers report, with intervals and signatures.

    Exit code: 0 all gold turns were scored, 1 some had no prediction and were left out, 2 nothing could be scored.
    """
    out.wide = wide
    if explain_profile is not None:
        _explain_profile(explain_profile)
        return 0
    if explain_measures:
        _explain_measures()
        return 0
    if table is not None:
        from dialgauge.report import format_of

        format_of(table)
    if view:
        from dialgauge.cli.explore import require_explorer

        require_explorer()
    if (run or store or view) and not from_runs:
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
    else:
        from dialgauge.tracking import build_study, chosen_measures, required_measures, score_study

        chosen = chosen_measures(measures or None)
        profiles = _profiles(profile or (["verbatim"] if schema else []))
        gold, systems = _read(files or [], gold_format, pred_format)
        slots = _ontology(ontology or schema)
        study = build_study(gold, systems, coverage=coverage, exclude=exclude or (), ontology=slots)
        others = _compared_profiles(profiles) if sensitivity else []
        with _progress_of_profiles(len(study.systems), others) as advance:
            results = score_study(
                study,
                chosen,
                profiles,
                resampling=None if no_intervals else _resampling(resamples, seed),
                required=required_measures(measures),
                sgd=_sgd(schema, train_schema, matching=matching, across_turn=sgd_across_turn) if schema else None,
                sensitivity=others,
                advance=advance,
            )
        _say_coverage(results)
    _present(results, by or [], faults=faults, worst=worst, ranking=ranking, json=json, table=table)
    runs = results.runs
    if not from_runs and (run or store or view):
        runs = _store(results, store)
    if view:
        from dialgauge.cli.explore import view_runs

        view_runs(runs, store)
    return 0 if all(system.coverage.all_gold_scored for system in results) else EXIT_INCOMPLETE


def _stored(ids: Sequence[str], store: Path | None, scoring: Mapping[str, object]) -> Results:
    from dialgauge.errors import DialgaugeError
    from dialgauge.runs import Store
    from dialgauge.tracking import present

    if unfit := [name for name, value in scoring.items() if value]:
        raise DialgaugeError(f"a stored run is scored already, so leave out {', '.join(unfit)}")
    return present(Store(store).open(one) for one in ids)


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
            for one in tables:
                out.print(one.render("terminal"))
            if worst and ranking:
                _print_worst(results, worst, ranking)
        if table:
            from dialgauge.report import write_tables

            write_tables(tables, table)
    if json:
        write_json(json, results.as_dict(views, faults=faults))


def _ranking(name: str) -> Measure[Any]:
    from dialgauge.tracking import ranking_measure

    return ranking_measure(name)


def _print_worst(results: Results, most: int, measure: Measure[Any]) -> None:
    from dialgauge.tracking import layout, worst_dialogues

    for system in results:
        for dialogue, value in worst_dialogues(system, measure, most):
            shown = f"{value:.2%}" if measure.card.unit == "share" else f"{value:.4g} {measure.card.unit}"
            out.print(f"\n{system.name} ({system.profile}): {measure} {shown}")
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
                _say(f"{system.name}: its own gold states are not used, GOLD is")
    return gold, systems


def _ontology(path: Path | None) -> Ontology | None:
    if path is None:
        return None
    from dialgauge.formats import read_ontology

    return read_ontology(path)


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
            f"{counted(unknown, 'prediction')} of slots that the inventory does not have": unknown,
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

    raise DialgaugeError(f"{', '.join(options)}: SGD's scores need the services' slots; name them with --schema FILE")


def _sgd_matching(named: str | None, *, exact: bool) -> Matching:
    from dialgauge.errors import DialgaugeError, nearest
    from dialgauge.tracking import MATCHINGS

    if exact and named not in (None, "exact"):
        raise DialgaugeError(f"--sgd-exact and --sgd-matching {named} contradict each other; leave one out")
    wanted = named or ("exact" if exact else MATCHINGS[0])
    for matching in MATCHINGS:
        if matching == wanted:
            return matching
    raise DialgaugeError(f"there is no way of matching SGD's values named '{wanted}'.{nearest(wanted, MATCHINGS)}")


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


def _explain_profile(name: str) -> None:
    from dialgauge.values import profile_listing, profile_named

    if name == "list":
        for entry in profile_listing():
            out.print(f"{entry.name:<16} {entry.content.summary if entry.content else entry.reason}")
        return
    out.print(profile_named(name).explain())


def _explain_measures() -> None:
    from dialgauge.tracking import measure_table

    out.print(measure_table().render("terminal"))
