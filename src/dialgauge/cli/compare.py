"""``dialgauge compare``: which system is better, and by which measure."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from dialgauge import comparison, runs as run_store
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.options import PATH, RUN, Advanced, Real, Whole, bundle, measures_of, refuse
from dialgauge.cli.output import PageOutput, open_run
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError
from dialgauge.text import split_at_commas


@command("compare")
@click.argument("runs", nargs=-1, metavar="RUN RUN...", type=RUN, help="Stored runs: id, system, tag or latest.")
@click.option(
    "-m",
    "--measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("tracking"),
    help="Measures, comma-separated: JGA, FGA@0.5, ...",
)
@click.option(
    "--only",
    multiple=True,
    metavar="TABLE",
    help="Show only this table: scores, differences, ranks, divergences, resolution, spread, agreement; of trackers "
    "sweep, of agents settling; repeatable.",
)
@click.option("--all", is_flag=True, help="Show all tables with all rows.")
@click.option("--printed", type=PATH, metavar="CSV", help="Instead of runs: a table of scores as papers print it.")
@click.option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
@click.option(
    "--missing",
    cls=Advanced,
    type=click.Choice(["shared", "refuse"]),
    default="shared",
    help="When a run lacks dialogues: 'shared' compares those that all have, 'refuse' stops.",
)
@click.option("--resamples", cls=Advanced, type=Whole(1, 1_000_000), default=10_000, help="Of the tests.")
@click.option("--seed", cls=Advanced, type=Whole(0), default=0, help="Random seed for resampling.")
@click.option(
    "--confidence",
    cls=Advanced,
    type=Real(0, 1, min_open=True, max_open=True),
    default=0.95,
    metavar="LEVEL",
    help="Level of intervals; differences are significant where p < 1 - LEVEL.",
)
@bundle(output=PageOutput)
def app(
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    only: tuple[str, ...],
    all: bool,
    printed: Path | None,
    store: Path | None,
    missing: Literal["shared", "refuse"],
    resamples: int,
    seed: int,
    confidence: float,
    output: PageOutput,
) -> int:
    """Compare stored runs of one kind: scores with letters, paired tests, a verdict.

    'dialgauge score GOLD A B' stores runs and compares them, too.

    Exit code: 0 done, 1 a run lacks dialogues or turns that others have, 2 nothing could be compared.
    """
    if printed is not None:
        names = ("runs", "measures", "only", "missing", "resamples", "seed", "confidence")
        refuse("printed scores have no dialogues to test", names=names)
        output.present(comparison.printed_page(comparison.read_system_table(printed)), everything=all)
        return 0
    if len(runs) < 2:
        raise DialgaugeError("name two stored runs or more: dialgauge compare RUN RUN ('dialgauge runs list' has them)")
    stored = run_store.Store(store)
    opened = [open_run(stored, name) for name in runs]
    with err.status("comparing"):
        compared = comparison.compare_runs(
            opened,
            measures=[name.strip() for text in measures for name in split_at_commas(text) if name.strip()] or None,
            resamples=resamples,
            seed=seed,
            level=confidence,
            missing=missing,
        )
        tables = list(only) or (None if all else comparison.screen_tables(compared))
        page = comparison.comparison_page(compared, tables)
    output.present(page, runs=opened, everything=all)
    return 0 if compared.complete else EXIT_INCOMPLETE
