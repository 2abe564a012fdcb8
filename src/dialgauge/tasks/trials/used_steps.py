"""Who used up the steps of a conversation that ended at a limit: whoever lost most of them.

A step is lost where it brings nothing new: a tool call that fails, that was made before with the same arguments, or
that asks nothing (it gives nothing back, as thinking aloud does), and a message that says again what its speaker said,
unless it was asked for. Only the record is looked at, and no model is asked; where neither side lost a step, it is
unclear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Call, Dialogue, Speaker, Turn

StepSide: TypeAlias = Literal["agent", "user", "unclear"]
#: A call that failed, was made before, or gave nothing back; a message said before.
LostBy: TypeAlias = Literal["error", "again", "nothing", "said"]

_SIDES: dict[Speaker, StepSide] = {"system": "agent", "user": "user"}
_WORD = re.compile(r"[\w$']+")
#: How much of the words of two messages must be shared for one to say the other again, and how many a message needs.
_ALIKE, _SHORTEST = 0.6, 5
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_ASKS = re.compile(
    r"\?|\b(?:please|(?:could|can|would) you(?: please)?|once you|if you can) "
    r"(?:provide|confirm|specify|share|give|tell)\b"
    r"|\bi(?:'ll| will)?(?: also)? need (?:your|the|to know|some|more|a few)\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\b(?:anything|something) else\b|\b(?:further|other|additional) (?:questions?|assist\w*|help|concerns?)\b"
    r"|\bhow (?:can|may|else)\b|\b(?:assist|help) you with\b|\bwould you like\b|\blet me know\b",
    re.IGNORECASE,
)
_ERROR = "error"
_AGENT_ERROR = "agent_error"


class UsedSteps(Struct, frozen=True, kw_only=True):
    """Who used up the steps, from which turn on, how each was lost, and how many the other side lost."""

    side: StepSide
    turn: int | None = None
    lost: tuple[LostBy, ...] = ()
    other: int = 0


class _LostStep(Struct, frozen=True):
    turn: int
    side: StepSide
    how: LostBy


def used_steps(dialogue: Dialogue) -> UsedSteps:
    """Who used up the steps of a conversation; of two that lost as many, whoever began."""
    if dialogue.outcome is not None and dialogue.outcome.reason == _AGENT_ERROR:
        return UsedSteps(side="agent")
    lost = sorted([*_lost_calls(dialogue), *_lost_messages(dialogue)], key=lambda step: step.turn)
    if not lost:
        return UsedSteps(side="unclear")
    counts = Counter(step.side for step in lost)
    first = min(lost, key=lambda step: (-counts[step.side], step.turn))
    own = tuple(step.how for step in lost if step.side == first.side)
    return UsedSteps(side=first.side, turn=first.turn, lost=own, other=len(lost) - len(own))


def _lost_calls(dialogue: Dialogue) -> Iterator[_LostStep]:
    made: set[tuple[Speaker, str, tuple[tuple[str, str], ...]]] = set()
    for index, turn in enumerate(dialogue.turns):
        for call in turn.calls or ():
            key = (turn.speaker, call.name, tuple(sorted(call.arguments.items())))
            if how := _loss(call, again=key in made):
                yield _LostStep(index, _SIDES[turn.speaker], how)
            made.add(key)


def _loss(call: Call, *, again: bool) -> LostBy | None:
    """How a call lost a step, if it did. A call whose result is not on record lost none."""
    if call.outcome == _ERROR:
        return "error"
    if again:
        return "again"
    return "nothing" if call.result and not any(value.strip() for value in call.result.values()) else None


def _lost_messages(dialogue: Dialogue) -> Iterator[_LostStep]:
    """Messages that say again what their speaker said: a user's unless it was asked, an agent's where it asks again.

    An agent that gives an answer again was asked again, so the step is the user's.
    """
    before: dict[Speaker, list[frozenset[str]]] = {"user": [], "system": []}
    asked = False
    for index, turn in enumerate(dialogue.turns):
        words = _words(turn)
        again = len(words) >= _SHORTEST and any(_share(words, other) >= _ALIKE for other in before[turn.speaker])
        asks = turn.speaker == "system" and _asks(turn.text)
        if again and (asks if turn.speaker == "system" else not asked):
            yield _LostStep(index, _SIDES[turn.speaker], "said")
        before[turn.speaker].append(words)
        asked = asks


def _asks(text: str) -> bool:
    """Does a message of the agent ask for something, and not only whether there is anything else?"""
    return any(_ASKS.search(name) and not _OFFERS.search(name) for name in _SENTENCE.split(text))


def _words(turn: Turn) -> frozenset[str]:
    return frozenset(_WORD.findall(turn.text.lower()))


def _share(steps: frozenset[str], other: frozenset[str]) -> float:
    return len(steps & other) / len(steps | other)
