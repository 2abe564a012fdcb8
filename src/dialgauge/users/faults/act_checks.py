"""All nine checks on one conversation: by acts where these and a goal of slots are recorded, else by the texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
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
    not_checked,
)
from dialgauge.users.faults.text_checks import message_of, text_findings
from dialgauge.values import canonical, constrains


def check_user(dialogue: Dialogue) -> CheckedConversation:
    """What the user of a conversation got wrong, as far as each check could look.

    >>> from dialgauge.dialogue import Goal, Turn
    >>> said = (Turn(speaker="system", text="What is your user id?"), Turn(speaker="user", text="No. ###STOP###"))
    >>> checked = check_user(Dialogue(id="d", turns=said, goal=Goal(message=("You are ann_lee_2041.",))))
    >>> [fault.kind for fault in checked.faults]
    ['withheld']
    """
    users = [turn for turn in dialogue.turns if turn.speaker == "user"]
    by_acts = has_acts(dialogue)
    if not users:
        findings = {kind: not_checked(kind, "no_user") for kind in KINDS}
    else:
        findings = {finding.kind: finding for finding in text_findings(dialogue)}
        findings |= {finding.kind: finding for finding in act_findings(dialogue)} if by_acts else {}
    return CheckedConversation(
        id=dialogue.id,
        findings=tuple(findings[kind] for kind in KINDS),
        told=bool(dialogue.instruction) or by_acts,
    )


def has_acts(dialogue: Dialogue) -> bool:
    """Are the acts of the user recorded, and does its goal say by slots what it wants?"""
    users = (turn for turn in dialogue.turns if turn.speaker == "user")
    return bool(dialogue.goal and dialogue.goal.tasks) and any(turn.acts is not None for turn in users)


# Where the goal names slots and the acts are recorded, as in the lab, everything can be derived. What a user may say of
# a slot is what its goal has for it, first tries included, and what the system said before. Values are compared without
# case and punctuation.

#: What only a system does.
_OF_SYSTEMS = (OFFERING | REFUSING) - {INFORM}
#: Services that speak for whichever domain is spoken of.
_ANY_DOMAIN = frozenset({"", "booking", "general"})
#: "same area as the hotel" and "the hotel" refer back.
_REFERS_BACK = re.compile(r"^same\b|^the \w+$")
_NO_VALUE = frozenset({"", "?", "none", "not mentioned"})


def _values(act: Act) -> list[str]:
    return [value.strip().lower() for value in act.values if value.strip().lower() not in _NO_VALUE]


class GoalView:
    """A conversation with acts, against its goal."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.turns = dialogue.turns
        self.goal: Goal = dialogue.goal or Goal()

    def acts(self, turn: int) -> Sequence[Act]:
        """What was said in a turn."""
        return self.turns[turn].acts or ()

    @cached_property
    def users(self) -> list[int]:
        """The places of the user's turns."""
        return [index for index, turn in enumerate(self.turns) if turn.speaker == "user"]

    def allowed(self, domain: str, slot: str) -> set[str]:
        """What the goal has for a slot."""
        task = self.goal.tasks.get(domain, Task())
        parts = (task.info, task.fail_info, task.book, task.fail_book)
        return {canonical(value) for part in parts for name, value in part.items() if name.lower() == slot.lower()}

    def heard_before(self, turn: int) -> set[str]:
        """The values that the system said before a turn, or that the user heard it say: mishearing is no invention."""
        return {canonical(value) for act in _system_acts(self, turn) for value in _values(act)}

    def informs(self, turn: int) -> list[Act]:
        """What a turn of the user tells, slots with values only."""
        return [act for act in self.acts(turn) if act.intent == INFORM and act.slot and _values(act)]

    def fault(
        self,
        kind: FaultKind,
        turn: int,
        reason: str,
        about: str = "",
        given: tuple[str, ...] = (),
        wanted: tuple[str, ...] = (),
    ) -> UserFault:
        """A fault at a turn."""
        return UserFault(kind, turn, message_of(self.dialogue, turn), reason, about=about, given=given, wanted=wanted)


def act_findings(dialogue: Dialogue) -> Iterator[FaultFindings]:
    """The findings of the checks that acts decide."""
    goal = GoalView(dialogue)
    strayed = list(_strayed(goal))
    yield _early_end(goal)
    yield FaultFindings("invented", "whole", "goal_and_system", _of_kind("invented", strayed))
    yield FaultFindings("contradicted", "whole", "goal", _of_kind("contradicted", strayed))
    yield FaultFindings("repeated", "whole", "acts_of_turns", merge_repeats(_repeated(goal)))
    yield FaultFindings("withheld", "whole", "slots_asked_for", merge_repeats(_withheld(goal)))
    yield FaultFindings("role_swap", "whole", "acts", merge_repeats(_role_swap(goal)))


def _of_kind(kind: FaultKind, faults: list[UserFault]) -> tuple[UserFault, ...]:
    return merge_repeats(fault for fault in faults if fault.kind == kind)


