"""Is the right link blamed? Conversations with a fault put into them, and the cause that was found for each failure.

Counted are failed conversations in which the fault really happened. With a channel on top a conversation may have two
faults. Then the verdict on the domain that the fault befell counts, where that failed; if the channel damaged nothing
that was said about it, the injected fault is the only truth, and else the channel's is one too. Through text the errors
of the NLU are such damage.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from dialgauge.agents import Level
from dialgauge.lab.blame.attribution import ConversationBlame, blame_conversations
from dialgauge.lab.blame.broken_links import Cause
from dialgauge.lab.domain_source import LoadedDomain
from dialgauge.lab.fault_injection import InjectedFault, injected_conversations
from dialgauge.lab.faulty_systems import InjectedEvent, InjectedFaults
from dialgauge.lab.lab_run import judged_conversations

TRUE_CAUSES: dict[InjectedFault, Cause] = {
    "forgetful user": "never_said",
    "deaf system": "said_not_heard",
    "ignoring policy": "heard_not_acted_on",
    "late policy": "heard_not_acted_on",
    "erring policy": "acted_on_wrong",
    "deaf user": "answered_not_heard",
    "refusing world": "refused",
    "breakdown": "infrastructure",
}


class BlameConfusion(Struct, frozen=True, kw_only=True):
    """What was blamed for the failures that one kind of fault led to."""

    fault: InjectedFault
    #: Conversations held, those in which the fault happened, and those of them that failed.
    held: int
    happened: int
    failed: int
    #: Failures with one fault by the cause that was found, and whether it is the true one by what the fault did.
    causes: Counter[Cause]
    right: Counter[tuple[str, bool]]
    #: Failures with two faults: the injected one was named, the channel's, or neither.
    two_faults: Counter[str]

    @property
    def share(self) -> float:
        """Of the failures with one fault, those blamed on the right cause."""
        total = self.causes.total()
        return self.causes[TRUE_CAUSES[self.fault]] / total if total else float("nan")


def blame_confusion(
    town: LoadedDomain, fault: InjectedFault, *, channel: str = "clean", seed: int = 0, level: Level = "act"
) -> BlameConfusion:
    """Hold the conversations, blame, and count."""
    held, ledger = injected_conversations(town, fault, channel=channel, seed=seed, level=level)
    judged = judged_conversations(held, town)
    blamed = blame_conversations(judged)
    failed = [blame for blame in blamed if blame.domains and blame.dialogue in ledger.events]
    causes: Counter[Cause] = Counter()
    right: Counter[tuple[str, bool]] = Counter()
    two_faults: Counter[str] = Counter()
    for failure in failed:
        event = ledger.events[failure.dialogue]
        domain = event.domain if event.domain in failure.domains else failure.first or ""
        cause, truth = failure.domains[domain].cause, TRUE_CAUSES[fault]
        others = _damage(ledger, failure, event, domain)
        if others:
            two_faults["injected" if cause == truth else "channel" if cause in others else "neither"] += 1
        else:
            causes[cause] += 1
            right[event.what, cause == truth] += 1
    return BlameConfusion(
        fault=fault,
        held=len(held),
        happened=len(ledger.events),
        failed=len(failed),
        causes=causes,
        right=right,
        two_faults=two_faults,
    )


def _damage(ledger: InjectedFaults, blame: ConversationBlame, event: InjectedEvent, domain: str) -> set[Cause]:
    """The causes that the channel gave reason for, in the domain that is looked at and the one the fault befell."""
    damaged = ledger.damaged.get(blame.dialogue, set())
    touched = {speaker for speaker, where in damaged if where in (domain, event.domain, "booking", "general")}
    return {"said_not_heard" if speaker == "user" else "answered_not_heard" for speaker in touched}
