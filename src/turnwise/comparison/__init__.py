"""Which system is really better, and by which measure: paired tests, correlations, discriminative power."""

from __future__ import annotations

from turnwise.comparison.result import Comparison, Difference, compare_scores
from turnwise.comparison.scores import Scores, scores_from_frames, scores_from_rows
from turnwise.comparison.stored import compare_runs
from turnwise.comparison.trackers import TrackerComparison, compare, compare_results

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
