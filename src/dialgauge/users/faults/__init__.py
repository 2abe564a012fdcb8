"""What the simulated user of a recorded conversation got wrong: nine checks, each with evidence and how far it looked.

checked = check_user(dialogue)
[(fault.kind, fault.message, fault.sentence) for fault in checked.faults]
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.faults.checking import check_user as check_user
    from dialgauge.users.faults.fault_presentation import (
        FaultRuns as FaultRuns,
        explanation_tables as explanation_tables,
        missing_sentence as missing_sentence,
        record_table as record_table,
    )
    from dialgauge.users.faults.fault_records import (
        KINDS as KINDS,
        CheckedConversation as CheckedConversation,
        FaultFindings as FaultFindings,
        FaultKind as FaultKind,
        UserFault as UserFault,
    )
    from dialgauge.users.faults.fault_runs import (
        faults_run as faults_run,
        user_faults as user_faults,
    )
    from dialgauge.users.faults.judge import (
        FaultJudge as FaultJudge,
        judge_prompt as judge_prompt,
        judge_records as judge_records,
        model_judge as model_judge,
        with_judged as with_judged,
    )
    from dialgauge.users.faults.knowledge import (
        known_things as known_things,
        known_values as known_values,
        names_of_user as names_of_user,
    )
    from dialgauge.users.faults.labelled import (
        CheckMeasurement as CheckMeasurement,
        LabelledConversation as LabelledConversation,
        cohen_kappa as cohen_kappa,
        load_earlier as load_earlier,
        load_labels as load_labels,
        load_record as load_record,
        share as share,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
