"""``dialgauge reproduce``: every table, worked example and figure of a paper, theirs beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from dialgauge.cli.babi_options import tell
from dialgauge.cli.choices import names_of
from dialgauge.cli.common import DrawnOutput, StoreOption
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, WholeNumber, application
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

app = application("What the papers printed, what dialgauge computes from the data it finds, and a verdict.")


@app.command()
def main(
    paper: Annotated[str, Argument(known=names_of("reproduce", "PAPERS"), help=f"Paper: {', '.join(PAPERS)}.")],
    data: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Dataset folder. Default: $DIALGAUGE_DATA, else that of 'data get'."),
    ] = None,
    fresh: Annotated[bool, Option(help="Retrain the learned models (babi only; takes over an hour).")] = False,
    seeds: Annotated[
        int | None,
        WholeNumber(of="seeds", min=1, needs="--fresh", help="With --fresh: seeds per learned model. Default: 3."),
    ] = None,
    workers: Annotated[
        int | None,
        WholeNumber(
            of="workers", min=0, needs="--fresh", help="With --fresh: worker processes; 0 for one per core. Default: 1."
        ),
    ] = None,
    preset: Annotated[
        Literal["default", "paper"] | None,
        Option(
            metavar="NAME",
            help="Learned models trained our way (default) or as the paper says (paper); babi only. Default: both.",
        ),
    ] = None,
    keep: Annotated[
        Path | None, OutputFile(needs="--fresh", help="With --fresh: write the accuracies of each seed to a file.")
    ] = None,
    ratings: Annotated[
        Path | None, Option(help="Ratings of the FGA paper's 100 dialogues (CSV: dialogue, rater, rating; fga only).")
    ] = None,
    system: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=FILE",
            help="Predictions for the MultiWOZ 2.1 test set, for example SOM-DST=mine.json (fga and rsa); repeatable.",
        ),
    ] = None,
    store: StoreOption = None,
    markdown: Annotated[Path | None, OutputFile(help="Also write a Markdown page; - for stdout.")] = None,
    *,
    output: DrawnOutput,
) -> int:
    """Compute what a paper printed, listing missing data first. Nothing is downloaded.

    Exit code: 0 everything that can be computed was, 1 data is missing that 'dialgauge data get' can fetch, 2 nothing
    could be computed.
    """
    training = Fresh(seeds or 3, 1 if workers is None else workers, store, preset or "default", tell) if fresh else None
    with err.status(f"computing what {paper} printed") as status:
        reproduction = reproduce(
            paper,
            data,
            fresh=training,
            preset=preset,
            keep=keep,
            ratings=ratings,
            systems=_named(system or ()),
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


def _named(systems: list[str] | tuple[()]) -> dict[str, Path]:
    """The files of --system by the names of their systems."""
    files = {}
    for text in systems:
        name, given, file = text.partition("=")
        if not (name.strip() and given and file):
            raise DialgaugeError(f"--system expects NAME=FILE, for example SOM-DST=mine.json (got '{text}')")
        files[name.strip()] = Path(file)
    return files
