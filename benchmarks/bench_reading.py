"""How long reading takes, beside ``orjson.loads`` on the same bytes, and how much memory streaming takes.

    python benchmarks/bench_reading.py [--data FOLDER] [--megabytes N]

Every row is measured in this one run; ``reading_parts`` says what the columns mean. ``bench_read_predictions`` does the
same for the prediction formats.

The first line: writes a JSONL file of the given size (default 50 MB; 1000 for the figure in the documentation), goes
through it dialogue by dialogue in a process of its own, and shows that process's peak memory.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from reading_parts import HEADER, Anatomy, row

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.formats import DialogueFormat, Notes, convlab3, format_named, gcdf1, multiwoz, read, sgd

ANATOMIES = {
    "multiwoz": Anatomy(
        lambda content, part: multiwoz._FILE.decode(content, part, Notes()),
        {
            "states": [(multiwoz._Reader, "_state", lambda self, metadata, number: None)],
            "acts": [(multiwoz._Reader, "_acts", lambda self, entry: ())],
            "goals": [(multiwoz._Reader, "_goal", lambda self, raw: None)],
        },
    ),
    "sgd": Anatomy(
        lambda content, part: sgd._FILE.decode(content, part, Notes()),
        {
            "states": [(sgd._Reader, "_carried", lambda self, state, frames: state)],
            "acts": [(sgd._Reader, "_acts", lambda self, frames: ())],
            "spans": [(sgd._Reader, "_spans", lambda self, frames: ())],
            "intents and requests": [(sgd, "_asked", lambda frames: (None, None))],
        },
    ),
    "gcdf1": Anatomy(
        lambda content, part: gcdf1._LISTED.decode(content, part, Notes()),
        {
            "states": [(gcdf1, "_states", lambda frames: (None, None, None))],
            "acts": [(gcdf1, "_acts", lambda frames: ())],
            "goals": [(gcdf1, "_task", lambda raw: None)],
        },
    ),
    "native": Anatomy(
        lambda content, part: msgspec.json.Decoder(Dialogue).decode_lines(content),
        lines=True,
    ),
    "convlab3": Anatomy(
        lambda content, part: convlab3._DIALOGUES.decode(content, part, Notes()),
        {
            "states": [(convlab3.ConvlabStates, "read", lambda self, raw: {})],
            "acts": [(convlab3, "_acts", lambda raw: ()), (convlab3, "_spans", lambda raw: ())],
            "goals": [(convlab3, "_goal", lambda raw: None)],
        },
    ),
}
FILES = {
    "multiwoz": "multiwoz21/test.json.gz",
    "sgd": "sgd/dev_dialogues_008.json.gz",
    "gcdf1": "gcdf1/conversations/dialogues_001.json.gz",
}
STREAM = """
import resource, sys
from dialgauge.formats import stream
count = sum(1 for _ in stream(sys.argv[1]))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="reading speed and memory")
    parser.add_argument("--data", type=Path, default=os.environ.get("DIALGAUGE_DATA"), help="folder with the real data")
    parser.add_argument("--megabytes", type=int, default=50, help="size of the JSONL file to stream")
    chosen = parser.parse_args()
    memory(chosen.megabytes)  # first: a child's peak counts from the size of the parent it was forked from
    if chosen.data:
        speeds(chosen.data)
    else:
        print("no real data: give --data or set DIALGAUGE_DATA")


def speeds(data: Path) -> None:
    """One row a format; native and ConvLab-3 are written from the MultiWOZ file."""
    print(HEADER)
    for name, place in FILES.items():
        print(row(name, gzip.decompress((data / place).read_bytes()), ANATOMIES[name]))
    dialogues = read(data / FILES["multiwoz"]).dialogues
    for name in ("native", "convlab3"):
        out = io.BytesIO()
        writer = format_named(name)
        assert isinstance(writer, DialogueFormat)
        writer.write(dialogues, out, Notes())
        print(row(name, out.getvalue(), ANATOMIES[name]))


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
