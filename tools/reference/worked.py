"""Worked examples: the commands that rooms name, run for real over ``docs/examples``; pages quote what they stored.

forms("JGA")        the stored values of a measure in all its forms, with the sums of every dialogue
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tools.reference.room_notes import room_notes

from dialgauge import Run, Store
from dialgauge.cli import main
from dialgauge.measures import Score, parse_measure

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


class Example(NamedTuple):
    """A command, the one before it that makes its files, if any, and the run that it stored."""

    name: str
    command: str
    made_by: str
    run: Run

    @property
    def commands(self) -> list[str]:
        """What to type, in order."""
        return [f"dialgauge {one}" for one in (self.made_by, self.command) if one]

    @property
    def files(self) -> list[str]:
        """The files of ``docs/examples`` that the commands read."""
        words = dict.fromkeys(word for one in self.commands for word in shlex.split(one))
        return [word for word in words if (EXAMPLES / word).is_file()]


class Form(NamedTuple):
    """One form of a measure in one example: the name it was stored under, and its score."""

    example: Example
    name: str
    score: Score

    @property
    def sums(self) -> list[tuple[str, float, float]]:
        """Dialogue, numerator and denominator; empty for what is no ratio of sums."""
        table = self.example.run.table("dialogue_scores")
        rows = table.filter(table["measure"] == self.name).select("dialogue", "num", "den").rows()
        return sorted((str(dialogue), float(num), float(den)) for dialogue, num, den in rows)


@cache
def worked_examples() -> tuple[Example, ...]:
    """Every example, run in a folder of its own; the runs stay readable until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="dialgauge-worked-"))
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    noted: dict[str, str | list[str]] = room_notes("examples")
    commands = {name: [said] if isinstance(said, str) else said for name, said in noted.items()}
    made = []
    # What makes files for others comes first.
    for name in sorted(commands, key=lambda name: len(commands[name])):
        *earlier, command = commands[name]
        before = set(_stored(folder))
        _run(command, folder)
        for new in sorted(set(_stored(folder)) - before):
            made_by = "".join(commands[one][-1] for one in earlier)
            made.append(Example(name, command, made_by, Store(folder / "runs").open(new)))
    return tuple(made)


def forms(measure: str) -> Iterator[Form]:
    """The forms of a measure, by card name, in all examples."""
    for example in worked_examples():
        for name, score in example.run.scores.items():
            if _card_name(name) == measure:
                yield Form(example, name, score)


@cache
def _card_name(name: str) -> str:
    return parse_measure(name).card.name


def _stored(folder: Path) -> list[str]:
    runs = folder / "runs"
    return [one.name for one in runs.iterdir() if (one / "run.json").exists()] if runs.exists() else []


def _run(command: str, folder: Path) -> None:
    """In this process: most of another one would be imports."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    own = {"DIALGAUGE_RUNS": str(folder / "runs"), "COLUMNS": "80"}
    with patch.dict(os.environ, own), chdir(folder), redirect_stdout(told), redirect_stderr(told):
        try:
            main(shlex.split(command))
            code: object = 0
        except SystemExit as stop:
            code = stop.code or 0
    if code not in (0, 1):
        told.seek(0)
        raise RuntimeError(f"the worked example 'dialgauge {command}' failed:\n{told.read()}")
