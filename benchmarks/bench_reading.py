"""How long reading takes, beside ``orjson.loads`` on the same bytes, and how much memory streaming takes.

    python benchmarks/bench_reading.py [--data FOLDER] [--megabytes N]

Every row is measured in this one run, CPU time of this process, best of several. Three times, all relative to orjson:

decode  the bytes into typed records of the file's own shape, naming only the fields that are needed
read    ... and those into the data model: what a user waits for
rest    read less decode: states put together from frames or metadata, acts, values cleaned, records made

and below them, for the two raw formats, the steps that make up the rest, each measured alone.

The first line: writes a JSONL file of the given size (default 50 MB; 1000 for the figure in the documentation), goes
through it dialogue by dialogue in a process of its own, and shows that process's peak memory.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import orjson

from turnwise.dialogue import Dialogue, Turn
from turnwise.formats import convlab3, multiwoz, sgd
from turnwise.formats.base import DialogueFormat, Notes
from turnwise.formats.corpus import read
from turnwise.formats.registry import format_named
from turnwise.formats.source import Part

ROUNDS = 7
#: Format, file below the data folder, and how the file's own shape is decoded (None: the format decodes as it reads).
FILES: list[tuple[str, str, Callable[[bytes, Part], Any] | None]] = [
    ("multiwoz", "multiwoz21/test.json.gz", lambda content, part: multiwoz._FILE.decode(content, part, Notes())),
    ("sgd", "sgd/dev_dialogues_008.json.gz", lambda content, part: sgd._FILE.decode(content, part, Notes())),
    ("gcdf1", "gcdf1/conversations/dialogues_001.json.gz", None),
    ("mwzeval", "dst_predictions/augpt.json.gz", None),
]
STREAM = """
import resource, sys
from turnwise.formats import stream
count = sum(1 for _ in stream(sys.argv[1]))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="reading speed and memory")
    parser.add_argument("--data", type=Path, default=os.environ.get("TURNWISE_DATA"), help="folder with the real data")
    parser.add_argument("--megabytes", type=int, default=50, help="size of the JSONL file to stream")
    chosen = parser.parse_args()
    memory(chosen.megabytes)  # first: a child's peak counts from the size of the parent it was forked from
    if chosen.data:
        speeds(chosen.data)
        steps(chosen.data)
    else:
        print("no real data: give --data or set TURNWISE_DATA")


def speeds(data: Path) -> None:
    """One row a format, relative to orjson on the same bytes."""
    print(f"{'format':<12}{'MB':>7}{'orjson s':>10}{'decode':>9}{'rest':>8}{'read':>8}")
    for name, place, decode in FILES:
        content = gzip.decompress((data / place).read_bytes())
        row(name, content, decode)
        if name == "multiwoz":
            dialogues = read(data / place).dialogues
    for name, typed in (("native", _native), ("convlab3", _convlab3)):
        out = io.BytesIO()
        _format(name).write(dialogues, out, Notes())
        row(name, out.getvalue(), typed)


def steps(data: Path) -> None:
    """Where the rest goes, in parts of orjson's time."""
    for name, place, parts in (
        ("multiwoz", "multiwoz21/test.json.gz", _multiwoz_steps),
        ("sgd", "sgd/dev_dialogues_008.json.gz", _sgd_steps),
    ):
        content = gzip.decompress((data / place).read_bytes())
        base = best(lambda content=content: orjson.loads(content))  # type: ignore[misc]
        figures = [f"{step} {best(work) / base:.2f}" for step, work in parts(content).items()]
        print(f"{name}: {', '.join(figures)}")


