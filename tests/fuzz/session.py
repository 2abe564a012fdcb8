"""Running cases under guard: what is raised, how long it takes, how much memory it leaves at its peak.

Long runs happen in a process of their own. It notes the case it is at in a shared file, so that a case that kills or
stalls the process is known too, and the next process goes on behind it. It ends with the process that watches it,
however that ends.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from threading import Thread
from types import FrameType
from typing import NamedTuple

from dialgauge.errors import DialgaugeError
from fuzz.target import Target
from fuzz.targets import targets

#: Seconds of computing, seconds without any, and bytes that a case may take.
MOST_SECONDS = 10.0
MOST_WAITING = 120.0
MOST_MEMORY = 1 << 30
#: What the system gives a process that runs cases, so that one case cannot take the machine.
_MOST_DATA = 3 << 30
#: Cases after which a process makes room for a fresh one, so that what piles up is not taken for one case's need.
_LIFETIME = 20_000

#: Where the contents of findings are kept.
FINDINGS = Path(tempfile.gettempdir(), "dialgauge-fuzz-findings")

_FOLDER = "dialgauge-fuzz-of-"
_PR_SET_PDEATHSIG = 1  # prctl(2)
_NOTE = struct.Struct("<QQd")  # the case, how many were run, when it began


class HangError(BaseException):
    """A case that computes for too long; no Exception, so that nobody takes it for a fault of a file."""


class Finding(NamedTuple):
    """A case that broke the rule."""

    target: str
    seed: int
    case: int
    what: str

    #: Where the content of the case was kept.
    file: str = ""

    def __str__(self) -> str:
        again = f"python -m fuzz --target '{self.target}' --file {self.file}"
        return f"case {self.case} of {self.target}, seed {self.seed}: {again}\n{self.what}"


@dataclass
class Tally:
    """What came of the cases so far, by target."""

    runs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def case_content(target: Target, seed: int, case: int) -> bytes:
    """The content of a case: the same for the same three."""
    return target.make(Random(f"{seed}/{target.name}/{case}"))


def run_case(target: Target, content: bytes) -> str | None:
    """Run one case; the name of the user error that was raised, if one was. Everything else comes through."""
    with _folder() as folder, _alarm():
        try:
            target.run(content, folder)
        except DialgaugeError as error:
            _check_sentence(error)
            return str(error)
    return None


@contextmanager
def _folder() -> Iterator[Path]:
    """An empty folder; most cases leave it so, and making one anew would take longer than they do."""
    folder = _own_folder()
    try:
        yield folder
    finally:
        for left in folder.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


@cache
def _own_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-", dir=_memory_disk()))
    for left in folder.parent.glob(f"{_FOLDER}*-*"):  # by a process that was killed
        process = left.name.removeprefix(_FOLDER).partition("-")[0]
        if process.isdigit() and not _lives(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _check_sentence(error: DialgaugeError) -> None:
    text = str(error)
    assert text.strip(), "an error without a word"
    assert len(text) < 5000, f"an error of {len(text):,} letters: {text[:300]}"


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
        tally.findings.append(finding(target, seed, case, what, content))


def finding(target: Target, seed: int, case: int, what: str, content: bytes | None = None) -> Finding:
    """What was found, its content kept in a file."""
    FINDINGS.mkdir(exist_ok=True)
    file = FINDINGS / f"{target.name.replace(':', '-').replace(' ', '-')}-{seed}-{case}"
    file.write_bytes(case_content(target, seed, case) if content is None else content)
    return Finding(target.name, seed, case, what, str(file))


def peak_memory() -> int:
    """The most memory this process has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _memory_disk() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


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
    """Target and case without end, each target as often as its weight says."""
    chosen = [targets()[name] for name in names]
    round_, place = [target for target in chosen for _ in range(target.weight)], start
    counts = {target.name: target.weight for target in chosen}
    first: dict[str, int] = {}
    for index, target in enumerate(round_):
        first.setdefault(target.name, index)
    while True:
        laps, index = divmod(place, len(round_))
        target = round_[index]
        yield target, laps * counts[target.name] + index - first[target.name]
        place += 1


