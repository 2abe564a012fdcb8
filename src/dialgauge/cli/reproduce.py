"""``dialgauge reproduce``: every table, worked example and figure of a paper, theirs beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.common import DrawnOutput
from dialgauge.cli.options import FILE, PATH, Whole, bundle, names_of
from dialgauge.cli.output import OnScreen
from dialgauge.cli.screen import err, out
from dialgauge.cli.writing import write_file, write_table_file
from dialgauge.errors import DialgaugeError
from dialgauge.reproduce import (
    IMPOSSIBLE,
    PAPERS,
    Fresh,
    as_json,
    as_markdown,
    get_commands,
    how_to_get,
    item_tables,
    missing_table,
    reproduce,
)
from dialgauge.text import counted


@command("reproduce")
@click.argument("paper", shell_complete=names_of("reproduce", "PAPERS"), help=f"Paper: {', '.join(PAPERS)}.")
@click.option(
    "--data",
    "data",
    type=PATH,
    metavar="FOLDER",
    help="Dataset folder. Default: $DIALGAUGE_DATA, else that of 'data get'.",
)
@click.option("--fresh", "fresh", is_flag=True, help="Retrain the learned models (babi only; takes over an hour).")
@click.option("--seeds", "seeds", type=Whole(1, 1000), help="With --fresh: seeds per learned model. Default: 3.")
@click.option(
    "--workers", "workers", type=Whole(0, 512), help="With --fresh: worker processes; 0 for one per core. Default: 1."
)
@click.option(
    "--preset",
    "preset",
    type=click.Choice(["default", "paper"]),
    help="Learned models trained our way (default) or as the paper says (paper); babi only. Default: both.",
)
@click.option("--keep", "keep", type=FILE, help="With --fresh: write the accuracies of each seed to a file.")
@click.option(
    "--ratings",
    "ratings",
    type=PATH,
    help="Ratings of the FGA paper's 100 dialogues (CSV: dialogue, rater, rating; fga only).",
)
@click.option(
    "--system",
    "system",
    multiple=True,
    metavar="NAME=FILE",
    help="Predictions for the MultiWOZ 2.1 test set, for example SOM-DST=mine.json (fga and rsa); repeatable.",
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@click.option("--markdown", "markdown", type=FILE, help="Also write a Markdown page; - for stdout.")
@bundle(output=DrawnOutput)
def app(
    paper: str,
    data: Path | None,
    fresh: bool,
    seeds: int | None,
    workers: int | None,
    preset: Literal["default", "paper"] | None,
    keep: Path | None,
    ratings: Path | None,
    system: tuple[str, ...],
    store: Path | None,
    markdown: Path | None,
    output: DrawnOutput,
) -> int:
    """Compute what a paper printed, listing missing data first. Nothing is downloaded.

    Exit code: 0 everything that can be computed was, 1 data is missing that 'dialgauge data get' can fetch, 2 nothing
    could be computed.
    """
    training = (
        Fresh(seeds or 3, 1 if workers is None else workers, store, preset or "default", OnScreen().say)
        if fresh
        else None
    )
    with err.status(f"computing what {paper} printed") as status:
        reproduction = reproduce(
            paper,
            data,
            fresh=training,
            preset=preset,
            keep=keep,
            ratings=ratings,
            systems=_named(system),
            tell=lambda step: _update(status, f"computing what {paper} printed: {step}"),
        )
    if markdown is not None:
        write_file(markdown, as_markdown(reproduction).encode("utf-8", "backslashreplace"))
    output.draw(reproduction.figures)
    if output.json is not None:
        output.document("reproduce", as_json(reproduction))
    tables = [*([missing_table(reproduction)] if reproduction.missing else []), *item_tables(reproduction)]
    write_table_file(tables, output.table)
    for table in tables if output.on_screen else ():
        out.print(table.render("terminal"))
        out.print()
    if reproduction.is_empty:
        raise DialgaugeError(f"nothing of {paper} could be computed: {how_to_get(paper, data)}")
    if not reproduction.absent:
        return 0
    left = reproduction.tally()[IMPOSSIBLE]
    lines = counted(left, "line")
    err.print(
        f"{paper} is incomplete: {lines} could not be computed; for more, run {get_commands(reproduction.absent)}"
    )
    return EXIT_INCOMPLETE


def _update(status: object, text: str) -> None:
    """Show on a terminal what is being computed."""
    if (update := getattr(status, "update", None)) is not None:
        update(text)


def _named(systems: Sequence[str]) -> dict[str, Path]:
    """The files of --system by the names of their systems."""
    files = {}
    for text in systems:
        name, given, file = text.partition("=")
        if not (name.strip() and given and file):
            raise DialgaugeError(f"--system expects NAME=FILE, for example SOM-DST=mine.json (got '{text}')")
        files[name.strip()] = Path(file)
    return files
