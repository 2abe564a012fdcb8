"""Shares of conversations with user faults as measures: ``UserFault``, ``UserFault[withheld]``, ``NoFaultFound``.

A conversation counts for a kind where the check could look at it at all. ``NoFaultFound`` is no share of faultless
users: checks see a part of each kind, and their recall says how much.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Card, Settings, UnitNumbers, Units
from dialgauge.users.faults.fault_records import KINDS, CheckedConversation, FaultKind

FAMILY = "faults"
USER_FAULT, NO_FAULT_FOUND = "UserFault", "NoFaultFound"
#: Checks that need something of the instruction to hold the user to; the others look at any user's words.
_COMPARED: tuple[FaultKind, ...] = ("withheld", "contradicted", "disobeyed")
_SOURCE = "dialgauge; kinds after docs/user-faults.md"


class FaultEvidence(Units):
    """Checked conversations, one unit each; ``by_task`` has all trials of a task as one unit of resampling.

    A part is a kind of fault.
    """

    kind = ""

    def __init__(self, checked: Sequence[CheckedConversation], tasks: Sequence[str]) -> None:
        self.checked, self.tasks = checked, tasks
        self.dialogues = len(checked)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def by_task(self) -> FaultEvidence:
        """The same, conversations about one task together."""
        numbers = {task: number for number, task in enumerate(dict.fromkeys(self.tasks))}
        other = copy.copy(self)
        other.dialogue = np.array([numbers[task] for task in self.tasks], np.int64)
        other.dialogues = len(numbers)
        return other

    def part(self, name: str) -> FaultEvidence:
        """One kind of fault."""
        if name not in KINDS:
            raise DialgaugeError(f"there is no kind of fault '{name}'; there are {', '.join(KINDS)}")
        other = copy.copy(self)
        other.kind = name
        return other


def _faulty(evidence: FaultEvidence, settings: Settings) -> UnitNumbers:
    """Whether a fault of the kind, or of any, was found, where the check could look."""
    looked = [_findings(checked, evidence.kind) for checked in evidence.checked]
    above = np.array([any(finding.faults for finding in each) for each in looked], np.float64)
    return above, np.array([bool(each) for each in looked], np.float64)


def _findings(conversation: CheckedConversation, kind: str) -> list[Any]:
    return [finding for finding in conversation.findings if finding.checked and kind in ("", finding.kind)]


def _none_found(evidence: FaultEvidence, settings: Settings) -> UnitNumbers:
    above, below = _faulty(evidence, settings)
    instructed = np.array([checked.told for checked in evidence.checked], np.float64)
    return (below - above) * instructed, below * instructed


def _obstacle(evidence: Any, settings: Settings) -> str | None:
    if not isinstance(evidence, FaultEvidence):
        return "it is a measure of 'dialgauge users faults'"
    if not any(_findings(checked, evidence.kind) for checked in evidence.checked):
        return f"no conversation could be checked for {evidence.kind or 'anything'}"
    return None


def _not_compared(evidence: Any, settings: Settings) -> str | None:
    if why := _obstacle(evidence, settings):
        return why
    compared = any(
        checked.told and any(checked.of_kind(kind).checked for kind in _COMPARED) for checked in evidence.checked
    )
    return None if compared else "no conversation has an instruction that its user could be compared with"


def _card(name: str, title: str, summary: str, formula: str, units: Any, *, higher: bool) -> Card[FaultEvidence]:
    return Card(
        name=name, family=FAMILY, title=title, summary=summary, formula=formula, source=_SOURCE, units=units,
        parts=True, obstacle=_obstacle if units is _faulty else _not_compared, higher_is_better=higher,
    )  # fmt: skip


CARDS: tuple[Card[FaultEvidence], ...] = (
    _card(
        USER_FAULT,
        "conversations with a user fault",
        "Share of the checked conversations in which a user fault was found, of any kind or of one, "
        "such as [withheld]. A lower bound: the checks catch only part of each kind.",
        "conversations with a fault found / conversations that could be checked",
        _faulty,
        higher=False,
    ),
    _card(
        NO_FAULT_FOUND,
        "conversations without a user fault found",
        "Share of the checked conversations in which no fault was found, of those whose user was told something that "
        "it can be compared with. An upper bound on the share with a faultless user.",
        "conversations without a fault found / conversations that could be compared with an instruction",
        _none_found,
        higher=True,
    ),
)


def usual() -> Iterable[str]:
    """The measures of every run: no fault found, any fault, and every kind."""
    return [NO_FAULT_FOUND, USER_FAULT, *(f"{USER_FAULT}[{kind}]" for kind in KINDS)]
