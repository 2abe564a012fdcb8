"""The commands that take an engine, on small files: what each of them stores, to the byte.

``python -m support.engine_commands FILES STORE all [OPTIONS...]`` runs all of them with the options, and
``python -m support.engine_commands FILES STORE NUMBER SIZE [OPTIONS...]`` one of them, on files of that size.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.cli import main
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats import write
from dialgauge.runs import Store

#: What two runs of the same thing may differ in.
_PASSING = ("id", "created", "command")


def prepare(folder: Path, size: int = 1) -> None:
    """The files that the commands read; ``size`` times as many, and larger."""
    (folder / "parts").mkdir(parents=True)
    for part in range(6 * size):
        talks = [_talk(number) for number in range(part, 60 * size * size, 6 * size)]
        write(talks, folder / f"parts/{part:03}.jsonl", format="native")
    _called(["babi", "simulate", "--out", str(folder / "babi"), "--tasks", "1,2", "--dialogues", str(8 * size)])


def _talk(number: int) -> Dialogue:
    chance = random.Random(number)
    states: list[State] = [{"hotel": {"area": (chance.choice(["north", "south"]),)}} for _ in range(3)]
    turns = [Turn(speaker="user", state=state, predicted=chance.choice(states)) for state in states]
    return Dialogue(id=f"talk{number}", turns=tuple(turns), domains=("hotel", "train"))


def commands(folder: Path, size: int = 1) -> list[list[str]]:
    """The command lines, without engine and store."""
    models = "rules,tfidf" if size == 1 else "rules,tfidf,tfidf-type,nearest"
    return [
        ["score", str(folder / "parts")],
        ["lab", "run", "--count", str(24 * size * size), "--seed", "3"],
        ["babi", "table", "--data", str(folder / "babi"), "--tasks", "1,2", "--models", models],
    ]


def _called(arguments: list[str]) -> None:
    try:
        main(arguments)
    except SystemExit as stop:
        if stop.code not in (0, None):
            raise


def stored_content(store: Path) -> dict[str, Any]:
    """Everything in a store but what passes: manifests, and the checksums of all tables, dialogues too."""
    content: dict[str, Any] = {}
    for run in Store(store).survey().runs:
        run.verify()
        facts = msgspec.to_builtins(run.manifest)
        name = f"{run.kind} {run.name} {facts['config']}"
        tables = {table: info.sha256 for table, info in run.tables.items()}
        content[name] = {key: value for key, value in facts.items() if key not in _PASSING} | {"bytes": tables}
    return content


if __name__ == "__main__":
    files, store, which, *options = sys.argv[1:]
    every = commands(Path(files), 1 if which == "all" else int(options.pop(0)))
    for command in every if which == "all" else [every[int(which)]]:
        _called([*command, "--store", store, *options])
