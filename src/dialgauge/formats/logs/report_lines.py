"""Results in lines of text, as a runner prints them: ``t1: PASS FAIL``, ``task=buy trial=1/4 ... PASS``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dialgauge.formats.logs.fact_names import ID, TASK, TRIAL, VERDICTS, plain_key
from dialgauge.formats.logs.fact_values import truth
from dialgauge.formats.logs.results import NAME, REASON, TAKEN, TRIAL_KEY, TRIAL_SHORT, ended_as
from dialgauge.text import counted

#: A line of text: when and how loud it was said, the verdicts in it, and what may stand around the name.
_STAMP = re.compile(
    r"\A\[?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])?[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?Z?\]?\s"
)
_LEVEL = re.compile(r"\A\s{0,9}\[?(?:INFO|DEBUG|WARNING|WARN|ERROR)\]?:?\s")
_VERDICT = re.compile(r"(?<![\w-])(?:PASS|FAIL|PASSED|FAILED|SUCCESS|FAILURE)(?![\w-])|[✅✓✔❌✗✘]")
#: What stands where a verdict does on other lines, and is none.
_NO_VERDICT = re.compile(
    r"(?<![\w-])(?:ERROR|ERRORED|TIMEOUT|TIMED OUT|SKIP|SKIPPED|CRASH|CRASHED|ABORTED|CANCELLED|UNKNOWN|XFAIL|XPASS|N/A"
    r"|INCOMPLETE|PENDING|INCONCLUSIVE|PARTIAL|KILLED|INFRA_ERROR|BLOCKED)(?![\w-])|⚠\ufe0f?|⏭\ufe0f?|⏱\ufe0f?"
)
#: How long a test took, behind its name, and the trial beside it.
_TOOK = re.compile(r"\s{1,9}[(\[]?(?:in\s)?[0-9]{1,9}(?:\.[0-9]{1,9})?\s?(?:s|ms|sec|secs|seconds|min|m)[)\]]?\Z")
_HASH = re.compile(r"\s#(?=[0-9]{1,6}\Z)")
_PAIR = re.compile(r"(?<![\w.-])([A-Za-z_][\w.]{0,40})=([^\s,;]{1,100})")
_NUMBERS = re.compile(r"[0-9]{1,20}")
_AROUND = " \t:=|,;.-[]<>→│✖\ufe0f"
#: A test of pytest with parameters, those that are but a trial, and what pytest-xdist writes before it:
#: ``[gw0] [ 3%] PASSED tests/...``.
_PYTEST = re.compile(r"\A[\w./-]{1,200}\.py::[\w:.]{0,200}?(\w{1,200}\[([^\]]{1,200})\])")
_TRIAL_ALONE = re.compile(rf"{TRIAL_KEY.pattern}|[0-9]{{1,4}}(?:-[0-9]{{1,4}})?", re.IGNORECASE)
_WORKER = re.compile(r"\A\[gw[0-9]{1,4}\]\s\[\s{0,3}[0-9]{1,3}%\]\s[A-Z]{4,7}\s")
_PERCENT = re.compile(r"\s\[\s{0,3}[0-9]{1,3}%\]\s{0,9}\Z")
#: What a line says of task and trial by name: ``task=buy trial=1/4 ... PASS``.
_TASK_SAID = re.compile(r"(?<![\w-])(?:task|task_id|scenario|case)=([\w./-]{1,100})", re.IGNORECASE)
_TRIAL_SAID = re.compile(r"(?<![\w-])(?:trial|run|attempt|epoch|repeat|rep|seed)=([0-9]{1,6})(?![\w.])", re.IGNORECASE)
#: Lines of a test runner around its verdicts.
_BANNER = re.compile(r"={3,200}(?:\s|\Z)|collect(?:ed|ing) [0-9]|(?:platform|rootdir|plugins|cachedir)[ :]")
#: Where pytest says again what failed.
_AGAIN = re.compile(r"={3,200} (?:short test summary info|FAILURES|ERRORS)(?: |\Z)")
#: What a line sums others up by: a word for all of them, so many of so many, counts before the verdicts they are of.
_ALL = "(?:grand )?total|overall|summary|aggregate|average|mean|all|(?:pass |success )?rate|accuracy"
_OF_ALL = rf"{_ALL}|final|results?|verdict|outcome|status|score|tests|tasks|passed|failed"
_SUMS_UP = re.compile(
    rf"(?:(?:{_ALL}|final|results?|verdict)(?:\s(?:{_OF_ALL})){{0,3}}|(?:{_ALL})[\s:=(]{{1,4}}[0-9].{{0,40}}|suite:\s.{{1,60}}"
    r"|[0-9]{1,9}\s?(?:/|of|out of)\s?[0-9]{1,9}(?:\s[a-z]{1,20}){0,2}"
    r"|[0-9]{1,9}\s?\([0-9.]{1,6}\s?%\)?|[0-9]{1,9}(?:\s[a-z]{1,20})?\s(?:passed|failed|errors?|skipped|tests|tasks))",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(?<![\w.-])[0-9]{1,9}\s(?:PASS|FAIL|PASSED|FAILED)(?![\w-])|(?<![\w-])(?:PASS|FAIL|PASSED|FAILED)\s?[:=]\s?[0-9]{1,9}(?![\w-])"
)
#: How many trials of a task were passed, before the word.
_SHARE = re.compile(r".{0,200}[\s:=(][0-9]{1,9}\s?(?:/|of)\s?[0-9]{1,9}")
#: What is noted of verdicts in one line.
_BESIDE = "verdicts beside each other in a line taken for trials of its task"
#: Lines of a text that may have no verdict: a heading, a summary.
_OTHER_LINES = 0.34
_LONGEST_LINE = 300


def in_lines(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The verdicts in lines of text, each with the name that stands beside them; a name of a trial is kept in it."""
    rows: list[dict[str, Any]] = []
    others: list[str] = []
    sums: list[str] = []
    total, heading = 0, ""
    for line in lines:
        if rows and _AGAIN.match(line):
            break
        if not line.strip() or _BANNER.match(line):
            continue
        total += 1
        heading = heading if total > 1 else line
        words = _VERDICT.findall(line) if len(line) <= _LONGEST_LINE and not line.lstrip().startswith("|") else []
        name = _name_in(line) if words else ""
        task, trial = _TASK_SAID.search(name), _TRIAL_SAID.search(name)
        if task and trial and len(words) == 1:
            rows.append({**_further(line), "task_id": task[1], "trial": int(trial[1]), "success": truth(words[0])})
        elif name and (_SUMS_UP.fullmatch(name) or (len(words) > 1 and len(_COUNTED.findall(line)) > 1)):
            sums.append(line)
        elif not name or len(name.split()) > 6:
            others.append(line)
        else:
            trials = {"task_id": name, TAKEN: _BESIDE} if len(words) > 1 else {NAME: name}
            numbers = [{"trial": number} for number in range(len(words))] if len(words) > 1 else [{}]
            rows += [{**trials, **number, "success": truth(word)} for number, word in zip(numbers, words, strict=True)]
    rows, counts = _without_counts(rows)
    unjudged = _unjudged_lines(others, rows)
    left = [line for line in others if line not in unjudged]
    if len(rows) < 2 or len(left) > _OTHER_LINES * total or _are_shares(rows) or _is_heading(heading, rows):
        return []
    rows += unjudged.values()
    told = {"without a verdict": left, "of totals": [*sums, *counts]}
    for place, (what, passed_over) in enumerate((what, lines) for what, lines in told.items() if lines):
        number = counted(len(passed_over), "line")
        passed = f"{number} {what} passed over, such as '{passed_over[0].strip()[:60]}'"
        rows[place] = {**rows[place], TAKEN: passed}
    return rows


