"""State tracking: every measure of predicted against gold states, under named comparison profiles."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tracking.accumulate import Accumulator, compute
    from dialgauge.tracking.comparison_view import LAMBDAS, Sweep, sweep_counts
    from dialgauge.tracking.counts import Counts
    from dialgauge.tracking.faults import Faults, slots_per_dialogue
    from dialgauge.tracking.fga import forgetting_rate
    from dialgauge.tracking.figures import scored_figures
    from dialgauge.tracking.inputs import SELF, Source, load
    from dialgauge.tracking.measures import (
        ALL_MEASURES,
        DEFAULT_MEASURES,
        MeasureChoice,
        chosen_measures,
        needing,
        required_measures,
    )
    from dialgauge.tracking.results import TrackedSystem, TrackingRuns
    from dialgauge.tracking.sensitivity import Sensitivity, profile_sensitivity
    from dialgauge.tracking.sgd.official import SgdFrames, SgdScoring, score_sgd
    from dialgauge.tracking.sgd.similarity import MATCHINGS, Matching
    from dialgauge.tracking.shards import score_shards
    from dialgauge.tracking.stream import write_codes
    from dialgauge.tracking.study import Study, build_study, compare_trackers, score, score_study
    from dialgauge.tracking.views import require_view
    from dialgauge.tracking.worst import layout, ranking_measure, worst_dialogues

__all__ = [
    "ALL_MEASURES",
    "DEFAULT_MEASURES",
    "LAMBDAS",
    "MATCHINGS",
    "SELF",
    "Accumulator",
    "Counts",
    "Faults",
    "Matching",
    "MeasureChoice",
    "Sensitivity",
    "SgdFrames",
    "SgdScoring",
    "Source",
    "Study",
    "Sweep",
    "TrackedSystem",
    "TrackingRuns",
    "build_study",
    "chosen_measures",
    "compare_trackers",
    "compute",
    "forgetting_rate",
    "layout",
    "load",
    "needing",
    "profile_sensitivity",
    "ranking_measure",
    "require_view",
    "required_measures",
    "score",
    "score_sgd",
    "score_shards",
    "score_study",
    "scored_figures",
    "slots_per_dialogue",
    "sweep_counts",
    "worst_dialogues",
    "write_codes",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
