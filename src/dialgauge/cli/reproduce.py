"""``dialgauge reproduce``: what a paper prints and says, beside what we compute."""

from __future__ import annotations

from pathlib import Path

import click

from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.options import PATH, bundle, names_of
from dialgauge.cli.output import PageOutput
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError
from dialgauge.reproduce import IMPOSSIBLE, PAPERS, get_commands, how_to_get, reproduce
from dialgauge.runs import Run, Store
from dialgauge.text import counted


@command("reproduce")
@click.argument(
    "paper", shell_complete=names_of("reproduce", "PAPERS"), help=f"{', '.join(PAPERS)}, or a YAML file of claims."
)
@click.option(
    "--data",
    type=PATH,
    metavar="FOLDER",
    help="Dataset folder. Default: $DIALGAUGE_DATA, else that of 'data get'.",
)
@click.option(
    "--run",
    "run",
    multiple=True,
    metavar="NAME=RUN",
    help="A stored run that claims are judged by, and its name in them; repeatable.",
)
@click.option("--only", multiple=True, metavar="PART", help='Show the lines of a part, such as "Table 2"; repeatable.')
@click.option("--all", "everything", is_flag=True, help="Show every line.")
@click.option("--store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs.")
@bundle(output=PageOutput)
def app(
    paper: str,
    data: Path | None,
    run: tuple[str, ...],
    only: tuple[str, ...],
    everything: bool,
    store: Path | None,
    output: PageOutput,
) -> int:
    """Judge what a paper prints and says: five published ones, or yours.

    Nothing is downloaded. Exit code: 0 everything that can be computed was, 1 data is missing that 'dialgauge data get'
    can fetch, 2 nothing could be computed.
    """
    runs = _named_runs(run, store)
    with err.status(f"judging what {paper} says"):
        reproduction = reproduce(paper, data, runs=runs)
    page = reproduction.whole_page(only) if only or everything else reproduction.page()
    output.present(page, everything=bool(only) or everything)
    if reproduction.is_empty:
        raise DialgaugeError(f"nothing of {paper} could be computed: {how_to_get(paper, data)}")
    if not reproduction.absent:
        return 0
    lines = counted(reproduction.tally()[IMPOSSIBLE], "line")
    err.print(f"{lines} could not be computed; for more, run {get_commands(reproduction.absent)}")
    return EXIT_INCOMPLETE


def _named_runs(given: tuple[str, ...], store: Path | None) -> dict[str, Run]:
    runs = {}
    for text in given:
        name, separator, run = text.partition("=")
        if not (name.strip() and separator and run):
            raise DialgaugeError(f"--run expects NAME=RUN, for example SOM-DST=latest (got '{text}')")
        runs[name.strip()] = Store(store).open(run)
    return runs
