"""What scoring costs per turn from Parquet, how two workers compare with one, and how much memory a worker needs.

    python benchmarks/bench_scale.py                    10 million turns, scored by one worker and by two
    python benchmarks/bench_scale.py --memory           10 and 100 million turns that are made on the fly, not kept
    python benchmarks/bench_scale.py --whole 2 --millions 100     files to stored run with two workers: time and memory

Turns are codes: gold and predicted states of 30 slots, ten turns a dialogue, five filled slots at the end of each.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np
import polars

from dialgauge.engine import Unit, Work, WorkPlace, run
from dialgauge.formats import list_shards
from dialgauge.measures import Resampling
from dialgauge.runs import Store
from dialgauge.tracking import DEFAULT_MEASURES, chosen_measures, score_shards
from dialgauge.tracking.shard_work import ShardSettings, ShardTask, ShardWork

SLOTS, TURNS = 30, 10
#: Turns of one file.
SHARD = 500_000
#: How often one worker and two are compared.
REPEATS = 5


def write_shard(path: Path, number: int, turns: int = SHARD) -> None:
    """A table of codes in which dialogues fill slots as they go on and a tracker errs in one of twenty."""
    random = np.random.default_rng(number)
    dialogues = turns // TURNS
    begin = random.integers(0, 2 * TURNS, (SLOTS, dialogues, 1), np.int8)
    turn = np.arange(TURNS, dtype=np.int8)[None, None, :]
    value = random.integers(1, 200, (SLOTS, dialogues, 1), np.int16)
    gold = np.where((turn >= begin) & (value % 3 == 0), value, 0).astype(np.int32)
    wrong = random.random((SLOTS, dialogues, 1)) < 0.05
    predicted = np.where(wrong, gold // 2, gold).astype(np.int32)
    columns: dict[str, Any] = {
        "dialogue": np.repeat(np.arange(dialogues) + number * dialogues, TURNS),
        "turn": np.tile(np.arange(TURNS, dtype=np.int32), dialogues),
    }
    columns |= {f"gold:d{slot // 6}-s{slot}": gold[slot].ravel() for slot in range(SLOTS)}
    columns |= {f"pred:d{slot // 6}-s{slot}": predicted[slot].ravel() for slot in range(SLOTS)}
    polars.DataFrame(columns).write_parquet(path, row_group_size=1 << 18)


def settings() -> ShardSettings:
    """All default measures."""
    return ShardSettings(measures=list(DEFAULT_MEASURES), profile="verbatim", coverage="intersection", exclude=[])


class Timed(Work[Any, Path]):
    """Scores a file that lies there, or one that it makes for the while; gives CPU seconds and the largest memory."""

    def __init__(self, turns: int) -> None:
        self._turns, self._work = turns, ShardWork(settings())

    def open(self) -> Any:
        return self._work.open()

    def do(self, state: Any, unit: Unit[Path]) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = unit.payload
            if not path.exists():
                path = Path(folder, path.name)
                write_shard(path, int(unit.key), self._turns)
            (shard,) = list_shards([str(path)])
            before = time.process_time()
            content = self._work.do(state, Unit(unit.key, ShardTask(shard)))
            seconds = time.process_time() - before
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return msgspec.msgpack.encode((seconds, memory, len(content)))


def timed(count: int, workers: int, folder: Path) -> tuple[float, float, float, float]:
    """Wall seconds, CPU seconds of scoring, largest memory of a worker in MB, bytes that came back."""
    units = [Unit(str(number), folder / f"part-{number:05}.parquet") for number in range(count)]
    begun, spent, memory, size = 0.0, 0.0, 0.0, 0
    for place, done in enumerate(run(Timed(SHARD), units, workers=WorkPlace("pool", workers))):
        if done.content is None:
            raise SystemExit(done.failure)
        seconds, most, came = msgspec.msgpack.decode(done.content)
        spent, memory, size = spent + seconds, max(memory, most), size + came
        if place < workers:  # processes have started and imported what they need
            begun, spent = time.perf_counter(), 0.0
    return time.perf_counter() - begun, spent, memory, size


def children() -> float:
    """CPU seconds of the workers that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def speed(millions: int) -> dict[str, Any]:
    """One worker against two, in turns and several times over: the medians, since a machine is never quite quiet."""
    count = millions * 1_000_000 // SHARD
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(count):
            write_shard(place / f"part-{number:05}.parquet", number)
        rates: dict[int, list[float]] = {1: [], 2: []}
        per_cpu: list[float] = []
        for workers in (1, 2) * REPEATS:
            seconds, cpu, memory, size = timed(count, workers, place)
            rates[workers].append((count - workers) * SHARD / seconds)
            per_cpu.append((count - workers) * SHARD / cpu)
        one, two = (median(rates[workers]) for workers in (1, 2))
        return {
            "turns": millions * 1_000_000,
            "turns per CPU second in a worker": round(median(per_cpu)),
            "turns per second of one worker, each time": [round(rate) for rate in rates[1]],
            "turns per second of two workers, each time": [round(rate) for rate in rates[2]],
            "efficiency from one to two workers": round(two / one / 2, 3),
            "MB per worker": round(memory),
            "bytes that come back per dialogue": round(size / (count * SHARD / TURNS), 1),
        }


def whole(millions: int, workers: int) -> dict[str, Any]:
    """The whole work: seconds, and what the process that puts the sums together takes of them."""
    count = millions * 1_000_000 // SHARD
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(count):
            write_shard(place / f"part-{number:05}.parquet", number)
        size = sum(path.stat().st_size for path in place.glob("*.parquet"))
        store = Store(place / "runs")
        own, workers_own, wall = time.process_time(), children(), time.perf_counter()
        scored = score_shards(
            [str(place / "*.parquet")], measures=chosen_measures(None), profile="verbatim", store=store,
            resampling=Resampling(), workers=WorkPlace("pool", workers),
        )  # fmt: skip
        store.add(scored.runs[0])
        seconds, driver = time.perf_counter() - wall, time.process_time() - own
        spent = driver + children() - workers_own
        return {
            "turns": millions * 1_000_000,
            "workers": workers,
            "seconds": round(seconds, 2),
            "turns per CPU second, files to stored run": round(millions * 1e6 / spent),
            "driver CPU seconds": round(driver, 2),
            "driver MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            "bytes of files per turn": round(size / (millions * 1e6), 2),
            "JGA": scored[0]["JGA"],
        }


def memory() -> dict[str, Any]:
    """The memory of a worker that scores 10 and 100 million turns."""
    found: dict[str, Any] = {}
    for millions in (10, 100):
        with tempfile.TemporaryDirectory() as folder:
            _, cpu, most, size = timed(millions * 1_000_000 // SHARD, 2, Path(folder))
        found[f"{millions} million turns"] = {
            "MB per worker": round(most), "MB that came back": round(size / 1e6),
            "MB of this process": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            "turns per CPU second in a worker": round((millions * 1e6 - 2 * SHARD) / cpu),
        }  # fmt: skip
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--whole", type=int, metavar="WORKERS")
    parser.add_argument("--millions", type=int, default=10)
    chosen = parser.parse_args()
    if chosen.memory:
        found = memory()
    else:
        found = whole(chosen.millions, chosen.whole) if chosen.whole else speed(chosen.millions)
    json.dump(found, sys.stdout, indent=2)
    print()
