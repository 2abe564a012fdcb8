"""What a start costs: ``dialgauge --help`` beside bare Python, ``score`` of one turn beside importing its libraries.

Run it with ``python benchmarks/bench_startup.py``. Each figure is the least CPU time (user and system) of many runs, in
turn, because everything that disturbs a start only makes it slower. Exits with 1 when a ratio is above its limit.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 20
PYTHON = [sys.executable, "-m", "dialgauge"]
#: A command, what it is compared with, and how many times that it may cost.
LIMITS = {
    "python -m dialgauge --help": ("bare Python", 3.0),
    "dialgauge --help": ("bare Python", 3.0),
    "dialgauge score": ("libraries", 2.0),
}


def cpu_seconds(command: list[str], folder: Path) -> float:
    """User and system time of one run."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_pair(folder: Path) -> list[str]:
    """A gold file and a prediction of one turn."""
    state = {"hotel": {"pricerange": ["cheap"]}}
    for name, key in (("gold.jsonl", "state"), ("predicted.jsonl", "predicted")):
        dialogue = {"id": "d1", "turns": [{"speaker": "user", "text": "a cheap hotel please", key: state}]}
        (folder / name).write_text(json.dumps(dialogue) + "\n")
    return ["gold.jsonl", "predicted.jsonl"]


def main() -> int:
    """Print one line per command, and whether all keep their limits."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        script = shutil.which("dialgauge", path=str(Path(sys.executable).parent))
        commands = {
            "bare Python": [sys.executable, "-c", "pass"],
            "libraries": [sys.executable, "-c", "import msgspec, numpy, numpy.random"],
            "python -m dialgauge --help": [*PYTHON, "--help"],
            "dialgauge --help": [script, "--help"] if script else [*PYTHON, "--help"],
            "dialgauge score": [*PYTHON, "score", *write_pair(folder)],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(cpu_seconds(command, folder))
    kept = True
    for name, (floor, limit) in LIMITS.items():
        ratio = min(times[name]) / min(times[floor])
        kept &= ratio <= limit
        print(f"{name:<28} {1000 * min(times[name]):6.0f} ms  {ratio:5.2f} times {floor} (limit {limit})")
    print("limits kept" if kept else "limits BROKEN")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
