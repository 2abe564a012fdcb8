"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.common import (
    StoreOption,
    WideOption,
    err,
    on_screen,
    out,
    print_tables,
    write_json,
    write_table_file,
)
from dialgauge.cli.options import Argument, Option, OutputFile, OutputFolder, application
from dialgauge.cli.users_faults import faults
from dialgauge.cli.users_find import find
from dialgauge.cli.users_options import (
    ConfigFile,
    DatabaseFolder,
    Format,
    Map,
    Mode,
    Overrides,
    ProfileName,
    RunOption,
    SchemaFile,
    Source,
    TableFile,
    Workers,
    check_endings,
    finish,
    fresh_or_stored,
    opened,
    options_from,
    scored,
)

if TYPE_CHECKING:
    from dialgauge.report import Table
    from dialgauge.runs import Run

app = application("Simulated users: do they say all of their goal, ask all they should, and why do they repeat?")
app.command()(find)
app.command()(faults)


@app.command()
def score(
    conversations: Annotated[
        list[str],
        Argument(
            metavar="CONVERSATIONS...", help="Recorded conversations, one source (file, folder, ...) per user model."
        ),
    ],
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: Format = None,
    measures: Annotated[
        list[str] | None,
        Option("--measures", "-m", metavar="NAMES", help="Measures, comma-separated; 'all': other packages' too."),
    ] = None,
    explain: Annotated[str | None, Option(metavar="DIALOGUE", help="Explain the scores of one dialogue.")] = None,
    verdicts: Annotated[bool, Option("--verdicts", help="Also how often each verdict was given.")] = False,
    resamples: Annotated[int, Option(min=0, help="Resamples of dialogues for the 95% intervals; 0: none.")] = 1000,
    seed: Annotated[int, Option(min=0, help="Seed of the resampling.")] = 0,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write the scores as JSON; - is the screen.")] = None,
    per_dialogue: Annotated[
        bool, Option("--per-dialogue", help="In the JSON, also precision, recall and F1 of every dialogue.")
    ] = False,
    reference: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Write the results as the reference evaluator does (JSON).")
    ] = None,
    table: TableFile = None,
    run: Annotated[bool, Option("--run", help="Store the results, one run per source.")] = False,
    store: StoreOption = None,
    workers: Workers = 1,
    wide: WideOption = False,
) -> None:
    """I-GCDF1 and R-GCDF1 with intervals, per domain and combined.

    A dialogue that cannot be scored is named with the reason and the others go on; the exit code is then 1.
    """
    out.wide = wide
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import bulk_load
    from dialgauge.users import explanation, reference_report, score_tables, verdict_table

    check_endings(table)
    if run or store:
        from dialgauge.runs import Store

        Store(store).check_writable()
    if reference is not None and len(conversations) > 1:
        raise DialgaugeError("--reference writes the results of one user model; name one source")
    with bulk_load():
        options = options_from(canonical_map, config, override, mode, profile, database, schema, format)
        runs = [
            scored(
                source, options, workers, measures=measures or ["default"], resamples=resamples, seed=seed, name=name
            )
            for source, name in zip(conversations, _names(conversations), strict=True)
        ]
        tables: list[Table] = []
        for each in runs:
            tables += explanation(each, explain) if explain is not None else score_tables(each)
            if verdicts and explain is None:
                tables.append(verdict_table(each))
        if on_screen(json):
            print_tables(tables)
        if json is not None:
            write_json(json, _document(runs, per_dialogue=per_dialogue))
        write_table_file(tables, table)
        if reference is not None:
            write_json(reference, reference_report(runs[0]))
        if run or store:
            _store(runs, store)
    finish(runs)


@app.command()
def figures(
    conversations: Source = None,
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: Format = None,
    run: RunOption = None,
    store: StoreOption = None,
    by_slot: Annotated[bool, Option("--by-slot", help="Also which slots the behaviours concern.")] = False,
    most: Annotated[int, Option(min=1, help="Rows of the lists of confusions and loops.")] = 15,
    folder: Annotated[
        Path | None, OutputFolder("--out", metavar="FOLDER", help="Draw the figures into this folder.")
    ] = None,
    endings: Annotated[str, Option("--as", help="Formats to draw in, comma-separated: svg, png, pdf, json.")] = "svg",
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all numbers as JSON; - is the screen.")] = None,
    table: TableFile = None,
    workers: Workers = 1,
    wide: WideOption = False,
) -> None:
    """The analyses of the paper: Figures 1 to 7 as tables and plots, confusions of NLU, and loops with their cause."""
    out.wide = wide
    from dialgauge.users import (
        confusion_table,
        draw,
        figure_numbers,
        figure_table,
        loop_table,
        paper_figures,
        slot_table,
    )

    kinds = [ending.strip() for ending in endings.split(",")]
    check_endings(table, kinds)
    options = options_from(canonical_map, config, override, mode, profile, database, schema, format)
    presented = fresh_or_stored(conversations, run, store, options, workers)
    analyses = paper_figures(presented)
    tables = [figure_table(figure) for figure in analyses]
    if by_slot:
        tables += [slot_table(figure) for figure in analyses if figure.slots]
    tables += [confusion_table(presented, most), loop_table(presented, most)]
    if on_screen(json):
        print_tables(tables)
    if json is not None:
        write_json(json, figure_numbers(presented))
    write_table_file(tables, table)
    if folder is not None:
        from dialgauge.report import save_all

        files = {folder / f"figure{one.key}.{kind}": partial(draw, one) for one in analyses for kind in kinds}
        for path in save_all(files):
            err.print(f"drawn: {path}")
    finish([presented])


@app.command()
def explain(
    names: Annotated[
        list[str],
        Argument(metavar="[CONVERSATIONS] DIALOGUE", help="Where it is, unless --run says so, and its id."),
    ],
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: Format = None,
    run: RunOption = None,
    store: StoreOption = None,
    talk: Annotated[bool, Option("--talk", help="First the conversation itself, with what was heard.")] = False,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all of it as JSON; - is the screen.")] = None,
    table: TableFile = None,
    wide: WideOption = False,
) -> None:
    """Where every point of one dialogue's scores was won or lost, and why.

    dialgauge users explain talks/ PMUL2009 --talk, or of a stored run: dialgauge users explain --run ID PMUL2009
    """
    out.wide = wide
    from dialgauge.errors import DialgaugeError
    from dialgauge.users import conversation_named, explanation, explanation_record, transcript, users_scored

    check_endings(table)
    *source, dialogue = names
    if len(source) != (run is None):
        raise DialgaugeError("name the conversations and the dialogue, or a stored run with --run and the dialogue")
    if run is not None:
        presented = opened(run, store)
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
        write_json(json, explanation_record(presented, dialogue, talk=talk))
    write_table_file(tables, table)


def _names(sources: list[str]) -> list[str]:
    """Short names of sources; those that would share one go by their whole names."""
    from dialgauge.formats import system_name

    short = [system_name(source) for source in sources]
    return [name if short.count(name) == 1 else source for name, source in zip(short, sources, strict=True)]


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
