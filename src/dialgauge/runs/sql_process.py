"""SQL with limits of time, rows and memory, for questions that come from a web page.

The query runs in a process of its own, which is killed when its time is up, and to which the operating system gives
no more memory than agreed. Limits inside this process would not hold: DuckDB looks for an interrupt only between two
pieces of work, and its limit of memory does not count the texts that a function makes: ``repeat`` over one piece of
2,048 rows takes as much as there is. The price is the third of a second that a new process takes to start.
"""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.runs.sql import THREADS, select, too_large
from dialgauge.text import encodable

if TYPE_CHECKING:
    import polars

#: Bytes of an answer: a page shows no more.
_LARGEST_ANSWER = 20 * 2**20
#: Bytes beyond the agreed memory that libraries need around a query, or set aside without using them.
_HEADROOM = 2**30
_LEAST_MEMORY = 2**29
#: Linux's number of the signal for a process past its computing time.
_SIGXCPU = 24


class LimitedAnswer(NamedTuple):
    """The answer to a query, and whether there were more rows than were asked for."""

    frame: polars.DataFrame
    cut: bool


class _Question(msgspec.Struct, frozen=True):
    query: str
    seconds: float
    rows: int
    memory: int


class _SentError(msgspec.Struct, frozen=True):
    """A DialgaugeError on its way from one process to the other."""

    message: str
    file: str | None = None
    dialogue: str | None = None
    turn: int | None = None
    line: int | None = None

    @classmethod
    def of(cls, error: DialgaugeError) -> _SentError:
        file = None if error.file is None else encodable(error.file)
        dialogue = None if error.dialogue is None else encodable(error.dialogue)
        return cls(encodable(error.message), file, dialogue, error.turn, error.line)

    def error(self) -> DialgaugeError:
        return DialgaugeError(self.message, file=self.file, dialogue=self.dialogue, turn=self.turn, line=self.line)


class _Reply(msgspec.Struct, frozen=True):
    """What comes in a line before the table."""

    problems: list[_SentError] = []
    error: _SentError | None = None
    cut: bool = False


def ask(
    store: Path,
    query: str,
    tell: Callable[[DialgaugeError], None],
    *,
    seconds: float,
    rows: int,
    memory: int | None = None,
) -> LimitedAnswer:
    """The answer of another process to one SELECT over a store; see :meth:`Store.ask`."""
    import polars

    if not (seconds > 0 and rows >= 0):
        raise ValueError("seconds must be > 0 and rows ≥ 0")
    if encodable(query) != query:
        raise DialgaugeError("the query is not UTF-8 text")
    reply, table = _exchange(store, _Question(query, seconds, rows, memory or usual_memory()))
    for problem in reply.problems:
        tell(problem.error())
    if reply.error is not None:
        raise reply.error.error()
    return LimitedAnswer(polars.read_ipc_stream(io.BytesIO(table)), reply.cut)


def usual_memory() -> int:
    """The bytes a query may take unless they are given: a quarter of what the machine has."""
    try:
        return max(_LEAST_MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)
    except (AttributeError, ValueError, OSError):  # a system that does not say
        return _LEAST_MEMORY


def _exchange(store: Path, question: _Question) -> tuple[_Reply, bytes]:
    # -P: what lies in the current folder is no module of ours.
    command = [sys.executable, "-P", "-m", __name__, str(store)]
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            command, input=msgspec.json.encode(question), capture_output=True, timeout=question.seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise _too_slow(question) from None
    if done.returncode == -_SIGXCPU:
        raise _too_slow(question)
    if done.returncode < 0:  # killed, or gave up where an allocation failed
        raise too_large(question.memory)
    if done.returncode:
        raise RuntimeError(f"the process that answers queries failed: {done.stderr.decode(errors='replace')}")
    line, _, table = done.stdout.partition(b"\n")
    return msgspec.json.decode(line, type=_Reply), table


def _too_slow(question: _Question) -> DialgaugeError:
    return DialgaugeError(
        f"the query took longer than {question.seconds:g} seconds and was stopped; ask for less, "
        "or use 'dialgauge sql', which has no limit"
    )


def main() -> None:
    """The other process: a question on standard input, the answer on standard output."""
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=_Question)
    problems: list[DialgaugeError] = []
    try:
        answer = _answer(Path(sys.argv[1]), question, problems)
        table = _encoded(answer.frame)
    except DialgaugeError as error:
        _reply(_Reply([_SentError.of(problem) for problem in problems], _SentError.of(error)))
    except MemoryError:
        _reply(_Reply(error=_SentError.of(too_large(question.memory))))
    else:
        _reply(_Reply([_SentError.of(problem) for problem in problems], cut=answer.cut), table)


def _answer(store: Path, question: _Question, problems: list[DialgaugeError]) -> LimitedAnswer:
    from dialgauge.runs.store import Store

    survey = Store(store).survey()
    problems += survey.problems
    _confine(question)
    frame = select(
        question.query, survey.runs, problems.append, survey.problems, rows=question.rows + 1, memory=question.memory
    )
    return LimitedAnswer(frame.head(question.rows), frame.height > question.rows)


def _encoded(frame: polars.DataFrame) -> bytes:
    if frame.estimated_size() > _LARGEST_ANSWER:
        raise DialgaugeError(
            f"the answer is larger than {_LARGEST_ANSWER // 2**20} MiB; ask for fewer rows or columns, or shorter texts"
        )
    held = io.BytesIO()
    frame.write_ipc_stream(held)
    return held.getvalue()


def _reply(header: _Reply, table: bytes = b"") -> None:
    sys.stdout.buffer.write(msgspec.json.encode(header) + b"\n" + table)
    sys.stdout.buffer.flush()


def _confine(question: _Question) -> None:
    """Limit this process's memory and computing time, where the system supports that."""
    # What a query needs is loaded before its memory is counted.
    _encoded(select("SELECT 1", (), lambda problem: None))
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
        _lower(resource.RLIMIT_DATA, pages * resource.getpagesize() + question.memory + _HEADROOM)
        _lower(resource.RLIMIT_CPU, math.ceil(question.seconds * THREADS) + 1)
        _lower(resource.RLIMIT_CORE, 0)


def _lower(limit: int, value: int) -> None:
    """Set a limit, unless a stricter one holds."""
    import resource

    _, hard = resource.getrlimit(limit)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (most, hard))


if __name__ == "__main__":
    main()
