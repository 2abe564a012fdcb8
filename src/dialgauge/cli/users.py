"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialgauge.cli.common import StoreOption, application, err, on_screen, out, write_json
from dialgauge.cli.users_find import find
from dialgauge.cli.users_options import (
    ConfigFile,
    DatabaseFolder,
    Format,
    Map,
    Mode,
    Overrides,
    ProfileName,
    Source,
    TableFile,
    Workers,
    check_endings,
    evaluated,
    finish,
    print_tables,
    settings_from,
    write_table_file,
)

if TYPE_CHECKING:
    from dialgauge.report import Table
    from dialgauge.users import DomainSummary, Settings, UserEvaluation

app = application("Simulated users: do they say all of their goal, ask all they should, and why do they repeat?")
app.command()(find)


@app.command()
def score(
    conversations: Annotated[
        list[str],
        typer.Argument(
            metavar="CONVERSATIONS...", help="Recorded conversations, one source (file, folder, ...) per user model."
        ),
    ],
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    format: Format = None,
    explain: Annotated[str | None, typer.Option(metavar="DIALOGUE", help="Explain the scores of one dialogue.")] = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="Also how often each verdict was given.")] = False,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples of dialogues for the 95% intervals; 0: none.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the scores as JSON; - is the screen.")
    ] = None,
    per_dialogue: Annotated[
        bool, typer.Option("--per-dialogue", help="In the JSON, also precision, recall and F1 of every dialogue.")
    ] = False,
    reference: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results as the reference evaluator does (JSON).")
    ] = None,
    table: TableFile = None,
    run: Annotated[bool, typer.Option("--run", help="Keep the results in the run store, one run per source.")] = False,
    store: StoreOption = None,
    workers: Workers = 1,
) -> None:
    """I-GCDF1 and R-GCDF1 with intervals, per domain and combined.

    A dialogue that cannot be scored is named with the reason and the others go on; the exit code is then 1.
    """
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import bulk_load
    from dialgauge.users import as_system, reference_report, score_table, shared_signature, summarise, verdict_table

    check_endings(table)
    if reference is not None and len(conversations) > 1:
        raise DialgaugeError("--reference writes the results of one user model; name one source")
    with bulk_load():
        settings = settings_from(canonical_map, config, override, mode, profile, database, format)
        evaluations = [evaluated(source, settings, workers) for source in conversations]
        _tell_apart(evaluations, conversations)
        summaries = [summarise(each, resamples=resamples, seed=seed) for each in evaluations]
        tables: list[Table] = []
        for evaluation, summary in zip(evaluations, summaries, strict=True):
            tables.append(score_table(evaluation, summary))
            if verdicts:
                tables.append(verdict_table(evaluation))
        if explain is not None:
            tables = [part for evaluation in evaluations for part in _explained(evaluation, explain)]
        if on_screen(json):
            print_tables(tables)
        if json is not None:
            systems = [
                as_system(evaluation, summary, per_dialogue=per_dialogue)
                for evaluation, summary in zip(evaluations, summaries, strict=True)
            ]
            coverage = {each.name: each.coverage() for each in evaluations}
            signature = shared_signature([each.signature for each in evaluations])
            write_json(json, {"signature": signature, "coverage": coverage, "systems": systems})
        write_table_file(tables, table)
        if reference is not None:
            write_json(reference, reference_report(evaluations[0]))
        if run or store:
            for source, evaluation, summary in zip(conversations, evaluations, summaries, strict=True):
                _keep(source, evaluation, summary, settings, store, seed)
    finish(evaluations)