def _multiwoz_steps(content: bytes) -> dict[str, Callable[[], object]]:
    part = Part("multiwoz", partial(io.BytesIO, content), 1 << 40)
    raw = [dialogue for _, dialogue in multiwoz._FILE.decode(content, part, Notes())]
    entries = [entry for dialogue in raw for entry in dialogue.log]
    reader = partial(multiwoz._Reader, part, Notes())

    def each(method: str, items: list[Any]) -> object:
        work = getattr(reader(), method)
        return [work(*item) for item in items]

    return {
        "states": lambda: each("_state", [(entry.metadata, 0) for entry in entries]),
        "acts": lambda: each("_acts", [(entry,) for entry in entries]),
        "goals": lambda: each("_goal", [(dialogue.goal,) for dialogue in raw]),
        "records": lambda: [Turn(speaker="user", text=entry.text, acts=(), state={}) for entry in entries],
    }


def _sgd_steps(content: bytes) -> dict[str, Callable[[], object]]:
    part = Part("sgd", partial(io.BytesIO, content), 1 << 40)
    turns = [turn for dialogue in sgd._FILE.decode(content, part, Notes()) for turn in dialogue.turns]
    users = [turn for turn in turns if turn.speaker == "USER"]

    def each(method: str, items: list[Any]) -> object:
        work = getattr(sgd._Reader(), method)
        return [work(*item) for item in items]

    return {
        "states": lambda: each("_carried", [({}, turn.frames) for turn in users]),
        "acts": lambda: each("_acts", [(turn.frames,) for turn in turns]),
        "spans": lambda: each("_spans", [(turn.frames,) for turn in turns]),
        "intents and requests": lambda: [sgd._asked(turn.frames) for turn in users],
        "records": lambda: [Turn(speaker="user", text=turn.utterance, acts=(), state={}, active=()) for turn in turns],
    }


def _native(content: bytes, part: Part) -> Any:
    return msgspec.json.Decoder(Dialogue).decode_lines(content)


def _convlab3(content: bytes, part: Part) -> Any:
    return convlab3._FILE.decode(content, part, Notes())


def row(name: str, content: bytes, decode: Callable[[bytes, Part], Any] | None) -> None:
    """Measure one format on one file's bytes."""
    part = Part(name, partial(io.BytesIO, content), 1 << 40)
    reader = _format(name)
    base = best(
        lambda: [orjson.loads(line) for line in content.splitlines()] if name == "native" else orjson.loads(content)
    )
    whole = best(lambda: list(reader.read(part, Notes()))) / base
    typed = best(lambda: decode(content, part)) / base if decode else None
    first, rest = (f"{typed:.2f}", f"{whole - typed:.2f}") if typed is not None else ("", "")
    print(f"{name:<12}{len(content) / 1e6:>7.1f}{base:>10.4f}{first:>9}{rest:>8}{whole:>8.2f}")


def _format(name: str) -> DialogueFormat:
    found = format_named(name)
    assert isinstance(found, DialogueFormat)
    return found


def best(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest round, with the garbage collector paused as in a bulk load."""
    times = []
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
        del result
    gc.enable()
    return min(times)


def memory(megabytes: int) -> None:
    """Peak memory of a process that streams a generated file."""
    turns = tuple(
        Turn(
            speaker="user",
            text="a cheap hotel in the east please",
            state={"hotel": {"area": ("east",), "n": (str(n),)}},
        )
        for n in range(10)
    )
    with tempfile.TemporaryDirectory() as folder:
        path, size, count = Path(folder, "big.jsonl"), 0, 0
        with path.open("wb") as out:
            while size < megabytes * 1_000_000:
                size += out.write(msgspec.json.encode(Dialogue(id=f"d{count}", turns=turns)) + b"\n")
                count += 1
        start = time.perf_counter()
        printed = subprocess.run(
            [sys.executable, "-c", STREAM, path], check=True, capture_output=True, text=True
        ).stdout
        seconds = time.perf_counter() - start
    streamed, peak = map(int, printed.split())
    assert streamed == count
    what = f"{size / 1e6:,.0f} MB of native JSONL, {count:,} dialogues"
    print(f"streaming {what}: {seconds:.1f} s, peak {peak / 1e3:.0f} MB\n")


if __name__ == "__main__":
    main()
