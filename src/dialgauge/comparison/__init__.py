"""Which system is really better, and by which measure: paired tests, correlations, discriminative power."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.comparison.document import Wishes, as_json, comparison_tables
    from dialgauge.comparison.figures import drawings
    from dialgauge.comparison.ratings import assigned, read_ratings
    from dialgauge.comparison.result import Comparison, Difference, compare_scores
    from dialgauge.comparison.scores import Scores, scores_from_frames, scores_from_rows
    from dialgauge.comparison.spread import spreads
    from dialgauge.comparison.stored import compare_runs
    from dialgauge.comparison.sweep import LAMBDAS, Sweep
    from dialgauge.comparison.system_table import read_system_table, spread_figure, system_table_json, system_tables
    from dialgauge.comparison.trackers import TrackerComparison, compare, compare_results
    from dialgauge.comparison.views import ComparisonView, ItemDifference, TurnDivergence, dialogue_rows, view_of

__all__ = [
    "LAMBDAS",
    "Comparison",
    "ComparisonView",
    "Difference",
    "ItemDifference",
    "Scores",
    "Sweep",
    "TrackerComparison",
    "TurnDivergence",
    "Wishes",
    "as_json",
    "assigned",
    "compare",
    "compare_results",
    "compare_runs",
    "compare_scores",
    "comparison_tables",
    "dialogue_rows",
    "drawings",
    "read_ratings",
    "read_system_table",
    "scores_from_frames",
    "scores_from_rows",
    "spread_figure",
    "spreads",
    "system_table_json",
    "system_tables",
    "view_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
