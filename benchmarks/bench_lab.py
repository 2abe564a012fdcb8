"""What conversations cost: dialogues per CPU second, held and recorded, at act level and through text.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_lab.py [--base CHECKOUT] [--rounds 5]

ConvLab-2's agents hold 59 conversations per CPU second at act level, 25 with their evaluator in the loop, and 3.1
through text with a linear NLU (figures of our specification, measured on other cores, so the ratios tell the order of
magnitude). Timed is :func:`hold_conversations` in this process: both agents, the database, the record as bytes and
back as dialogues. Scoring what was recorded is timed apart.

With ``--base`` instead the command as it is typed, from start to the stored, scored run, in turn with another checkout
(its ``.venv``): user and system time of 1,000 conversations, less those of one, which are the start.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench_commands import cpu_seconds

from dialgauge.agents import Level
from dialgauge.dialogue import Dialogue
from dialgauge.lab import AgentSpec, LabConfig, LoadedDomain, hold_conversations, open_town, scored_run

REPEATS = 5
CONVLAB = {"act": 59.0, "text": 3.1}
#: Conversations per CPU second that are wanted.
LEVELS: dict[Level, int] = {"act": 1000, "text": 200}
#: How many times as fast as another checkout the command is to be.
FASTER = 2.0


def seconds(town: LoadedDomain, sitting: LabConfig) -> tuple[float, list[Dialogue]]:
    """CPU seconds, the fastest of several times, and the conversations."""
    best, held = float("inf"), []
    for _ in range(REPEATS):
        start = time.process_time()
        held = list(hold_conversations(town.again, town.goals, sitting))
        best = min(best, time.process_time() - start)
    return best, held


def measure(name: str, town: LoadedDomain) -> None:
    """Print the rates of both levels in one town."""
    for level, limit in LEVELS.items():
        sitting = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"), level=level)
        took, held = seconds(town, sitting)
        start = time.process_time()
        run = scored_run(held, town, sitting, resamples=0)
        scoring = time.process_time() - start
        rate = len(held) / took
        success = run.scores["Success(rules=strict)"].value
        print(
            f"{name:<9} {level:<4} {rate:6,.0f} dialogues per CPU s (wanted {limit:,}), "
            f"{rate / CONVLAB[level]:.0f} times ConvLab-2; scored three ways in {scoring:.2f} s; strict {success:.3f}"
        )


def beside(base: Path, rounds: int) -> int:
    """Print how many times as fast as another checkout the command is; exit code 1 where that is too few."""
    pythons = {"base": base.resolve() / ".venv" / "bin" / "python", "new": Path(sys.executable)}
    times: dict[str, list[float]] = {which: [] for which in pythons}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(rounds + 1):
            for which, python in pythons.items():
                start, whole = (
                    cpu_seconds(python, ["lab", "run", "-n", number], Path(scratch, which)) for number in ("1", "1000")
                )
                times[which].append(whole - start)
    base_s, new_s = (median(taken[1:]) for taken in times.values())
    print(
        f"1,000 conversations, start-up apart: {base_s:.2f} CPU s before, {new_s:.2f} now, {base_s / new_s:.2f} times "
        f"as fast (wanted {FASTER}); of the fastest rounds {min(times['base'][1:]) / min(times['new'][1:]):.2f}"
    )
    return 0 if base_s >= FASTER * new_s else 1


def main() -> int:
    """Measure the synthetic town, and MultiWOZ's where it is there; or the command beside another checkout's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="another checkout with its .venv")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    if chosen.base:
        return beside(chosen.base, chosen.rounds)
    measure("town", open_town(count=1000))
    data = os.environ.get("DIALGAUGE_DATA")
    goals = Path(data, "multiwoz21", "test.json.gz") if data else None
    if goals is None or not goals.exists():
        print("MultiWOZ's goals are not there (DIALGAUGE_DATA); the town alone was measured")
        return 0
    measure("multiwoz", open_town(str(goals)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
