"""``dialgauge leaderboard``: all runs of a store as one static page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge.cli.common import err, out
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store

app = application("All runs of a store as one static page; what was not measured alike is never ranked together.")


@app.command()
def leaderboard(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="The run store.")],
    html: Annotated[Path, OutputFile("--out", "-o", metavar="FILE", help="The HTML file to write.")] = Path(
        "leaderboard.html"
    ),
    kind: Annotated[str | None, Option(help="Only runs of this kind, such as tracking.")] = None,
    title: Annotated[str, Option(metavar="TEXT", help="Title of the page.")] = "Leaderboard",
) -> None:
    """Write a leaderboard: runs with the same signature in one table, with intervals, letters and ranges of ranks.

    Exit code: 0 done, 1 some runs are damaged and left out, 2 nothing could be written.
    """
    from dialgauge.explorer import write_leaderboard

    if not folder.is_dir():
        raise DialgaugeError("there is no such folder of runs", file=str(folder))
    survey = Store(folder).survey()
    for problem in survey.problems:
        err.print(f"left out: {problem}")
    runs = [run for run in survey.runs if kind in (None, run.kind)]
    if not runs:
        raise DialgaugeError(f"there are no {kind + ' ' if kind else ''}runs in this store", file=str(folder))
    with err.status("comparing runs"):
        write_leaderboard(html, runs, title=title)
    out.print(f"Open {html.resolve().as_uri()}")
    if survey.problems:
        raise SystemExit(EXIT_INCOMPLETE)
