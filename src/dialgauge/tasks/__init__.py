"""Was the job done? Recorded responses against the user's goal and the database, and agents' results over trials."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tasks.audit.audit_tables import per_task_stands as per_task_stands
    from dialgauge.tasks.audit.audit_views import (
        audit_document as audit_document,
        log_tables as log_tables,
        regrading_sentences as regrading_sentences,
        regrading_table as regrading_table,
        task_set_tables as task_set_tables,
    )
    from dialgauge.tasks.audit.log_audit import (
        LogAudit as LogAudit,
        audit_log as audit_log,
        audit_logs as audit_logs,
        log_world as log_world,
    )
    from dialgauge.tasks.audit.regrading import Regrading as Regrading, regrade as regrade
    from dialgauge.tasks.audit.scripted_logs import SCRIPTS as SCRIPTS, write_scripted_log as write_scripted_log
    from dialgauge.tasks.audit.task_facts import (
        TaskFacts as TaskFacts,
        fact_codes as fact_codes,
        task_facts as task_facts,
        tasks_by_fact as tasks_by_fact,
    )
    from dialgauge.tasks.audit.task_set import (
        TaskSetAudit as TaskSetAudit,
        audit_task_set as audit_task_set,
        audit_tasks as audit_tasks,
    )
    from dialgauge.tasks.blame.blame_rules import (
        BLAMED as BLAMED,
        FailureBlame as FailureBlame,
        blame_failure as blame_failure,
    )
    from dialgauge.tasks.blame.blame_views import (
        blame_document as blame_document,
        blame_records as blame_records,
        blame_tables as blame_tables,
        evidence_tables as evidence_tables,
    )
    from dialgauge.tasks.blame.blamed_log import (
        LogBlame as LogBlame,
        blame_log as blame_log,
    )
    from dialgauge.tasks.blame.failure_evidence import (
        FailureEvidence as FailureEvidence,
        ObservedFault as ObservedFault,
    )
    from dialgauge.tasks.blame.measured_blame import (
        BlameEstimate as BlameEstimate,
        BlameRecord as BlameRecord,
        load_blame_record as load_blame_record,
    )
    from dialgauge.tasks.delexical import (
        CLASSES as CLASSES,
        classed as classed,
        cleaned as cleaned,
        placeholders as placeholders,
        surface as surface,
    )
    from dialgauge.tasks.doubts import doubts as doubts
    from dialgauge.tasks.evaluation import (
        TaskEvaluation as TaskEvaluation,
        TaskOptions as TaskOptions,
        task_measures as task_measures,
    )
    from dialgauge.tasks.gold import (
        GoldGoal as GoldGoal,
        GoldTask as GoldTask,
        GoldTasks as GoldTasks,
        TaskState as TaskState,
        read_gold as read_gold,
    )
    from dialgauge.tasks.judges.grading import JudgeFigures as JudgeFigures, judge_figures as judge_figures
    from dialgauge.tasks.judges.judge_views import judge_document as judge_document, judge_tables as judge_tables
    from dialgauge.tasks.judges.verdict_files import GraderVerdict as GraderVerdict, read_verdicts as read_verdicts
    from dialgauge.tasks.log_findings import LogFindings as LogFindings
    from dialgauge.tasks.predictions import (
        MODES as MODES,
        DomainMode as DomainMode,
        TaskPredictions as TaskPredictions,
        TaskTurn as TaskTurn,
        active_domains as active_domains,
        estimated_domains as estimated_domains,
        human_responses as human_responses,
        read_predictions as read_predictions,
    )
    from dialgauge.tasks.published import (
        PublishedRow as PublishedRow,
        published_human as published_human,
        published_mode as published_mode,
        published_rows as published_rows,
    )
    from dialgauge.tasks.reasons import (
        OTHER as OTHER,
        REASON_GROUPS as REASON_GROUPS,
        REASONS as REASONS,
        TOLD_IN_VAIN as TOLD_IN_VAIN,
        TaskFailure as TaskFailure,
        failure_texts as failure_texts,
        reason_texts as reason_texts,
        reasons_table as reasons_table,
    )
    from dialgauge.tasks.recordings.compat import CompatVerdict as CompatVerdict
    from dialgauge.tasks.recordings.conduct import (
        ALIKE as ALIKE,
        ConversationCounts as ConversationCounts,
        paired_items as paired_items,
    )
    from dialgauge.tasks.recordings.judged_conversations import (
        BROKEN as BROKEN,
        Broken as Broken,
        JudgedConversation as JudgedConversation,
        JudgedConversations as JudgedConversations,
        judge_outcomes as judge_outcomes,
    )
    from dialgauge.tasks.recordings.outcome_records import (
        CALLS as CALLS,
        CONVERSATIONS as CONVERSATIONS,
        HEARD as HEARD,
        OUTCOMES as OUTCOMES,
        outcome_frames as outcome_frames,
    )
    from dialgauge.tasks.recordings.outcome_scores import score_outcomes as score_outcomes
    from dialgauge.tasks.recordings.outcome_views import (
        LOOP as LOOP,
        outcome_explanation as outcome_explanation,
        outcome_tables as outcome_tables,
    )
    from dialgauge.tasks.recordings.outcomes import StrictVerdict as StrictVerdict, TaskOutcome as TaskOutcome
    from dialgauge.tasks.responses_in_memory import predictions_from as predictions_from
    from dialgauge.tasks.results import (
        TaskRuns as TaskRuns,
        as_system as as_system,
        explanation as explanation,
        score_tables as score_tables,
        worst_dialogues as worst_dialogues,
    )
    from dialgauge.tasks.review import Missing as Missing, Review as Review, same_reviews as same_reviews
    from dialgauge.tasks.rules import (
        RULES as RULES,
        fitting_rows as fitting_rows,
        judge_grounded as judge_grounded,
        judge_mwzeval as judge_mwzeval,
        mentions as mentions,
    )
    from dialgauge.tasks.scoring import score_tasks as score_tasks
    from dialgauge.tasks.texts import (
        References as References,
        bleu_of as bleu_of,
        bleu_signature as bleu_signature,
        read_references as read_references,
        richness as richness,
        words as words,
    )
    from dialgauge.tasks.trials.log_files import are_results as are_results, no_log as no_log
    from dialgauge.tasks.trials.trial_comparison import Settling as Settling, settling as settling
    from dialgauge.tasks.trials.trial_log import TrialLog as TrialLog, read_log as read_log
    from dialgauge.tasks.trials.trial_scores import score_attempts as score_attempts, score_results as score_results
    from dialgauge.tasks.trials.trial_tables import (
        TrialRuns as TrialRuns,
        coverage_sentences as coverage_sentences,
        trial_tables as trial_tables,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
