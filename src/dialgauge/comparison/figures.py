"""The figures of a comparison, each a function that draws when called."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.comparison.result import Comparison
from dialgauge.comparison.spread import spreads, turn_correlations
from dialgauge.report import SHARE, correlation_heatmap, interval_plot, mean_spread
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars


def comparison_figures(comparison: Comparison) -> dict[str, Callable[[], Any]]:
    """File name (without ending) to the function that draws it; what the comparison has no data for is absent."""
    figures: dict[str, Callable[[], Any]] = {
        "intervals": partial(_intervals, comparison),
        "mean_spread": partial(_mean_spread, comparison),
    }
    for place, (system, frame) in enumerate(comparison.turn_scores.items(), 1):
        figures[f"correlation_{figure_label(place, system)}"] = partial(_correlation, comparison, system, frame)
    return {**figures, **comparison.view.figures(comparison)}


def figure_label(place: int, system: str) -> str:
    """A system as part of a file name: its place from 1, so that no two are alike, and its name."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in system)[:60]
    return f"{place}_{safe}"


def _intervals(comparison: Comparison) -> Any:
    rows = [
        {
            "system": system,
            "measure": measure,
            "value": None if value != value else float(value),
            "low": float(comparison.intervals[row, column, 0]),
            "high": float(comparison.intervals[row, column, 1]),
            "percent": _is_share(comparison, measure),
        }
        for row, system in enumerate(comparison.systems)
        for column, measure in enumerate(comparison.measures)
        for value in (comparison.values[row, column],)
    ]
    return interval_plot(rows, note=comparison.basis)


def _is_share(comparison: Comparison, measure: str) -> bool:
    score = comparison.scores.run_score(measure)
    return score is not None and score.unit == SHARE


def _mean_spread(comparison: Comparison) -> Any:
    known = [spread for spread in spreads(comparison.measures, comparison.values) if spread.mean is not None]
    points = {
        measure: [float(value) for value in comparison.values[:, place] if value == value]
        for place, measure in enumerate(comparison.measures)
    }
    return mean_spread(
        [spread.measure for spread in known],
        [spread.mean or 0.0 for spread in known],
        [spread.population_std or 0.0 for spread in known],
        points=points,
        percent=all(_is_share(comparison, spread.measure) for spread in known),
        note=f"{len(comparison.systems)} systems, population standard deviation",
    )


def _correlation(comparison: Comparison, system: str, frame: polars.DataFrame) -> Any:
    names, matrix = turn_correlations(frame, comparison.measures, "pearson")
    return correlation_heatmap(names, matrix, note=f"{system}: Pearson over {counted(len(frame), 'turn')}")
