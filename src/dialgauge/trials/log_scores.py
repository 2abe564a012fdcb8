"""The scores that a log gives its conversations: numbers, of which there are means, and labels, of which shares."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dialgauge.dialogue import Dialogue

#: A score with more different texts is no label.
_MOST_LABELS = 12


class LogScores:
    """All scores of a log's conversations, in order."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._given = [dialogue.ended.scores for dialogue in dialogues]

    @cached_property
    def names(self) -> list[str]:
        """All scores, in the order in which they first come."""
        return list(dict.fromkeys(name for each in self._given for name in each))

    @cached_property
    def numeric(self) -> list[str]:
        """Scores that are numbers wherever they are given."""
        return [name for name in self.names if not any(isinstance(value, str) for value in self._values(name))]

    @cached_property
    def labelled(self) -> dict[str, list[str]]:
        """Scores that are labels, with their labels."""
        distinct = {name: sorted(set(map(_text, self._values(name)))) for name in self.names}
        numeric = set(self.numeric)
        few = {name: labels for name, labels in distinct.items() if len(labels) <= _MOST_LABELS}
        return {name: labels for name, labels in few.items() if name not in numeric}

    @property
    def left_out(self) -> list[str]:
        """Scores with so many labels that they are texts."""
        return [name for name in self.names if name not in self.numeric and name not in self.labelled]

    def numbers(self, conversation: int) -> dict[str, float]:
        given = self._given[conversation]
        return {name: float(given[name]) for name in self.numeric if name in given}

    def labels(self, conversation: int) -> dict[str, str]:
        given = self._given[conversation]
        return {name: _text(given[name]) for name in self.labelled if name in given}

    def span(self, name: str) -> tuple[float, float]:
        """The lowest and the highest number of a score."""
        numbers = [float(value) for value in self._values(name)]
        return min(numbers), max(numbers)

    def is_zero_or_one(self, name: str) -> bool:
        """Is a score 0 or 1 in every conversation that has it?"""
        return name in self.numeric and {float(value) for value in self._values(name)} <= {0.0, 1.0}

    def _values(self, name: str) -> list[float | str]:
        return [each[name] for each in self._given if name in each]


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
