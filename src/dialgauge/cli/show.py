"""``dialgauge show``: everything there is to see of a stored run."""

from __future__ import annotations

from typing import Annotated

from dialgauge import report
from dialgauge.cli import common, writing
from dialgauge.cli.options import Argument, Option, application
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run, Store

app = application("Everything there is to see of a stored run: scores, tables, dialogues.")


@app.command()
def show(
    run: Annotated[str, Argument(metavar="RUN", help="Stored run: its id or the beginning, system, tag or latest.")],
    by: Annotated[
        list[str] | None, Option(metavar="X", help="Show the scores by domain, slot, turn, ...; repeatable.")
    ] = None,
    only: Annotated[list[str] | None, Option(metavar="TABLE", help="Show only this table; repeatable.")] = None,
    worst: Annotated[int, Option(min=0, metavar="N", help="List the N worst dialogues with their errors.")] = 0,
    dialogue: Annotated[
        list[str] | None, Option(metavar="ID", help="Show this dialogue turn by turn; repeatable.")
    ] = None,
    all: Annotated[bool, Option(help="Show all tables, all rows and folded texts.")] = False,
    store: common.StoreOption = None,
    *,
    output: common.DrawnOutput,
) -> None:
    """Show a stored run.

    Without options: its scores, the tables that matter most, and a sentence.
    """
    opened = Store(store).open(run)
    page = _page(opened, [*(f"by-{name}" for name in by or ()), *(only or ())], worst, dialogue or [], everything=all)
    if run != opened.id:
        err.print(f"{run}: run {opened.id}", style="dim")
    if output.json is not None:
        writing.write_file(output.json, report.json_document(page, [opened]).encode())
    if output.table is not None:
        report.write_page(page, output.table)
    for path in report.write_figures(page, output.figures) if output.figures is not None else ():
        err.print(f"drew {path}")
    if output.on_screen:
        out.page(page, everything=all)


def _page(run: Run, tables: list[str], worst: int, dialogues: list[str], *, everything: bool) -> report.Page:
    """The page that the options ask for; they exclude each other."""
    asked = [
        name for name, given in (("--by or --only", tables), ("--worst", worst), ("--dialogue", dialogues)) if given
    ]
    if len(asked) > 1:
        raise DialgaugeError(f"{asked[0]} and {asked[1]} show different things; leave one out")
    if worst:
        return report.worst_page(run, worst)
    if dialogues:
        return report.dialogue_page(run, *dialogues)
    return report.run_page(run, tables or (None if everything else report.screen_tables(run)))
