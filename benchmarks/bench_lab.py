"""What conversations cost: dialogues per CPU second, held and recorded, at act level and through text.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_lab.py

ConvLab-2's agents hold 59 conversations per CPU second at act level, 25 with their evaluator in the loop, and 3.1
through text with a linear NLU (figures of our specification, measured on other cores, so the ratios tell the order of
magnitude). Timed is :func:`hold_conversations` in this process: both agents, the database, the record as bytes and
back as dialogues. Scoring what was recorded is timed apart.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from dialgauge.agents import Level
from dialgauge.dialogue import Dialogue
from dialgauge.lab import AgentSpec, LabConfig, LoadedDomain, hold_conversations, open_town, scored_run

REPEATS = 5
CONVLAB = {"act": 59.0, "text": 3.1}
#: Conversations per CPU second that are wanted.
LEVELS: dict[Level, int] = {"act": 1000, "text": 200}


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


def main() -> None:
    """Measure the synthetic town, and MultiWOZ's where it is there."""
    measure("town", open_town(count=1000))
    data = os.environ.get("DIALGAUGE_DATA")
    goals = Path(data, "multiwoz21", "test.json.gz") if data else None
    if goals is None or not goals.exists():
        print("MultiWOZ's goals are not there (DIALGAUGE_DATA); the town alone was measured")
        return
    measure("multiwoz", open_town(str(goals)))


if __name__ == "__main__":
    main()
