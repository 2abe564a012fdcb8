"""``dialgauge users find``: conversations by what happened in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialgauge.cli.common import StoreOption, err, on_screen, out, write_json
from dialgauge.cli.users_options import (
    ConfigFile,
    DatabaseFolder,
    Format,
    Map,
    Mode,
    Overrides,
    ProfileName,
    Workers,
    evaluated,
    finish,
    print_tables,
    settings_from,
)

if TYPE_CHECKING:
    import polars

    from dialgauge.users import Settings, UserEvaluation


def find(
    conversations: Annotated[
        str | None, typer.Argument(metavar="[CONVERSATIONS]", help="Recorded conversations; or name a run with --run.")
    ] = None,
    behaviour: Annotated[
        str | None, typer.Option(metavar="NAME", help="A behaviour, such as failed_sys_nlu or elicited_by_*.")
    ] = None,
    verdict: Annotated[str | None, typer.Option(metavar="NAME", help="A verdict, such as missing.")] = None,
    domain: Annotated[str | None, typer.Option(metavar="NAME", help="In this domain.")] = None,
    slot: Annotated[str | None, typer.Option(metavar="NAME", help="About this slot.")] = None,
    from_turn: Annotated[int | None, typer.Option(min=0, help="At this turn or later.")] = None,
    to_turn: Annotated[int | None, typer.Option(min=0, help="At this turn or earlier.")] = None,
    min_repeats: Annotated[
        int | None, typer.Option(min=1, help="The same constraint or request is said again at least this often.")
    ] = None,
    measure: Annotated[
        str, typer.Option(metavar="NAME", help="The measure that the score limits are about.")
    ] = "I-GCDF1",
    min_score: Annotated[float | None, typer.Option(help="F1 at least this (of the domain, if one is named).")] = None,
    max_score: Annotated[float | None, typer.Option(help="F1 at most this.")] = None,
    min_turns: Annotated[int | None, typer.Option(min=0, help="At least so many turns, of both sides.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=0, help="At most so many turns.")] = None,
    end: Annotated[str | None, typer.Option(help="How it ends: loop, goodbye or open.")] = None,
    cause: Annotated[
        str | None, typer.Option(metavar="NAME", help="A loop with this cause, such as 'user NLU'.")
    ] = None,
    behaviours: Annotated[bool, typer.Option("--behaviours", help="List all behaviours and stop.")] = False,
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="Search a stored run instead.")] = None,
    store: StoreOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows to show; 0 is all.")] = 20,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all rows as JSON; - is the screen.")] = None,
    canonical_map: Map = None,
    config: ConfigFile = None,
    override: Overrides = None,
    mode: Mode = None,
    profile: ProfileName = None,
    database: DatabaseFolder = None,
    format: Format = None,
    workers: Workers = 1,
) -> None:
    """Find conversations by what happened in them, where, how often, how they scored and how they ended.

    dialgauge users find talks/ --behaviour unmatched --domain restaurant --min-repeats 5 --end loop
    """
    from dialgauge.cli.common import frame_json, frame_table
    from dialgauge.users import Query
    from dialgauge.users import find as search

    if behaviours:
        _list_behaviours()
        return
    query = Query(
        behaviour=behaviour,
        verdict=verdict,
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
    settings = settings_from(canonical_map, config, override, mode, profile, database, format)
    tables, evaluations = _searched(conversations, run, store, settings, workers)
    found = search(tables, query)
    if json is not None:
        import orjson

        write_json(json, orjson.loads(frame_json(found)))
    if on_screen(json):
        out.print(frame_table("", found.head(limit or found.height)).render("terminal"))
    noun = "conversation" if found.height == 1 else "conversations"
    err.print(f"{found.height:,} {noun}" + (f", {limit} shown" if 0 < limit < found.height else ""))
    finish(evaluations)


def _searched(
    conversations: str | None, run: str | None, store: Path | None, settings: Settings, workers: int
) -> tuple[dict[str, polars.DataFrame], list[UserEvaluation]]:
    """The tables to search: those of a stored run, or those of conversations scored now with their evaluation."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.runs import Store
    from dialgauge.users import NEEDED, frames

    if (conversations is None) == (run is None):
        raise DialgaugeError("name the conversations to search, or a stored run with --run, and not both")
    if conversations is not None:
        evaluation = evaluated(conversations, settings, workers)
        return frames(evaluation), [evaluation]
    stored = Store(store).open(str(run))
    missing = [name for name in NEEDED if name not in stored.tables]
    if missing:
        raise DialgaugeError(f"the run {stored.manifest.id} is not a run of 'dialgauge users score'")
    failed = stored.table("failures").height if "failures" in stored.tables else 0
    if failed:
        err.print(f"{failed:,} dialogues of the run could not be scored and are not searched: table 'failures'")
    return {name: stored.table(name) for name in NEEDED}, []


def _list_behaviours() -> None:
    from dialgauge.report import Table
    from dialgauge.users import LABELS

    print_tables([Table("Behaviours", ["name", "meaning"], list(LABELS.items()))])
