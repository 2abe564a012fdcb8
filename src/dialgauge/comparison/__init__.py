"""Which system is really better, and by which measure: paired tests, correlations, discriminative power.

Any two or more runs of one kind are compared; this room knows runs and measures, and no family. A family may say
how its runs are paired (``Pairing``).
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.comparison.csv_files import read_csv as read_csv
    from dialgauge.comparison.divergence import (
        differing_units as differing_units,
        unit_example as unit_example,
    )
    from dialgauge.comparison.pairing import Pairing as Pairing
    from dialgauge.comparison.ratings import (
        Ratings as Ratings,
        assigned as assigned,
        rated_places as rated_places,
        rating_correlations as rating_correlations,
        read_ratings as read_ratings,
    )
    from dialgauge.comparison.result import Comparison as Comparison, Difference as Difference
    from dialgauge.comparison.runs import compare_runs as compare_runs, scores_of_run as scores_of_run
    from dialgauge.comparison.scores import (
        PairedScores as PairedScores,
        on_the_same_turns as on_the_same_turns,
        paired_scores as paired_scores,
        shared_turns as shared_turns,
    )
    from dialgauge.comparison.spread import (
        printed_page as printed_page,
        read_system_table as read_system_table,
    )
    from dialgauge.comparison.standing import (
        Standing as Standing,
        letters as letters,
        order as order,
        standings as standings,
    )
    from dialgauge.comparison.tables import (
        comparison_page as comparison_page,
        comparison_report as comparison_report,
        screen_tables as screen_tables,
        telling_dialogues as telling_dialogues,
    )
    from dialgauge.comparison.testing import RESAMPLES as RESAMPLES, compare_scores as compare_scores
    from dialgauge.comparison.verdict import Verdict as Verdict


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
