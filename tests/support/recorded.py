"""Recorded conversations made by hand, in the small town."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dialgauge.dialogue import Act, Call, Dialogue, Goal, Outcome, Task, Turn
from dialgauge.tasks import CompatVerdict, StrictVerdict, judge_outcomes
from dialgauge.worlds.domain import act
from support.town import town_search

SEARCH = town_search()


def acts(*written: str) -> tuple[Act, ...]:
    """Acts from texts such as ``Hotel-Inform|area|north``."""
    return tuple(act(*text.split("|")) for text in written)


def user(*written: str, heard: Sequence[Act] | None = None) -> Turn:
    """A turn of the user; without ``heard``, all was understood."""
    said = acts(*written)
    return Turn(speaker="user", acts=said, heard=said if heard is None else tuple(heard))


def system(*written: str, calls: Sequence[Call] = (), heard: Sequence[Act] | None = None) -> Turn:
    """A turn of the system."""
    said = acts(*written)
    return Turn(speaker="system", acts=said, heard=said if heard is None else tuple(heard), calls=tuple(calls))


def booked(domain: str, row: int, reference: str = "ABCD1234", **slots: str) -> Call:
    """A booking that was made."""
    result = {"Ref": reference}
    return Call(name="book", domain=domain, arguments=slots, rows=(row,), result=json.dumps(result))


def refused(domain: str, row: int, **slots: str) -> Call:
    """A booking that was refused."""
    return Call(name="book", domain=domain, arguments=slots, result="refused", failed=True, rows=(row,))


def searched(domain: str, **constraints: str) -> Call:
    """A search."""
    return Call(name="search", domain=domain, arguments=constraints, found=1)


def taxi(**wanted: str) -> Call:
    """A taxi that was sent."""
    result = {"car type": "black ford", "phone": "07123456789"}
    return Call(name="taxi", domain="taxi", arguments=wanted, result=json.dumps(result))


BYE = (user("general-bye"), system("general-bye"))


def conversation(tasks: dict[str, Task], *turns: Turn, name: str = "MUL0001", **more: Any) -> Dialogue:
    """A conversation about tasks; goodbyes are added."""
    outcome = more.pop("outcome", Outcome(success=True, reason="user_done", ended_by="user"))
    goal = Goal(tasks=tasks, message=tuple(more.pop("message", ())))
    return Dialogue(id=name, turns=(*turns, *BYE), goal=goal, outcome=outcome, domains=tuple(tasks))


def strict(dialogue: Dialogue) -> StrictVerdict:
    """The strict verdict on a conversation."""
    verdict = judge_outcomes([dialogue], SEARCH, calls_recorded=True)[dialogue.id].strict
    assert verdict is not None
    return verdict


def compat(dialogue: Dialogue) -> CompatVerdict:
    """ConvLab-2's verdict on a conversation."""
    verdict = judge_outcomes([dialogue], SEARCH)[dialogue.id].compat
    assert verdict is not None
    return verdict
