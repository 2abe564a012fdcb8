"""What the simulated user of a recorded conversation got wrong: nine checks, each with evidence and how far it looked.

checked = check_user(dialogue)
[(fault.kind, fault.message, fault.sentence) for fault in checked.faults]
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.faults.checking import check_user
    from dialgauge.users.faults.conversation_view import plain_text, sentences, weighty, words
    from dialgauge.users.faults.fault_presentation import FaultRuns, explanation_tables, missing_sentence, record_table
    from dialgauge.users.faults.fault_records import KINDS, CheckedConversation, FaultFindings, FaultKind, UserFault
    from dialgauge.users.faults.fault_runs import check_faults, faults_run, user_faults
    from dialgauge.users.faults.judge import FaultJudge, judge_prompt, judge_records, with_judged
    from dialgauge.users.faults.knowledge import known_things, known_values
    from dialgauge.users.faults.labelled import (
        CheckMeasurement,
        LabelledConversation,
        cohen_kappa,
        load_earlier,
        load_labels,
        load_record,
        share,
    )
    from dialgauge.users.faults.recorded_tasks import task_of

__all__ = [
    "KINDS",
    "CheckMeasurement",
    "CheckedConversation",
    "FaultFindings",
    "FaultJudge",
    "FaultKind",
    "FaultRuns",
    "LabelledConversation",
    "UserFault",
    "check_faults",
    "check_user",
    "cohen_kappa",
    "explanation_tables",
    "faults_run",
    "judge_prompt",
    "judge_records",
    "known_things",
    "known_values",
    "load_earlier",
    "load_labels",
    "load_record",
    "missing_sentence",
    "plain_text",
    "record_table",
    "sentences",
    "share",
    "task_of",
    "user_faults",
    "weighty",
    "with_judged",
    "words",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
