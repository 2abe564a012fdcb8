"""Tasks and trials that only the ids of conversations tell: ``task_3-1``, ``task3_run2``, files such as ``t3_trial0``.

They are taken from the ids where all end in the same way and several tasks have several trials: in a word for trials
and a number (or begin with these: ``run2/task_3``; how it went may follow: ``t3_trial0_pass``); in a letter for them
(``refund__t1``) or a mere number, if every task then has at least two trials, counted from the same number without
gaps and fewer than there are tasks, and for a mere number behind no point one of its own, or words that something else
joins (``lost_luggage-1``). ``airline-0`` and ``retail-0`` are tasks, as are ``airline_task_0`` and dates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_TRIAL = r"(?:trial|epoch|run|attempt|rollout|repeat|repetition|rep|seed|iteration|iter)(?:[-_ =]|: )?([0-9]{1,6})"
_ALONE = re.compile(rf"(?<=[\w)])\s?[\[(]{_TRIAL}[\])]\Z", re.IGNORECASE)
_WORD = re.compile(rf"(?:[-_ /.:#(]{{1,2}}|(?<=[0-9])){_TRIAL}\)?(?=\]?\Z)", re.IGNORECASE)
_FIRST = re.compile(rf"\A{_TRIAL}[-_ /.:#](?=[a-z])", re.IGNORECASE)
#: How it went, behind the trial.
_VERDICT = re.compile(
    r"[-_ .](?:pass|passed|fail|failed|success|failure|error|errored|timeout|crashed|skipped)\Z", re.IGNORECASE
)
_LETTER = re.compile(r"[-_/.:#]{1,2}[trs](0|[1-9][0-9]?)\Z")
_NUMBER = re.compile(r"[-_/.:#](0|[1-9][0-9]?)\Z")
#: Words that are joined, and those that stand before the number of a task.
_WORDS = re.compile(r"[^\W\d_]{1,40}([-_ ])[^\W\d_]{1,40}(?:\1[^\W\d_]{1,40}){0,9}")
_OF_TASKS = re.compile(r"(?:task|case|test|scenario|problem|question|example|sample)\Z", re.IGNORECASE)
#: The parameters of a test of pytest: a trial of so many, as pytest-repeat writes it, a case and its trial in either
#: order, or a trial alone.
_OF_PYTEST = (
    re.compile(r"(?<=\[)([0-9]{1,4})-[0-9]{1,4}(?=\]\Z)"),
    re.compile(r"(?<=[\w)])-(0|[1-9][0-9]?)(?=\]\Z)"),
    re.compile(r"(?<=\[)(0|[1-9][0-9]?)-(?=[^\]\[]{1,200}\]\Z)"),
    re.compile(r"(?<=\[)(0|[1-9][0-9]?)(?=\]\Z)"),
)
_DATE = re.compile(r"(?:19|20)[0-9]{2}[-_/.][0-9]{1,2}\Z")
_DIGITS = re.compile(r"[0-9]+")


class TrialIds(Struct, frozen=True):
    """Task and trial of each id, in order; none where ids do not tell them. ``example`` is an id that looks so."""

    named: tuple[tuple[str, int], ...] = ()
    example: str = ""


def trials_in_ids(ids: Sequence[str]) -> TrialIds:
    """What ids tell of tasks and trials."""
    bare = [_VERDICT.sub("", name) for name in ids]
    numbered = (*_OF_PYTEST, _LETTER, _NUMBER)
    for pattern, names in ((_ALONE, bare), (_WORD, bare), (_FIRST, bare), *((pattern, ids) for pattern in numbered)):
        ends = [pattern.search(name) for name in names]
        pairs = [
            (name[: end.start()] + name[end.end() :], int(end[1])) for name, end in zip(names, ends, strict=True) if end
        ]
        if len(pairs) < len(ids) or not all(task for task, _ in pairs):
            continue
        if len({_DIGITS.sub("", end[0].lower()) for end in ends if end}) > 1:
            continue
        trials: dict[str, set[int]] = {}
        for task, trial in pairs:
            trials.setdefault(task, set()).add(trial)
        several = max(map(len, trials.values()), default=0) > 1 and len(trials) > 1
        if pattern in (*_OF_PYTEST, _LETTER) and not (
            several and len(set(pairs)) == len(pairs) and _are_counted(trials)
        ):
            continue
        if several and (pattern is not _NUMBER or _are_trials(trials, mark=ids[-1][len(pairs[-1][0])])):
            return TrialIds(tuple(pairs), ids[-1])
        if several:
            return TrialIds(example=ids[-1])
    return TrialIds()


def grid_example(tasks: Sequence[str]) -> str:
    """The last of some tasks where their names end in the same few numbers, as those of trials would; else empty."""
    ends = [_NUMBER.search(task) for task in tasks]
    trials: dict[str, set[int]] = {}
    for task, end in zip(tasks, ends, strict=True):
        if not end:
            return ""
        trials.setdefault(task[: end.start()], set()).add(int(end[1]))
    return tasks[-1] if len(trials) > 1 and len(tasks) > len(trials) and _are_counted(trials) else ""


def _are_trials(trials: dict[str, set[int]], mark: str) -> bool:
    """Are mere numbers behind a mark trials: counted up for every task, beside its number or its words?"""
    numbers = all(_DIGITS.search(task) and not _DATE.search(task) for task in trials)
    named = all(mark == "." or ((words := _WORDS.fullmatch(task)) and words[1] != mark) for task in trials)
    return _are_counted(trials) and (numbers or (named and not any(map(_OF_TASKS.search, trials))))


def _are_counted(trials: dict[str, set[int]]) -> bool:
    """Has every task several trials, counted without gaps from the same 0 or 1, and fewer than there are tasks?"""
    first = min(min(numbers) for numbers in trials.values())
    counted = all(numbers == {*range(first, first + len(numbers))} for numbers in trials.values())
    most, fewest = max(map(len, trials.values())), min(map(len, trials.values()))
    return first < 2 and counted and fewest > 1 and len(trials) > most
