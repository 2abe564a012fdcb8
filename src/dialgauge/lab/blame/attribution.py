"""Whom to blame for each failed domain of a conversation, and who erred in any conversation, failed or not.

Only the record is looked at, and what became of each task. A domain is blamed on the first link that broke, in time,
among those that its failure hangs on; a conversation on the first of its domains'.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Blame, Dialogue
from dialgauge.intents import INFORM, INTENTS
from dialgauge.lab.blame.chain import Chain
from dialgauge.lab.blame.reasons import SIDE_OF, blame_for, chain_order, technical_failure
from dialgauge.lab.blame.record import TalkRecord, alike
from dialgauge.lab.told_acts import READ
from dialgauge.tasks import ACTS_READ, JudgedConversation, JudgedConversations, StrictVerdict
from dialgauge.worlds.domain import DomainGoal, DomainSearch

#: What was done, and otherwise than wanted.
_SETTLED = ("booked_otherwise", "taxi_differs", "taxi_end_missing")


class ConversationBlame(Struct, frozen=True, kw_only=True):
    """What went wrong in one conversation."""

    dialogue: str
    #: The id that all trials of one goal share.
    goal: str
    #: Strict success; None where infrastructure broke it and it is left out.
    success: bool | None
    #: What is blamed for each domain that failed; the empty domain stands for the whole conversation.
    domains: dict[str, Blame] = {}
    #: Did a side break a link anywhere, harmful or not? None where the record does not tell.
    user_erred: bool | None = None
    system_erred: bool | None = None

    @property
    def first(self) -> str | None:
        """The domain whose link broke first; None where nothing failed."""
        return min(self.domains, key=lambda domain: chain_order(self.domains[domain]), default=None)

    @property
    def understood(self) -> bool:
        """Is there evidence for the verdict? Not where every failure is one of the lab's own understanding."""
        return not self.domains or any(blame.side != "lab" for blame in self.domains.values())

    @property
    def link(self) -> Blame | None:
        """The broken link that the whole conversation is blamed on."""
        return None if self.first is None else self.domains[self.first]


def blame_conversations(judged: JudgedConversations) -> list[ConversationBlame]:
    """Whom to blame, for every conversation of the judged; those that infrastructure broke and that have no verdict
    come last."""
    blamed = []
    for dialogue, conversation in judged.recorded():
        if conversation.strict is not None:
            blamed.append(_blame(dialogue, conversation, conversation.strict, judged.search))
    for dialogue in judged.left_out():
        technical = technical_failure(dialogue)
        domains = {} if technical is None else {"": technical}
        goal_id = dialogue.id.rpartition("#")[0] or dialogue.id
        blamed.append(ConversationBlame(dialogue=dialogue.id, goal=goal_id, success=None, domains=domains))
    return blamed


def _blame(
    dialogue: Dialogue, conversation: JudgedConversation, verdict: StrictVerdict, search: DomainSearch
) -> ConversationBlame:
    goal = conversation.wanted
    blamed = ConversationBlame(
        dialogue=dialogue.id, goal=conversation.goal, success=verdict.success, user_erred=False, system_erred=False
    )
    if verdict.success and _all_held(dialogue, goal):
        return blamed
    talk, technical = TalkRecord(dialogue, search), technical_failure(dialogue)
    read = dialogue.ended.facts.get(ACTS_READ) == READ
    domains: dict[str, Blame] = {}
    sides: set[str] = set()
    for task in sorted(goal.tasks, key=lambda task: bool(task.links)):
        outcome = verdict.tasks[task.domain]
        chain = Chain(task, verdict.tasks, talk, domains)
        broken: list[Blame] = []
        for failure in outcome.failures if talk.user_acts else ():
            # A technical failure is behind it, unless the task was settled wrongly before that.
            of_agent = technical is None or failure.reason in _SETTLED
            broken += chain.of_failure(failure) if of_agent else filter(None, [technical])
        unnoticed = list(chain.unnoticed()) if talk.user_acts and technical is None else []
        if read:
            broken, unnoticed = ([_of_the_lab(blame) for blame in some] for some in (broken, unnoticed))
        sides |= {blame.side for blame in (*broken, *unnoticed)}
        if not outcome.success:
            code = "all_held" if talk.user_acts else "acts_not_recorded"
            unclear = blame_for(dialogue.id, task.domain, code, talk.last)
            domains[task.domain] = replace(min(broken or [technical or unclear], key=_by_evidence), unit=task.domain)
    user_seen = talk.user_acts and talk.system_acts and talk.user_hears
    system_seen = talk.user_acts and talk.system_hears
    return replace(
        blamed,
        domains={task.domain: domains[task.domain] for task in goal.tasks if task.domain in domains},
        user_erred="user" in sides or (False if user_seen or technical else None),
        system_erred="system" in sides or (False if system_seen or technical else None),
    )


def _by_evidence(blame: Blame) -> tuple[bool, tuple[int, int]]:
    """First what is known to have gone wrong, then what the lab did not understand; each in the order of the chain."""
    return blame.side == "lab", chain_order(blame)


def _all_held(dialogue: Dialogue, goal: DomainGoal) -> bool:
    """Did each side hear all that the other said, and did the user last say what it wanted? Then no link broke."""
    last = len(dialogue.turns) - 1
    if last < 1:
        return False
    said: dict[tuple[str, str], str] = {}
    for place, turn in enumerate(dialogue.turns):
        if turn.acts is None or (turn.heard != turn.acts and (place != last or turn.speaker == "user")):
            return False
        for act in turn.acts if turn.speaker == "user" else ():
            if INTENTS[act.name] == INFORM:
                said[act.domain, act.slot] = act.values[-1] if act.values else ""
    return technical_failure(dialogue) is None and all(
        (task.domain, slot) in said and alike(said[task.domain, slot], value)
        for task in goal.tasks
        for given in (task.info, task.book or {})
        for slot, value in given.items()
    )


def _of_the_lab(blame: Blame) -> Blame:
    """The same; with a system that speaks freely, errors of our user are our failure to understand the text."""
    if blame.side != "user":
        return blame
    return replace(blame, cause="not_understood", side=SIDE_OF["not_understood"])
