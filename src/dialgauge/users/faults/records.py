"""The nine things that a user can get wrong, what a check says of one conversation, and both in words.

A fault has a message of the user as evidence. A fault that recurs counts once, with its length. A check that could not
look at a conversation says so; an empty list of faults means something only together with how far the check looked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs

from dialgauge.dialogue import Dialogue

FaultKind: TypeAlias = Literal[
    "early_end", "invented", "contradicted", "leaked", "repeated", "role_swap", "empty", "withheld", "disobeyed"
]
#: Every kind with its meaning, in the order in which they are shown.
KINDS: dict[FaultKind, str] = {
    "early_end": "ends before it is done",
    "invented": "makes up facts",
    "contradicted": "contradicts its goal",
    "leaked": "reveals its instruction",
    "repeated": "repeats itself",
    "role_swap": "speaks as the agent",
    "empty": "sends an empty message",
    "withheld": "withholds what is asked",
    "disobeyed": "ignores instructions on how to behave",
}
#: How far a check could look: at all that the definition covers, at a part of it, or not at all.
Extent: TypeAlias = Literal["whole", "part", "none"]

#: What the user did, by the code of a fault. Tables keep the code and its arguments.
FAULT_WORDINGS = {
    # By acts, against a goal of slots
    "other_value": "says {given} for {about}; its goal has {wanted}",
    "value_of_nobody": "says {given} for {about}, which neither its goal nor the system has",
    "slot_not_given": "is asked for {about} and does not give it",
    "acts_again": "says the same again although it was answered",
    "act_of_systems": "does what only a system does ({given})",
    "goal_left_open": "ends without having said or asked: {listed}",
    # By texts
    "fact_of_nobody": "states the {about} {given!r}, which nobody gave it",
    "booking_guessed": "guesses that booking {given} is its own",
    "not_given": "is asked for its {about} and does not give it",
    "no_content": "the message has neither text nor a tool call",
    "after_stop": "goes on after its stop token",
    "tool_syntax": "writes a tool call as text",
    "verbatim_again": "says message {earlier} again, word for word",
    "stops_when_asked": "stops when the agent asks it for something",
    "stops_confirming": "confirms an action and stops in the same message, so the agent cannot do it",
    # A judge, in its own words
    "judged": "{given}",
}
#: What a check looked at, or why it could not look.
SCOPE_WORDINGS = {
    "no_user": "the user never spoke",
    "no_texts": "the conversation has no texts",
    "no_instruction": "there is no instruction to compare with",
    "ask_a_judge": "ask a judge (--judge)",
    "may_invent": "the instruction allows making things up",
    "not_to_give": "the instruction says not to give the {joined}",
    "gives_nothing": "nothing that the user knows is an id, code or address; declare it in `knows`",
    "circles": "the user repeated itself before the goodbye, which a step limit may have forced",
    "no_last_words": "the conversation does not end with words of the user",
    "no_stop_token": "the last message of the user has no stop token",
    "not_the_user": "the user did not end the conversation",
    "handed_over": "the agent handed the user over",
    "goal_and_system": "every value, compared with the goal and with what the system said",
    "goal": "every value, compared with the goal",
    "acts_of_turns": "the acts of every turn",
    "slots_asked_for": "every question for a slot of the goal",
    "acts": "every act",
    "goal_items": "every constraint and request of the goal",
    "messages": "every message of the user",
    "facts": "e-mail addresses, ids, codes, phone and flight numbers, guesses among listed bookings",
    "questions": "questions for {joined}",
    "leaks": "text after a stop token, and tool calls written as text",
    "copies": "messages said three times, word for word",
    "ends": "a stop right after a question, or in the message that confirms an action",
    "judge": "a judge",
}


class UserFault(Struct, frozen=True):
    """One fault: the turn, the message of the file that it was read from, a code for why, and the code's arguments.

    ``about`` is what the fault is about, such as ``user id``: messages with the same fault about the same thing are one
    fault of ``length`` messages, and the first of them is the evidence.
    """

    kind: FaultKind
    turn: int
    message: int
    reason: str
    length: int = 1
    about: str = ""
    #: What the user said, and what its goal or instruction has.
    given: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    #: The message that is said again.
    earlier: int | None = None
    #: Who found it: a check, or a judge by its name.
    by: str = "check"


class FaultFindings(Struct, frozen=True):
    """The result of one check of one conversation: how far it looked, why no further, and the faults."""

    kind: FaultKind
    extent: Extent
    #: A code for what it looked at, or for why it could not look.
    reason: str
    faults: tuple[UserFault, ...] = ()
    #: What it looked for.
    about: tuple[str, ...] = ()

    @property
    def checked(self) -> bool:
        """Could it look at anything?"""
        return self.extent != "none"


class CheckedConversation(Struct, frozen=True):
    """The results of all checks of one conversation, one for every kind."""

    id: str
    findings: tuple[FaultFindings, ...]
    #: Was the user told what it wants, so that it can be compared with that?
    told: bool = True

    @property
    def faults(self) -> list[UserFault]:
        """All faults, by turn."""
        matches = [fault for finding in self.findings for fault in finding.faults]
        return sorted(matches, key=lambda fault: (fault.turn, tuple(KINDS).index(fault.kind)))

    def of_kind(self, kind: FaultKind) -> FaultFindings:
        """The finding of one check."""
        return next(finding for finding in self.findings if finding.kind == kind)


def message_of(dialogue: Dialogue, turn: int) -> int:
    """The message of the file that a turn was read from."""
    source = dialogue.turns[turn].source
    return turn if source is None else source


def not_checked(kind: FaultKind, reason: str, about: tuple[str, ...] = ()) -> FaultFindings:
    """A check that could not look."""
    return FaultFindings(kind, "none", reason, about=about)


def merge_repeats(faults: Iterable[UserFault]) -> tuple[UserFault, ...]:
    """Faults of one kind about the same thing as one, with the number of messages as its length.

    >>> twice = [UserFault("withheld", turn, turn, "not_given", about="user id") for turn in (2, 4)]
    >>> [(one.turn, one.length) for one in merge_repeats(twice)]
    [(2, 2)]
    """
    groups: dict[str, list[UserFault]] = {}
    for fault in sorted(faults, key=lambda fault: fault.turn):
        groups.setdefault(fault.about, []).append(fault)
    return tuple(structs.replace(group[0], length=len({fault.turn for fault in group})) for group in groups.values())


def fault_words(row: Mapping[str, Any]) -> str:
    """What the user did, of a row of the table of faults; a code that this version does not know stands for itself.

    >>> fault_words({"reason": "other_value", "about": "hotel area", "given": ["north"], "wanted": ["east", "west"]})
    'says north for hotel area; its goal has east or west'
    >>> fault_words({"reason": "not_given", "about": "user id", "length": 2})
    'is asked for its user id and does not give it (2 messages)'
    """
    wanted = row.get("wanted") or ()
    words = FAULT_WORDINGS.get(row["reason"], str(row["reason"]).replace("{", "{{").replace("}", "}}")).format(
        about=row.get("about") or "", given=", ".join(row.get("given") or ()), wanted=" or ".join(wanted),
        listed=", ".join(wanted), earlier=row.get("earlier"),
    )  # fmt: skip
    length = row.get("length") or 1
    return f"{words} ({length} messages)" if length > 1 else words


def scope_words(row: Mapping[str, Any]) -> str:
    """What a check looked at, or why it could not look, of a row of the table of checks.

    >>> scope_words({"reason": "questions", "about": ["user id", "phone", "order id"]})
    'questions for user id, phone and order id'
    """
    names = list(row.get("about") or ())
    joined = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    wording = SCOPE_WORDINGS.get(row["reason"])
    return wording.format(joined=joined) if wording else str(row["reason"])
