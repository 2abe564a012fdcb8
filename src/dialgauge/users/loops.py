"""Loops: the user says the very same acts in three or more of its turns running.

In the paper most lost points come from loops: the user mishears the booking reference and states its booking
constraints until the session ends. A loop's cause follows from what was said and heard inside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.users.mishearing import Confusion, Misheard, describe
from dialgauge.users.turns import PreparedTurn, Said, Utterance

MIN_REPEATS = 3
_GOODBYE = "bye"

#: How a conversation ends: in a loop, with the user's goodbye, or just so.
End: TypeAlias = Literal["loop", "goodbye", "open"]
ENDS: tuple[End, ...] = ("loop", "goodbye", "open")

Cause: TypeAlias = Literal["user NLU", "system NLU", "system policy", "user policy"]

CAUSES: dict[Cause, str] = {
    "user NLU": "the user did not understand the system's answers",
    "system NLU": "the system did not understand the user",
    "system policy": "the system understood and gave no answer in the domain",
    "user policy": "both sides understood each other, and the user still repeated itself",
}


class Loop(Struct, frozen=True, array_like=True, gc=False):
    """The same acts in the user turns ``first`` to ``last``: how often, and why.

    ``said`` and ``heard`` are the main confusion; both are empty where nothing was misheard.
    """

    first: int
    last: int
    repeats: int
    acts: tuple[str, ...]
    domains: tuple[str, ...]
    cause: Cause
    said: str = ""
    heard: str = ""


def main_confusion(loop: Mapping[str, Any]) -> str:
    """The main confusion of a loop, a row of the table, in words."""
    said, heard = loop["said"], loop["heard"]
    return f"{said or 'nothing'} heard as {heard or 'nothing'}" if said or heard else ""


def loops(turns: Sequence[PreparedTurn], misheard: Misheard, booking_service: str = "") -> Iterator[Loop]:
    """The loops of a dialogue, in order. Pleasantries alone are no loop."""
    users = turns[::2]
    start = 0
    for end in range(1, len(users) + 1):
        if end < len(users) and _same(users[end].said, users[end - 1].said):
            continue
        if end - start >= MIN_REPEATS:
            acts = [act for act in users[start].said.acts if act.about is not None]
            if acts:
                yield _loop(turns, range(2 * start, 2 * end, 2), acts, misheard, booking_service)
        start = end


def _same(utterance: Utterance, other: Utterance) -> bool:
    if utterance is other:
        return True
    if (
        utterance.families != other.families
        or len(utterance.acts) != len(other.acts)
        or {*utterance.acts} != {*other.acts}
    ):
        return False
    return Counter(utterance.acts) == Counter(other.acts)


def _loop(
    turns: Sequence[PreparedTurn], places: range, acts: list[Said], misheard: Misheard, booking_service: str
) -> Loop:
    domains = tuple(dict.fromkeys([act.act.domain for act in acts]))
    services = (*domains, booking_service) if booking_service else domains
    slots = frozenset([act.slot for act in acts if act.act.slot])
    cause, (said, heard) = _cause(turns, places[:-1], misheard, services, slots)
    return Loop(
        first=places[0],
        last=places[-1],
        repeats=len(places),
        acts=tuple(dict.fromkeys([describe(act.act, with_value=True) for act in acts])),
        domains=domains,
        cause=cause,
        said=said,
        heard=heard,
    )


def _cause(
    turns: Sequence[PreparedTurn], repeated: range, misheard: Misheard, services: tuple[str, ...], slots: frozenset[str]
) -> tuple[Cause, tuple[str, str]]:
    """The side whose understanding failed in at least half of the repetitions, or else the side that stands still.

    With the main confusion. Of the answers that the user misheard only those count in which it missed something that
    bears on what it repeats.
    """
    answers = [position + 1 for position in repeated]
    sides: tuple[tuple[Cause, list[tuple[Confusion, ...]]], ...] = (
        ("system NLU", [misheard.confusions[position] for position in repeated]),
        ("user NLU", [misheard.bearing_on(answer, services, slots) for answer in answers]),
    )
    for cause, errors in sides:
        failed = [each for each in errors if each]
        if failed and 2 * len(failed) >= len(errors):
            ((main, _),) = Counter(confusion for each in failed for confusion in each).most_common(1)
            return cause, (main.said, main.heard)
    answered = [answer for answer in answers if not turns[answer].services.keys().isdisjoint(services)]
    return ("user policy" if 2 * len(answered) >= len(answers) else "system policy"), ("", "")


def conversation_end(turns: Sequence[PreparedTurn], repeats: Sequence[Loop]) -> End:
    """How the conversation ends: still in a loop when the user last spoke of anything, with a goodbye, or otherwise."""
    goodbye = False
    for turn in reversed(turns[::2]):
        acts = turn.said.acts
        goodbye = goodbye or any(_GOODBYE in act.folded[0] for act in acts)
        if any(act.about is not None for act in acts):
            if repeats and repeats[-1].last == turn.position:
                return "loop"
            break
        if not goodbye:
            break
    return "goodbye" if goodbye else "open"
