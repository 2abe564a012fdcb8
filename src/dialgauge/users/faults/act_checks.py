"""All nine checks on one conversation: by acts where these and a goal of slots are recorded, else by the texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dialgauge.dialogue import Act, Dialogue, Goal, Task
from dialgauge.intents import INFORM, OFFERING, REFUSING, REQUEST
from dialgauge.users.faults.records import (
    KINDS,
    CheckedConversation,
    FaultFindings,
    FaultKind,
    UserFault,
    merge_repeats,
    message_of,
    not_checked,
)
from dialgauge.users.faults.text_checks import text_findings
from dialgauge.values import canonical, constrains


def check_user(dialogue: Dialogue) -> CheckedConversation:
    """What the user of a conversation got wrong, as far as each check could look.

    >>> from dialgauge.dialogue import Goal, Turn
    >>> said = (Turn(speaker="system", text="What is your user id?"), Turn(speaker="user", text="No. ###STOP###"))
    >>> checked = check_user(Dialogue(id="d", turns=said, goal=Goal(message=("You are ann_lee_2041.",))))
    >>> [fault.kind for fault in checked.faults]
    ['withheld']
    """
    by_acts = has_acts(dialogue)
    if all(turn.speaker != "user" for turn in dialogue.turns):
        findings = {kind: not_checked(kind, "no_user") for kind in KINDS}
    else:
        findings = {finding.kind: finding for finding in text_findings(dialogue)}
        findings |= {finding.kind: finding for finding in ActChecks(dialogue).findings()} if by_acts else {}
    return CheckedConversation(
        id=dialogue.id,
        findings=tuple(findings[kind] for kind in KINDS),
        told=bool(dialogue.instruction) or by_acts,
    )


def has_acts(dialogue: Dialogue) -> bool:
    """Are the acts of the user recorded, and does its goal say by slots what it wants?"""
    users = (turn for turn in dialogue.turns if turn.speaker == "user")
    return bool(dialogue.goal and dialogue.goal.tasks) and any(turn.acts is not None for turn in users)


#: What only a system does.
_OF_SYSTEMS = (OFFERING | REFUSING) - {INFORM}
#: Services that speak for whichever domain is spoken of.
_ANY_DOMAIN = frozenset({"", "booking", "general"})
#: "same area as the hotel" and "the hotel" refer back.
_REFERS_BACK = re.compile(r"^same\b|^the \w+$")
_NO_VALUE = frozenset({"", "?", "none", "not mentioned"})


def _values(act: Act) -> list[str]:
    return [value.strip().lower() for value in act.values if value.strip().lower() not in _NO_VALUE]


class ActChecks:
    """The checks that acts decide, against a goal of slots.

    What a user may say of a slot is what its goal has for it, first tries included, and what the system said before or
    the user heard it say: mishearing is no invention. Values are compared without case and punctuation.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._goal: Goal = dialogue.goal or Goal()
        self._acts = [turn.acts or () for turn in dialogue.turns]
        self._users = [index for index, turn in enumerate(dialogue.turns) if turn.speaker == "user"]

    def findings(self) -> Iterator[FaultFindings]:
        """The results of the checks that acts decide."""
        strayed = list(self._strayed())
        yield self._early_end()
        for kind, scope, faults in (
            ("invented", "goal_and_system", [fault for fault in strayed if fault.kind == "invented"]),
            ("contradicted", "goal", [fault for fault in strayed if fault.kind == "contradicted"]),
            ("repeated", "acts_of_turns", self._repeated()),
            ("withheld", "slots_asked_for", self._withheld()),
            ("role_swap", "acts", self._role_swap()),
        ):
            yield FaultFindings(kind, "whole", scope, merge_repeats(faults))  # type: ignore[arg-type]

    def _fault(
        self,
        kind: FaultKind,
        turn: int,
        reason: str,
        about: str = "",
        given: Sequence[str] = (),
        wanted: Sequence[str] = (),
    ) -> UserFault:
        message = message_of(self._dialogue, turn)
        return UserFault(kind, turn, message, reason, about=about, given=tuple(given), wanted=tuple(wanted))

    def _allowed(self, domain: str, slot: str) -> set[str]:
        """The goal's values of a slot."""
        task = self._goal.tasks.get(domain, Task())
        parts = (task.info, task.fail_info, task.book, task.fail_book)
        return {canonical(value) for part in parts for name, value in part.items() if name.lower() == slot.lower()}

    def _informs(self, turn: int) -> list[Act]:
        """The informs of a turn of the user that have a slot and a value."""
        return [act for act in self._acts[turn] if act.intent == INFORM and act.slot and _values(act)]

    def _heard(self, turns: range) -> list[Act]:
        """Acts of the system in some turns that the user heard."""
        heard = ((index, self._dialogue.turns[index].heard) for index in turns)
        return [act for index, acts in heard for act in self._acts[index] if acts is None or act in acts]

    def _of_system(self, before: int | None = None) -> list[Act]:
        """Acts that the system said or the user heard."""
        system = (turn for turn in self._dialogue.turns[:before] if turn.speaker == "system")
        return [act for turn in system for act in (*(turn.acts or ()), *(turn.heard or ()))]

    def _strayed(self) -> Iterator[UserFault]:
        """Values that the goal does not have: of a slot that it has, or made up."""
        for user in self._users:
            heard = {canonical(value) for act in self._of_system(user) for value in _values(act)}
            for act in self._informs(user):
                allowed = self._allowed(act.domain, act.slot)
                named = f"{act.domain} {act.slot}"
                for value in _values(act):
                    if canonical(value) in allowed | heard or _REFERS_BACK.match(value):
                        continue
                    if allowed:
                        yield self._fault("contradicted", user, "other_value", named, [value], sorted(allowed))
                    elif constrains(value):
                        yield self._fault("invented", user, "value_of_nobody", named, [value])

    def _withheld(self) -> Iterator[UserFault]:
        for before, turn in pairwise(self._users):
            given = {act.slot.lower() for act in self._acts[turn]}
            for act in self._heard(range(before + 1, turn)):
                domains = [*self._goal.tasks] if act.domain in _ANY_DOMAIN else [act.domain]
                asked = act.intent == REQUEST and act.slot and act.slot.lower() not in given
                if asked and any(self._allowed(domain, act.slot) for domain in domains):
                    yield self._fault("withheld", turn, "slot_not_given", act.slot)

    def _matter(self, turn: int) -> frozenset[Act]:
        return frozenset(act for act in self._acts[turn] if act.intent in (INFORM, REQUEST))

    def _repeated(self) -> Iterator[UserFault]:
        """The same acts as in the user's turn before, though the system answered them."""
        for before, turn in pairwise(self._users):
            matter = self._matter(turn)
            if matter and matter == self._matter(before) and self._answered(before, turn):
                yield self._fault("repeated", turn, "acts_again")

    def _answered(self, before: int, turn: int) -> bool:
        """Was all of it heard, none of it asked for again, and every request met, so that the user heard it?"""
        matter = self._matter(before)
        heard = self._dialogue.turns[before].heard
        if heard is not None and not matter <= set(heard):
            return False
        reply = [act for act in self._heard(range(before + 1, turn)) if act.intent != "greet"]
        asked_again = {act.slot.lower() for act in reply if act.intent == REQUEST}
        answered = {act.slot.lower() for act in reply if act.intent != REQUEST}
        if not reply or asked_again & {act.slot.lower() for act in matter}:
            return False
        return all(act.intent != REQUEST or act.slot.lower() in answered for act in matter)

    def _role_swap(self) -> Iterator[UserFault]:
        for user in self._users:
            for act in self._acts[user]:
                if act.intent in _OF_SYSTEMS:
                    yield self._fault("role_swap", user, "act_of_systems", given=[act.name])

    def _early_end(self) -> FaultFindings:
        outcome, last = self._dialogue.outcome, self._users[-1]
        said_bye = any(act.intent == "bye" for act in self._acts[last])
        if not said_bye and (outcome is None or outcome.ended_by != "user"):
            return FaultFindings("early_end", "whole", "not_the_user")
        before = [self._matter(turn) for turn in self._users[:-1]][-2:]
        if len(before) == 2 and before[0] == before[1] != frozenset():
            return not_checked("early_end", "circles")
        opened = tuple(self._open())
        faults = (self._fault("early_end", last, "goal_left_open", wanted=opened),) if opened else ()
        return FaultFindings("early_end", "whole", "goal_items", faults)

    def _open(self) -> Iterator[str]:
        """Constraints never told and requests never made nor met, in domains in which something was found."""
        informed = {(act.domain, act.slot.lower()) for user in self._users for act in self._informs(user)}
        asked = {(act.domain, act.slot.lower()) for user in self._users for act in self._acts[user]}
        of_system = self._of_system()
        for domain, task in self._goal.tasks.items():
            own = [act for act in of_system if act.domain in (domain, "booking")]
            known = {act.slot.lower() for act in own}
            for slot in task.info:
                if (domain, slot.lower()) not in informed and slot.lower() not in known:
                    yield f"{domain} {slot}"
            if any(act.intent in REFUSING for act in own):
                continue
            yield from (f"{domain} {slot}" for slot in task.book if (domain, slot.lower()) not in informed)
            for slot in task.requests:
                if (domain, slot.lower()) not in asked and slot.lower() not in known:
                    yield f"{domain} {slot}?"
