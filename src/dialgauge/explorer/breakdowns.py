"""Charts whose every bar leads to the dialogues that it counts: they count what the list of dialogues finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialgauge.explorer.dialogue_query import DialogueQuery
from dialgauge.presentation import Breakdown, Tone

if TYPE_CHECKING:
    from dialgauge.explorer.dialogue_list import Choice, DialogueList

#: Bars of a chart; the longest ones.
_BARS = 12
#: Where the longest bar ends, in percent of the width: its number stands behind it.
_WIDEST = 82.0


@dataclass(frozen=True)
class BarPart:
    """A part of a bar, from ``start`` on, in percent of the width."""

    label: str
    count: int
    start: float
    width: float
    tone: Tone


@dataclass(frozen=True)
class Bar:
    """A value by its name, how many dialogues have it, and the parameters of the list that shows them."""

    label: str
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
    #: What the facet that splits the bars is called, and what its tones mean.
    parts: str
    key: Sequence[tuple[str, Tone]]


def bar_charts(listed: DialogueList) -> list[BarChart]:
    """The charts of a run that have a bar."""
    known = {choice.name: choice for choice in listed.choices(DialogueQuery(), least=1)}
    made = [_chart(listed, known, about) for about in listed.pages.breakdowns if about.facet in known]
    return [chart for chart in made if chart.bars]


def _chart(listed: DialogueList, known: Mapping[str, Choice], about: Breakdown) -> BarChart:
    only = {name: value for name, value in about.only.items() if name in known}
    facet, splits = known[about.facet], known.get(about.parts)
    counted = [(value, listed.count(only | {about.facet: value})) for value, _ in facet.values]
    matches = sorted(((value, count) for value, count in counted if count), key=lambda bar: -bar[1])
    split = {
        value: _parts(listed, splits, about, only | {about.facet: value}, count) for value, count in matches[:_BARS]
    }
    widest = max((sum(count for _, count, _ in parts) for parts in split.values()), default=0)
    bars = [
        Bar(
            facet.word(value),
            count,
            DialogueQuery(facets=only | {about.facet: value}).address(),
            _scaled(split[value], widest),
        )
        for value, count in matches[:_BARS]
    ]
    key = [(splits.word(value), tone) for value, tone in about.tones.items()] if splits is not None else []
    more = max(len(matches) - _BARS, 0)
    return BarChart(about, listed.count(only), bars, more, splits.label if splits is not None else "", key)


def _parts(
    listed: DialogueList, splits: Choice | None, about: Breakdown, facets: Mapping[str, str], count: int
) -> list[tuple[str, int, Tone]]:
    if splits is None:
        return [("", count, about.tone)]
    order = [*about.tones, *(value for value, _ in splits.values if value not in about.tones)]
    counted = [(value, listed.count({**facets, about.parts: value})) for value in order]
    return [(splits.word(value), count, about.tones.get(value, "plain")) for value, count in counted if count]


def _scaled(parts: Sequence[tuple[str, int, Tone]], widest: int) -> list[BarPart]:
    scaled, start = [], 0.0
    for label, count, tone in parts:
        width = _WIDEST * count / widest
        scaled.append(BarPart(label, count, round(start, 2), round(width, 2), tone))
        start += width
    return scaled
