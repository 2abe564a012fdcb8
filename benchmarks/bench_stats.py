"""How long resampling takes: 10,000 resamples of ten systems over 1,000 dialogues and eight measures.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/bench_stats.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np

from dialgauge.stats import paired_bootstrap, paired_randomisation, ratio_intervals

SYSTEMS, MEASURES, DIALOGUES, RESAMPLES = 10, 8, 1000, 10_000


def main() -> None:
    """Print the seconds each kind of resampling takes, as JSON."""
    random = np.random.default_rng(0)
    den = np.broadcast_to(random.integers(3, 14, size=(MEASURES, DIALOGUES)), (SYSTEMS, MEASURES, DIALOGUES)).astype(
        float
    )
    num = random.binomial(den.astype(int), 0.5).astype(float)
    work: dict[str, Callable[[], object]] = {
        "intervals": lambda: ratio_intervals(
            num.reshape(-1, DIALOGUES), den.reshape(-1, DIALOGUES), resamples=RESAMPLES
        ),
        "paired bootstrap": lambda: paired_bootstrap(num, den, resamples=RESAMPLES),
        "paired randomisation": lambda: paired_randomisation(num, den, resamples=RESAMPLES),
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
