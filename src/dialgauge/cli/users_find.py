"""``dialgauge users find``: conversations by what happened in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge.cli.common import StoreOption, WideOption, err, on_screen, out, print_tables, write_json
from dialgauge.cli.options import Option, OutputFile
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
    Workers,
    finish,
    fresh_or_stored,
    options_from,
)
from dialgauge.text import counted


def find(
    conversations: Source = None,
    behaviour: Annotated[
        str | None, Option(metavar="NAME", help="A behaviour, such as failed_sys_nlu or elicited_by_*.")
    ] = None,
    verdict: Annotated[str | None, Option(metavar="NAME", help="A verdict, such as missing.")] = None,
    fault: Annotated[
        str | None, Option(metavar="NAME", help="Points lost by this side's fault, such as 'user policy'.")
    ] = None,
    domain: Annotated[str | None, Option(metavar="NAME", help="In this domain.")] = None,
    slot: Annotated[str | None, Option(metavar="NAME", help="About this slot.")] = None,
    from_turn: Annotated[int | None, Option(min=0, help="At this turn or later.")] = None,
    to_turn: Annotated[int | None, Option(min=0, help="At this turn or earlier.")] = None,
    min_repeats: Annotated[
        int | None, Option(min=1, help="The same constraint or request is said again at least this often.")
    ] = None,
    measure: Annotated[
        str, Option(metavar="NAME", help="The measure of the score limits: 'R-GCDF1 recall', another package's, ...")
    ] = "I-GCDF1",
    min_score: Annotated[float | None, Option(help="Score at least this (of the domain, if one is named).")] = None,
    max_score: Annotated[float | None, Option(help="Score at most this.")] = None,
    min_turns: Annotated[int | None, Option(min=0, help="At least so many turns, of both sides.")] = None,
    max_turns: Annotated[int | None, Option(min=0, help="At most so many turns.")] = None,
    end: Annotated[str | None, Option(help="How it ends: loop, goodbye or open.")] = None,
    cause: Annotated[str | None, Option(metavar="NAME", help="A loop with this cause, such as 'user NLU'.")] = None,
    behaviours: Annotated[bool, Option("--behaviours", help="List all behaviours and stop.")] = False,
    run: RunOption = None,
    store: StoreOption = None,
    limit: Annotated[int, Option(min=0, help="Rows to show; 0 is all.")] = 20,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write all rows as JSON; - is the screen.")] = None,
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    schema: SchemaFile = None,
    format: Format = None,
    workers: Workers = 1,
    wide: WideOption = False,
) -> None:
    """Find conversations by what happened in them, where, how often, how they scored and how they ended.

    dialgauge users find talks/ --behaviour unmatched --domain restaurant --min-repeats 5 --end loop
    """
    out.wide = wide
    from dialgauge.cli.common import frame_json, frame_table
    from dialgauge.users import MEASURES, Query, several_meanings
    from dialgauge.users import find as search

    if behaviours:
        _list_behaviours()
        return
    query = Query(
        behaviour=behaviour,
        verdict=verdict,
        fault=fault,
        domain=domain,
        slot=slot,
        first_turn=from_turn,
        last_turn=to_turn,
        min_repeats=min_repeats,
        measure=measure,
        min_score=min_score,
        max_score=max_score,
        min_turns=min_turns,
        max_turns=max_turns,
        end=end,
        cause=cause,
    )
    options = options_from(canonical_map, config, override, mode, profile, database, schema, format)
    named = [] if measure in MEASURES else [measure]
    searched = fresh_or_stored(conversations, run, store, options, workers, ["default", *named])
    rows = search(searched, query)
    if json is not None:
        import orjson

        write_json(json, orjson.loads(frame_json(rows)))
    if on_screen(json):
        out.print(frame_table("", rows.head(limit or rows.height)).render("terminal"))
    meanings = several_meanings(behaviour) if behaviour else []
    if meanings:
        err.print(f"'{behaviour}' means {' and '.join(meanings)}; write one of them in full for it alone")
    shown = f", {limit} shown" if 0 < limit < rows.height else ""
    err.print(f"{counted(rows.height, 'conversation')}{shown}")
    finish([searched])


def _list_behaviours() -> None:
    from dialgauge.report import Table
    from dialgauge.users import LABELS, REASONS

    tables = [Table("Behaviours", ["name", "meaning"], list(LABELS.items()))]
    print_tables([*tables, Table("Reasons for lost points", ["name", "meaning"], list(REASONS.items()))])
