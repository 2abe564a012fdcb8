"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli.choices import measures_of
from dialgauge.cli.common import (
    AddressOption,
    EngineOption,
    FigureFormatOption,
    FiguresOption,
    FormatOption,
    FromOption,
    JsonOption,
    LimitOption,
    ProcessesOption,
    ResamplesOption,
    RunOption,
    SeedOption,
    StoreOption,
    TableOption,
    WideOption,
    WorkersOption,
    check_table,
    draw_figures,
    draw_scores,
    figure_kinds,
    on_screen,
    place_from,
    print_tables,
    row_limit,
    working_store,
    write_document,
    write_json,
    write_table_file,
)
from dialgauge.cli.gates import BuildGate, FailOnDropOption, FailUnderOption
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.cli.screen import err, out
from dialgauge.cli.users_faults import faults
from dialgauge.cli.users_find import find
from dialgauge.cli.users_options import (
    ConfigFile,
    DatabaseFolder,
    DatasetProfile,
    Map,
    Mode,
    Overrides,
    SchemaFile,
    Source,
    finish,
    fresh_or_stored,
    opened,
    options_from,
    scored,
)

if TYPE_CHECKING:
    from dialgauge.report import Table
    from dialgauge.runs import Run

app = application(
    "Simulated users: do they express their whole goal, ask everything they should, and why do they repeat?"
)
app.command()(find)
app.command()(faults)


@app.command()
def score(
    conversations: Annotated[
        list[str],
        Argument(
            metavar="CONVERSATIONS...", help="Recorded conversations: one source (file, folder, ...) per user model."
        ),
    ],
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: DatasetProfile = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: FormatOption = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            known=measures_of("users"),
            help="Measures, comma-separated; 'all' includes plugins.",
        ),
    ] = None,
    verdicts: Annotated[bool, Option("--verdicts", help="Show how often each verdict was given.")] = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    json: JsonOption = None,
    per_dialogue: Annotated[
        bool, Option("--per-dialogue", help="Include precision, recall and F1 of every dialogue in --json.")
    ] = False,
    reference: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Write results in the reference evaluator's JSON layout.")
    ] = None,
    table: TableOption = None,
    figure_folder: FiguresOption = None,
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
    """I-GCDF1 and R-GCDF1 with intervals, per domain and combined.

    Exit code: 0 all dialogues were scored, 1 some could not be (each is named with the reason), 2 nothing could be
    scored, 3 a --fail-under or --fail-on-drop check failed.
    """
    out.wide = wide
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import bulk_load, system_names
    from dialgauge.users import reference_report, score_tables, verdict_table

    check_table(table)
    figure_kinds(figure_format, figure_folder)
    gate = BuildGate.of(fail_under, fail_on_drop, store, kinds=("users",), family="users")
    where = place_from(engine, workers, address)
    if run:
        from dialgauge.runs import Store

        Store(store).check_writable()
    if reference is not None and len(conversations) > 1:
        raise DialgaugeError("--reference writes the results of one user model; give one source")
    with bulk_load():
        options = options_from(canonical_map, config, override, mode, profile, database, schema, format)
        runs = [
            scored(
                source,
                options,
                where,
                measures=measures or ["default"],
                resamples=resamples,
                seed=seed,
                name=name,
                keep=working_store(store) if engine else None,
            )
            for source, name in zip(conversations, system_names(conversations), strict=True)
        ]
        tables: list[Table] = []
        for each in runs:
            tables += score_tables(each)
            if verdicts:
                tables.append(verdict_table(each))
        if on_screen(json):
            print_tables(tables)
        if json is not None:
            write_document(json, "users-score", _document(runs, per_dialogue=per_dialogue))
        write_table_file(tables, table)
        if reference is not None:
            write_json(reference, reference_report(runs[0]))
        if run:
            _store(runs, store)
        draw_scores(runs, figure_folder, figure_format, more=lambda: _behaviours(runs))
    return gate.exit_code(runs, finish(runs))


