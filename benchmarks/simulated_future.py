"""A model of a billion turns and of a million conversations with language models, from what was measured here.

    python benchmarks/simulated_future.py            print the section of docs/scale.md from scale_measured.json
    python benchmarks/simulated_future.py --measure  measure again first (twenty minutes of a quiet machine)

A test holds that the section is what this prints.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
MEASURED, TEMPLATE = HERE / "scale_measured.json", HERE / "simulated_future.md"

#: What we did not measure and a reader may want to change.
CORE_HOUR = 0.04  # dollars, a core of a rented machine
NETWORK = 125e6  # bytes per second and worker, a gigabit
STRAGGLER = 1.10  # the slowest worker against the mean one
ANSWER = 1.5  # seconds until a hosted model has answered one call
DOLLARS = 0.08  # a conversation of an agent and a simulated user; the files of tau-bench here say 0.03 to 0.5
CALLS = 24  # of both sides together

_WHOLE = "turns per CPU second, files to stored run"
WORKERS = (1, 10, 100, 1_000)


class Costs(NamedTuple):
    """What one unit costs, as measured."""

    turns_per_second: float  # of one core of a worker
    start: float  # seconds until a worker has begun
    file_bytes: float  # per turn, as Parquet
    back_bytes: float  # per dialogue, to the driver
    driver: float  # seconds per dialogue, one core, sums to stored run
    driver_bytes: float  # memory of the driver per dialogue
    worker_mb: float  # memory of a worker
    turns_per_dialogue: float
    shard: int  # turns of one file
    talk_seconds: float  # CPU of the lab per conversation, rule agents

    @classmethod
    def read(cls) -> Costs:
        """Those that were measured last."""
        found = json.loads(MEASURED.read_text())["costs"]
        return cls(**{name: found[name] for name in cls._fields})


class Estimate(NamedTuple):
    """What the model says."""

    seconds: float
    efficiency: float
    driver_share: float
    dollars: float
    network: float  # bytes per second that reach the driver


def scoring(costs: Costs, turns: float, workers: int) -> Estimate:
    """Turns scored from Parquet by so many workers of one core each.

    Workers read and score files of equal size; each takes the next when it is done, so the last round may be uneven.
    What they send back reaches one process over its own line, is put together there, and stored at the end. Efficiency
    is against one worker.
    """
    files = math.ceil(turns / costs.shard)
    rounds = math.ceil(files / workers)
    file = max(costs.shard / costs.turns_per_second, costs.shard * costs.file_bytes / NETWORK)
    dialogues = turns / costs.turns_per_dialogue
    back = dialogues * costs.back_bytes
    parallel = max(rounds * file * (STRAGGLER if workers > 1 else 1.0), back / NETWORK)
    driver = dialogues * costs.driver
    seconds = costs.start + parallel + driver
    alone = seconds if workers == 1 else scoring(costs, turns, 1).seconds
    return Estimate(
        seconds,
        alone / (seconds * workers),
        driver / seconds,
        seconds * (workers + 1) / 3600 * CORE_HOUR,
        back / parallel,
    )


def talking(costs: Costs, conversations: float, at_once: int) -> Estimate:
    """Conversations with hosted models, so many at the same time; a core of ours keeps many of them going."""
    ours = conversations * costs.talk_seconds
    waiting = conversations * CALLS * ANSWER / at_once
    cores = max(1.0, ours / waiting)
    seconds = waiting * STRAGGLER
    rented = seconds * cores / 3600 * CORE_HOUR
    return Estimate(seconds, waiting / seconds, ours / (seconds * cores), conversations * DOLLARS + rented, 0.0)


def section() -> str:
    """The section of the page, as Markdown."""
    costs, measured = Costs.read(), json.loads(MEASURED.read_text())
    talks = talking(costs, 1e6, 1000)
    assumed = {name: globals()[name] for name in ("CORE_HOUR", "ANSWER", "DOLLARS", "CALLS")}
    return TEMPLATE.read_text().format(
        **assumed,
        **costs._asdict(),
        network_mb=NETWORK / 1e6,
        slowest=STRAGGLER - 1,
        machine=measured["machine"],
        whole_100=measured["whole"]["100"],
        driver_us=costs.driver * 1e6,
        driver_gb=1e9 / costs.turns_per_dialogue * costs.driver_bytes / 1e9,
        knee=_knee(costs),
        scoring_rows="\n".join(_scoring_row(costs, 1e9, workers) for workers in WORKERS),
        off=max(_off(costs, check) for check in measured["checks"]),
        talking_1000=_time(talks.seconds),
        talking_dollars=f"{talks.dollars:,.0f}",
        talking_cpu=_time(1e6 * costs.talk_seconds),
    )


def _knee(costs: Costs) -> int:
    """Where sending the sums, or putting them together, takes as long as all workers need to make them."""
    per_dialogue = costs.turns_per_dialogue / costs.turns_per_second
    return round(per_dialogue * STRAGGLER / max(costs.driver, costs.back_bytes / NETWORK))


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _scoring_row(costs: Costs, turns: float, workers: int) -> str:
    found = scoring(costs, turns, workers)
    return (
        f"| {workers:,} | {_time(found.seconds)} | {found.efficiency:.2f} | {found.driver_share:.0%} | "
        f"{found.network / 1e6:,.1f} MB/s | {found.dollars:.2f} |"
    )


def _off(costs: Costs, check: dict[str, Any]) -> float:
    """How far the model is from a whole run that was measured, as a share of what was measured."""
    model = scoring(costs, check["turns"], check["workers"]).seconds
    return float(abs(model / check["seconds"] - 1))


def measure() -> None:
    """Measure the costs and keep them."""
    speed, memory = _scale(), _scale("--memory")
    runs = [_scale("--whole", str(workers), "--millions", str(size)) for size, workers in ((10, 1), (10, 2), (100, 2))]
    dialogues = [run["turns"] / 10 for run in runs]
    small, large = memory["10 million turns"], memory["100 million turns"]
    costs = Costs(
        turns_per_second=speed["turns per CPU second in a worker"],
        start=_start(),
        file_bytes=runs[0]["bytes of files per turn"],
        back_bytes=speed["bytes that come back per dialogue"],
        driver=runs[2]["driver CPU seconds"] / dialogues[2],
        driver_bytes=(runs[2]["driver MB"] - runs[1]["driver MB"]) * 2**20 / (dialogues[2] - dialogues[1]),
        worker_mb=speed["MB per worker"],
        turns_per_dialogue=10,
        shard=500_000,
        talk_seconds=_talk(),
    )
    found = {
        "machine": f"{os.cpu_count()} cores of {_processor()}",
        "costs": costs._asdict(),
        "whole": {"10": runs[1][_WHOLE], "100": runs[2][_WHOLE]},
        "efficiency": speed["efficiency from one to two workers"],
        "memory": {"10": small["MB per worker"], "100": large["MB per worker"]},
        "checks": [{name: run[name] for name in ("turns", "workers", "seconds")} for run in runs],
    }
    MEASURED.write_text(json.dumps(found, indent=2) + "\n")


def _scale(*options: str) -> Any:
    command = [sys.executable, str(HERE / "bench_scale.py"), *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def _start() -> float:
    """Seconds until a worker of a pool has scored a file of next to nothing."""
    import tempfile

    sys.path.insert(0, str(HERE))
    from bench_scale import Timed, write_shard

    from dialgauge.engine import Unit, WorkPlace, run

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "part-00000.parquet")
        write_shard(path, 0, 10)
        begun = time.perf_counter()
        list(run(Timed(), [Unit("0", path)], workers=WorkPlace("pool", 1)))
        return round(time.perf_counter() - begun, 2)


def _talk() -> float:
    """CPU seconds of one conversation of rule agents, held and recorded."""
    from dialgauge.lab import AgentSpec, LabConfig, hold_conversations, open_town

    town = open_town(count=1000)
    sitting = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"), level="act")
    begun = time.process_time()
    held = list(hold_conversations(town.again, town.goals, sitting))
    return round((time.process_time() - begun) / len(held), 6)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else "an unknown processor"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    if parser.parse_args().measure:
        measure()
    sys.stdout.write(section())
