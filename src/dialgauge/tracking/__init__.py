"""State tracking: every measure of predicted against gold states, under named comparison profiles."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tracking.accumulate import Accumulator as Accumulator, compute as compute
    from dialgauge.tracking.align import Policy as Policy
    from dialgauge.tracking.checks import STOPS as STOPS
    from dialgauge.tracking.comparing import (
        LAMBDAS as LAMBDAS,
        Swap as Swap,
        swaps as swaps,
    )
    from dialgauge.tracking.counts import SYMBOLS as SYMBOLS, Counts as Counts
    from dialgauge.tracking.fga import forgetting_rate as forgetting_rate
    from dialgauge.tracking.inputs import (
        LooseState as LooseState,
        Source as Source,
        SystemInput as SystemInput,
        Systems as Systems,
        cut_down as cut_down,
        declared_scope as declared_scope,
        load as load,
        named_systems as named_systems,
    )
    from dialgauge.tracking.measures import (
        DEFAULT_MEASURES as DEFAULT_MEASURES,
        MeasureChoice as MeasureChoice,
        chosen_measures as chosen_measures,
        needing as needing,
    )
    from dialgauge.tracking.prepared_inputs import PreparedInputs as PreparedInputs
    from dialgauge.tracking.ratings import write_rating_sheets as write_rating_sheets
    from dialgauge.tracking.renaming import Renaming as Renaming
    from dialgauge.tracking.scoring import (
        TrackingOptions as TrackingOptions,
        score as score,
        score_prepared as score_prepared,
        state_scores as state_scores,
    )
    from dialgauge.tracking.sgd import (
        OFFICIAL_NAMES as OFFICIAL_NAMES,
        SGD_CARDS as SGD_CARDS,
        SgdFrames as SgdFrames,
        SgdScoring as SgdScoring,
    )
    from dialgauge.tracking.sgd_frames import Matching as Matching
    from dialgauge.tracking.slot_errors import (
        first_errors as first_errors,
        slot_episodes as slot_episodes,
        slots_per_dialogue as slots_per_dialogue,
    )
    from dialgauge.tracking.states import StateComparison as StateComparison
    from dialgauge.tracking.tables import read_counts as read_counts


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
