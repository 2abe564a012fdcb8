"""Was the job done? Recorded responses against the user's goal and the database, and agents' results over trials."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tasks.audit.audit_pages import per_task_stands
    from dialgauge.tasks.audit.audit_views import (
        audit_document,
        log_tables,
        regrading_sentences,
        regrading_table,
        task_set_tables,
    )
    from dialgauge.tasks.audit.log_audit import LogAudit, audit_log, audit_logs
    from dialgauge.tasks.audit.regrading import Regrading, regrade
    from dialgauge.tasks.audit.scripted_logs import SCRIPTS, write_scripted_log
    from dialgauge.tasks.audit.task_facts import TaskFacts, fact_codes, task_facts, tasks_by_fact
    from dialgauge.tasks.audit.task_set import TaskSetAudit, audit_task_set, audit_tasks
    from dialgauge.tasks.blame.blame_rules import BLAMED, FailureBlame, blame_failure
    from dialgauge.tasks.blame.blame_views import blame_document, blame_records, blame_tables, evidence_tables
    from dialgauge.tasks.blame.blamed_log import LogBlame, blame_log, failed_conversations
    from dialgauge.tasks.blame.failure_evidence import FailureEvidence, ObservedFault
    from dialgauge.tasks.blame.label_sheets import label_sheets
    from dialgauge.tasks.blame.measured_blame import BlameEstimate, BlameRecord, load_blame_record
    from dialgauge.tasks.delexical import CLASSES, classed, cleaned, placeholders, surface
    from dialgauge.tasks.evaluation import TaskEvaluation, TaskOptions, task_measures
    from dialgauge.tasks.gold import GoldGoal, GoldTask, GoldTasks, TaskState, read_gold
    from dialgauge.tasks.judges.grading import JudgeFigures, judge_figures
    from dialgauge.tasks.judges.judge_views import judge_document, judge_tables
    from dialgauge.tasks.judges.verdict_files import GraderVerdict, read_verdicts
    from dialgauge.tasks.log_findings import LogFindings
    from dialgauge.tasks.predictions import (
        MODES,
        DomainMode,
        TaskPredictions,
        TaskTurn,
        active_domains,
        estimated_domains,
        human_responses,
        predictions_from,
        read_predictions,
    )
    from dialgauge.tasks.published import PublishedRow, published_human, published_mode, published_rows
    from dialgauge.tasks.reason_groups import dialogue_reasons, frequent_reasons, reason_counts, reason_pairs
    from dialgauge.tasks.reasons import (
        OTHER,
        REASON_GROUPS,
        REASONS,
        TOLD_IN_VAIN,
        TaskFailure,
        failure_texts,
        reason_texts,
        reasons_table,
    )
    from dialgauge.tasks.recordings.compat import CompatVerdict
    from dialgauge.tasks.recordings.conduct import ConversationCounts
    from dialgauge.tasks.recordings.judged_conversations import (
        BROKEN,
        Broken,
        JudgedConversation,
        JudgedConversations,
        judge_outcomes,
    )
    from dialgauge.tasks.recordings.outcome_records import outcome_frames
    from dialgauge.tasks.recordings.outcome_scores import score_outcomes
    from dialgauge.tasks.recordings.outcome_views import outcome_explanation, outcome_tables
    from dialgauge.tasks.recordings.outcomes import StrictVerdict, TaskOutcome
    from dialgauge.tasks.results import (
        TaskRuns,
        as_system,
        explanation,
        score_tables,
        warnings,
        worst_dialogues,
    )
    from dialgauge.tasks.review import Missing, Review, same_reviews
    from dialgauge.tasks.rules import RULES, fitting_rows, judge_grounded, judge_mwzeval, mentions
    from dialgauge.tasks.scoring import score_tasks
    from dialgauge.tasks.texts import References, bleu_of, bleu_signature, read_references, richness, words
    from dialgauge.tasks.trials.recognition import are_results, refuse_unreadable
    from dialgauge.tasks.trials.trial_comparison import Settling, settling
    from dialgauge.tasks.trials.trial_measures import uneven_trials
    from dialgauge.tasks.trials.trial_scores import score_attempts, score_results
    from dialgauge.tasks.trials.trial_tables import TrialRuns, coverage_sentences, trial_tables

__all__ = [
    "BLAMED",
    "BROKEN",
    "CLASSES",
    "MODES",
    "OTHER",
    "REASONS",
    "REASON_GROUPS",
    "RULES",
    "SCRIPTS",
    "TOLD_IN_VAIN",
    "BlameEstimate",
    "BlameRecord",
    "Broken",
    "CompatVerdict",
    "ConversationCounts",
    "DomainMode",
    "FailureBlame",
    "FailureEvidence",
    "GoldGoal",
    "GoldTask",
    "GoldTasks",
    "GraderVerdict",
    "JudgeFigures",
    "JudgedConversation",
    "JudgedConversations",
    "LogAudit",
    "LogBlame",
    "LogFindings",
    "Missing",
    "ObservedFault",
    "PublishedRow",
    "References",
    "Regrading",
    "Review",
    "Settling",
    "StrictVerdict",
    "TaskEvaluation",
    "TaskFacts",
    "TaskFailure",
    "TaskOptions",
    "TaskOutcome",
    "TaskPredictions",
    "TaskRuns",
    "TaskSetAudit",
    "TaskState",
    "TaskTurn",
    "TrialRuns",
    "active_domains",
    "are_results",
    "as_system",
    "audit_document",
    "audit_log",
    "audit_logs",
    "audit_task_set",
    "audit_tasks",
    "blame_document",
    "blame_failure",
    "blame_log",
    "blame_records",
    "blame_tables",
    "bleu_of",
    "bleu_signature",
    "classed",
    "cleaned",
    "coverage_sentences",
    "dialogue_reasons",
    "estimated_domains",
    "evidence_tables",
    "explanation",
    "fact_codes",
    "failed_conversations",
    "failure_texts",
    "fitting_rows",
    "frequent_reasons",
    "human_responses",
    "judge_document",
    "judge_figures",
    "judge_grounded",
    "judge_mwzeval",
    "judge_outcomes",
    "judge_tables",
    "label_sheets",
    "load_blame_record",
    "log_tables",
    "mentions",
    "outcome_explanation",
    "outcome_frames",
    "outcome_tables",
    "per_task_stands",
    "placeholders",
    "predictions_from",
    "published_human",
    "published_mode",
    "published_rows",
    "read_gold",
    "read_predictions",
    "read_references",
    "read_verdicts",
    "reason_counts",
    "reason_pairs",
    "reason_texts",
    "reasons_table",
    "refuse_unreadable",
    "regrade",
    "regrading_sentences",
    "regrading_table",
    "richness",
    "same_reviews",
    "score_attempts",
    "score_outcomes",
    "score_results",
    "score_tables",
    "score_tasks",
    "settling",
    "surface",
    "task_facts",
    "task_measures",
    "task_set_tables",
    "tasks_by_fact",
    "trial_tables",
    "uneven_trials",
    "warnings",
    "words",
    "worst_dialogues",
    "write_scripted_log",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
