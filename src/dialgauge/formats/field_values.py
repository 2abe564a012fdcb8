"""What stands in fields that nobody reads, compared over all conversations of a log.

A field with two values may be a verdict under a name that is not known; one that splits the trials of every task alike
may tell agents apart. Only fields with few values are kept, so memory grows with the tasks alone.
"""

from __future__ import annotations

from collections import Counter

#: Fields with more values are texts, times or amounts.
_MOST_VALUES = 8


class FieldValues:
    """How often each value of a field is in each task."""

    def __init__(self) -> None:
        self._fields: dict[str, dict[str, Counter[str]] | None] = {}
        self._values: dict[str, set[str]] = {}

    def add(self, task: str, field: str, text: str) -> None:
        """One more conversation of a task in which a field is this."""
        tasks = self._fields.setdefault(field, {})
        if tasks is None:
            return
        values = self._values.setdefault(field, set())
        values.add(text)
        if len(values) > _MOST_VALUES:
            self._fields[field] = None
            values.clear()
        else:
            tasks.setdefault(task, Counter())[text] += 1

    def two_valued(self) -> dict[str, Counter[str]]:
        """Fields with two values, and how often each is there."""
        counts = {field: sum(tasks.values(), Counter()) for field, tasks in self._fields.items() if tasks}
        return {field: values for field, values in counts.items() if len(values) == 2}

    def splitting(self) -> dict[str, Counter[str]]:
        """Fields that have the same several values in every task, each in the same several trials of it."""
        split: dict[str, Counter[str]] = {}
        for field, tasks in self._fields.items():
            first = next(iter(tasks.values()), Counter()) if tasks and "" not in tasks else Counter[str]()
            if tasks and len(first) > 1 and min(first.values()) > 1 and all(each == first for each in tasks.values()):
                split[field] = sum(tasks.values(), Counter())
        return split
