"""Verdicts of graders in plain files: CSV or JSON Lines, one line for each conversation, grader and replicate.

==============  ====================================================================================================
conversation    also ``dialogue`` or ``id``; or ``task`` and ``trial``, which make ``task#trial``
verdict         also ``passed``, ``success`` or ``label``: pass or fail, yes or no, true or false, 1 or 0
grader          also ``judge``, ``rater`` or ``labeller``; without one, the name of the file
replicate       optional: which time this grader graded this conversation
==============  ====================================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.comparison import read_csv
from dialgauge.errors import DialgaugeError

_CONVERSATION = ("conversation", "dialogue", "id")
_VERDICT = ("verdict", "passed", "success", "label")
_GRADER = ("grader", "judge", "rater", "labeller")
_REPLICATE = ("replicate", "repeat", "sample")
_PASS = frozenset({"pass", "passed", "yes", "true", "1", "1.0", "success", "correct"})
_FAIL = frozenset({"fail", "failed", "no", "false", "0", "0.0", "failure", "incorrect"})
#: Files with more lines than these are no verdicts that people or models gave.
_MOST = 5_000_000


class GraderVerdict(Struct, frozen=True):
    """What one grader said of one conversation, at one time."""

    conversation: str
    task: str
    grader: str
    replicate: str
    passed: bool


def read_verdicts(paths: Iterable[str | Path]) -> list[GraderVerdict]:
    """All verdicts of some files; the same grader, conversation and replicate twice is an error."""
    verdicts: list[GraderVerdict] = []
    seen: set[tuple[str, str, str]] = set()
    for path in map(Path, paths):
        times: Counter[tuple[str, str]] = Counter()
        for line, row in _rows(path):
            verdict = _verdict(row, path, line, times)
            key = (verdict.grader, verdict.conversation, verdict.replicate)
            if key in seen:
                raise DialgaugeError(
                    f"{verdict.grader} grades {verdict.conversation} twice as replicate {verdict.replicate}; number "
                    "the replicates, or name the graders apart",
                    file=str(path),
                    line=line,
                )
            seen.add(key)
            verdicts.append(verdict)
    if not verdicts:
        raise DialgaugeError("there are no verdicts in it", file=", ".join(map(str, paths)))
    return verdicts


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix not in (".jsonl", ".ndjson"):
        lines = read_csv(path)
        if not lines:
            return
        names = [name.lower() for name in lines[0][1]]
        for line, cells in lines[1:]:
            yield line, dict(zip(names, cells, strict=True))
        return
    try:
        content = path.read_bytes().splitlines()
    except OSError as error:
        raise DialgaugeError(f"it cannot be read ({error.strerror or error})", file=str(path)) from error
    for line, text in enumerate(content[:_MOST], start=1):
        try:
            if text.strip():
                yield line, msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise DialgaugeError(f"it is no JSON object ({error})", file=str(path), line=line) from error


def _verdict(row: Mapping[str, Any], path: Path, line: int, times: Counter[tuple[str, str]]) -> GraderVerdict:
    conversation, task = _conversation(row, path, line)
    grader = _first(row, _GRADER) or path.name.split(".")[0]
    times[grader, conversation] += 1
    given = _first(row, _VERDICT)
    if given is None or given.lower() not in _PASS | _FAIL:
        shown = f"it says '{given[:40]}'" if given else "there is none"
        raise DialgaugeError(
            f"the verdict must be pass or fail, yes or no, true or false, 1 or 0 ({shown})", file=str(path), line=line
        )
    replicate = _first(row, _REPLICATE) or str(times[grader, conversation])
    return GraderVerdict(conversation, task, grader, replicate, given.lower() in _PASS)


def _conversation(row: Mapping[str, Any], path: Path, line: int) -> tuple[str, str]:
    task, trial, name = _first(row, ("task",)), _first(row, ("trial",)), _first(row, _CONVERSATION)
    if name is None and task is not None:
        name = f"{task}#{trial or 0}"
    if name is None:
        raise DialgaugeError(
            "a line needs a conversation (conversation, dialogue, id), or a task and a trial", file=str(path), line=line
        )
    return name, task or name.rpartition("#")[0] or name


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of some columns that has a value, as text."""
    values = (row.get(name) for name in names)
    return next((str(value).strip() for value in values if value is not None and str(value).strip()), None)