def _strayed(goal: GoalView) -> Iterator[UserFault]:
    """Values that the goal does not have: of a slot that it has, or made up."""
    for user in goal.users:
        heard = goal.heard_before(user)
        for act in goal.informs(user):
            allowed = goal.allowed(act.domain, act.slot)
            for value in _values(act):
                if canonical(value) in allowed | heard or _REFERS_BACK.match(value):
                    continue
                if not constrains(value) and not allowed:
                    continue
                named = f"{act.domain} {act.slot}"
                if allowed:
                    has = tuple(sorted(allowed))
                    yield goal.fault("contradicted", user, "other_value", named, given=(value,), wanted=has)
                else:
                    yield goal.fault("invented", user, "value_of_nobody", named, given=(value,))


def _withheld(goal: GoalView) -> Iterator[UserFault]:
    for before, turn in pairwise(goal.users):
        given = {act.slot.lower() for act in goal.acts(turn)}
        for system in range(before + 1, turn):
            for act in _heard(goal, system):
                asked = act.intent == REQUEST and act.slot
                if asked and act.slot.lower() not in given and _has(goal, act):
                    yield goal.fault("withheld", turn, "slot_not_given", act.slot)


def _heard(goal: GoalView, turn: int) -> list[Act]:
    """What the system said in a turn and the user heard."""
    heard = goal.turns[turn].heard
    return [act for act in goal.acts(turn) if heard is None or act in heard]


def _has(goal: GoalView, act: Act) -> bool:
    domains = [*goal.goal.tasks] if act.domain in _ANY_DOMAIN else [act.domain]
    return any(goal.allowed(domain, act.slot) for domain in domains)


def _repeated(goal: GoalView) -> Iterator[UserFault]:
    """The same acts as in the user's turn before, though the system answered them."""
    for before, turn in pairwise(goal.users):
        matter = _matter(goal, turn)
        if matter and matter == _matter(goal, before) and _answered(goal, before, turn):
            yield goal.fault("repeated", turn, "acts_again")


def _matter(goal: GoalView, turn: int) -> frozenset[Act]:
    return frozenset(act for act in goal.acts(turn) if act.intent in (INFORM, REQUEST))


def _answered(goal: GoalView, before: int, turn: int) -> bool:
    """Was all of it heard, none of it asked for again, and every request met, so that the user heard it?"""
    matter = _matter(goal, before)
    heard = goal.turns[before].heard
    if heard is not None and not matter <= set(heard):
        return False
    reply = [act for system in range(before + 1, turn) for act in _heard(goal, system) if act.intent != "greet"]
    asked_again = {act.slot.lower() for act in reply if act.intent == REQUEST}
    answered = {act.slot.lower() for act in reply if act.intent != REQUEST}
    if not reply or asked_again & {act.slot.lower() for act in matter}:
        return False
    return all(act.intent != REQUEST or act.slot.lower() in answered for act in matter)


def _role_swap(goal: GoalView) -> Iterator[UserFault]:
    for user in goal.users:
        for act in goal.acts(user):
            if act.intent in _OF_SYSTEMS:
                yield goal.fault("role_swap", user, "act_of_systems", given=(act.name,))


def _early_end(goal: GoalView) -> FaultFindings:
    outcome = goal.dialogue.outcome
    last = goal.users[-1] if goal.users else None
    if last is None:
        return not_checked("early_end", "no_user")
    said_bye = any(act.intent == "bye" for act in goal.acts(last))
    if not said_bye and (outcome is None or outcome.ended_by != "user"):
        return FaultFindings("early_end", "whole", "not_the_user")
    if _circling(goal):
        return not_checked("early_end", "circles")
    opened = tuple(_open(goal))
    faults = (goal.fault("early_end", last, "goal_left_open", wanted=opened),) if opened else ()
    return FaultFindings("early_end", "whole", "goal_items", faults)


def _circling(goal: GoalView) -> bool:
    """Did the user say the same twice in a row before its last turn?"""
    before = [_matter(goal, turn) for turn in goal.users[:-1]][-2:]
    return len(before) == 2 and before[0] == before[1] != frozenset()


def _open(goal: GoalView) -> Iterator[str]:
    """Constraints never told and requests never made nor met, in domains in which something was found."""
    informed = {(act.domain, act.slot.lower()) for user in goal.users for act in goal.informs(user)}
    asked = {(act.domain, act.slot.lower()) for user in goal.users for act in goal.acts(user)}
    shown = {(act.domain, act.slot.lower()) for act in _system_acts(goal)}
    for domain, task in goal.goal.tasks.items():
        known = {slot for where, slot in shown if where in (domain, "booking")}
        yield from (
            f"{domain} {slot}"
            for slot in task.info
            if (domain, slot.lower()) not in informed and slot.lower() not in known
        )
        if any(act.intent in REFUSING and act.domain in (domain, "booking") for act in _system_acts(goal)):
            continue
        yield from (f"{domain} {slot}" for slot in task.book if (domain, slot.lower()) not in informed)
        yield from (
            f"{domain} {slot}?"
            for slot in task.requests
            if (domain, slot.lower()) not in asked and slot.lower() not in known
        )


def _system_acts(goal: GoalView, before: int | None = None) -> list[Act]:
    """What the system said, and what the user heard of it."""
    return [
        act
        for turn in goal.turns[:before]
        if turn.speaker == "system"
        for act in (*(turn.acts or ()), *(turn.heard or ()))
    ]
