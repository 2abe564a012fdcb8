"""``dialgauge demo``: the guided tour, on a world simulated on the spot."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.common import err, out
from dialgauge.cli.options import Option, OutputFolder, application
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.runs import Run

app = application("Guided tour with a report; downloads nothing.")

_MARK = ".dialgauge-demo"


@app.command()
def demo(
    folder: Annotated[Path, OutputFolder("--out", metavar="FOLDER", help="Folder to write to.")] = Path(
        "dialgauge-demo"
    ),
    dialogs: Annotated[int, Option(min=10, max=2000, help="Dialogs per task and split.")] = 150,
    seed: Annotated[int, Option(min=0, help="Random seed for simulation and resampling.")] = 0,
) -> None:
    """The guided tour: simulate a world, track it, answer in it, talk in it; a verdict on each, and a report."""
    from dialgauge.demo import STEPS, Demo

    _fresh(folder)
    work = Demo(folder, dialogs, seed, lambda line: err.print(f"· {line}", style="dim"))
    runs: list[Run] = []
    for step in STEPS:
        answer = step(work)
        runs += answer.runs
        out.print(answer.question, style="bold")
        if answer.table is not None:
            out.print(answer.table.render("terminal"))
        out.print(answer.verdict)
        out.print()
    out.print(f"{len(work.store.list())} runs stored. Browse them: dialgauge explore --store {work.store.folder}")
    _report(folder / "report.html", runs)


def _report(file: Path, runs: Sequence[Run]) -> None:
    """The report of the tour; without the extra that it needs, the tour has still been worth it, and says so."""
    from dialgauge.explorer import write_report

    err.print("· writing the report", style="dim")
    try:
        write_report(file, runs, title="dialgauge demo")
    except DialgaugeError as error:
        out.print(f"No report: {error}")
        return
    out.print(f"Open the report: {file}")


def _fresh(folder: Path) -> None:
    """An empty folder to work in; one that an earlier demo made is emptied, any other that holds files is refused."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARK).exists():
            raise DialgaugeError(
                "the folder is not empty and not from a demo; choose another with --out", file=str(folder)
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).write_text("made by dialgauge demo; a new demo may replace this folder\n")
