"""Charts whose every bar leads to the dialogues that it counts: they count what the list of dialogues finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialgauge.explorer.dialogue_list import DialogueQuery
from dialgauge.presentation import Breakdown, Tone

if TYPE_CHECKING:
    from dialgauge.explorer.dialogue_list import DialogueList

#: Bars of a chart; the longest ones.
_BARS = 12
#: Where the longest bar ends, in percent of the width: its number stands behind it.
_WIDEST = 82.0


@dataclass(frozen=True)
class BarPart:
    """A part of a bar, from ``start`` on, in percent of the width."""

    value: str
    count: int
    start: float
    width: float
    tone: Tone


@dataclass(frozen=True)
class Bar:
    """A value, how many dialogues have it, and the parameters of the list that shows them."""

    value: str
    count: int
    query: str
    parts: Sequence[BarPart]

    @property
    def end(self) -> float:
        """Where the bar ends, in percent of the width."""
        return self.parts[-1].start + self.parts[-1].width if self.parts else 0.0


@dataclass(frozen=True)
class BarChart:
    """A breakdown with its bars; ``more`` values have none."""

    about: Breakdown
    total: int
    bars: Sequence[Bar]
    more: int
    #: What the facet that splits the bars is called.
    parts: str


def bar_charts(listed: DialogueList) -> list[BarChart]:
    """The charts of a run that have a bar."""
    choices = listed.choices(DialogueQuery(), least=1)
    known = {choice.name: choice.values for choice in choices}
    labels = {choice.name: choice.label for choice in choices}
    made = [
        _chart(listed, known, about, labels.get(about.parts, ""))
        for about in listed.pages.breakdowns
        if about.facet in known
    ]
    return [chart for chart in made if chart.bars]


def _chart(
    listed: DialogueList, known: Mapping[str, Sequence[tuple[str, int]]], about: Breakdown, parts: str
) -> BarChart:
    only = {name: value for name, value in about.only.items() if name in known}
    counted = [(value, listed.count(only | {about.facet: value})) for value, _ in known[about.facet]]
    found = sorted(((value, count) for value, count in counted if count), key=lambda one: -one[1])
    total = listed.count(only)
    split = {value: _parts(listed, known, about, only | {about.facet: value}, count) for value, count in found[:_BARS]}
    widest = max((sum(count for _, count, _ in parts) for parts in split.values()), default=0)
    bars = [
        Bar(value, count, DialogueQuery(facets=only | {about.facet: value}).address(), _scaled(split[value], widest))
        for value, count in found[:_BARS]
    ]
    return BarChart(about, total, bars, max(len(found) - _BARS, 0), parts)


def _parts(
    listed: DialogueList,
    known: Mapping[str, Sequence[tuple[str, int]]],
    about: Breakdown,
    facets: Mapping[str, str],
    count: int,
) -> list[tuple[str, int, Tone]]:
    if about.parts not in known:
        return [("", count, about.tone)]
    order = [*about.tones, *(value for value, _ in known[about.parts] if value not in about.tones)]
    parts = [(value, listed.count({**facets, about.parts: value}), about.tones.get(value, "plain")) for value in order]
    return [part for part in parts if part[1]]


def _scaled(parts: Sequence[tuple[str, int, Tone]], widest: int) -> list[BarPart]:
    scaled, start = [], 0.0
    for value, count, tone in parts:
        width = _WIDEST * count / widest
        scaled.append(BarPart(value, count, round(start, 2), round(width, 2), tone))
        start += width
    return scaled
