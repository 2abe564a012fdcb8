"""Tables of results with a column for each trial beside the task, or a column for each task beside the trial."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dialgauge.formats.logs.fact_names import TRIAL, is_fact, plain_key
from dialgauge.formats.logs.fact_values import said_success, truth
from dialgauge.formats.logs.record_fields import task_and_trial
from dialgauge.formats.logs.record_verdicts import says_verdict
from dialgauge.formats.logs.results import TOTAL, TRIAL_KEY, TRIAL_SHORT, is_other_word, outcome_of


def is_wide(row: Any) -> bool:
    """Does a row of a table hold several verdicts: a column a trial beside the task, or a column a task?"""
    return isinstance(row, dict) and bool(_trial_columns(row) or _task_columns(row))


def has_verdict_columns(row: Mapping[str, str]) -> bool:
    """Is it a row under a heading, with several verdicts in columns whose names do not say what they are?"""
    held = [key for key, cell in row.items() if said_success(cell) is not None and plain_key(key) not in TRIAL]
    return len(held) > 1 and all(key and truth(key) is None for key in row)


def of_row(row: Mapping[str, Any], header: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The trials in a row of such a table, also those whose cells are empty; none in one of totals.

    Empty cells behind the last trial of a task are of trials that were never run.
    """
    if TOTAL.fullmatch(str(next(iter(row.values()), "")).strip()):
        return []
    if columns := _trial_columns(row, fewest=1):
        shared = {key: cell for key, cell in row.items() if key not in columns}
        every = _run(row, {**_columns_of_trials(header), **columns})
        return [{**shared, "trial": number, **outcome_of(row.get(column))} for column, number in every.items()]
    every = _columns_of_trials(header)
    words = [row[key] for key in every if key in row]
    if words and all(map(is_other_word, words)) and task_and_trial(row):
        shared = {key: cell for key, cell in row.items() if key not in every}
        return [
            {**shared, "trial": number, **outcome_of(row.get(column))} for column, number in _run(row, every).items()
        ]
    tasks = _task_columns(row)
    trial = {key: cell for key, cell in row.items() if key not in tasks}
    empty = [key for key in header if key and key not in row] if tasks else []
    return [{**trial, "task_id": task, "success": row.get(task)} for task in (*tasks, *empty)]


def _run(row: Mapping[str, Any], columns: Mapping[str, int]) -> dict[str, int]:
    """The columns of trials up to the last with something in its cell."""
    last = max((number for column, number in columns.items() if row.get(column) not in (None, "")), default=-1)
    return {column: number for column, number in columns.items() if number <= last}


def _trial_columns(row: Mapping[str, Any], fewest: int = 2) -> dict[str, int]:
    """Columns that are called as trials and hold verdicts, beside a task."""
    columns = _columns_of_trials(row)
    said = [key for key in columns if said_success(row[key]) is not None]
    verdicts = bool(said) and all(key in said or is_other_word(row[key]) for key in columns)
    return columns if len(columns) >= fewest and verdicts and task_and_trial(row) and not says_verdict(row) else {}


def _task_columns(row: Mapping[str, Any]) -> list[str]:
    """All columns but the first, which numbers the trials, where they hold verdicts and are called as nothing known."""
    first, *others = row or [""]
    if plain_key(first) not in TRIAL or len(others) < 2 or any(map(is_fact, others)):
        return []
    return others if all(said_success(row[key]) is not None for key in others) else []


def _trial_column(key: str) -> re.Match[str] | None:
    return TRIAL_KEY.fullmatch(key.strip()) or TRIAL_SHORT.fullmatch(key.strip())


def _columns_of_trials(header: Iterable[str]) -> dict[str, int]:
    return {key: int(number[1]) for key in header if (number := _trial_column(key))}
