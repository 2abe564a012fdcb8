"""What the simulated user of a recorded conversation got wrong: nine checks, each with evidence and how far it looked.

checked = check_user(dialogue)
[(fault.kind, fault.message, fault.sentence) for fault in checked.faults]
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.faults.checking import check_user
    from dialgauge.users.faults.fault_records import KINDS, CheckedConversation, FaultKind, Findings, UserFault

__all__ = ["KINDS", "CheckedConversation", "FaultKind", "Findings", "UserFault", "check_user"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
