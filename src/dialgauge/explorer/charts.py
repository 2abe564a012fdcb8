"""Charts of pages: those of the report room, and a few that only pages have, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.explorer.families import pages_of
from dialgauge.report import INK, SHADES, SHARE, altair, data, interval_plot, shades, styled
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.runs import Run

#: Bars that a chart shows; the rest is told in a line below its title.
_MOST_BARS = 20
#: Groups that have no shade of their own.
_OTHERS = "others"
#: Scores that the chart of a run shows.
_MOST_SCORES = 12


def stacked_bars(
    bars: Mapping[str, Mapping[str, float]], groups: Sequence[str], *, title: str, value: str, note: str = ""
) -> Any:
    """Horizontal bars made of groups, the longest first; those beyond the twentieth are counted in the note.

    Of more groups than there are shades that readers tell apart, the smallest are joined.
    """
    alt = altair()
    bars, groups = _joined(bars, groups)
    ranked = sorted(bars, key=lambda name: (-sum(bars[name].values()), name))
    kept = ranked[:_MOST_BARS]
    present = [group for group in groups if any(group in bars[name] for name in kept)]
    rows = [
        {"bar": name, "group": group, "value": bars[name][group], "order": place}
        for name in kept
        for place, group in enumerate(present)
        if group in bars[name]
    ]
    left = f"the first {_MOST_BARS} of {len(ranked)}" if len(ranked) > _MOST_BARS else ""
    chart = (
        alt.Chart(data(rows))
        .mark_bar(stroke=INK, strokeWidth=0.6)
        .encode(
            y=alt.Y("bar:N", sort=kept, title=None),
            x=alt.X("value:Q", title=value, stack="zero", axis=alt.Axis(grid=False, tickMinStep=1)),
            color=alt.Color(
                "group:N", sort=present, title=None, scale=alt.Scale(domain=present, range=shades(len(present)))
            ),
            order=alt.Order("order:Q"),
            tooltip=["bar:N", "group:N", "value:Q"],
        )
        .properties(width=420, height=alt.Step(20))
    )
    return styled(chart, title=title, note=" · ".join(part for part in (note, left) if part))


def _joined(
    bars: Mapping[str, Mapping[str, float]], groups: Sequence[str]
) -> tuple[Mapping[str, Mapping[str, float]], list[str]]:
    """The bars with at most as many groups as there are shades."""
    totals = {group: sum(split.get(group, 0) for split in bars.values()) for group in groups}
    present = [group for group in groups if totals[group]]
    if len(present) <= len(SHADES):
        return bars, list(groups)
    kept = sorted(present, key=lambda group: -totals[group])[: len(SHADES) - 1]
    joined: dict[str, dict[str, float]] = {}
    for name, split in bars.items():
        own = {group: count for group, count in split.items() if group in kept}
        rest = sum(count for group, count in split.items() if group not in kept)
        joined[name] = own | ({_OTHERS: rest} if rest else {})
    return joined, [*(group for group in groups if group in kept), _OTHERS]


def run_charts(library: Library, run: Run) -> dict[str, Callable[[], Any]]:
    """The charts of a run by name: its scores where they have intervals, and what its family draws."""
    pages = pages_of(run.kind)
    rows = _interval_rows(run, pages.columns(run) if run.scores else [])
    own: dict[str, Callable[[], Any]] = (
        {"scores": partial(interval_plot, rows, title="Scores with 95% intervals")} if rows else {}
    )
    return {name: partial(_sized, draw, run) for name, draw in {**own, **pages.charts(library, run)}.items()}


def _sized(draw: Callable[[], Any], run: Run) -> Any:
    """The chart with a line that says whose dialogues it shows, and how many."""
    chart = draw()
    scored = run.coverage.units.get("dialogues")
    if scored is None or scored.scored is None:
        return chart
    heading = dict(chart.title)
    told = heading.get("subtitle", [])
    own = f"{run.name}: {counted(scored.scored, 'dialogue')}"
    heading["subtitle"] = [own, *([told] if isinstance(told, str) else told)]
    return chart.properties(title=heading)


def _interval_rows(run: Run, measures: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "system": run.name,
            "measure": name,
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "percent": score.unit == SHARE,
        }
        for name, score in run.scores.items()
        if name in measures[:_MOST_SCORES] and None not in (score.value, score.low, score.high)
    ]
