"""Logs of agents: how often a task is done, whether the log is what it says, and what failed."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.trials.audit_tables import per_task_stands as per_task_stands
    from dialgauge.trials.audit_views import (
        audit_document as audit_document,
        log_tables as log_tables,
        regrading_sentences as regrading_sentences,
        regrading_table as regrading_table,
        task_set_tables as task_set_tables,
    )
    from dialgauge.trials.blame_rules import (
        BLAMED as BLAMED,
        FailureBlame as FailureBlame,
        blame_failure as blame_failure,
    )
    from dialgauge.trials.blame_views import (
        blame_document as blame_document,
        blame_records as blame_records,
        blame_tables as blame_tables,
        evidence_tables as evidence_tables,
    )
    from dialgauge.trials.blamed_log import (
        LogBlame as LogBlame,
        blame_log as blame_log,
    )
    from dialgauge.trials.facts import (
        TaskFacts as TaskFacts,
        fact_codes as fact_codes,
        task_facts as task_facts,
        tasks_by_fact as tasks_by_fact,
    )
    from dialgauge.trials.failure_evidence import (
        FailureEvidence as FailureEvidence,
        ObservedFault as ObservedFault,
    )
    from dialgauge.trials.grading import JudgeFigures as JudgeFigures, judge_figures as judge_figures
    from dialgauge.trials.judge_views import judge_document as judge_document, judge_tables as judge_tables
    from dialgauge.trials.log_audit import (
        LogAudit as LogAudit,
        audit_log as audit_log,
        audit_logs as audit_logs,
        log_world as log_world,
    )
    from dialgauge.trials.log_files import are_results as are_results, no_log as no_log
    from dialgauge.trials.log_findings import LogFindings as LogFindings
    from dialgauge.trials.measured_blame import (
        BlameEstimate as BlameEstimate,
        BlameRecord as BlameRecord,
        load_blame_record as load_blame_record,
    )
    from dialgauge.trials.regrading import Regrading as Regrading, regrade as regrade
    from dialgauge.trials.review import Missing as Missing, Review as Review, same_reviews as same_reviews
    from dialgauge.trials.scripted_logs import SCRIPTS as SCRIPTS, write_scripted_log as write_scripted_log
    from dialgauge.trials.task_set import (
        TaskSetAudit as TaskSetAudit,
        audit_task_set as audit_task_set,
        audit_tasks as audit_tasks,
    )
    from dialgauge.trials.trial_comparison import Settling as Settling, settling as settling
    from dialgauge.trials.trial_log import TrialLog as TrialLog, read_log as read_log
    from dialgauge.trials.trial_scores import score_attempts as score_attempts, score_results as score_results
    from dialgauge.trials.trial_tables import (
        TrialRuns as TrialRuns,
        coverage_sentences as coverage_sentences,
        trial_tables as trial_tables,
    )
    from dialgauge.trials.verdict_files import GraderVerdict as GraderVerdict, read_verdicts as read_verdicts


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
