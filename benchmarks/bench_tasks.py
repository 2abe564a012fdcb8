"""What the task measures cost: one file of 7,372 responses, in CPU seconds beyond start-up and gold.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_tasks.py

The standard evaluator needs 4 to 24 s of CPU for Inform and Success of such a file: a figure of our specification
(section 16), measured on another machine, so the ratio tells the order of magnitude. The limits here are 0.15 s for
Inform and Success under both rule sets and 0.5 s for everything, intervals apart. The file is read each time, and
nothing is remembered of it from one time to the next. What depends on gold and the database alone, and so serves all
systems, is made before: references, what fits each goal, and the human responses' verdicts that a warning needs.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path

from dialgauge.tasks import GoldTasks, TaskEvaluation, TaskOptions, read_predictions
from dialgauge.tasks.delexical import _PIECES
from dialgauge.worlds.town import load_town

SYSTEMS = ("augpt", "dots", "mintl", "ubar", "hdsa", "lava", "sfn", "galaxy-policy")
JOB = ("Inform", "Success", "Inform(rules=grounded)", "Success(rules=grounded)")
STANDARD_SECONDS = 4.0
JOB_LIMIT, ALL_LIMIT = 0.15, 0.5
REPEATS = 6


def forget() -> None:
    """Empty what our functions, and sacreBLEU's, remember of texts."""
    _PIECES.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith(("dialgauge.tasks", "dialgauge.worlds.town", "sacrebleu.tokenizers")):
            holders = [module, *(value for value in vars(module).values() if isinstance(value, type))]
            for holder in holders:
                for value in list(vars(holder).values()):
                    if hasattr(value, "cache_clear"):
                        value.cache_clear()


def prepared(gold: GoldTasks, database: Path, options: TaskOptions) -> TaskEvaluation:
    """Gold, database and references, ready; the database was asked for what the goals and the humans say only."""
    evaluation = TaskEvaluation(gold, load_town(database), options=options)
    _ = gold.checksum, evaluation.town.checksum, evaluation.human_request_precision
    if evaluation.references and options.measures == ("all",):
        evaluation.references.statistics(dict.fromkeys(gold.dialogues, ()))
    return evaluation


def seconds(path: Path, gold: GoldTasks, database: Path, options: TaskOptions) -> float:
    """CPU seconds of reading and scoring one file, the fastest of several times."""
    best = float("inf")
    for _ in range(REPEATS):
        evaluation = prepared(gold, database, options)
        forget()
        gc.collect()
        gc.freeze()  # as the command does with what it keeps to its end
        start = time.process_time()
        scored = evaluation.score(read_predictions(path), human=False)
        best = min(best, time.process_time() - start)
        del scored  # outside the time: a command that has its scores throws nothing away
    return best


def main() -> int:
    """Measure and judge; exit code 1 when a limit is broken."""
    data = Path(os.environ.get("DIALGAUGE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    files = {name: data / "dst_predictions" / f"{name}.json.gz" for name in SYSTEMS}
    if not all(path.exists() for path in files.values()):
        print("the predictions are not here: set DIALGAUGE_DATA to the folder shared/data")
        return 0
    multiwoz = data / "multiwoz21"
    start = time.process_time()
    gold = TaskEvaluation(multiwoz / "test.json.gz").gold
    print(f"gold and database  {time.process_time() - start:.3f} s CPU")
    start = time.process_time()
    prepared(gold, multiwoz / "db", TaskOptions(measures=JOB))
    print(f"goals and humans   {time.process_time() - start:.3f} s CPU")
    job, everything = (TaskOptions(measures=measures, resamples=0) for measures in (JOB, ("all",)))
    slowest = {"job": 0.0, "all": 0.0}
    for name, path in files.items():
        of_job, of_all = (seconds(path, gold, multiwoz / "db", options) for options in (job, everything))
        slowest = {"job": max(slowest["job"], of_job), "all": max(slowest["all"], of_all)}
        print(f"{name:<18} Inform and Success {of_job:.3f} s, everything {of_all:.3f} s")
    print(
        f"slowest            Inform and Success {slowest['job']:.3f} s (limit {JOB_LIMIT}), "
        f"everything {slowest['all']:.3f} s (limit {ALL_LIMIT})"
    )
    print(
        f"{STANDARD_SECONDS / slowest['job']:.0f} times as fast as the standard evaluator's "
        f"{STANDARD_SECONDS:.0f} s (a figure of the specification, from another machine)"
    )
    return int(slowest["job"] > JOB_LIMIT or slowest["all"] > ALL_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
