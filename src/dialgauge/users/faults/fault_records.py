"""The nine things that a user can get wrong, and what a check says of one conversation.

A fault has a message of the user as evidence. A run of the same fault counts once, with its length. A check that could
not look at a conversation says so; an empty list of faults means something only together with how far it looked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from dialgauge.users.faults.wordings import FAULT_KINDS, FaultKind as KindOfFault, fault_sentence, scope_sentence

FaultKind: TypeAlias = KindOfFault
#: Every kind with its meaning, in the order in which they are shown.
KINDS = FAULT_KINDS
#: How far a check could look: at all that the definition covers, at a part of it, or not at all.
Extent: TypeAlias = Literal["whole", "part", "none"]


class UserFault(Struct, frozen=True):
    """One fault: the turn, the message of the file that it was read from, a code for why, and the code's arguments.

    ``about`` is what the fault is about, such as ``user id``: messages with the same fault about the same thing are one
    run of ``length`` messages, and the first of them is the evidence.
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
    #: Of ``withheld``: one part of several was left out, and came when asked again.
    minor: bool = False

    @property
    def sentence(self) -> str:
        """What the user did, in words."""
        return fault_sentence(structs.asdict(self))


class FaultFindings(Struct, frozen=True):
    """What one check says of one conversation: how far it looked and why no further, and what it found."""

    kind: FaultKind
    extent: Extent
    #: A code for what it looked at, or for why it could not look.
    reason: str
    faults: tuple[UserFault, ...] = ()
    #: The code's arguments: what it looked for, and what it left out.
    about: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def checked(self) -> bool:
        """Could it look at anything?"""
        return self.extent != "none"

    @property
    def scope(self) -> str:
        """What it looked at, or why it could not look, in words."""
        return scope_sentence(structs.asdict(self))


class CheckedConversation(Struct, frozen=True):
    """What all checks say of one conversation, a finding for every kind."""

    id: str
    findings: tuple[FaultFindings, ...]
    #: Was the user told what it wants, so that it can be compared with that? That no fault was found says little else.
    told: bool = True

    @property
    def faults(self) -> list[UserFault]:
        """All faults, by turn."""
        matches = [fault for finding in self.findings for fault in finding.faults]
        return sorted(matches, key=lambda fault: (fault.turn, tuple(KINDS).index(fault.kind)))

    def of_kind(self, kind: FaultKind) -> FaultFindings:
        """The finding of one check."""
        return next(finding for finding in self.findings if finding.kind == kind)


def not_checked(kind: FaultKind, reason: str, about: tuple[str, ...] = (), left: tuple[str, ...] = ()) -> FaultFindings:
    """A check that could not look."""
    return FaultFindings(kind, "none", reason, about=about, left=left)


def runs_of(faults: Iterable[UserFault]) -> tuple[UserFault, ...]:
    """Faults of one kind about the same thing as one, with the number of messages as its length.

    >>> twice = [UserFault("withheld", turn, turn, "not_given", about="user id") for turn in (2, 4)]
    >>> [(one.turn, one.length) for one in runs_of(twice)]
    [(2, 2)]
    """
    first: dict[str, UserFault] = {}
    messages: dict[str, set[int]] = {}
    for fault in sorted(faults, key=lambda fault: fault.turn):
        first.setdefault(fault.about, fault)
        messages.setdefault(fault.about, set()).add(fault.turn)
    return tuple(structs.replace(user_fault, length=len(messages[about])) for about, user_fault in first.items())
