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
        Floats as Floats,
        Measure as Measure,
        Parameter as Parameter,
        Setting as Setting,
        Settings as Settings,
        UnitNumbers as UnitNumbers,
        Units as Units,
        mean_of_ratios as mean_of_ratios,
        ratio as ratio,
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
    from dialgauge.measures.repeated import (
        FLIPS as FLIPS,
        NOISE as NOISE,
        PASS as PASS,
        REWARD as REWARD,
        TRIAL_CARDS as TRIAL_CARDS,
        flip_chance as flip_chance,
        noise_floor as noise_floor,
        pass_chance as pass_chance,
        pass_rate as pass_rate,
        rerun_reach as rerun_reach,
        trial_noise_sums as trial_noise_sums,
        uneven_trials as uneven_trials,
    )
    from dialgauge.measures.resampling import (
        MANY_UNITS as MANY_UNITS,
        NO_INTERVAL as NO_INTERVAL,
        Bounds as Bounds,
        Interval as Interval,
        Resampling as Resampling,
        Summed as Summed,
        intervals as intervals,
        summed_intervals as summed_intervals,
    )
    from dialgauge.measures.scores import (
        Scores as Scores,
        SystemEvidence as SystemEvidence,
        score_systems as score_systems,
    )
    from dialgauge.measures.signature import Signature as Signature


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
