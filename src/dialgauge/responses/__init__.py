"""Replies against gold replies: how far a bot is from carrying whole dialogs."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.responses.cells import (
        CellKey as CellKey,
        agent_replier as agent_replier,
        evaluation_run as evaluation_run,
        options_text as options_text,
    )
    from dialgauge.responses.evaluation import (
        RankingResult as RankingResult,
        Replier as Replier,
        evaluate as evaluate,
        reply_classes as reply_classes,
    )
    from dialgauge.responses.measures import (
        MRR as MRR,
        PER_DIALOG as PER_DIALOG,
        PER_RESPONSE as PER_RESPONSE,
        reply_measures as reply_measures,
        score_replies as score_replies,
    )
    from dialgauge.responses.paper import (
        column_of as column_of,
        published as published,
        split_is_released as split_is_released,
        training_is_released as training_is_released,
    )
    from dialgauge.responses.tables import (
        averages as averages,
        evaluate_bot as evaluate_bot,
        evaluate_models as evaluate_models,
        evaluated_splits as evaluated_splits,
        joint_vocabulary as joint_vocabulary,
        replies_page as replies_page,
        statistics_table as statistics_table,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
