"""Whom to blame for each failed domain of a conversation, and who erred in any conversation, failed or not.

Only the record is looked at, and what became of each task. A domain is blamed on the first link that broke, in time,
among those that its failure hangs on; a conversation on the first of its domains'.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents import AGENT_ERROR, BROKEN_ENDS, EXPLANATION, SYSTEM_QUIT
from dialgauge.dialogue import Dialogue
from dialgauge.intents import INFORM, INTENTS
from dialgauge.lab.blame.broken_links import BrokenLink
from dialgauge.lab.blame.chain import Chain
from dialgauge.lab.blame.spoken_record import TalkRecord, spelled_alike
from dialgauge.lab.told_acts import READ
from dialgauge.tasks import ACTS_READ, JudgedConversation, JudgedConversations, StrictVerdict
from dialgauge.values import same_value
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
    domains: dict[str, BrokenLink] = {}
    #: Did a side break a link anywhere, harmful or not? None where the record does not tell.
    user_erred: bool | None = None
    system_erred: bool | None = None

    @property
    def first(self) -> str | None:
        """The domain whose link broke first; None where nothing failed."""
        return min(self.domains, key=lambda domain: self.domains[domain].order, default=None)

    @property
    def understood(self) -> bool:
        """Is there evidence for the verdict? Not where every failure is one of the lab's own understanding."""
        return not self.domains or any(link.side != "lab" for link in self.domains.values())

    @property
    def link(self) -> BrokenLink | None:
        return None if self.first is None else self.domains[self.first]


def blame_conversations(judged: JudgedConversations) -> list[ConversationBlame]:
    """Whom to blame, for every conversation of the judged; those that infrastructure broke and that have no verdict
    come last."""
    blamed = []
    for conversation in judged:
        if conversation.strict is not None:
            blamed.append(_blame(conversation, conversation.strict, conversation.wanted, judged.search))
    for dialogue in judged.left_out:
        link = _technical(dialogue)
        domains = {} if link is None else {"": link}
        goal_id = dialogue.id.rpartition("#")[0] or dialogue.id
        blamed.append(ConversationBlame(dialogue=dialogue.id, goal=goal_id, success=None, domains=domains))
    return blamed


def _blame(
    conversation: JudgedConversation, verdict: StrictVerdict, goal: DomainGoal, search: DomainSearch
) -> ConversationBlame:
    dialogue = conversation.dialogue if search.domain.multiwoz else spelled_alike(conversation.dialogue, goal)
    if verdict.success and _all_held(dialogue, goal):
        return ConversationBlame(
            dialogue=conversation.dialogue.id,
            goal=conversation.goal,
            success=True,
            user_erred=False,
            system_erred=False,
        )
    talk, technical = TalkRecord(dialogue, search), _technical(dialogue)
    traceable = talk.user_acts
    read = conversation.dialogue.ended.facts.get(ACTS_READ) == READ
    domains: dict[str, BrokenLink] = {}
    broken: list[BrokenLink] = []
    for task in sorted(goal.tasks, key=lambda task: bool(task.links)):
        outcome = verdict.tasks[task.domain]
        chain = Chain(task, verdict.tasks, talk, domains)
        links: list[BrokenLink] = []
        for failure in outcome.failures if traceable else ():
            # A technical failure is behind it, unless the task was settled wrongly before that.
            of_agent = technical is None or failure.reason in _SETTLED
            links += chain.of_failure(failure) if of_agent else filter(None, [technical])
        unnoticed = list(chain.unnoticed()) if traceable and technical is None else []
        if read:
            links, unnoticed = ([_of_the_lab(link) for link in some] for some in (links, unnoticed))
        broken += [*links, *unnoticed]
        if not outcome.success:
            unclear = BrokenLink("all_held" if talk.user_acts else "acts_not_recorded", turn=talk.last)
            link = min(links or [technical or unclear], key=lambda link: link.order)
            domains[task.domain] = link
    sides = {link.side for link in broken}
    return ConversationBlame(
        dialogue=conversation.dialogue.id,
        goal=conversation.goal,
        success=verdict.success,
        domains={task.domain: domains[task.domain] for task in goal.tasks if task.domain in domains},
        user_erred="user" in sides or (False if talk.user_seen or technical else None),
        system_erred="system" in sides or (False if talk.system_seen or technical else None),
    )


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
    return _technical(dialogue) is None and all(
        (task.domain, slot) in said and same_value(said[task.domain, slot], value)
        for task in goal.tasks
        for given in (task.info, task.book or {})
        for slot, value in given.items()
    )


def _of_the_lab(link: BrokenLink) -> BrokenLink:
    """The link; with a system that speaks freely, errors of our user count as our failure to understand the text."""
    return replace(link, cause="not_understood") if link.side == "user" else link


def _technical(dialogue: Dialogue) -> BrokenLink | None:
    """The technical failure that ended a conversation: an agent that raised or hung up, or infrastructure."""
    outcome = dialogue.outcome
    if outcome is None:
        return None
    hung_up = outcome.reason == SYSTEM_QUIT and outcome.ended_by == "system"
    if outcome.reason not in (AGENT_ERROR, *BROKEN_ENDS) and not hung_up:
        return None
    why = outcome.facts.get(EXPLANATION)
    return BrokenLink(
        "failed" if why else "ended", turn=max(len(dialogue.turns) - 1, 0), given=(why or outcome.reason,),
        entity=outcome.ended_by,
    )  # fmt: skip
