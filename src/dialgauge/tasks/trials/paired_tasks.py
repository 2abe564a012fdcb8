"""Tasks that two fields name together: a domain or a benchmark under ``task``, and a task of it under another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from dialgauge.dialogue import DetailKind, read_details
from dialgauge.tasks.trials.task_attempt import TaskAttempt

_KINDS: tuple[DetailKind, ...] = ("task_number", "task_row")
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
    for kind in _KINDS:
        named = [read_details(kind, details) for details in given]
        for name in dict.fromkeys(name for each in named for name in each):
            tasks: dict[str, Counter[str]] = {}
            for attempt, each in zip(made, named, strict=True):
                tasks.setdefault(attempt.task, Counter())[each.get(name, "")] += 1
            repeated = [counts for counts in tasks.values() if counts.total() > 1]
            mixed = [counts for counts in repeated if len(counts) > 1 and "" not in counts]
            if not mixed or 2 * len(mixed) <= len(repeated):
                continue
            again = [counts for counts in mixed if max(counts.values()) > 1]
            if kind == "task_number" or 2 * len(again) > len(mixed):
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
        name = next((text for kind in _KINDS if (text := read_details(kind, details).get(second))), "")
        task = f"{attempt.task}/{name}" if name else attempt.task
        paired.append(structs.replace(attempt, task=task, trial=attempt.trial if numbered else trials[task]))
        trials[task] += 1
    return paired
