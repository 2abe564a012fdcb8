"""The five commands that take an engine, on small files: what each of them stores, to the byte.

python -m support.five_commands FILES STORE [OPTIONS...]      runs all five with the options
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
from support.agent_results import tau_file

#: What two runs of the same thing may differ in.
_PASSING = ("id", "created", "command")


def prepare(folder: Path) -> None:
    """The files that the commands read."""
    (folder / "parts").mkdir(parents=True)
    for part in range(6):
        write([_talk(number) for number in range(part, 60, 6)], folder / f"parts/{part}.jsonl", format="native")
    chance = random.Random(1)
    for name in ("one", "two", "three", "four"):
        tau_file(folder / f"{name}.json", {f"t{n}": "".join(chance.choices("+-", k=3)) for n in range(8)})
    _called(["lab", "run", "--count", "12", "--store", str(folder / "runs"), "--out", str(folder / "talks")])
    _called(["babi", "simulate", "--out", str(folder / "babi"), "--tasks", "1,2", "--dialogs", "8"])


def _talk(number: int) -> Dialogue:
    chance = random.Random(number)
    states: list[State] = [{"hotel": {"area": (chance.choice(["north", "south"]),)}} for _ in range(3)]
    turns = [Turn(speaker="user", state=state, predicted=chance.choice(states)) for state in states]
    return Dialogue(id=f"talk{number}", turns=tuple(turns), domains=("hotel", "train"))


def commands(folder: Path) -> list[list[str]]:
    """The command lines, without engine and store."""
    talks = sorted(str(path) for path in (folder / "talks").rglob("dialogues_*.json"))
    return [
        ["score", str(folder / "parts"), "--run"],
        ["tasks", "score", *(str(folder / f"{name}.json") for name in ("one", "two", "three", "four")), "--run"],
        ["users", "score", str(Path(talks[0]).parent), "--run"],
        ["lab", "run", "--count", "24", "--seed", "3"],
        ["babi", "table", "--data", str(folder / "babi"), "--tasks", "1,2", "--models", "rules,tfidf"],
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
    files, store, *options = sys.argv[1:]
    for command in commands(Path(files)):
        _called([*command, "--store", store, *options])
