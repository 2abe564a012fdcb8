"""Loops: the user says the very same acts in three or more of its turns running. And whose fault that is.

In the paper most lost points come from loops: the user mishears the booking reference and states its booking
constraints until the session ends. A loop's cause is found from what was said and heard inside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Turn
from dialgauge.users.confusion import Confusion, describe, turn_confusions

MIN_REPEATS = 3

Cause: TypeAlias = Literal["user NLU", "system NLU", "system policy", "user policy"]

CAUSES: dict[Cause, str] = {
    "user NLU": "the user did not understand the system's answers",
    "system NLU": "the system did not understand the user",
    "system policy": "the system understood and gave no answer in the domain",
    "user policy": "both sides understood each other, and the user still said the same",
}


class Loop(Struct, frozen=True):
    """The same acts in the user turns ``first`` to ``last``: how often, and why; ``detail`` is the main confusion."""

    first: int
    last: int
    repeats: int
    acts: tuple[str, ...]
    domains: tuple[str, ...]
    cause: Cause
    detail: str = ""


def loops(turns: Sequence[Turn], *, general_service: str = "", min_repeats: int = MIN_REPEATS) -> Iterator[Loop]:
    """The loops of a dialogue, in order. Pleasantries alone are no loop."""
    users = [place for place, turn in enumerate(turns) if turn.speaker == "user"]
    start = 0
    for end in range(1, len(users) + 1):
        if end < len(users) and _same(turns[users[end]].acts, turns[users[end - 1]].acts):
            continue
        acts = [act for act in turns[users[start]].acts or () if act.domain != general_service]
        if end - start >= min_repeats and acts:
            yield _loop(turns, users[start:end], acts)
        start = end


def _same(acts: tuple[Act, ...] | None, others: tuple[Act, ...] | None) -> bool:
    """Are these the same acts, in whatever order?"""
    if acts == others:
        return True
    return bool(acts and others) and len(acts or ()) == len(others or ()) and Counter(acts) == Counter(others)


def _loop(turns: Sequence[Turn], places: list[int], acts: list[Act]) -> Loop:
    domains = tuple(dict.fromkeys(act.domain for act in acts))
    cause, detail = _cause(turns, places, domains)
    return Loop(
        first=places[0],
        last=places[-1],
        repeats=len(places),
        acts=tuple(dict.fromkeys(describe(act, with_value=True) for act in acts)),
        domains=domains,
        cause=cause,
        detail=detail,
    )


def _cause(turns: Sequence[Turn], places: list[int], domains: tuple[str, ...]) -> tuple[Cause, str]:
    """The side whose understanding failed in at least half of the repetitions, or else the side that stands still."""
    asked = [turns[place] for place in places[:-1]]
    answers = [turns[place + 1] for place in places[:-1] if turns[place + 1].speaker == "system"]
    sides: tuple[tuple[Cause, list[Turn]], ...] = (("system NLU", asked), ("user NLU", answers))
    for cause, said in sides:
        misheard = [found for turn in said if turn.heard is not None and (found := turn_confusions(turn))]
        if misheard and 2 * len(misheard) >= len(said):
            return cause, _commonest([confusion for found in misheard for confusion in found])
    answered = [turn for turn in answers if any(act.domain in domains for act in turn.acts or ())]
    return ("user policy" if 2 * len(answered) >= len(answers) else "system policy"), ""


def _commonest(confusions: list[Confusion]) -> str:
    (confusion, _), *_ = Counter(confusions).most_common(1)
    return f"{confusion.said or 'nothing'} heard as {confusion.heard or 'nothing'}"
