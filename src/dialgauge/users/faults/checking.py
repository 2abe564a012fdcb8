"""All nine checks on one conversation: by acts where these and a goal of slots are recorded, else by the texts."""

from __future__ import annotations

from collections.abc import Callable

from dialgauge.dialogue import Dialogue
from dialgauge.users.faults.conversation_view import ConversationView
from dialgauge.users.faults.fact_checks import invented, withheld
from dialgauge.users.faults.fault_records import KINDS, CheckedConversation, FaultFindings, FaultKind, not_checked
from dialgauge.users.faults.goal_checks import goal_findings
from dialgauge.users.faults.mention_checks import disobeyed
from dialgauge.users.faults.message_checks import empty, leaked, repeated, role_swap
from dialgauge.users.faults.wish_checks import contradicted, early_end

_OF_TEXTS: dict[FaultKind, Callable[[ConversationView], FaultFindings]] = {
    "early_end": early_end,
    "invented": invented,
    "contradicted": contradicted,
    "leaked": leaked,
    "repeated": repeated,
    "role_swap": role_swap,
    "empty": empty,
    "withheld": withheld,
    "disobeyed": disobeyed,
}


def check_user(dialogue: Dialogue) -> CheckedConversation:
    """What the user of a conversation got wrong, as far as each check could look.

    >>> from dialgauge.dialogue import Goal, Turn
    >>> said = (Turn(speaker="system", text="What is your user id?"), Turn(speaker="user", text="No. ###STOP###"))
    >>> checked = check_user(Dialogue(id="d", turns=said, goal=Goal(message=("You are ann_lee_2041.",))))
    >>> [fault.kind for fault in checked.faults]
    ['withheld']
    """
    view = ConversationView(dialogue)
    findings: dict[FaultKind, FaultFindings] = {}
    if not any(turn.speaker == "user" for turn in dialogue.turns):
        findings = {kind: not_checked(kind, "no_user") for kind in KINDS}
    elif view.has_acts:
        findings = goal_findings(view)
    if not view.has_texts:
        for kind in _OF_TEXTS.keys() - {"empty"}:
            findings.setdefault(kind, not_checked(kind, "no_texts"))
    return CheckedConversation(
        id=dialogue.id,
        findings=tuple(findings[kind] if kind in findings else _OF_TEXTS[kind](view) for kind in KINDS),
        told=bool(view.instruction) or view.has_acts,
    )
