"""How fast tracking is scored, as ratios measured in one run.

python benchmarks/bench_scoring.py                        # made-up data of MultiWOZ's size
DIALGAUGE_DATA=../shared/data python benchmarks/bench_scoring.py [--turns 10000000]

Targets: the whole suite at least 10 times as fast as the plain oracle of the tests; the command from file to table at
most twice the CPU time of json.load on the same files, start-up apart; 1,000 resamples cheaper than the scoring; ten
systems under four profiles read and encoded once; ten million turns from Parquet under 2 GB at a million a CPU second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import dialgauge
from dialgauge.dialogue import Dialogue, Turn

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dialgauge.engine import WorkPlace
from dialgauge.measures import Resampling, intervals
from dialgauge.runs import Store
from dialgauge.tracking import (
    DEFAULT_MEASURES,
    PreparedInputs,
    ShardSettings,
    chosen_measures,
    score_prepared,
    score_shards,
)
from dialgauge.values import SENSITIVITY_PROFILES, profile_named
from dialgauge.values.standard_profiles import MULTIWOZ_30
from tracking.oracle import Oracle, aligned


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def made_up(dialogues: int = 1000, turns: int = 7) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gold in the nested format and mwzeval predictions of MultiWOZ's size, as JSON values."""
    generator = random.Random(0)
    gold: dict[str, Any] = {}
    predicted: dict[str, Any] = {}
    for number in range(dialogues):
        state: dict[str, dict[str, str]] = {}
        name, rows, theirs = f"mul{number:04}", {}, []
        for turn in range(turns):
            for domain, slot in generator.sample(MULTIWOZ_30, 2):
                state.setdefault(domain, {})[slot] = f"value {generator.randrange(40)}"
            copy = {domain: dict(slots) for domain, slots in state.items()}
            rows[str(turn)] = {"gt": copy, "pr": {}}
            given = {d: {s: v for s, v in slots.items() if generator.random() > 0.05} for d, slots in copy.items()}
            theirs.append({"response": "i have found something for you", "state": given})
        gold[name], predicted[name] = rows, theirs
    return gold, predicted


@contextmanager
def corpus() -> Iterator[tuple[Path, list[Path]]]:
    """The gold file and prediction files: real ones where DIALGAUGE_DATA has them, made up otherwise."""
    root = os.environ.get("DIALGAUGE_DATA")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if root:
            real = Path(root)
            sources = [real / "multiwoz21" / "test.json.gz"]
            sources += [real / "dst_predictions" / f"{name}.json.gz" for name in ("augpt", "dots", "mintl", "ubar")]
            files = [place / source.name.removesuffix(".gz") for source in sources]
            for source, target in zip(sources, files, strict=True):
                target.write_bytes(gzip.decompress(source.read_bytes()))
        else:
            gold, predicted = made_up()
            files = [place / "gold.json", place / "system.json"]
            files[0].write_text(json.dumps(gold))
            files[1].write_text(json.dumps(predicted))
        yield files[0], files[1:]


def suite_against_oracle(gold: Sequence[Dialogue], predicted: Sequence[Dialogue]) -> dict[str, float]:
    """The whole suite on parsed dialogues, ours and the oracle's (which then has about as many measures)."""
    profile = profile_named("canon")
    measures = chosen_measures("all")

    def ours() -> None:
        score_prepared(PreparedInputs(gold, {"it": predicted}), measures, [profile], resampling=None)

    def oracle() -> None:
        Oracle(aligned(gold, predicted, profile), profile, 30).everything((0.25, 0.5, 0.75, 1.0), ("code",))

    fast, slow = cpu_seconds(ours), cpu_seconds(oracle, 1)
    counts = PreparedInputs(gold, {"it": predicted}).comparison("it", profile).counts
    usual = chosen_measures(None)
    resampling = cpu_seconds(lambda: intervals([(counts, usual)], Resampling(1000)))
    scoring = cpu_seconds(
        lambda: score_prepared(PreparedInputs(gold, {"it": predicted}), usual, [profile], resampling=None)
    )
    return {
        "suite": fast,
        "oracle": slow,
        "oracle / suite": slow / fast,
        "1,000 resamples": resampling,
        "resamples / scoring": resampling / scoring,
    }


