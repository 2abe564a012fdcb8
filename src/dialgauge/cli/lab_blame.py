"""``dialgauge lab blame``: whose fault the failures of a stored run were, with the turns that show it."""

from __future__ import annotations

from typing import Annotated

from dialgauge import lab, runs
from dialgauge.cli.common import LimitOption, RunArgument, StoreOption, TableOutput
from dialgauge.cli.options import Option, command
from dialgauge.cli.screen import out


@command()
def blame(
    run: RunArgument,
    dialogue: Annotated[
        str | None, Option(metavar="ID", help="Show one conversation, with the turns that are evidence.")
    ] = None,
    limit: LimitOption = 20,
    store: StoreOption = None,
    *,
    output: TableOutput,
) -> None:
    """Show whose fault each failure in a 'lab run' was: the first broken link from goal to outcome, with the turns."""
    blamed = runs.Store(store).open(run)
    lab.require_blame(blamed)
    if dialogue is not None:
        output.show(lab.blame_explanation(blamed, dialogue))
    elif tables := lab.blame_tables(blamed, listed=True):
        output.show([*tables, lab.blame_list(blamed, limit or None)], in_file=[*tables, lab.blame_list(blamed)])
    elif output.json is None and output.table is None:
        out.print("No conversation in this run failed.")
    if output.json is not None:
        output.document("lab-blame", lab.blame_document(blamed))
