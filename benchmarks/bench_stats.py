"""How long a comparison takes: ten systems over 1,000 dialogues and eight measures, 10,000 resamples.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/bench_stats.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dialgauge.comparison import compare_runs, paired_scores
from dialgauge.measures import Score, Scores
from dialgauge.runs import Run, new_run
from dialgauge.stats import paired_bootstrap, paired_randomisation, ratio_intervals

SYSTEMS, MEASURES, DIALOGUES, RESAMPLES = 10, 8, 1000, 10_000


def run_of(system: int, num: NDArray[np.float64], den: NDArray[np.float64]) -> Run:
    """A system as a run in memory; ``num`` and ``den`` are (measures, dialogues)."""
    names = [f"M{number}" for number in range(MEASURES)]
    return new_run(
        kind="bench",
        name=f"system {system}",
        scores=Scores(
            dialogues=[f"MUL{number:04d}.json" for number in range(DIALOGUES)],
            sums={name: (num[place], den[place]) for place, name in enumerate(names)},
            scores={name: Score(value=0.5) for name in names},
        ),
    )


def main() -> None:
    """Print the seconds each part takes, as JSON."""
    random = np.random.default_rng(0)
    den = np.broadcast_to(random.integers(3, 14, size=(MEASURES, DIALOGUES)), (SYSTEMS, MEASURES, DIALOGUES)).astype(
        float
    )
    num = random.binomial(den.astype(int), 0.5).astype(float)
    runs = [run_of(system, num[system], den[system]) for system in range(SYSTEMS)]
    frames = {run.name: run.table("dialogue_scores") for run in runs}
    work: dict[str, Callable[[], object]] = {
        "tables to arrays": lambda: paired_scores(frames),
        "intervals": lambda: ratio_intervals(
            num.reshape(-1, DIALOGUES), den.reshape(-1, DIALOGUES), resamples=RESAMPLES
        ),
        "paired bootstrap": lambda: paired_bootstrap(num, den, resamples=RESAMPLES),
        "paired randomisation": lambda: paired_randomisation(num, den, resamples=RESAMPLES),
        "all of a comparison": lambda: compare_runs(runs, resamples=RESAMPLES),
    }
    seconds = {}
    for name, call in work.items():
        start, cpu = time.perf_counter(), time.process_time()
        call()
        seconds[name] = {
            "seconds": round(time.perf_counter() - start, 3),
            "CPU seconds": round(time.process_time() - cpu, 3),
        }
    print(json.dumps(seconds, indent=2))


if __name__ == "__main__":
    main()
