"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialgauge.cli.common import (
    CoverageOption,
    ExcludeOption,
    GoldFormatOption,
    PredFormatOption,
    StoreOption,
    application,
    err,
    on_screen,
    out,
    progress_bar,
    write_json,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE

if TYPE_CHECKING:
    from dialgauge.report import Table
    from dialgauge.tracking import Measure, Official, Results, Sensitivity, Study, SystemInput
    from dialgauge.values import Profile

app = application("State-tracking scores of predicted against gold dialogue states.")


@app.command()
def score(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GOLD] PRED...",
            help="The gold file, then prediction files, in any known format. A single file, or the word 'self' "
            "in place of GOLD, uses the gold states inside the prediction files; a GOLD file wins over those.",
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures", "-m", help="Measures, comma-separated: JGA, FGA@0.5(rule=paper), ...; 'all' is every one."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            "--profile", "-p", help="When two values are the same: a name or a YAML file; repeat for several."
        ),
    ] = None,
    explain_profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print the rules of a profile and stop; 'list' lists them.")
    ] = None,
    explain_measures: Annotated[bool, typer.Option("--explain-measures", help="Print all measures and stop.")] = False,
    by: Annotated[
        list[str] | None, typer.Option(help="Also by domain, service, slot, turn or n-domains; repeat for several.")
    ] = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="Where it goes wrong: errors by slot, confused values, first errors.")
    ] = False,
    worst: Annotated[int, typer.Option(metavar="N", min=0, help="Print the N worst dialogues turn by turn.")] = 0,
    worst_by: Annotated[str, typer.Option(metavar="MEASURE", help="The measure that --worst goes by.")] = "FGA@0.5",
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity", help="The first measure under the house profiles and those named, and what each rule does."
        ),
    ] = False,
    coverage: CoverageOption = "intersection",
    exclude: ExcludeOption = None,
    gold_format: GoldFormatOption = None,
    pred_format: PredFormatOption = None,
    ontology: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Slot inventory for profiles that have none of their own.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also SGD's official scores, by this schema.")
    ] = None,
    train_schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The training schema: tells seen from unseen services.")
    ] = None,
    sgd_exact: Annotated[bool, typer.Option("--sgd-exact", help="SGD scores without fuzzy matching.")] = False,
    sgd_across_turn: Annotated[
        bool, typer.Option("--sgd-across-turn", help="SGD joint scores multiplied over the services of a turn.")
    ] = False,
    no_intervals: Annotated[bool, typer.Option("--no-intervals", help="Without confidence intervals.")] = False,
    resamples: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Resamples of dialogues for the 95% intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the scores as JSON; '-' is the screen.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the tables as .md, .tex, .html, .csv or .json.")
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Keep the scores in the run store, one run per system.")] = False,
    store: StoreOption = None,
) -> None:
    """Score trackers: every measure the papers report, with intervals and signatures.

    Exit code: 0 all gold turns were scored, 1 some had no prediction and were left out, 2 nothing could be scored.
    """
    if explain_profile is not None:
        _explain_profile(explain_profile)
        return
    if explain_measures:
        _explain_measures()
        return
    from dialgauge.tracking import (
        Resampling,
        build_study,
        chosen_measures,
        ranking_measure,
        require_view,
        required_measures,
        score_study,
    )
    from dialgauge.values import DEFAULT_PROFILE, profile_named

    chosen = chosen_measures(measures or None)
    ranking = ranking_measure(worst_by)
    for name in by or ():
        require_view(name)
    profiles = [profile_named(name) for name in profile or ["verbatim" if schema else DEFAULT_PROFILE]]
    gold, systems = _read(files or [], gold_format, pred_format)
    slots = _ontology(ontology or schema)
    study = build_study(gold, systems, coverage=coverage, exclude=exclude or (), ontology=slots)
    resampling = None if no_intervals else Resampling(resamples, seed)
    results = score_study(study, chosen, profiles, resampling=resampling, required=required_measures(measures))
    _say_coverage(results)
    tables = _tables(results, by or [], faults)
    found = _sensitivity(results, study, profiles) if sensitivity else None
    if found:
        from dialgauge.tracking import sensitivity_tables

        tables += sensitivity_tables(found)
    official = _sgd(study, schema, train_schema, exact=sgd_exact, across_turn=sgd_across_turn) if schema else {}
    if official:
        from dialgauge.tracking import sgd_table

        tables.append(sgd_table(official))
        _add_official(results, official)
    if on_screen(json):
        for one in tables:
            out.print(one.render("terminal"))
        _print_worst(results, study, worst, ranking)
    if json:
        shown = results.as_dict(tuple(by or ()))
        write_json(json, shown | {"sensitivity": found} if found else shown)
    if table:
        from dialgauge.report import write_tables

        write_tables(tables, table)
    if run or store:
        settings = {"coverage": coverage, "exclude": sorted(exclude or ())}
        _keep(results, gold, systems, store, settings, official)
    if any(not system.coverage.all_gold_scored for system in results):
        raise typer.Exit(EXIT_INCOMPLETE)