def _are_shares(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Do several lines say of how many trials a task was passed, instead of in which?"""
    return sum(_SHARE.fullmatch(str(row.get(NAME, ""))) is not None for row in rows) > 1


def _is_heading(line: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Does the first line name the columns of verdicts, and not as trials?"""
    names = line.split()
    columns = 1 + max(int(row.get("trial", 0)) for row in rows)
    if columns < 2 or len(names) != columns + 1 or _VERDICT.search(line) or plain_key(names[0]) not in (*TASK, *ID):
        return False
    return not all(TRIAL_KEY.fullmatch(name) or TRIAL_SHORT.fullmatch(name) for name in names[1:])


def _without_counts(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows without those of mere numbers among others that have names, which count: ``PASS: 2``."""
    numbered = [row for row in rows if _NUMBERS.fullmatch(str(row.get(NAME, "")))]
    if not numbered or 2 * len(numbered) > len(rows):
        return rows, []
    return [row for row in rows if row not in numbered], [str(row[NAME]) for row in numbered]


def _further(line: str) -> dict[str, Any]:
    """What a line says beside task, trial and verdict: ``cost=0.02``."""
    said = {key: value for key, value in _PAIR.findall(line) if not _VERDICT.fullmatch(value)}
    return {key: value for key, value in said.items() if plain_key(key) not in (*TASK, *TRIAL, "seed", *VERDICTS)}


def _unjudged_lines(lines: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Lines that look like those with a verdict and have another word in its place: conversations without a verdict."""
    shapes = {_shape(str(row[NAME])) for row in rows if NAME in row}
    numbered = any("trial" in row for row in rows)
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        words = _NO_VERDICT.findall(line) if len(line) <= _LONGEST_LINE else []
        if len(words) != 1:
            continue
        task, trial = _TASK_SAID.search(line), _TRIAL_SAID.search(line)
        name = _name_in(line, _NO_VERDICT)
        ended = {"success": None, REASON: ended_as(words[0])}
        if numbered and task and trial:
            found[line] = {**_further(line), "task_id": task[1], "trial": int(trial[1]), **ended}
        elif name and _shape(name) in shapes:
            found[line] = {NAME: name, **ended}
    return found


def _shape(name: str) -> str:
    """What names of one report have in common: all but numbers and, of several words, the first."""
    first, *others = _NUMBERS.sub("0", name).split()
    return " ".join(["", *others]) if others else first


def name_and_verdicts(line: str) -> tuple[str, list[bool | None]]:
    """What a line has verdicts on, and these."""
    words = _VERDICT.findall(line) if len(line) <= _LONGEST_LINE else []
    return (_name_in(line) if words else ""), [truth(word) for word in words]


def _name_in(line: str, word: re.Pattern[str] = _VERDICT) -> str:
    """What a line has a verdict on, or another word in its place."""
    rest = _PERCENT.sub("", _LEVEL.sub("", _STAMP.sub("", _WORKER.sub("", line))))
    if test := _PYTEST.match(rest):
        return test[1] if _TRIAL_ALONE.fullmatch(test[2]) else test[2]
    before, _, after = word.sub("\0", rest).partition("\0")
    name = before.strip(_AROUND) or after.partition("\0")[0].strip(_AROUND)
    return _HASH.sub("#", _TOOK.sub("", name).strip(_AROUND)).strip()
