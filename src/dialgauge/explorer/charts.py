"""The charts of a run: its scores with intervals, and what its kind draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.presentation import pages_of
from dialgauge.report import SHARE, interval_plot
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.runs import Run

#: Scores that the chart of a run shows.
_MOST_SCORES = 12


def run_charts(library: Library, run: Run) -> dict[str, Callable[[], Any]]:
    """The charts of a run by name: its scores where they have intervals, and what its kind draws."""
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
