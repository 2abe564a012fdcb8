"""``dialgauge demo``: the guided tour, on a world simulated on the spot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from dialgauge.cli.common import err, out
from dialgauge.cli.options import Option, OutputFolder, application
from dialgauge.errors import DialgaugeError

app = application("The guided tour, with a report; nothing is downloaded.")

_MARK = ".dialgauge-demo"


@app.command()
def demo(
    folder: Annotated[Path, OutputFolder("--out", metavar="FOLDER", help="Where everything is written.")] = Path(
        "dialgauge-demo"
    ),
    dialogs: Annotated[int, Option(min=10, max=2000, help="Dialogs per task and split.")] = 150,
    seed: Annotated[int, Option(min=0, help="Seed of the simulation and of the resampling.")] = 0,
) -> None:
    """The guided tour: simulate a world, track it, answer in it, talk in it; a verdict on each, and a report."""
    from dialgauge._version import __version__
    from dialgauge.demo import STEPS, Demo
    from dialgauge.report import write_page

    _fresh(folder)
    work = Demo(folder, dialogs, seed, lambda line: err.print(f"· {line}", style="dim"))
    sections = []
    for step in STEPS:
        answer = step(work)
        sections.append(answer.section)
        out.print(answer.section.title, style="bold")
        if answer.table is not None:
            out.print(answer.table.render("terminal"))
        out.print(answer.verdict)
        out.print()
    report = folder / "report.html"
    write_page(report, "dialgauge demo", sections, footer=f"dialgauge {__version__}, seed {seed}, {dialogs} dialogs")
    out.print(f"{len(work.store.list())} runs stored: dialgauge runs list --store {work.store.folder}")
    out.print(f"The report is in {report}")


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
