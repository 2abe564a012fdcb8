"""What commands cost as they are typed, from files to a stored result: CPU seconds, and ratios to another checkout.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_commands.py [--base CHECKOUT] [--rounds 7] [--only users]

Each command is a process of its own that stores its run in a new folder; user and system time of the process count.
With ``--base`` the command of another checkout (its ``.venv``) runs in turn with ours, so that both meet the same
machine; the ratios are that of the medians, and that of the fastest rounds, which a busy machine disturbs less.
Bytecode is kept, as an installation has it, and the first round of each is not counted.

The flags file and the ten systems are made of the prediction files: what a tracker got right by MultiWOZ 2.1, and
systems that take each dialogue from one file or another.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import dialgauge
from dialgauge.formats.predictions.flags import FLAG_SLOTS

TRACKERS = ("augpt", "dots", "mintl", "ubar")
#: What of the other checkout's time a command may take.
GOALS = {
    "users score, 1,000 conversations": 0.7,
    "tasks score -m all, one system": 0.5,
    "score, one flags file": 0.6,
    "score, gold and one system": 0.75,
    "compare, ten systems": 0.65,
}


def write_flags(gold: Path, predicted: Path, target: Path) -> Path:
    """For each turn, whether each of the thirty slots is as in gold, by plain comparison."""
    wanted = {one.id.lower().removesuffix(".json"): one for one in dialgauge.read(gold).dialogues}
    flags: dict[str, dict[str, list[int]]] = {}
    for dialogue in dialgauge.read(predicted).dialogues:
        states = zip(dialogue.user_turns(), wanted[dialogue.id].user_turns(), strict=False)
        flags[dialogue.id] = {
            str(number): [
                int((said.predicted or {}).get(domain, {}).get(slot) == (meant.state or {}).get(domain, {}).get(slot))
                for domain, slots in FLAG_SLOTS.items()
                for slot in (name.replace("book_", "") for name in slots)
            ]
            for number, (said, meant) in enumerate(states)
        }
    target.write_text(json.dumps(flags))
    return target


def write_systems(files: list[Path], folder: Path, count: int = 10) -> list[Path]:
    """So many systems, each of which takes most dialogues from one file and the others from any."""
    generator = random.Random(0)
    read: list[dict[str, Any]] = [json.loads(gzip.decompress(path.read_bytes())) for path in files]
    whole = {name: [each[name] for each in read if name in each] for name in read[0]}
    made = []
    for number in range(count):
        chosen = {
            name: each[number % len(each)] if generator.random() < 0.6 else generator.choice(each)
            for name, each in whole.items()
        }
        made.append(folder / f"system{number}.json.gz")
        made[-1].write_bytes(gzip.compress(json.dumps(chosen).encode()))
    return made


def commands(data: Path, folder: Path) -> dict[str, list[str]]:
    """The words after ``dialgauge``, without those that store."""
    gold, predictions = data / "multiwoz21" / "test.json.gz", data / "dst_predictions"
    files = [predictions / f"{name}.json.gz" for name in TRACKERS]
    talks, values = data / "gcdf1" / "conversations", data / "gcdf1" / "multiwoz21_canonical_map.json.gz"
    flags = write_flags(gold, files[0], folder / "flags.json")
    words: list[list[str | Path]] = [
        ["users", "score", talks, "--canonical-map", values],
        ["tasks", "score", gold, files[0], "-m", "all"],
        ["score", flags],
        ["score", gold, files[0]],
        ["compare", gold, *write_systems(files, folder)],
    ]
    return {name: [str(word) for word in one] for name, one in zip(GOALS, words, strict=True)}


def cpu_seconds(python: Path | str, words: list[str], cache: Path) -> float:
    """User and system time of one command that stores its result in a new folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as store:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [python, "-m", "dialgauge", *words, "--run", "--store", store],
            env=environment | {"PYTHONPYCACHEPREFIX": str(cache)},
            capture_output=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print one line per command; exit code 1 where a ratio is above its goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="another checkout with its .venv")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="commands whose name begins so")
    chosen = parser.parse_args()
    data = Path(os.environ.get("DIALGAUGE_DATA") or Path(__file__).parents[2] / "shared" / "data").resolve()
    if not data.is_dir():
        print("the data are not here: set DIALGAUGE_DATA to the folder shared/data")
        return 0
    pythons: dict[str, Path | str] = {"new": sys.executable}
    if chosen.base:
        pythons = {"base": chosen.base.resolve() / ".venv" / "bin" / "python", **pythons}
    print(
        "| command | "
        + "".join(f"{name}, CPU s | " for name in pythons)
        + ("ratio | of the fastest | goal |" if chosen.base else "")
    )
    print("| --- " * (len(pythons) + (4 if chosen.base else 1)) + "|")
    kept = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, words in commands(data, folder).items():
            if not name.startswith(chosen.only):
                continue
            times: dict[str, list[float]] = {which: [] for which in pythons}
            for _ in range(chosen.rounds + 1):
                for which, python in pythons.items():
                    times[which].append(cpu_seconds(python, words, folder / "bytecode" / which))
            middle = {which: median(found[1:]) for which, found in times.items()}
            line = f"| {name} | " + "".join(f"{seconds:.2f} | " for seconds in middle.values())
            if chosen.base:
                ratio = middle["new"] / middle["base"]
                kept &= ratio <= GOALS[name]
                fastest = min(times["new"][1:]) / min(times["base"][1:])
                line += f"{ratio:.2f} | {fastest:.2f} | {GOALS[name]} |"
            print(line, flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
