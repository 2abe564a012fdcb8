"""``dialgauge demo``: the guided tour, on a world simulated on the spot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dialgauge import explorer
from dialgauge.cli.app import command
from dialgauge.cli.options import FOLDER, Whole
from dialgauge.cli.screen import err, out
from dialgauge.cli.writing import print_sentence, typed_command
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic

if TYPE_CHECKING:
    from dialgauge.runs import Run


_MARK = ".dialgauge-demo"


@command("demo")
@click.option("--out", "folder", type=FOLDER, default=Path("dialgauge-demo"), help="Folder to write to.")
@click.option("--dialogues", "dialogs", type=Whole(10, 2000), default=150, help="Dialogues per task and split.")
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for simulation and resampling.")
def app(folder: Path, dialogs: int, seed: int) -> None:
    """A guided tour: six questions about simulated dialogues, each answered in a sentence, and a report."""
    from dialgauge.demo import STEPS, Demo

    _fresh(folder)
    work = Demo(folder, dialogs, seed, lambda line: err.print(f"· {line}", style="dim"))
    runs: list[Run] = []
    for step in STEPS:
        answer = step(work)
        runs += answer.runs
        out.print(answer.question, style="bold")
        print_sentence(f"  {answer.sentence}")
    out.print()
    err.print("· writing the report", style="dim")
    out.print(f"Report: {explorer.write_report(folder / 'report.html', runs, title='dialgauge demo')}")
    out.print("Try next:")
    for line in _next_commands(folder):
        out.print(f"  {line}")


def _next_commands(folder: Path) -> list[str]:
    """Commands to try next: look at the runs, review a log, then check and score files of one's own.

    Before what is not installed stands the line that installs it.
    """
    from dialgauge.cli.explore import EXTRA, missing_explorer

    return [
        *([f"pip install 'dialgauge[{EXTRA}]'"] if missing_explorer() is not None else []),
        typed_command(f"dialgauge explore --store {folder / 'runs'}"),
        typed_command(f"dialgauge review {folder / 'desk' / 'log.json'} --domain depot"),
        typed_command("dialgauge data check YOUR_FILE"),
        typed_command("dialgauge score GOLD YOUR_PREDICTIONS"),
    ]


def _fresh(folder: Path) -> None:
    """An empty folder to work in; one that an earlier demo made is emptied, any other that holds files is refused."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARK).exists():
            raise DialgaugeError(
                "the folder is not empty and not from a demo; choose another with --out", file=str(folder)
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic(folder / _MARK) as scratch:
        scratch.write_text("made by dialgauge demo; a new demo may replace this folder\n")
