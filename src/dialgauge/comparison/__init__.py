"""Which system is really better, and by which measure: paired tests, correlations, discriminative power.

Any two or more runs of one kind are compared; this room knows runs and measures, and no family. A family may hand it a
view of its own (``ComparisonView``).
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.comparison.csv_files import read_csv
    from dialgauge.comparison.divergence import DialogueDivergence, divergence_sizes, divergences
    from dialgauge.comparison.document import ComparisonOptions, comparison_json, comparison_tables, screen_tables
    from dialgauge.comparison.draws import ComparisonDraws
    from dialgauge.comparison.figures import comparison_figures, figure_label
    from dialgauge.comparison.missing import (
        MISSING_OPTIONS,
        SCORED_AS_EMPTY,
        UNLIKE_TURNS,
        LackingSystem,
        missing_policy,
        missing_sentences,
    )
    from dialgauge.comparison.ratings import (
        Ratings,
        assigned,
        rated_places,
        rating_correlations,
        rating_tables,
        read_ratings,
    )
    from dialgauge.comparison.result import Comparison, Difference
    from dialgauge.comparison.runs import (
        can_be_compared,
        comparable_signature,
        compare_runs,
        compare_runs_again,
        paired_measures,
        scores_of_run,
    )
    from dialgauge.comparison.scores import PairedScores, on_the_same_turns, paired_scores, shared_turns
    from dialgauge.comparison.spread import (
        rank_agreement,
        read_system_table,
        spread_figure,
        spreads,
        swapped_pairs,
        system_correlations,
        system_table_json,
        system_tables,
        turn_correlations,
    )
    from dialgauge.comparison.standing import Standing, letters, order, standings
    from dialgauge.comparison.tables import (
        floor_table,
        pair_table,
        rank_table,
        score_table,
        standing_tables,
        verdict_words,
    )
    from dialgauge.comparison.testing import RESAMPLES, compare_scores
    from dialgauge.comparison.verdict import MeasureVerdict, Verdict
    from dialgauge.comparison.views import (
        ComparisonView,
        ItemDifference,
        TurnDivergence,
        dialogue_rows,
        view_of,
    )

__all__ = [
    "MISSING_OPTIONS",
    "RESAMPLES",
    "SCORED_AS_EMPTY",
    "UNLIKE_TURNS",
    "Comparison",
    "ComparisonDraws",
    "ComparisonOptions",
    "ComparisonView",
    "DialogueDivergence",
    "Difference",
    "ItemDifference",
    "LackingSystem",
    "MeasureVerdict",
    "PairedScores",
    "Ratings",
    "Standing",
    "TurnDivergence",
    "Verdict",
    "assigned",
    "can_be_compared",
    "comparable_signature",
    "compare_runs",
    "compare_runs_again",
    "compare_scores",
    "comparison_figures",
    "comparison_json",
    "comparison_tables",
    "dialogue_rows",
    "divergence_sizes",
    "divergences",
    "figure_label",
    "floor_table",
    "letters",
    "missing_policy",
    "missing_sentences",
    "on_the_same_turns",
    "order",
    "pair_table",
    "paired_measures",
    "paired_scores",
    "rank_agreement",
    "rank_table",
    "rated_places",
    "rating_correlations",
    "rating_tables",
    "read_csv",
    "read_ratings",
    "read_system_table",
    "score_table",
    "scores_of_run",
    "screen_tables",
    "shared_turns",
    "spread_figure",
    "spreads",
    "standing_tables",
    "standings",
    "swapped_pairs",
    "system_correlations",
    "system_table_json",
    "system_tables",
    "turn_correlations",
    "verdict_words",
    "view_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
