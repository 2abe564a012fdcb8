"""The way to a point: the points before it in its dialog, and what the bot said there.

Points come in any order and from any place of a dialog. Those of one dialog that follow each other share their way.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dialgauge.responses.episodes import Line, Point


class Trail(NamedTuple):
    """Points of dialogs, each after the one before it; ``places`` says where those asked for are."""

    points: list[Point]
    #: The place of the point before, -1 for the first of a dialog.
    before: list[int]
    #: What the bot said at the point before.
    said: list[str]
    places: list[int]


def trail_to(points: Sequence[Point]) -> Trail:
    """The points and all those on the way to them, as far as not already there."""
    trail = Trail([], [], [], [])
    for point in points:
        asked = _asked(point.history)
        if not (trail.points and asked and _extends(point, asked[-1], trail.points[-1])):
            for turn, at in enumerate(asked):
                earlier = Point(point.dialogue, turn, point.history[:at], point.history[at].text, "")
                _add(trail, earlier, asked[:turn])
        _add(trail, point, asked)
        trail.places.append(len(trail.points) - 1)
    return trail


def _add(trail: Trail, point: Point, asked: Sequence[int]) -> None:
    trail.before.append(len(trail.points) - 1 if asked else -1)
    trail.said.append(point.history[asked[-1] + 1].text if asked else "")
    trail.points.append(point)


def _asked(history: Sequence[Line]) -> list[int]:
    """Where a user line is answered by the bot."""
    kinds = [line.kind for line in history]
    return [at for at, pair in enumerate(pairwise(kinds)) if pair == ("user", "bot")]


def _extends(point: Point, at: int, last: Point) -> bool:
    """Is the last point the one whose user line stands at this place of the history?"""
    return last.utterance == point.history[at].text and last.history == point.history[:at]
