"""The figures of a comparison, each a function that draws when called."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.comparison.document import ComparisonOptions
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.spread import turn_correlations, values_figure
from dialgauge.rendering import SHARE, correlation_heatmap, interval_plot
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars


#: Correlations by name, as titles have them.
_CORRELATIONS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}


def comparison_figures(
    comparison: Comparison, options: ComparisonOptions | None = None
) -> dict[str, Callable[[], Any]]:
    """File name (without ending) to the function that draws it; what the comparison has no data for is absent.

    Correlations are those that the options name, Pearson's where they name none.
    """
    kinds = (options and options.correlations) or ("pearson",)
    figures: dict[str, Callable[[], Any]] = {
        "intervals": partial(_intervals, comparison),
        "mean_spread": partial(_mean_spread, comparison),
    }
    for kind in kinds:
        for index, (system, frame) in enumerate(comparison.turn_scores.items(), 1):
            name = f"correlation_{kind}_{figure_label(index, system)}"
            figures[name] = partial(_correlation, comparison, system, frame, kind)
    return {**figures, **comparison.view.figures(comparison)}


def figure_label(position: int, system: str) -> str:
    """A system as part of a file name: its place from 1, so that no two are alike, and its name."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in system)[:60]
    return f"{position}_{safe}"


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
        for value in (comparison.corpus_values[row, column],)
    ]
    return interval_plot(rows, note=comparison.basis)


def _is_share(comparison: Comparison, measure: str) -> bool:
    score = comparison.scores.run_score(measure)
    return score is not None and score.unit == SHARE


def _mean_spread(comparison: Comparison) -> Any:
    is_share = partial(_is_share, comparison)
    return values_figure(comparison.measures, comparison.corpus_values, lambda spread: is_share(spread.measure))


def _correlation(comparison: Comparison, system: str, frame: polars.DataFrame, kind: str) -> Any:
    names, matrix = turn_correlations(frame, comparison.measures, kind)
    return correlation_heatmap(
        names,
        matrix,
        title=f"Do the measures agree? {_CORRELATIONS[kind]}",
        note=f"{system}: over {counted(len(frame), 'turn')} of {counted(len(comparison.dialogues), 'dialogue')}",
    )
