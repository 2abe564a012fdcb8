"""Tasks that two fields name together: a domain or a benchmark under ``task``, and a task of it under another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from dialgauge.tasks.trials.task_attempt import TaskAttempt

_NUMBER, _ROW = "task_number[", "task_row["
#: What numbers rows in most logs, of which nothing is said where it does not come again.
_COUNTS = frozenset({"index", "idx"})


class PairedTasks(Struct, frozen=True):
    """The field that names the task together with its name, and one that differs between all trials of a task."""

    second: str = ""
    #: It may number rows, or name the task.
    unclear: str = ""


def paired_tasks(made: Sequence[TaskAttempt], given: Sequence[Mapping[str, str]]) -> PairedTasks:
    """Which field differs within most tasks that have several trials; what may number rows must come again in them."""
    unclear = ""
    for key in dict.fromkeys(key for details in given for key in details if key.startswith((_NUMBER, _ROW))):
        tasks: dict[str, Counter[str]] = {}
        for attempt, details in zip(made, given, strict=True):
            tasks.setdefault(attempt.task, Counter())[details.get(key, "")] += 1
        repeated = [counts for counts in tasks.values() if counts.total() > 1]
        mixed = [counts for counts in repeated if len(counts) > 1 and "" not in counts]
        if not mixed or 2 * len(mixed) <= len(repeated):
            continue
        name = key.partition("[")[2].removesuffix("]")
        again = [counts for counts in mixed if max(counts.values()) > 1]
        if key.startswith(_NUMBER) or 2 * len(again) > len(mixed):
            return PairedTasks(second=name)
        unclear = unclear or (name if name.lower() not in _COUNTS else "")
    return PairedTasks(unclear=unclear)


def by_pairs(made: Sequence[TaskAttempt], given: Sequence[Mapping[str, str]], second: str) -> list[TaskAttempt]:
    """Attempts at tasks of both names; trials are counted anew where their numbers are those of one name."""
    numbers = Counter((attempt.task, attempt.trial) for attempt in made)
    numbered = max(numbers.values()) > 1
    trials: Counter[str] = Counter()
    paired = []
    for attempt, details in zip(made, given, strict=True):
        name = details.get(f"{_NUMBER}{second}]") or details.get(f"{_ROW}{second}]") or ""
        task = f"{attempt.task}/{name}" if name else attempt.task
        paired.append(structs.replace(attempt, task=task, trial=attempt.trial if numbered else trials[task]))
        trials[task] += 1
    return paired
