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

import numpy as np

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.measures import Count, Coverage, Score, Scores
from dialgauge.runs import Run, Store, new_run

DIALOGUES, MEASURES, TURNS = 1_000, 10, 14


def scores() -> Scores:
    """Scores of the usual size."""
    num, den = np.arange(DIALOGUES, dtype=np.float64) % 7, np.full(DIALOGUES, 7.0)
    value = Score(value=float(num.sum() / den.sum()), unit="share", higher_is_better=True, signature="version:0")
    names = [f"M{number}" for number in range(MEASURES)]
    count = Count(expected=DIALOGUES, read=DIALOGUES, scored=DIALOGUES, failed=0)
    return Scores(
        dialogues=[f"MUL{number:04d}.json" for number in range(DIALOGUES)],
        sums=dict.fromkeys(names, (num, den)),
        scores=dict.fromkeys(names, value),
        coverage=Coverage({"dialogues": count}),
    )


def corpus() -> list[Dialogue]:
    """Dialogues of the usual length."""
    turns = tuple(
        Turn(
            speaker="system" if number % 2 else "user",
            text=f"turn {number} of a dialogue about a cheap hotel in the north",
        )
        for number in range(TURNS)
    )
    return [Dialogue(id=name, turns=turns) for name in scores().dialogues]


def timed(what: str, action: Callable[[], object], rounds: int = 3) -> None:
    """Print the fastest of some rounds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    print(f"{what:<52} {1000 * min(taken):9.1f} ms")


def store_one(store: Store, measured: Scores, dialogues: list[Dialogue] | None) -> Run:
    """Store one run."""
    return store.add(
        new_run(kind="tracking", name="bench", scores=measured, corpus=dialogues, config={"profile": "exact"})
    )


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
    measured, dialogues = scores(), corpus()
    rows = DIALOGUES * MEASURES
    corpus_values = "SELECT run, measure, sum(num) / sum(den) FROM dialogue_scores GROUP BY ALL"
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "runs")
        timed("store the first run, with its dialogues (durable)", lambda: store_one(store, measured, dialogues), 1)
        timed(f"store a run of {rows:,} rows on the same dialogues", lambda: store_one(store, measured, dialogues), 10)
        timed(f"store a run of {rows:,} rows without dialogues", lambda: store_one(store, measured, None), 10)
        run = store.list()[-1]
        timed("read it back, checksum compared", lambda: store.open(run.id).table("dialogue_scores"), 10)
        timed("read its dialogues back", lambda: list(store.open(store.list()[0].id).dialogues()))
        timed("SQL over the first runs", lambda: store.sql(corpus_values))
        fill(store, store.open(run.id), count)
        timed(f"list {count:,} runs", store.list)
        timed(f"SQL: all corpus values of {count:,} runs", lambda: store.sql(corpus_values))
        timed(f"SQL: manifests of {count:,} runs only", lambda: store.sql("SELECT count(*) FROM runs"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
