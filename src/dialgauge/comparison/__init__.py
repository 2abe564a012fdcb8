"""Which system is really better, and by which measure: paired tests, correlations, discriminative power.

Any two or more runs of one kind are compared; this room knows runs and measures, and no family. A family may hand it a
view of its own (``ComparisonView``).
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.comparison.csv_files import read_csv as read_csv
    from dialgauge.comparison.difference import Difference as Difference
    from dialgauge.comparison.divergence import (
        DialogueDivergence as DialogueDivergence,
        divergence_sizes as divergence_sizes,
        divergences as divergences,
    )
    from dialgauge.comparison.document import (
        ComparisonOptions as ComparisonOptions,
        comparison_json as comparison_json,
        comparison_tables as comparison_tables,
        screen_tables as screen_tables,
    )
    from dialgauge.comparison.figures import comparison_figures as comparison_figures, figure_label as figure_label
    from dialgauge.comparison.missing import (
        MISSING_OPTIONS as MISSING_OPTIONS,
        SCORED_AS_EMPTY as SCORED_AS_EMPTY,
        UNLIKE_TURNS as UNLIKE_TURNS,
        LackingSystem as LackingSystem,
        missing_policy as missing_policy,
        missing_sentences as missing_sentences,
    )
    from dialgauge.comparison.pages import (
        compared_tables as compared_tables,
        comparison_page as comparison_page,
        comparison_report as comparison_report,
        differing_units as differing_units,
        telling_dialogues as telling_dialogues,
        unit_example as unit_example,
    )
    from dialgauge.comparison.ratings import (
        Ratings as Ratings,
        assigned as assigned,
        rated_places as rated_places,
        rating_correlations as rating_correlations,
        rating_tables as rating_tables,
        read_ratings as read_ratings,
    )
    from dialgauge.comparison.result import Comparison as Comparison
    from dialgauge.comparison.runs import (
        compare_runs as compare_runs,
        scores_of_run as scores_of_run,
    )
    from dialgauge.comparison.scores import (
        PairedScores as PairedScores,
        on_the_same_turns as on_the_same_turns,
        paired_scores as paired_scores,
        shared_turns as shared_turns,
    )
    from dialgauge.comparison.spread import (
        rank_agreement as rank_agreement,
        read_system_table as read_system_table,
        spread_figure as spread_figure,
        spreads as spreads,
        swapped_pairs as swapped_pairs,
        system_correlations as system_correlations,
        system_table_json as system_table_json,
        system_tables as system_tables,
        turn_correlations as turn_correlations,
    )
    from dialgauge.comparison.standing import (
        Standing as Standing,
        letters as letters,
        order as order,
        standings as standings,
    )
    from dialgauge.comparison.tables import (
        floor_table as floor_table,
        pair_table as pair_table,
        rank_table as rank_table,
        score_table as score_table,
        standing_tables as standing_tables,
        verdict_words as verdict_words,
    )
    from dialgauge.comparison.testing import RESAMPLES as RESAMPLES, compare_scores as compare_scores
    from dialgauge.comparison.verdict import MeasureVerdict as MeasureVerdict, Verdict as Verdict
    from dialgauge.comparison.views import (
        ComparisonView as ComparisonView,
        ItemDifference as ItemDifference,
        TurnDivergence as TurnDivergence,
        dialogue_rows as dialogue_rows,
        view_of as view_of,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
