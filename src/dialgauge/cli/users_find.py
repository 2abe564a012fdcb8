"""``dialgauge users find``: conversations by what happened in them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import asdict

from dialgauge import users
from dialgauge.cli.choices import BEHAVIOURS, measures_of, names_of
from dialgauge.cli.common import FromOption, LimitOption, StoreOption, TableOutput
from dialgauge.cli.options import Option, command
from dialgauge.cli.screen import err
from dialgauge.cli.users_options import Scoring, Source, finish, fresh_or_stored
from dialgauge.cli.writing import frame_table
from dialgauge.rendering import SHARE, Column, Table, percent_note
from dialgauge.text import counted


class Search(Struct, frozen=True):
    """What to look for: the fields of the library's ``Query``."""

    behaviour: Annotated[
        str | None,
        Option(metavar="NAME", known=BEHAVIOURS, help="With this behaviour (see 'dialgauge explain behaviours')."),
    ] = None
    verdict: Annotated[
        str | None,
        Option(metavar="NAME", known=names_of("users", "VERDICTS"), help="With this verdict, for example missing."),
    ] = None
    fault: Annotated[
        str | None,
        Option(
            metavar="NAME",
            known=names_of("users", "CAUSES"),
            help="Points lost through this component, for example 'user policy'.",
        ),
    ] = None
    domain: Annotated[str | None, Option(metavar="NAME", help="In this domain.")] = None
    slot: Annotated[str | None, Option(metavar="NAME", help="About this slot.")] = None
    first_turn: Annotated[int | None, Option("--from-turn", min=0, help="At this turn or later.")] = None
    last_turn: Annotated[int | None, Option("--to-turn", min=0, help="At this turn or earlier.")] = None
    min_repeats: Annotated[
        int | None, Option(min=1, help="A constraint or request is repeated at least this often.")
    ] = None
    measure: Annotated[
        str,
        Option(
            metavar="NAME",
            known=measures_of("users", several=False),
            help="Measure for --min-score and --max-score: 'R-GCDF1 recall', a plugin's, ...",
        ),
    ] = "I-GCDF1"
    min_score: Annotated[float | None, Option(help="Score at least this (in --domain, if given).")] = None
    max_score: Annotated[float | None, Option(help="Score at most this.")] = None
    min_turns: Annotated[int | None, Option(min=0, help="At least this many turns, counting both sides.")] = None
    max_turns: Annotated[int | None, Option(min=0, help="At most this many turns.")] = None
    end: Annotated[
        Literal["loop", "goodbye", "open"] | None, Option(metavar="TEXT", help="How it ends: loop, goodbye or open.")
    ] = None
    cause: Annotated[
        str | None,
        Option(
            metavar="NAME",
            known=names_of("users", "CAUSES"),
            help="Has a loop with this cause, for example 'user NLU'.",
        ),
    ] = None


@command()
def find(
    conversations: Source = None,
    from_run: FromOption = None,
    store: StoreOption = None,
    limit: LimitOption = 20,
    *,
    search: Search,
    scoring: Scoring,
    output: TableOutput,
) -> int:
    """Find conversations by what happened in them, where, how often, how they scored and how they ended.

    dialgauge users find talks/ --behaviour unmatched --domain restaurant --min-repeats 5 --end loop
    """
    from dialgauge.cli.sql import frame_json

    query = users.Query(**asdict(search))
    named = [] if search.measure in users.MEASURES else [search.measure]
    searched = fresh_or_stored(conversations, from_run, store, scoring.options(), ["default", *named])
    rows = users.find(searched, query)
    if output.json is not None:
        import orjson

        output.document("users-find", {"rows": orjson.loads(frame_json(rows))})
    shares = [name for name, score in searched.scores.items() if score.unit == SHARE]
    output.show([_shown(frame_table("", rows.head(limit or rows.height)), shares)], in_file=[frame_table("", rows)])
    meanings = users.several_meanings(search.behaviour) if search.behaviour else []
    if meanings:
        err.print(f"'{search.behaviour}' matches {' and '.join(meanings)}; write one in full to select only that")
    shown = f", {limit} shown" if 0 < limit < rows.height else ""
    err.print(f"{counted(rows.height, 'conversation')}{shown}")
    return finish([searched])


#: Columns in words, and which of them go first on a narrow screen; scores are shares, and stay.
_COLUMNS = {
    "turns": Column("turns", drop=2),
    "domains": Column("domains", drop=1),
    "loops": Column("loops", drop=3),
    "longest_loop": Column("longest loop", drop=4),
    "most_mentions": Column("most mentions", drop=5),
}


def _shown(table: Table, shares: Collection[str]) -> Table:
    """What was found, in words and percent."""
    columns = [
        _COLUMNS.get(column.title) or Column(column.title, digits=2, percent=column.title in shares)
        for column in table.columns
    ]
    notes = [percent_note("Scores in percent")] if any(column.percent for column in columns) else []
    return Table(table.title, columns, table.cells, notes)
