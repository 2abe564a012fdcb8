"""``dialgauge lab blame``: whose fault the failures of a stored run were, with the turns that show it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge.cli.common import StoreOption, WideOption, out, present_tables, write_json
from dialgauge.cli.lab_options import DatabaseOption, TownSeedOption
from dialgauge.cli.options import Argument, CommandGroup, Option, OutputFile


def register(app: CommandGroup) -> None:
    """Add the command to ``dialgauge lab``."""
    app.command("blame")(blame)


def blame(
    run: Annotated[str, Argument(metavar="RUN", help="A run of 'lab run': its id, or the beginning of it.")],
    dialogue: Annotated[
        str | None, Option("--dialogue", metavar="ID", help="One conversation, with the turns that show it.")
    ] = None,
    every: Annotated[bool, Option("--all", help="List every failed conversation, not the first 20.")] = False,
    database: DatabaseOption = None,
    town_seed: TownSeedOption = 0,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write it as JSON; - is the screen.")] = None,
    table: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Write the tables: .md, .tex, .html, .csv, .json.")
    ] = None,
    store: StoreOption = None,
    wide: WideOption = False,
) -> None:
    """Whose fault each failure was: the first broken link from goal to outcome, with the turns that show it.

    --database and --town-seed are for runs that were stored before blame was kept with them.
    """
    out.wide = wide
    from dialgauge.lab import blame_document, blame_explanation, blame_list, blame_tables, blamed_run
    from dialgauge.report import format_of
    from dialgauge.runs import Store

    if table is not None:
        format_of(table)
    blamed = blamed_run(Store(store).open(run), database=database, town_seed=town_seed)
    if dialogue is not None:
        tables = blame_explanation(blamed, dialogue)
    else:
        tables = blame_tables(blamed)
        if tables:
            tables.append(blame_list(blamed, None if every or table is not None else 20))
        elif json is None and table is None:
            out.print("No conversation of this run failed; nobody is blamed.")
    present_tables(tables, table, json)
    if json is not None:
        write_json(json, blame_document(blamed))