# A long run: this process watches, others work.


def work(names: Sequence[str], seed: int, start: int, end: float, note: Path, report: Path, *, watcher: int) -> None:
    """The life of a working process: cases from ``start`` on until the time is over or it has done its share."""
    _end_with(watcher)
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_DATA, _MOST_DATA))
    tally = Tally()
    with note.open("r+b") as file, mmap.mmap(file.fileno(), _NOTE.size) as shared:
        for place, (target, case) in enumerate(schedule(names, start), start):
            if time.time() > end or place - start >= _LIFETIME or tally.findings:
                break
            shared[:] = _NOTE.pack(place, place - start, time.time())
            guarded(target, seed, case, tally)
    import msgspec

    done = {"runs": dict(tally.runs), "refused": dict(tally.refused), "next": place, "findings": tally.findings}
    report.write_bytes(msgspec.json.encode(done))


def _end_with(watcher: int) -> None:
    """End when the watching process does, were it killed: Linux sees to it, elsewhere a thread looks every second.

    The thread alone would not do: a case that stalls inside a library may keep all threads from running.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def look() -> None:
        while os.getppid() == watcher:
            time.sleep(1)
        os._exit(1)

    Thread(target=look, daemon=True).start()


def watch(names: Sequence[str], seed: int, seconds: float, tell: Callable[[Tally, int], None], start: int = 0) -> Tally:
    """Fuzz for so long; ``tell`` hears how it goes."""
    import msgspec

    tally, place, end = Tally(), start, time.time() + seconds
    with tempfile.TemporaryDirectory(prefix="dialgauge-fuzz-") as folder:
        note, report = Path(folder, "note"), Path(folder, "report")
        while time.time() < end:
            note.write_bytes(_NOTE.pack(place, 0, time.time()))
            report.unlink(missing_ok=True)
            command = [sys.executable, "-m", "fuzz", "--work", ",".join(names), "--seed", str(seed)]
            command += ["--start", str(place), "--end", repr(end), "--note", str(note), "--report", str(report)]
            command += ["--watcher", str(os.getpid())]
            ended = _wait(subprocess.Popen(command, stderr=subprocess.PIPE), note)
            if report.exists():
                done = msgspec.json.decode(report.read_bytes())
                tally.runs.update(done["runs"])
                tally.refused.update(done["refused"])
                tally.findings += [Finding(*one) for one in done["findings"]]
                place = done["next"]
            else:
                at, count, _ = _NOTE.unpack(note.read_bytes())
                target, case = next(schedule(names, at))
                _count(tally, names, place, count)
                tally.findings.append(finding(target, seed, case, f"the process {ended}"))
                place = at + 1
            tell(tally, place)
    return tally


def _count(tally: Tally, names: Sequence[str], start: int, count: int) -> None:
    for (target, _), _ in zip(schedule(names, start), range(count), strict=False):
        tally.runs[target.name] += 1


def _wait(process: subprocess.Popen[bytes], note: Path) -> str:
    """Wait for the process, or end it where one case takes too long; how it ended.

    A busy machine may leave it without a processor for long, so the clock counts only while it does nothing at all.
    """
    case, began, seen, since = -1, 0.0, 0.0, time.monotonic()
    while True:
        try:
            _, said = process.communicate(timeout=2)
            return f"ended with {process.returncode}: {said.decode(errors='replace')[-2000:]}"
        except subprocess.TimeoutExpired:
            now, used = _NOTE.unpack(note.read_bytes())[0], _computed(process.pid)
        if now != case or used > seen:
            case, began, seen, since = now, used if now != case else began, used, time.monotonic()
        if used - began > 4 * MOST_SECONDS or time.monotonic() - since > MOST_WAITING:
            process.kill()
            process.communicate()
            return f"took {used - began:g} seconds of computing, and stood still for {time.monotonic() - since:g}"


def _computed(process: int) -> float:
    """Seconds that a process has computed so far (fields 14 and 15 of proc(5)); the clock, where that is not told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