@app.command()
def figures(
    conversations: Source,
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    format: Format = None,
    by_slot: Annotated[bool, typer.Option("--by-slot", help="Also which slots the behaviours concern.")] = False,
    most: Annotated[int, typer.Option(min=1, help="Rows of the lists of confusions and loops.")] = 15,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Draw the figures into this folder.")
    ] = None,
    endings: Annotated[
        str, typer.Option("--as", help="Formats to draw in, comma-separated: svg, png, pdf, json.")
    ] = "svg",
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all numbers as JSON; - is the screen.")
    ] = None,
    table: TableFile = None,
    workers: Workers = 1,
) -> None:
    """The analyses of the paper: Figures 1 to 7 as tables and plots, confusions of NLU, and loops with their cause."""
    from dialgauge.users import confusion_table, figure_table, loop_table, paper_figures, slot_table

    kinds = [ending.strip() for ending in endings.split(",")]
    check_endings(table, kinds)
    evaluation = evaluated(
        conversations, settings_from(canonical_map, config, override, mode, profile, database, format), workers
    )
    drawn = paper_figures(evaluation)
    tables = [figure_table(figure) for figure in drawn]
    if by_slot:
        tables += [slot_table(figure) for figure in drawn if figure.slots]
    tables += [confusion_table(evaluation, most), loop_table(evaluation, most)]
    if on_screen(json):
        print_tables(tables)
    if json is not None:
        write_json(json, _figure_numbers(evaluation))
    write_table_file(tables, table)
    if folder is not None:
        from dialgauge.report import save
        from dialgauge.users import chart

        for figure in drawn:
            for kind in kinds:
                path = save(chart(figure), folder / f"figure{figure.key}.{kind}")
                err.print(f"drawn: {path}", markup=False)
    finish([evaluation])


@app.command()
def explain(
    conversations: Source,
    dialogue: Annotated[str, typer.Argument(metavar="DIALOGUE", help="The id of the dialogue.")],
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    format: Format = None,
    talk: Annotated[bool, typer.Option("--talk", help="First the conversation itself, with what was heard.")] = False,
    table: TableFile = None,
) -> None:
    """Where every point of one dialogue's scores was won or lost, and why."""
    from dialgauge.users import evaluate_one, explanation, transcript

    check_endings(table)
    settings = settings_from(canonical_map, config, override, mode, profile, database, format)
    found, scored = evaluate_one(conversations, dialogue, settings)
    if talk:
        for line in transcript(found):
            out.print(line, markup=False)
    tables = explanation(scored)
    print_tables(tables)
    write_table_file(tables, table)


def _tell_apart(evaluations: list[UserEvaluation], sources: list[str]) -> None:
    """Sources with the same short name go by their whole names."""
    names = [each.name for each in evaluations]
    for evaluation, source in zip(evaluations, sources, strict=True):
        if names.count(evaluation.name) > 1:
            evaluation.name = source


def _explained(evaluation: UserEvaluation, dialogue: str) -> list[Table]:
    from dialgauge.users import explanation, score_of

    return explanation(score_of(evaluation, dialogue))


def _figure_numbers(evaluation: UserEvaluation) -> dict[str, object]:
    from dataclasses import asdict

    from dialgauge.users import confusion_table, constraint_counts, goals_per_domain_set, loop_table, paper_figures

    return {
        "signature": evaluation.signature,
        "coverage": evaluation.coverage(),
        "figures": {figure.key: asdict(figure) for figure in paper_figures(evaluation)},
        "goals_per_domain_set": dict(sorted(goals_per_domain_set(evaluation).items())),
        "constraints_not_in_goal": constraint_counts(evaluation),
        "confusions": confusion_table(evaluation, most=1000).records(),
        "loops": loop_table(evaluation, most=1000).records(),
    }


def _keep(
    source: str,
    evaluation: UserEvaluation,
    summary: list[DomainSummary],
    settings: Settings,
    store: Path | None,
    seed: int,
) -> None:
    from dialgauge.runs import Store
    from dialgauge.users import store_run

    inputs = [source, settings.canonical_map, settings.config, settings.database]
    chosen = Store(store)
    identifier = store_run(evaluation, summary, chosen, inputs=[path for path in inputs if path], seed=seed)
    err.print(f"stored as run {identifier} in {chosen.folder}", markup=False)
