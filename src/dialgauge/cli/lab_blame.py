"""``dialgauge lab blame``: whose fault the failures of a stored run were, with the turns that show it."""

from __future__ import annotations

from typing import Annotated

from dialgauge.cli.common import (
    JsonOption,
    LimitOption,
    RunArgument,
    StoreOption,
    TableOption,
    WideOption,
    check_table,
    present_tables,
    write_document,
    write_table_file,
)
from dialgauge.cli.options import CommandGroup, Option
from dialgauge.cli.screen import out


def register(app: CommandGroup) -> None:
    """Add the command to ``dialgauge lab``."""
    app.command("blame")(blame)


def blame(
    run: RunArgument,
    dialogue: Annotated[
        str | None, Option("--dialogue", metavar="ID", help="Show one conversation, with the turns that are evidence.")
    ] = None,
    limit: LimitOption = 20,
    json: JsonOption = None,
    table: TableOption = None,
    store: StoreOption = None,
    wide: WideOption = False,
) -> None:
    """Show whose fault each failure in a 'lab run' was: the first broken link from goal to outcome, with the turns."""
    out.wide = wide
    from dialgauge.lab import blame_document, blame_explanation, blame_list, blame_tables, require_blame
    from dialgauge.runs import Store

    check_table(table)
    blamed = Store(store).open(run)
    require_blame(blamed)
    if dialogue is not None:
        present_tables(blame_explanation(blamed, dialogue), table, json)
    elif tables := blame_tables(blamed):
        present_tables([*tables, blame_list(blamed, limit or None)], None, json)
        write_table_file([*tables, blame_list(blamed)], table)
    elif json is None and table is None:
        out.print("No conversation in this run failed.")
    if json is not None:
        write_document(json, "lab-blame", blame_document(blamed))
