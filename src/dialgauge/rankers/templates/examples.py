"""Points of dialogs as a model sees them: cues for what to say, marks for what to fill in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dialgauge.rankers.episode import Episode, Point, points_of
from dialgauge.rankers.templates.features import Cues, Marks
from dialgauge.rankers.templates.filling import MarkedPoint, said_texts
from dialgauge.rankers.templates.history import Aliases, Follower
from dialgauge.rankers.templates.inventory import Ints, Inventory


class Example(NamedTuple):
    """A point of a dialog: cues of the chosen groups, cues of every group, and marks."""

    cues: list[str]
    every: list[str]
    marked: MarkedPoint


class Reader:
    """Reads points; cues that are computed once for all points of a state are kept."""

    def __init__(self, inventory: Inventory, aliases: Aliases, cues: Cues) -> None:
        self._cues, self._marks = cues, Marks(inventory)
        self._follower = Follower(inventory, aliases)
        self._index = {text: place for place, text in enumerate(inventory.candidates)}

    def read(self, points: Sequence[Point]) -> list[Example]:
        """Points as examples; consecutive points of a dialog are read in one go."""
        return [self._example(point) for point in points]

    def _example(self, point: Point) -> Example:
        talk = self._follower.at(point)
        marked = MarkedPoint(self._marks.of(talk), said_texts(talk, self._index))
        return Example(*self._cues.of(talk), marked)


def reply_templates(dialogs: Sequence[Episode], inventory: Inventory) -> list[list[int]]:
    """The templates of each dialog's replies, in order."""
    return [[inventory.parse(point.reply).template for point in points_of([dialog])] for dialog in dialogs]


def reply_candidates(dialogs: Sequence[Episode], inventory: Inventory) -> list[int]:
    """The numbers of all replies that are candidates."""
    index = {text: place for place, text in enumerate(inventory.candidates)}
    return [index[point.reply] for point in points_of(dialogs) if point.reply in index]


def gold_candidates(points: Sequence[Point], inventory: Inventory) -> Ints:
    """The numbers of the points' gold replies among the candidates."""
    index = {text: place for place, text in enumerate(inventory.candidates)}
    return np.array([index[point.reply] for point in points], dtype=np.int64)