def command_against_json(gold: Path, predictions: list[Path]) -> dict[str, float]:
    """``dialgauge score`` as a process, less the same process on a tiny input, against json.load of its files."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.jsonl"
        turn = Turn(speaker="user", state={"hotel": {"area": ("north",)}}, predicted={"hotel": {"area": ("north",)}})
        dialgauge.write([Dialogue(id="a", turns=(turn,))], tiny, format="native")
        start_up = min(_process_cpu([str(tiny)]) for _ in range(3))
        whole = min(_process_cpu([str(gold), str(predictions[0])]) for _ in range(3))
    parsing = cpu_seconds(lambda: [json.loads(path.read_bytes()) for path in (gold, predictions[0])])
    work = whole - start_up
    return {"start-up": start_up, "command": whole, "json.load": parsing, "(command - start-up) / json": work / parsing}


def _process_cpu(files: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dialgauge", "score", *files, "--resamples", "1000"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def many_systems(gold: Sequence[Dialogue], predicted: Sequence[Sequence[Dialogue]]) -> dict[str, float]:
    """Ten systems under four profiles, with intervals."""
    systems = {f"system {number}": predicted[number % len(predicted)] for number in range(10)}
    profiles = [profile_named(name) for name in SENSITIVITY_PROFILES]
    measures = chosen_measures(None)
    seconds = cpu_seconds(
        lambda: score_prepared(PreparedInputs(gold, systems), measures, profiles, resampling=Resampling(1000)), 1
    )
    return {"ten systems x four profiles": seconds}


def streaming(turns: int) -> dict[str, float]:
    """Synthetic codes from Parquet, in a process of their own so that its memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.parquet"
        subprocess.run([sys.executable, __file__, "--make", str(path), "--turns", str(turns)], check=True)
        done = subprocess.run([sys.executable, __file__, "--stream", str(path)], check=True, capture_output=True)
    found: dict[str, float] = json.loads(done.stdout)
    return {**found, "turns per CPU second": turns / found["stream"]}


def make_codes(path: Path, turns: int) -> None:
    """A table of codes: cumulative gold states of 30 slots, predictions with a few errors."""
    import polars

    generator = np.random.default_rng(0)
    number = np.arange(turns)
    columns: dict[str, Any] = {"dialogue": number // 8, "turn": (number % 8).astype(np.int16)}
    for domain, slot in MULTIWOZ_30:
        begins = generator.integers(0, 24, turns // 8 + 1)[number // 8]
        value = generator.integers(1, 50, turns // 8 + 1)[number // 8]
        gold = np.where(number % 8 >= begins, value, 0).astype(np.int16)
        wrong = generator.random(turns) < 0.01
        columns[f"gold:{domain}-{slot}"] = gold
        columns[f"pred:{domain}-{slot}"] = np.where(wrong, (gold + 1) % 50, gold).astype(np.int16)
    polars.DataFrame(columns).write_parquet(path, row_group_size=1 << 18)


def stream_codes(path: Path) -> None:
    """Score a table of codes and print CPU seconds and peak memory."""
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        scored = score_shards(
            [str(path)],
            ShardSettings(list(DEFAULT_MEASURES), "verbatim", "intersection", []),
            store=Store(folder),
            workers=WorkPlace("local"),
        )
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"stream": seconds, "peak GB": peak, "JGA": float(scored[0]["JGA"])}))


def main() -> None:
    """Print all figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=10_000_000)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--stream", type=Path)
    chosen = parser.parse_args()
    if chosen.make:
        make_codes(chosen.make, chosen.turns)
        return
    if chosen.stream:
        stream_codes(chosen.stream)
        return
    with corpus() as (gold_file, prediction_files):
        gold = dialgauge.read(gold_file).dialogues
        predicted = [dialgauge.read(path).dialogues for path in prediction_files]
        figures = suite_against_oracle(gold, predicted[0])
        figures |= command_against_json(gold_file, prediction_files)
        figures |= many_systems(gold, predicted)
    figures |= streaming(chosen.turns)
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}, indent=2))


if __name__ == "__main__":
    main()
