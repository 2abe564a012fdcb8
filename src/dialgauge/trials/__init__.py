"""Logs of agents: how often a task is done, whether the log is what it says, and what failed."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.trials.audit import LogAudit as LogAudit, audit_log as audit_log
    from dialgauge.trials.comparison import Settling as Settling, settling as settling
    from dialgauge.trials.conversations import doubts as doubts
    from dialgauge.trials.evidence import FailureEvidence as FailureEvidence, failure_evidence as failure_evidence
    from dialgauge.trials.facts import TaskFacts as TaskFacts, task_facts as task_facts
    from dialgauge.trials.judges import (
        Estimate as Estimate,
        GraderVerdict as GraderVerdict,
        JudgeFigures as JudgeFigures,
        judge_figures as judge_figures,
        read_verdicts as read_verdicts,
    )
    from dialgauge.trials.log import Attempted as Attempted, TrialLog as TrialLog, read_log as read_log
    from dialgauge.trials.measures import TrialEvidence as TrialEvidence
    from dialgauge.trials.review import regrade_log as regrade_log, review_log as review_log
    from dialgauge.trials.scoring import score_attempts as score_attempts
    from dialgauge.trials.suspects import (
        SUSPECTS as SUSPECTS,
        Failure as Failure,
        Measured as Measured,
        Sign as Sign,
        failures as failures,
        suspect as suspect,
    )
    from dialgauge.trials.words import match_sentence as match_sentence


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
