"""Commands on a real Ray cluster of three nodes while workers, nodes and the commands themselves are killed at random.

python benchmarks/ray_kills.py [kills] [seed]

Every command is run once undisturbed and without a cluster, then again and again on the cluster under fire until so
many kills were done; after each time its files must be those of the undisturbed run, byte for byte. Prints Markdown.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.five_commands import prepare, stored_content  # noqa: E402
from support.ray_machines import Machines, bytes_of, machines, python, under_fire  # noqa: E402

PAYLOADS = [f"sleep {number % 4 / 8}" for number in range(80)]

#: How much the five commands get to do, so that they take some seconds.
SIZE = 8
#: Where the files lie that they read.
FILES = Path(tempfile.gettempdir()) / f"dialgauge-kills-{SIZE}"

#: Name, the command line for the address of a cluster (None: undisturbed, without one), and what of its working folder
#: must be the same. A command that was killed must go on where it was when it is run again.
Command = tuple[str, Callable[[str | None], list[str]], Callable[[Path], Any]]


def units(address: str | None) -> list[str]:
    """Units that take up to half a second each."""
    return python(ROOT / "tests" / "engine" / "ray_works.py", address or "alone", "stored.all", *PAYLOADS)


def one_of_five(number: int) -> Callable[[str | None], list[str]]:
    """The line of one of the five commands that take an engine."""

    def line(address: str | None) -> list[str]:
        where = ["--engine", "ray", "--address", address] if address else ["--engine", "local"]
        called = [sys.executable, "-m", "support.five_commands", str(FILES), "store", str(number), str(SIZE)]
        return [*called, *where]

    return line


COMMANDS: list[Command] = [
    ("80 units", units, lambda folder: bytes_of(folder / "stored")),
    *(
        (name, one_of_five(number), lambda folder: stored_content(folder / "store"))
        for number, name in enumerate(("score", "tasks score", "users score", "lab run", "babi table"))
    ),
]


def survive(command: Command, cluster: Machines, chance: random.Random, kills: int, root: Path) -> Counter[str]:
    """Run a command under fire until so many kills were done; its files must be those of the undisturbed run."""
    name, line, compared = command
    whole = fresh(root / "whole")
    under_fire(line(None), cluster, chance, 0, folder=whole)
    toll: Counter[str] = Counter()
    while (left := kills - toll["worker"] - toll["node"] - toll["driver"]) > 0:
        folder = fresh(root / "shot")
        toll += under_fire(line(cluster.address), cluster, chance, left, folder=folder)
        toll["runs"] += 1
        if compared(folder) != compared(whole):
            sys.exit(f"{name}: other bytes after {dict(toll)}; see {folder}")
    return toll


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main(kills: int = 50, seed: int = 0) -> None:
    """Share the kills among the commands."""
    os.environ["PYTHONPATH"] = str(ROOT / "tests")
    if not FILES.exists():
        prepare(FILES, SIZE)
    chance = random.Random(seed)
    print("| command | workers killed | nodes killed | drivers killed | whole runs | bytes |")
    print("|---|---|---|---|---|---|")
    with machines({"one": {}, "two": {}, "three": {}}) as cluster:
        for number, command in enumerate(COMMANDS):
            share = kills // len(COMMANDS) + (number < kills % len(COMMANDS))
            with tempfile.TemporaryDirectory(prefix="ray-kills-") as folder:
                toll = survive(command, cluster, chance, share, Path(folder))
            counts = " | ".join(str(toll[what]) for what in ("worker", "node", "driver", "runs"))
            print(f"| {command[0]} | {counts} | equal |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
