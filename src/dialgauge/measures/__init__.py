"""What a measure is, the same for all families: card, parameters, signature, coverage, per-dialogue sums, intervals.

[scores] = score_systems([SystemEvidence(evidence=counts, measures=parse_measures(["JGA"]), dialogues=ids)])
scores["JGA"].value
"""

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.measures.base import OVER, Card, Evidence, Measure, Parameter, Rows, Setting, Settings
    from dialgauge.measures.records import Count, Coverage, Score
    from dialgauge.measures.registry import (
        Lists,
        asked_for,
        card_listing,
        card_named,
        cards,
        families,
        measure_names,
        measure_of_kind,
        parse_measure,
        parse_measures,
    )
    from dialgauge.measures.resampling import (
        NO_INTERVAL,
        ONE_MORE_UNIT,
        Bounds,
        Interval,
        Moments,
        RatioRow,
        Resampling,
        intervals,
        ratio_row,
        ratio_row_intervals,
    )
    from dialgauge.measures.scores import Scores, SystemEvidence, score_systems, sums_table
    from dialgauge.measures.signature import Signature, screen_form

__all__ = [
    "NO_INTERVAL",
    "ONE_MORE_UNIT",
    "OVER",
    "Bounds",
    "Card",
    "Count",
    "Coverage",
    "Evidence",
    "Interval",
    "Lists",
    "Measure",
    "Moments",
    "Parameter",
    "RatioRow",
    "Resampling",
    "Rows",
    "Score",
    "Scores",
    "Setting",
    "Settings",
    "Signature",
    "SystemEvidence",
    "asked_for",
    "card_listing",
    "card_named",
    "cards",
    "families",
    "intervals",
    "measure_names",
    "measure_of_kind",
    "parse_measure",
    "parse_measures",
    "ratio_row",
    "ratio_row_intervals",
    "score_systems",
    "screen_form",
    "sums_table",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
