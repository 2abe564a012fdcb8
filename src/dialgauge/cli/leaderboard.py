"""``dialgauge leaderboard``: all runs of a store as one static page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import explorer
from dialgauge.cli.choices import KINDS
from dialgauge.cli.common import StoreOption
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store

app = application("All runs of a store as one static page; only runs measured the same way are ranked together.")


@app.command()
def leaderboard(
    folder: Annotated[
        Path | None, Argument(not_with=("--store",), help="Run store folder; the same as --store FOLDER.")
    ] = None,
    html: Annotated[Path, OutputFile("--out", "-o", help="HTML file to write.")] = Path("leaderboard.html"),
    kind: Annotated[str | None, Option(known=KINDS, help="Only runs of this kind, for example tracking.")] = None,
    title: Annotated[str, Option(help="Title of the page.")] = "Leaderboard",
    store: StoreOption = None,
) -> None:
    """Write a leaderboard: runs with the same signature in one table, with intervals, significance letters and ranks.

    Exit code: 0 done, 1 damaged runs were left out, 2 nothing could be written.
    """
    opened = Store(folder or store)
    if not opened.folder.is_dir():
        raise DialgaugeError("this run store does not exist; name it with --store", file=str(opened.folder))
    survey = opened.survey()
    for problem in survey.problems:
        err.print(f"left out: {problem}")
    runs = [run for run in survey.runs if kind in (None, run.kind)]
    if not runs:
        wanted = f"{kind} runs" if kind else "runs"
        raise DialgaugeError(
            f"this store holds no {wanted}; 'dialgauge score GOLD PRED --run' stores one", file=str(opened.folder)
        )
    with err.status("comparing runs"):
        explorer.write_leaderboard(html, runs, title=title)
    out.print(f"Open {html.resolve().as_uri()}")
    if survey.problems:
        raise SystemExit(EXIT_INCOMPLETE)
