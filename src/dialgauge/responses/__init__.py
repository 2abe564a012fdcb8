"""Replies against gold replies: how far a bot is from carrying whole dialogs, and where memory networks look."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.responses.attention import (
        answers_table as answers_table,
        attention_figure as attention_figure,
        attention_of as attention_of,
        attention_run as attention_run,
        attention_table as attention_table,
        heat_map as heat_map,
        memory_label as memory_label,
    )
    from dialgauge.responses.cells import (
        CellKey as CellKey,
        agent_replier as agent_replier,
        checkpointed as checkpointed,
        evaluation_run as evaluation_run,
        job_cells as job_cells,
        jobs_of as jobs_of,
        options_text as options_text,
        run_jobs as run_jobs,
        stored_cells as stored_cells,
    )
    from dialgauge.responses.evaluation import (
        RankingResult as RankingResult,
        candidates_frame as candidates_frame,
        collect as collect,
        evaluate as evaluate,
        ranked as ranked,
        reply_classes as reply_classes,
        shortlists as shortlists,
    )
    from dialgauge.responses.measures import (
        MRR as MRR,
        PER_DIALOG as PER_DIALOG,
        PER_RESPONSE as PER_RESPONSE,
        reply_measures as reply_measures,
        score_replies as score_replies,
    )
    from dialgauge.responses.memories import attention_frame as attention_frame
    from dialgauge.responses.paper import (
        column_of as column_of,
        published as published,
        split_is_released as split_is_released,
        training_is_released as training_is_released,
    )
    from dialgauge.responses.tables import (
        ReplyRuns as ReplyRuns,
        averages as averages,
        class_table as class_table,
        evaluate_bot as evaluate_bot,
        evaluate_models as evaluate_models,
        evaluated_splits as evaluated_splits,
        joint_vocabulary as joint_vocabulary,
        results_table as results_table,
        run_record as run_record,
        statistics_table as statistics_table,
    )
    from dialgauge.responses.training import log_table as log_table, training_run as training_run


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
