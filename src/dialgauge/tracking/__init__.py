"""State tracking: every measure of predicted against gold states, under named comparison profiles."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tracking.accumulate import Accumulator, compute
    from dialgauge.tracking.align import Policy
    from dialgauge.tracking.code_tables import CodeTable, write_codes
    from dialgauge.tracking.comparison_view import LAMBDAS, Swap, Sweep, compared_counts, sweep_counts, sweep_table
    from dialgauge.tracking.counts import SYMBOLS, Counts, SlotTally, TurnCounts, turn_counts
    from dialgauge.tracking.faults import Faults, fault_tables, slots_per_dialogue
    from dialgauge.tracking.fga import error_types, forgetting_rate, turns_since_error
    from dialgauge.tracking.figures import scored_figures, sweep_intervals
    from dialgauge.tracking.guard_findings import GUARDS
    from dialgauge.tracking.inputs import (
        SELF,
        LooseState,
        Source,
        cut_down,
        declared_scope,
        how_many,
        load,
    )
    from dialgauge.tracking.measures import (
        ALL_MEASURES,
        DEFAULT_MEASURES,
        MeasureChoice,
        chosen_measures,
        needing,
        required_measures,
    )
    from dialgauge.tracking.prepared_inputs import PreparedInputs, prepare_inputs
    from dialgauge.tracking.renaming import Renaming
    from dialgauge.tracking.results import TrackingRuns
    from dialgauge.tracking.scoring import score, score_prepared, state_scores
    from dialgauge.tracking.sensitivity import Sensitivity, profile_sensitivity
    from dialgauge.tracking.sgd.official import SgdFrames, SgdScoring, score_sgd
    from dialgauge.tracking.sgd.similarity import MATCHINGS, Matching
    from dialgauge.tracking.shard_scores import dialogue_keys, key_hashes
    from dialgauge.tracking.shard_work import ShardSettings, ShardTask, ShardWork
    from dialgauge.tracking.shards import RESAMPLED, score_shards
    from dialgauge.tracking.states import StateComparison
    from dialgauge.tracking.tables import read_counts
    from dialgauge.tracking.tracked_system import TrackedSystem
    from dialgauge.tracking.views import require_view
    from dialgauge.tracking.worst import layout, ranking_measure, worst_ranking

__all__ = [
    "ALL_MEASURES",
    "DEFAULT_MEASURES",
    "GUARDS",
    "LAMBDAS",
    "MATCHINGS",
    "RESAMPLED",
    "SELF",
    "SYMBOLS",
    "Accumulator",
    "CodeTable",
    "Counts",
    "Faults",
    "LooseState",
    "Matching",
    "MeasureChoice",
    "Policy",
    "PreparedInputs",
    "Renaming",
    "Sensitivity",
    "SgdFrames",
    "SgdScoring",
    "ShardSettings",
    "ShardTask",
    "ShardWork",
    "SlotTally",
    "Source",
    "StateComparison",
    "Swap",
    "Sweep",
    "TrackedSystem",
    "TrackingRuns",
    "TurnCounts",
    "chosen_measures",
    "compared_counts",
    "compute",
    "cut_down",
    "declared_scope",
    "dialogue_keys",
    "error_types",
    "fault_tables",
    "forgetting_rate",
    "how_many",
    "key_hashes",
    "layout",
    "load",
    "needing",
    "prepare_inputs",
    "profile_sensitivity",
    "ranking_measure",
    "read_counts",
    "require_view",
    "required_measures",
    "score",
    "score_prepared",
    "score_sgd",
    "score_shards",
    "scored_figures",
    "slots_per_dialogue",
    "state_scores",
    "sweep_counts",
    "sweep_intervals",
    "sweep_table",
    "turn_counts",
    "turns_since_error",
    "worst_ranking",
    "write_codes",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
