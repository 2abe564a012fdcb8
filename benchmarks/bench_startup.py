"""How long ``dialgauge --help`` takes beside a bare ``python -c pass``: at most 3 times as long.

Run it with ``python benchmarks/bench_startup.py``. Each figure is the fastest of many runs, taken in turn, because
everything that disturbs a start only makes it slower. Exits with 1 when a ratio is above the limit.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 3.0
ROUNDS = 40


def seconds(command: list[str]) -> float:
    """The time of one run."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> int:
    """Print one line per way to start, and whether all keep the limit."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -m dialgauge --help": [sys.executable, "-m", "dialgauge", "--help"],
    }
    script = shutil.which("dialgauge", path=str(Path(sys.executable).parent))
    if script:
        commands["dialgauge --help (console script)"] = [script, "--help"]
    times = {name: [seconds(command)] for name, command in commands.items()}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(seconds(command))
    bare = min(times["python -c pass"])
    ratios = {name: min(taken) / bare for name, taken in times.items()}
    for name, ratio in ratios.items():
        print(f"{name:<34} {1000 * min(times[name]):7.1f} ms  {ratio:5.2f} times bare Python")
    kept = max(ratios.values()) <= LIMIT
    print(f"limit {LIMIT} times: {'kept' if kept else 'BROKEN'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
