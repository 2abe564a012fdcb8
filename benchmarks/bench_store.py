"""What the run store costs: storing a run, listing many, asking them with SQL.

Run it with ``python benchmarks/bench_store.py [RUNS]``. The runs are of the size a state-tracking measurement has
(1,000 dialogues by 10 measures); copies of one run fill the store, as what they hold does not matter here.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars

from dialgauge.runs.reader import Run
from dialgauge.runs.store import Store

DIALOGUES, MEASURES = 1_000, 10


def scores() -> polars.DataFrame:
    """A table ``dialogue_scores`` of the usual size."""
    rows = DIALOGUES * MEASURES
    return polars.DataFrame(
        {
            "dialogue": [f"MUL{number % DIALOGUES:04d}.json" for number in range(rows)],
            "measure": [f"M{number // DIALOGUES}" for number in range(rows)],
            "num": [float(number % 7) for number in range(rows)],
            "den": [7.0] * rows,
        }
    )


def timed(what: str, action: Callable[[], object], rounds: int = 3) -> None:
    """Print the fastest of some rounds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    print(f"{what:<52} {1000 * min(taken):9.1f} ms")


def store_one(store: Store, frame: polars.DataFrame) -> Run:
    """Store one run."""
    with store.create(kind="tracking", name="bench", config={"profile": "exact"}) as run:
        run.table("dialogue_scores", frame)
        run.scores = {"JGA": 0.5}
    return store.open(run.id)


def fill(store: Store, pattern: Run, count: int) -> None:
    """Fill the store with copies of a run; the tables share their bytes."""
    manifest = (pattern.path / "run.json").read_text()
    for number in range(count):
        name = f"20260101-{number:06d}-tracking-copy-{number % 65536:04x}"
        (store.folder / name).mkdir()
        (store.folder / name / "run.json").write_text(manifest.replace(pattern.id, name))
        os.link(pattern.path / "dialogue_scores.parquet", store.folder / name / "dialogue_scores.parquet")


def main(count: int) -> None:
    """Measure with an almost empty store and with a full one."""
    frame = scores()
    corpus_values = "SELECT run, measure, sum(num) / sum(den) FROM dialogue_scores GROUP BY ALL"
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "runs")
        timed(f"store a run of {frame.height:,} rows (durable)", lambda: store_one(store, frame), rounds=10)
        run = store.list()[0]
        timed("read it back, checksum compared", lambda: store.open(run.id).table("dialogue_scores"), rounds=10)
        timed("SQL over the first runs", lambda: store.sql(corpus_values))
        fill(store, store.open(run.id), count)
        timed(f"list {count:,} runs", store.list)
        timed(f"SQL: all corpus values of {count:,} runs", lambda: store.sql(corpus_values))
        timed(f"SQL: manifests of {count:,} runs only", lambda: store.sql("SELECT count(*) FROM runs"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
