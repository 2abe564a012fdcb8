"""Replies against gold replies: how far a bot is from carrying whole dialogs, and where memory networks look."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.responses.attention import (
        answers_table,
        attention_figure,
        attention_of,
        attention_run,
        attention_table,
        heat_map,
        memory_label,
    )
    from dialgauge.responses.cells import (
        CellKey,
        agent_replier,
        checkpointed,
        evaluation_run,
        job_cells,
        jobs_of,
        options_text,
        run_jobs,
        stored_cells,
    )
    from dialgauge.responses.evaluation import (
        RankingResult,
        Replier,
        collect,
        evaluate,
        ranked,
        reply_classes,
    )
    from dialgauge.responses.measures import MRR, PER_DIALOG, PER_RESPONSE, reply_measures, score_replies
    from dialgauge.responses.memories import attention_frame
    from dialgauge.responses.paper import column_of, published, split_is_released, training_is_released
    from dialgauge.responses.shortlist import candidates_frame, shortlists
    from dialgauge.responses.tables import (
        ReplyRuns,
        averages,
        cell_figures,
        class_table,
        evaluate_models,
        joint_vocabulary,
        results_table,
        run_record,
        statistics_table,
    )
    from dialgauge.responses.training import (
        Tried,
        best_of,
        combinations,
        log_table,
        search_settings,
        search_table,
        training_run,
    )

__all__ = [
    "MRR",
    "PER_DIALOG",
    "PER_RESPONSE",
    "CellKey",
    "RankingResult",
    "Replier",
    "ReplyRuns",
    "Tried",
    "agent_replier",
    "answers_table",
    "attention_figure",
    "attention_frame",
    "attention_of",
    "attention_run",
    "attention_table",
    "averages",
    "best_of",
    "candidates_frame",
    "cell_figures",
    "checkpointed",
    "class_table",
    "collect",
    "column_of",
    "combinations",
    "evaluate",
    "evaluate_models",
    "evaluation_run",
    "heat_map",
    "job_cells",
    "jobs_of",
    "joint_vocabulary",
    "log_table",
    "memory_label",
    "options_text",
    "published",
    "ranked",
    "reply_classes",
    "reply_measures",
    "results_table",
    "run_jobs",
    "run_record",
    "score_replies",
    "search_settings",
    "search_table",
    "shortlists",
    "split_is_released",
    "statistics_table",
    "stored_cells",
    "training_is_released",
    "training_run",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
