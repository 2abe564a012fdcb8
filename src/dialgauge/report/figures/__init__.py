"""Figures of papers and comparisons, drawn from plain numbers. Needs the extra ``figures`` (altair, vl-convert)."""

from __future__ import annotations

from dialgauge.report.figures.counts import error_onset, slots_per_dialogue
from dialgauge.report.figures.matrices import correlation_heatmap
from dialgauge.report.figures.save import save
from dialgauge.report.figures.systems import domain_bars, interval_plot, lambda_sweep, mean_spread

__all__ = [
    "correlation_heatmap",
    "domain_bars",
    "error_onset",
    "interval_plot",
    "lambda_sweep",
    "mean_spread",
    "save",
    "slots_per_dialogue",
]
