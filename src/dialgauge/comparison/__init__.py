"""Which system is really better, and by which measure: paired tests, correlations, discriminative power."""

from __future__ import annotations

from dialgauge.comparison.result import Comparison, Difference, compare_scores
from dialgauge.comparison.scores import Scores, scores_from_frames, scores_from_rows
from dialgauge.comparison.stored import compare_runs
from dialgauge.comparison.trackers import TrackerComparison, compare, compare_results

__all__ = [
    "Comparison",
    "Difference",
    "Scores",
    "TrackerComparison",
    "compare",
    "compare_results",
    "compare_runs",
    "compare_scores",
    "scores_from_frames",
    "scores_from_rows",
]
