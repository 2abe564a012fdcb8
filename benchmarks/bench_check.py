"""Does ``dialgauge data check`` stream? A native JSONL file of 1 GB must pass in under 300 MB of memory.

    python benchmarks/bench_check.py [--megabytes 1000]

The file is generated (dialogues of about 20 turns with growing states, distinct ids, thousands of values), checked in a
process of its own, and its peak memory and speed are printed beside what ``orjson.loads`` takes for the same lines.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import orjson

from dialgauge.data import check
from dialgauge.dialogue import Dialogue, Turn

LIMIT_MB = 300
_SLOTS = [(f"domain{number % 7}", f"slot{number}") for number in range(35)]


def dialogue(number: int, random_source: random.Random) -> Dialogue:
    """Ten exchanges; each user turn fills another slot."""
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    turns: list[Turn] = []
    for step in range(10):
        domain, slot = random_source.choice(_SLOTS)
        state = {name: dict(slots) for name, slots in state.items()}
        state.setdefault(domain, {})[slot] = (f"value {random_source.randrange(3000)}",)
        turns.append(Turn(speaker="user", text=f"in step {step} the user wants something " * 2, state=state))
        turns.append(Turn(speaker="system", text="the system answers with a sentence of usual length " * 2))
    return Dialogue(id=f"dialogue-{number:08d}", turns=tuple(turns))


def generate(path: Path, megabytes: int) -> int:
    """Write dialogues until the file is large enough; gives their number."""
    random_source, encoder, written, number = random.Random(7), msgspec.json.Encoder(), 0, 0
    # A hundred different bodies under ever new ids: writing must not take longer than reading.
    bodies = [dialogue(body, random_source) for body in range(100)]
    with path.open("wb") as out:
        while written < megabytes * 1_000_000:
            body = bodies[number % len(bodies)]
            written += out.write(encoder.encode(msgspec.structs.replace(body, id=f"dialogue-{number:08d}")) + b"\n")
            number += 1
    return number


def child(path: Path) -> None:
    """Check the file and print dialogues, seconds and peak memory in MB."""
    started = time.perf_counter()
    report = check([path])
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(report.groups[0].dialogues, round(seconds, 2), round(peak, 1))


def main() -> None:
    """Generate, measure, print; exit code 1 when the memory or the count is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--child", type=Path)
    options = parser.parse_args()
    if options.child is not None:
        child(options.child)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.jsonl"
        count = generate(path, options.megabytes)
        started = time.perf_counter()
        with path.open("rb") as lines:
            for line in lines:
                orjson.loads(line)
        plain = time.perf_counter() - started
        printed = subprocess.run(
            [sys.executable, __file__, "--child", str(path)], check=True, capture_output=True, text=True
        ).stdout.split()
    dialogues, seconds, peak = int(printed[0]), float(printed[1]), float(printed[2])
    print(f"{options.megabytes} MB, {count:,} dialogues: orjson.loads alone {plain:.1f} s")
    print(f"check: {seconds:.1f} s ({seconds / plain:.1f} times orjson), peak memory {peak:.0f} MB")
    if dialogues != count or peak > LIMIT_MB:
        sys.exit(f"failed: {dialogues:,} dialogues read, {peak:.0f} MB of at most {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
