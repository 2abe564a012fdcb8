"""Was the job done? Recorded responses against the user's goal and the database."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tasks.delexical import cleaned, placeholders
    from dialgauge.tasks.evaluation import TaskEvaluation, TaskOptions, score_tasks, task_measures
    from dialgauge.tasks.gold import GoldTask, GoldTasks, read_gold
    from dialgauge.tasks.predictions import (
        MODES,
        DomainMode,
        TaskPredictions,
        TaskTurn,
        human_responses,
        predictions_from,
        read_predictions,
    )
    from dialgauge.tasks.published import PublishedRow, published_human, published_mode, published_rows
    from dialgauge.tasks.recordings.compat import CompatVerdict
    from dialgauge.tasks.recordings.conduct import Conduct
    from dialgauge.tasks.recordings.judged_conversations import JudgedConversation, JudgedConversations, judge_outcomes
    from dialgauge.tasks.recordings.outcome_records import outcome_frames
    from dialgauge.tasks.recordings.outcome_scores import score_outcomes
    from dialgauge.tasks.recordings.outcome_views import outcome_explanation, outcome_tables
    from dialgauge.tasks.recordings.outcomes import StrictVerdict, TaskFault, TaskOutcome
    from dialgauge.tasks.results import (
        TaskScores,
        as_system,
        explanation,
        score_tables,
        warnings,
        worst_dialogues,
    )
    from dialgauge.tasks.texts import References, read_references, richness

__all__ = [
    "MODES",
    "CompatVerdict",
    "Conduct",
    "DomainMode",
    "GoldTask",
    "GoldTasks",
    "JudgedConversation",
    "JudgedConversations",
    "PublishedRow",
    "References",
    "StrictVerdict",
    "TaskEvaluation",
    "TaskFault",
    "TaskOptions",
    "TaskOutcome",
    "TaskPredictions",
    "TaskScores",
    "TaskTurn",
    "as_system",
    "cleaned",
    "explanation",
    "human_responses",
    "judge_outcomes",
    "outcome_explanation",
    "outcome_frames",
    "outcome_tables",
    "placeholders",
    "predictions_from",
    "published_human",
    "published_mode",
    "published_rows",
    "read_gold",
    "read_predictions",
    "read_references",
    "richness",
    "score_outcomes",
    "score_tables",
    "score_tasks",
    "task_measures",
    "warnings",
    "worst_dialogues",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
