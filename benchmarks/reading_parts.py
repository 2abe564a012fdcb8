"""What reading a file costs beside ``orjson.loads`` on the same bytes, and which part of the work takes how much.

All in parts of orjson's CPU time, best of several rounds, garbage collector paused as in a bulk load:

bytes   copying the content and looking whether all of it is UTF-8
decode  typed records of the file's own shape, repeated keys kept apart; fields that nobody needs are skipped
others  a piece of the work each (states, acts, ...): what reading takes less when that piece is left out
rest    all else: turns put in order, holes, records made, the decoded form let go
read    the sum: what a user waits for
"""

from __future__ import annotations

import gc
import io
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias
from unittest.mock import patch

import orjson

from dialgauge.formats import DialogueFormat, Notes, Part, format_named

LEAST_ROUNDS, LEAST_SECONDS = 5, 2.0

#: Owner, attribute, and what to do instead.
Change: TypeAlias = tuple[object, str, Callable[..., Any]]


@dataclass
class Anatomy:
    """How to take the reading of one format apart."""

    #: The typed decoding alone.
    decode: Callable[[bytes, Part], object]
    #: Piece of the work to the changes that leave it out.
    pieces: dict[str, list[Change]] = field(default_factory=dict)
    #: Whether the file is JSON lines.
    lines: bool = False


def row(name: str, content: bytes, anatomy: Anatomy) -> str:
    """One line: size, orjson's seconds, and the parts of reading."""
    part = Part(name, partial(io.BytesIO, content), 1 << 40)
    reader = format_named(name)
    assert isinstance(reader, DialogueFormat)

    def read() -> object:
        return list(reader.read(part, Notes()))

    def less(changes: list[Change]) -> object:
        with ExitStack() as without:
            for change in changes:
                without.enter_context(patch.object(*change))
            return read()

    works: dict[str, Callable[[], object]] = {
        "orjson": lambda: list(map(orjson.loads, content.splitlines())) if anatomy.lines else orjson.loads(content),
        "read again": read,  # a second try: what orjson leaves behind may cost the next one some
        "read": read,
        "bytes": part.read,
        "decode": lambda: anatomy.decode(content, part),
    }
    seconds = best(works | {piece: partial(less, changes) for piece, changes in anatomy.pieces.items()})
    base, whole = seconds.pop("orjson"), min(seconds.pop("read again"), seconds.pop("read"))
    parts = {name: whole - took if name in anatomy.pieces else took for name, took in seconds.items()}
    parts["rest"] = whole - sum(parts.values())
    figures = ", ".join(f"{piece} {took / base:.2f}" for piece, took in parts.items())
    return f"{name:<11}{len(content) / 1e6:>6.1f}{base:>10.4f}{whole / base:>7.2f}   {figures}"


HEADER = f"{'format':<11}{'MB':>6}{'orjson s':>10}{'read':>7}   of which"


def best(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """CPU seconds of each work's fastest round; they take turns, so that a busy moment of the machine meets all."""
    times: dict[str, float] = dict.fromkeys(works, float("inf"))
    began, rounds = time.process_time(), 0
    gc.collect()
    gc.disable()
    while rounds < LEAST_ROUNDS or time.process_time() - began < LEAST_SECONDS:
        rounds += 1
        for name, work in works.items():
            start = time.process_time()
            result = work()
            times[name] = min(times[name], time.process_time() - start)
            del result
    gc.enable()
    return times
