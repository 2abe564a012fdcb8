"""``dialgauge show``: everything there is to see of a stored run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dialgauge import report, runs
from dialgauge.cli.app import command
from dialgauge.cli.options import PATH, RUN, Whole, bundle
from dialgauge.cli.output import PageOutput, open_run
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.runs import Run


@command("show")
@click.argument("run", type=RUN, help="Its id or the beginning, system, tag or latest.")
@click.option("--by", multiple=True, metavar="X", help="Show the scores by domain, slot, turn, ...; repeatable.")
@click.option("--only", multiple=True, metavar="TABLE", help="Show only this table; repeatable.")
@click.option("--worst", type=Whole(0), default=0, help="List the N worst dialogues with their errors.")
@click.option("--dialogue", multiple=True, metavar="ID", help="Show this dialogue turn by turn; repeatable.")
@click.option("--all", is_flag=True, help="Show all tables, all rows and folded texts.")
@click.option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
@bundle(output=PageOutput)
def app(
    run: str,
    by: tuple[str, ...],
    only: tuple[str, ...],
    worst: int,
    dialogue: tuple[str, ...],
    all: bool,
    store: Path | None,
    output: PageOutput,
) -> None:
    """Show a stored run.

    Without options: its scores, the tables that matter most, and a sentence.
    """
    opened = open_run(runs.Store(store), run)
    page = _page(opened, [*(f"by-{name}" for name in by), *only], worst, dialogue, everything=all)
    output.present(page, runs=[opened], everything=all)


def _page(run: Run, tables: list[str], worst: int, dialogues: Sequence[str], *, everything: bool) -> report.Page:
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