@app.command()
def figures(
    conversations: Source = None,
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: DatasetProfile = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: FormatOption = None,
    from_run: FromOption = None,
    wide: WideOption = False,
    store: StoreOption = None,
    by_slot: Annotated[bool, Option("--by-slot", help="Also break behaviours down by slot.")] = False,
    limit: LimitOption = 15,
    folder: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    json: JsonOption = None,
    table: TableOption = None,
    workers: ProcessesOption = 1,
) -> int:
    """The paper's analyses: Figures 1 to 7 as tables and plots, NLU confusions, and loops with their causes."""
    out.wide = wide
    from dialgauge.measures import Signature
    from dialgauge.users import (
        confusion_table,
        draw,
        figure_numbers,
        figure_table,
        loop_table,
        paper_figures,
        slot_table,
    )

    figure_kinds(figure_format, folder)
    check_table(table)
    options = options_from(canonical_map, config, override, mode, profile, database, schema, format)
    presented = fresh_or_stored(conversations, from_run, store, options, workers)
    analyses = paper_figures(presented)
    tables = [figure_table(figure) for figure in analyses]
    if tables:
        # Nothing here has an interval, so how a stored run made its own is no part of it.
        tables[0].signature = Signature.parse(presented.signature).with_(interval="").long()
    if by_slot:
        tables += [slot_table(figure) for figure in analyses if figure.slots]

    def lists(rows: int) -> list[Table]:
        return [confusion_table(presented, rows), loop_table(presented, rows)]

    if on_screen(json):
        print_tables([*tables, *lists(row_limit(limit))])
    if json is not None:
        write_document(json, "users-figures", figure_numbers(presented))
    if table is not None:
        write_table_file([*tables, *lists(row_limit(0))], table)
    draw_figures({one.name: partial(draw, one) for one in analyses}, folder, figure_format)
    return finish([presented])


@app.command()
def explain(
    names: Annotated[
        list[str],
        Argument(
            metavar="[CONVERSATIONS] DIALOGUE",
            help="The conversations, unless --from names a stored run, and the dialogue id.",
        ),
    ],
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: DatasetProfile = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: FormatOption = None,
    from_run: FromOption = None,
    wide: WideOption = False,
    store: StoreOption = None,
    talk: Annotated[bool, Option("--talk", help="Show the conversation first, with what was understood.")] = False,
    json: JsonOption = None,
    table: TableOption = None,
) -> None:
    """Explain where every point of one dialogue's scores was won or lost.

    dialgauge users explain talks/ PMUL2009 --talk, or from a stored run:
    dialgauge users explain PMUL2009 --from RUN
    """
    out.wide = wide
    from dialgauge.errors import DialgaugeError
    from dialgauge.users import conversation_named, explanation, explanation_record, transcript, users_scored

    check_table(table)
    *source, dialogue = names
    if len(source) != (from_run is None):
        raise DialgaugeError("give the conversations and the dialogue, or the dialogue and a stored run (--from RUN)")
    if from_run is not None:
        presented = opened(from_run, store)
    else:
        options = options_from(canonical_map, config, override, mode, profile, database, schema, format)
        conversation, chosen = conversation_named(source[0], dialogue, options)
        presented = users_scored([conversation], chosen, resamples=0, name=source[0]).run
    tables = explanation(presented, dialogue)
    if on_screen(json):
        if talk:
            for line in transcript(presented, dialogue):
                out.print(line)
        print_tables(tables)
    if json is not None:
        write_document(json, "users-explain", explanation_record(presented, dialogue, talk=talk))
    write_table_file(tables, table)


def _behaviours(runs: list[Run]) -> dict[str, Callable[[], Any]]:
    """The figures of 'users figures' for each user model."""
    from dialgauge.comparison import figure_label
    from dialgauge.users import draw, paper_figures

    return {
        f"{one.name}_{figure_label(place, run.name)}" if len(runs) > 1 else one.name: partial(draw, one)
        for place, run in enumerate(runs, 1)
        for one in paper_figures(run)
    }


def _document(runs: list[Run], *, per_dialogue: bool) -> dict[str, object]:
    """The layout of ``dialgauge score --json``."""
    from dialgauge.measures import Signature
    from dialgauge.users import as_system

    systems = [as_system(each, per_dialogue=per_dialogue) for each in runs]
    signature = Signature.shared(Signature.parse(each.signature) for each in runs).long()
    coverage = {system["name"]: system["coverage"] for system in systems}
    return {"signature": signature, "coverage": coverage, "systems": systems}


def _store(runs: list[Run], store: Path | None) -> None:
    from dialgauge.runs import Store

    chosen = Store(store)
    for each in runs:
        err.print(f"stored as run {chosen.add(each).id} in {chosen.folder}")
