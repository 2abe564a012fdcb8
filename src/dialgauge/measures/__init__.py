"""What a measure is, the same for all families: card, parameters, signature, coverage, per-dialogue sums, intervals.

[scores] = score_systems([SystemEvidence(evidence=counts, measures=parse_measures(["JGA"]), dialogues=ids)])
scores["JGA"].value
"""

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.measures.base import (
        OVER as OVER,
        Card as Card,
        Evidence as Evidence,
        Measure as Measure,
        Parameter as Parameter,
        Rows as Rows,
        Setting as Setting,
        Settings as Settings,
    )
    from dialgauge.measures.records import Count as Count, Coverage as Coverage, Score as Score
    from dialgauge.measures.registry import (
        Lists as Lists,
        asked_for as asked_for,
        card_listing as card_listing,
        card_named as card_named,
        cards as cards,
        families as families,
        measure_names as measure_names,
        measure_of_kind as measure_of_kind,
        no_score as no_score,
        parse_measure as parse_measure,
        parse_measures as parse_measures,
    )
    from dialgauge.measures.resampling import (
        NO_INTERVAL as NO_INTERVAL,
        ONE_MORE_UNIT as ONE_MORE_UNIT,
        Bounds as Bounds,
        Interval as Interval,
        Moments as Moments,
        RatioRow as RatioRow,
        Resampling as Resampling,
        intervals as intervals,
        ratio_row as ratio_row,
        ratio_row_intervals as ratio_row_intervals,
        sums_interval as sums_interval,
    )
    from dialgauge.measures.scores import (
        Scores as Scores,
        SystemEvidence as SystemEvidence,
        score_systems as score_systems,
        sums_table as sums_table,
    )
    from dialgauge.measures.signature import (
        Signature as Signature,
        screen_form as screen_form,
        without_intervals as without_intervals,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
