"""Running cases under guard: what is raised, how long it takes, how much memory it leaves at its peak."""

from __future__ import annotations

import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from types import FrameType
from typing import NamedTuple

from dialgauge.errors import DialgaugeError
from hostile.fuzz.target import Target, kept_folder
from hostile.fuzz.targets import targets

#: Seconds of computing and bytes that a case may take.
MOST_SECONDS = 10.0
MOST_MEMORY = 1 << 30
#: Where the contents of findings are kept.
FINDINGS = Path(tempfile.gettempdir(), "dialgauge-fuzz-findings")


class HangError(BaseException):
    """A case that computes for too long; no Exception, so that no reader takes it for a damaged file."""


class Finding(NamedTuple):
    """A case that broke the rule, and the file with its content."""

    target: str
    seed: int
    case: int
    what: str
    file: str = ""

    def __str__(self) -> str:
        again = f"python -m hostile.fuzz --target '{self.target}' --file {self.file}"
        return f"case {self.case} of {self.target}, seed {self.seed}: {again}\n{self.what}"


@dataclass
class Tally:
    """The cases so far, by target."""

    runs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def case_content(target: Target, seed: int, case: int) -> bytes:
    """The content of a case: the same for the same three."""
    return target.make(Random(f"{seed}/{target.name}/{case}"))


def run_case(target: Target, content: bytes) -> str | None:
    """Run one case; the user error that was raised, if one was. Everything else comes through."""
    folder = _own_folder()
    try:
        with _alarm():
            target.run(content, folder)
    except DialgaugeError as error:
        text = str(error)
        assert text.strip(), "an error without a word"
        assert len(text) < 5000, f"an error of {len(text):,} letters: {text[:300]}"
        return text
    finally:
        for left in folder.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    return None


@cache
def _own_folder() -> Path:
    """An empty folder; most cases leave it so, and making one anew would take longer than they do."""
    return kept_folder()


def guarded(target: Target, seed: int, case: int, tally: Tally) -> None:
    """Run one case and note what came of it."""
    content = case_content(target, seed, case)
    tally.runs[target.name] += 1
    what, before = "", peak_memory()
    try:
        tally.refused[target.name] += run_case(target, content) is not None
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of a library written in Rust is no Exception
        what = traceback.format_exc(limit=-8)
    peak = peak_memory()
    # Not because of what this process did before: a worker that ran other tests may be near the limit already.
    if peak > MOST_MEMORY and peak - before > MOST_MEMORY // 10:
        what += f"the process grew to {peak:,} bytes"
    if what:
        FINDINGS.mkdir(exist_ok=True)
        file = FINDINGS / f"{target.name.replace(':', '-').replace(' ', '-')}-{seed}-{case}"
        file.write_bytes(content)
        tally.findings.append(Finding(target.name, seed, case, what, str(file)))


def peak_memory() -> int:
    """The most memory this process has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError(f"more than {MOST_SECONDS:g} seconds of computing")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def schedule(names: Sequence[str], start: int = 0) -> Iterator[tuple[Target, int]]:
    """Target and case without end: in each round a target has as many cases as its weight says."""
    chosen = [targets()[name] for name in names]
    first = start // max(1, sum(target.weight for target in chosen))
    for lap in count(first):
        for target in chosen:
            yield from ((target, lap * target.weight + case) for case in range(target.weight))
