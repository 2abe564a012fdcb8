"""Replies against gold replies: how far a bot is from carrying whole dialogs, and where memory networks look."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.responses.attention import (
        Attention,
        attend,
        attention_figure,
        attention_table,
        heat_map,
        keep_attention,
        memory_label,
    )
    from dialgauge.responses.cells import (
        CHECKPOINT,
        CellKey,
        ResultCell,
        checkpointed,
        compute,
        data_digest,
        jobs_of,
        options_text,
        run_jobs,
    )
    from dialgauge.responses.evaluation import RankingResult, evaluate
    from dialgauge.responses.tables import (
        averages,
        class_table,
        column_of,
        joint_vocabulary,
        published,
        results_table,
        statistics_table,
    )
    from dialgauge.responses.training import keep_training, log_table

__all__ = [
    "CHECKPOINT",
    "Attention",
    "CellKey",
    "RankingResult",
    "ResultCell",
    "attend",
    "attention_figure",
    "attention_table",
    "averages",
    "checkpointed",
    "class_table",
    "column_of",
    "compute",
    "data_digest",
    "evaluate",
    "heat_map",
    "jobs_of",
    "joint_vocabulary",
    "keep_attention",
    "keep_training",
    "log_table",
    "memory_label",
    "options_text",
    "published",
    "results_table",
    "run_jobs",
    "statistics_table",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