def _say(text: str) -> None:
    """About the work, to standard error: in one line, and names of files are never taken for markup."""
    err.print(text, style="dim", markup=False, soft_wrap=True)


def _read(
    files: list[str], gold_format: str | None, pred_format: str | None
) -> tuple[SystemInput | None, list[SystemInput]]:
    from dialgauge.errors import DialgaugeError
    from dialgauge.tracking import SELF, carries_gold, load, load_systems

    if not files or files == [SELF]:
        raise DialgaugeError("name the gold file and at least one prediction file: dialgauge score GOLD PRED...")
    with progress_bar("reading", len(files)) as advance:
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


def _ontology(path: Path | None) -> Any:
    if path is None:
        return None
    from dialgauge.formats import read_ontology

    return read_ontology(path)


def _say_coverage(results: Results) -> None:
    from dialgauge.tracking import number

    for system in results:
        _say(f"{system.name} ({system.profile}): {system.coverage.sentence()}")
        comparison = system.comparison
        renamed, outside = len(comparison.coder.renamed), len(comparison.coder.out_of_scope)
        facts = {
            f"{number(renamed, 'slot name')} unified": renamed,
            f"{number(outside, 'slot name')} out of scope": outside,
            f"{number(comparison.off_ontology, 'prediction')} of slots that the inventory does not have": (
                comparison.off_ontology
            ),
        }
        told = ", ".join(fact for fact, count in facts.items() if count)
        if told:
            _say(f"{system.name} ({system.profile}): {told}")


def _tables(results: Results, views: list[str], faults: bool) -> list[Table]:
    from dialgauge.tracking import Faults, fault_tables, faults_as_dict, score_table, view_table

    tables = [score_table(results)]
    for name in views:
        tables += [view_table(name, system, system.by(name)) for system in results]
    for system in results if faults else ():
        tables += fault_tables(system)
        system.extra["faults"] = faults_as_dict(Faults(system.comparison))
    return tables


def _sensitivity(results: Results, study: Study, named: list[Profile]) -> Sensitivity:
    from dialgauge.tracking import sensitivity
    from dialgauge.values import HOUSE, profile_named

    profiles = [profile_named(name) for name in HOUSE]
    profiles += [profile for profile in named if profile not in profiles]
    steps = len(study.systems) * sum(1 + len(profile.values) for profile in profiles)
    with progress_bar("comparing profiles", steps) as advance:
        return sensitivity(study, results[0].measures[0], profiles, advance)


def _sgd(
    study: Study, schema: Path, train_schema: Path | None, *, exact: bool, across_turn: bool
) -> dict[str, Official]:
    from dialgauge.formats import read_ontology
    from dialgauge.tracking import Official

    slots = read_ontology(schema)
    seen = set(read_ontology(train_schema).domains) if train_schema else None
    return {
        name: Official(system, slots, seen, fuzzy=not exact, across_turn=across_turn)
        for name, system in study.systems.items()
    }


def _add_official(results: Results, official: dict[str, Official]) -> None:
    for system in results:
        found = official[system.name]
        system.extra["sgd"] = found.scores.official()
        system.extra["sgd_signature"] = found.signature(system.comparison.signature.gold).long()


def _print_worst(results: Results, study: Study, most: int, measure: Measure) -> None:
    if not most:
        return
    from dialgauge.tracking import layout, worst_dialogues

    for system in results:
        for dialogue, value in worst_dialogues(system, measure, most):
            out.print(f"\n{system.name} ({system.profile}): {measure} {value:.2%}", markup=False)
            out.print(layout(system, study.systems[system.name], dialogue), markup=False)


def _keep(
    results: Results,
    gold: SystemInput | None,
    systems: list[SystemInput],
    folder: Path | None,
    config: dict[str, Any],
    official: dict[str, Official],
) -> None:
    from dialgauge.runs import Store
    from dialgauge.tracking import store_results

    paths = {system.name: system.path for system in systems if system.path}
    reference = gold.path if gold else None
    ids = store_results(results, Store(folder), paths=paths, gold=reference, config=config, official=official)
    for identifier in ids:
        _say(f"stored as run {identifier}")


def _explain_profile(name: str) -> None:
    from dialgauge.values import profile_named, profile_names

    if name == "list":
        for known in profile_names():
            out.print(f"{known:<16} {profile_named(known).summary}", markup=False)
        return
    out.print(profile_named(name).explain(), markup=False)


def _explain_measures() -> None:
    from dialgauge.tracking import cards, measure_table

    out.print(measure_table(cards().values()).render("terminal"))
