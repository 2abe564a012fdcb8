"""How long the rankers without training take on the released bAbI files, and how much memory.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_rankers.py [--tasks 1,6]

TF-IDF and nearest neighbour over all tasks and splits must take under 60 seconds and under 1 GB. The time per reply is
that of a learned ranker of the paper's size among the 4,212 candidates of task 5, asked one reply at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterable
from pathlib import Path

from dialgauge.rankers import EVALUATED, Ranker, RankingTask, load_task, ranker_class
from dialgauge.rankers.episode import points_of
from dialgauge.responses import evaluate

ALONE = 300


def main() -> None:
    """Print seconds, peak memory and milliseconds per reply, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default="1,2,3,4,5,6")
    tasks = [int(number) for number in parser.parse_args().tasks.split(",")]
    root = os.environ.get("DIALGAUGE_DATA", "")
    folder = Path(root) / "babi"
    if not root or not folder.is_dir():
        print("no data: set DIALGAUGE_DATA to the folder that holds babi/")
        return
    report: dict[str, object] = {"tasks": tasks, **_whole_table(folder, tasks)}
    report["peak memory MB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    report["ms per reply, one at a time"] = _alone(load_task(folder, 5, ("trn", "dev")))
    print(json.dumps(report, indent=2))


def _whole_table(folder: Path, tasks: Iterable[int]) -> dict[str, float]:
    start, cpu = time.perf_counter(), time.process_time()
    for number in tasks:
        task = load_task(folder, number)
        for name in ("tfidf", "nearest"):
            ranker = ranker_class(name)()
            ranker.fit(task)
            for split in EVALUATED:
                if split in task.splits:
                    evaluate(ranker, task.split(split))
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "CPU seconds": round(time.process_time() - cpu, 1),
    }


def _alone(task: RankingTask) -> dict[str, float]:
    points = points_of(task.split("dev"))[:ALONE]
    milliseconds = {}
    for name in ("tfidf", "nearest", "memn2n", "typed"):
        ranker = ranker_class(name)()
        assert isinstance(ranker, Ranker)
        ranker.options = {"epochs": "1"} if ranker.seeded else {}
        ranker.fit(task)
        ranker.scores(points[:1])
        start = time.process_time()
        for point in points:
            ranker.scores([point])
        milliseconds[name] = round(1000 * (time.process_time() - start) / len(points), 3)
    return milliseconds


if __name__ == "__main__":
    main()
