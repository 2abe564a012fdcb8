"""State tracking: every measure of predicted against gold states, under named comparison profiles."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tracking.accumulate import Accumulator, compute
    from dialgauge.tracking.align import number
    from dialgauge.tracking.api import build_study, chosen_measures, required_measures, score
    from dialgauge.tracking.comparison import StateComparison
    from dialgauge.tracking.encode import carries_gold
    from dialgauge.tracking.faults import Faults, faults_as_dict, slots_per_dialogue
    from dialgauge.tracking.fga import forgetting_rate
    from dialgauge.tracking.inputs import SELF, Source, SystemInput, load, load_systems
    from dialgauge.tracking.intervals import Resampling
    from dialgauge.tracking.keep import store_results
    from dialgauge.tracking.measures.base import Card, Measure, Parameter
    from dialgauge.tracking.measures.registry import (
        ALL_MEASURES,
        DEFAULT_MEASURES,
        cards,
        parse_measure,
        parse_measures,
    )
    from dialgauge.tracking.profile_sensitivity import Sensitivity, sensitivity
    from dialgauge.tracking.results import Results, Score, SystemScores
    from dialgauge.tracking.scoring import score_study
    from dialgauge.tracking.sgd.official import SGD_CARDS, Official, SgdCard, SgdScores, score_sgd, sgd_table
    from dialgauge.tracking.signature import Signature
    from dialgauge.tracking.study import Study
    from dialgauge.tracking.tables import fault_tables, measure_table, score_table, sensitivity_tables, view_table
    from dialgauge.tracking.views import require_view
    from dialgauge.tracking.worst import layout, ranking_measure, worst_dialogues

__all__ = [
    "ALL_MEASURES",
    "DEFAULT_MEASURES",
    "SELF",
    "SGD_CARDS",
    "Accumulator",
    "Card",
    "Faults",
    "Measure",
    "Official",
    "Parameter",
    "Resampling",
    "Results",
    "Score",
    "Sensitivity",
    "SgdCard",
    "SgdScores",
    "Signature",
    "Source",
    "StateComparison",
    "Study",
    "SystemInput",
    "SystemScores",
    "build_study",
    "cards",
    "carries_gold",
    "chosen_measures",
    "compute",
    "fault_tables",
    "faults_as_dict",
    "forgetting_rate",
    "layout",
    "load",
    "load_systems",
    "measure_table",
    "number",
    "parse_measure",
    "parse_measures",
    "ranking_measure",
    "require_view",
    "required_measures",
    "score",
    "score_sgd",
    "score_study",
    "score_table",
    "sensitivity",
    "sensitivity_tables",
    "sgd_table",
    "slots_per_dialogue",
    "store_results",
    "view_table",
    "worst_dialogues",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
