"""What scoring costs per turn from Parquet, how two workers compare with one, and how much memory a worker needs.

    python benchmarks/bench_scale.py                    10 million turns, scored by one worker and by two
    python benchmarks/bench_scale.py --memory           10 and 100 million turns that are made on the fly, not kept
    python benchmarks/bench_scale.py --whole 2 --millions 100     files to stored run with two workers: time and memory

Turns are codes: gold and predicted states of 30 slots, ten turns a dialogue, five filled slots at the end of each.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars

from dialgauge.engine import Unit, Work, WorkPlace, run
from dialgauge.formats import list_shards
from dialgauge.measures import Resampling
from dialgauge.runs import Store
from dialgauge.tracking import DEFAULT_MEASURES, ShardSettings, ShardTask, ShardWork, score_shards

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


class Answer(NamedTuple):
    """What a worker says of one file."""

    worker: int
    begun: float
    ended: float
    cpu: float
    memory: float
    #: The sums themselves travel too, as they do in earnest.
    sums: bytes


class Timed(Work[Any, Path]):
    """Scores a file that lies there, or one that another process makes for the while."""

    def __init__(self) -> None:
        self._work = ShardWork(settings())

    def open(self) -> Any:
        return self._work.open()

    def do(self, state: Any, unit: Unit[Path]) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = unit.payload
            if not path.exists():
                path = Path(folder, path.name)
                write_elsewhere(path.parent, int(unit.key), int(unit.key) + 1)
            (shard,) = list_shards([str(path)])
            begun, cpu = time.perf_counter(), time.process_time()
            sums = self._work.do(state, Unit(unit.key, ShardTask(shard)))
            cpu = time.process_time() - cpu
        return msgspec.msgpack.encode(Answer(os.getpid(), begun, time.perf_counter(), cpu, peak(), sums))


def write_elsewhere(folder: Path, first: int, last: int) -> None:
    """Have files written by another process, so that the memory this takes is not counted here."""
    subprocess.run([sys.executable, __file__, "--write", str(folder), str(first), str(last)], check=True)


def peak() -> float:
    """The largest memory of this process in MB; what a process inherits of the one that started it does not count."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def timed(count: int, workers: int, folder: Path) -> list[Answer]:
    """What the workers of a pool said of some files."""
    units = [Unit(str(number), folder / f"part-{number:05}.parquet") for number in range(count)]
    answers = []
    for done in run(Timed(), units, workers=WorkPlace("pool", workers)):
        if done.content is None:
            raise SystemExit(done.failure)
        answers.append(Answer(*msgspec.msgpack.decode(done.content)))
    return answers


def rate(answers: list[Answer]) -> float:
    """Files per second while all workers work: from when the last has done its first file, to when one has no more.

    A file that is only partly in that time counts for that part.
    """
    by_worker: dict[int, list[Answer]] = {}
    for one in answers:
        by_worker.setdefault(one.worker, []).append(one)
    begun = max(min(one.ended for one in own) for own in by_worker.values())
    ended = min(max(one.ended for one in own) for own in by_worker.values())
    shares = (max(0.0, min(one.ended, ended) - max(one.begun, begun)) / (one.ended - one.begun) for one in answers)
    return sum(shares) / (ended - begun)


def children() -> float:
    """CPU seconds of the workers that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def speed(millions: int) -> dict[str, Any]:
    """One worker against two, in turns and several times over: the medians, since a machine is never quite quiet."""
    count = millions * 1_000_000 // SHARD
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_elsewhere(place, 0, count)
        rates: dict[int, list[float]] = {1: [], 2: []}
        answers: list[Answer] = []
        for workers in (1, 2) * REPEATS:
            answers = timed(count, workers, place)
            rates[workers].append(rate(answers) * SHARD)
        one, two = (median(rates[workers]) for workers in (1, 2))
        return {
            "turns": millions * 1_000_000,
            "turns per CPU second in a worker": round(SHARD / median(one.cpu for one in answers)),
            "turns per second of one worker, each time": [round(found) for found in rates[1]],
            "turns per second of two workers, each time": [round(found) for found in rates[2]],
            "efficiency from one to two workers": round(two / one / 2, 3),
            "MB per worker": round(max(one.memory for one in answers)),
            "bytes that come back per dialogue": round(
                sum(len(one.sums) for one in answers) / (count * SHARD / TURNS), 1
            ),
        }


def whole(millions: int, workers: int) -> dict[str, Any]:
    """The whole work: seconds, and what the process that puts the sums together takes of them."""
    count = millions * 1_000_000 // SHARD
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_elsewhere(place, 0, count)
        size = sum(path.stat().st_size for path in place.glob("*.parquet"))
        store = Store(place / "runs")
        own, workers_own, wall = time.process_time(), children(), time.perf_counter()
        scored = score_shards(
            [str(place / "*.parquet")], ShardSettings(list(DEFAULT_MEASURES), "verbatim", "intersection", []),
            store=store, resampling=Resampling(), workers=WorkPlace("pool", workers),
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
            "driver MB": round(peak()),
            "bytes of files per turn": round(size / (millions * 1e6), 2),
            "JGA": float(scored[0]["JGA"]),
        }


def memory() -> dict[str, Any]:
    """The memory of a worker that scores 10 and 100 million turns."""
    found: dict[str, Any] = {}
    for millions in (10, 100):
        with tempfile.TemporaryDirectory() as folder:
            answers = timed(millions * 1_000_000 // SHARD, 2, Path(folder))
        found[f"{millions} million turns"] = {"MB per worker": round(max(one.memory for one in answers))}
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--whole", type=int, metavar="WORKERS")
    parser.add_argument("--millions", type=int, default=10)
    parser.add_argument("--write", nargs=3, metavar=("FOLDER", "FIRST", "LAST"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.write:
        for number in range(int(chosen.write[1]), int(chosen.write[2])):
            write_shard(Path(chosen.write[0], f"part-{number:05}.parquet"), number)
        sys.exit()
    if chosen.memory:
        found = memory()
    else:
        found = whole(chosen.millions, chosen.whole) if chosen.whole else speed(chosen.millions)
    json.dump(found, sys.stdout, indent=2)
    print()
