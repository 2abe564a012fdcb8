"""What the simulated user of a recorded conversation got wrong: nine checks, each with evidence and how far it looked.

checked = check_user(dialogue)
[(fault.kind, fault.message, fault.reason) for fault in checked.faults]
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.faults.act_checks import check_user as check_user
    from dialgauge.users.faults.judge import (
        FaultJudge as FaultJudge,
        judge_prompt as judge_prompt,
        model_judge as model_judge,
    )
    from dialgauge.users.faults.labelled import (
        CheckMeasurement as CheckMeasurement,
        LabelledConversation as LabelledConversation,
        load_labels as load_labels,
        load_record as load_record,
        share as share,
    )
    from dialgauge.users.faults.records import (
        KINDS as KINDS,
        CheckedConversation as CheckedConversation,
        FaultFindings as FaultFindings,
        FaultKind as FaultKind,
        UserFault as UserFault,
    )
    from dialgauge.users.faults.results import user_faults as user_faults


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
