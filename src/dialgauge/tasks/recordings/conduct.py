"""How a recorded conversation went, whatever came of it: its length, repetitions, and how well each side understood.

What was said is held against what was heard, act by act and value by value, in every turn that records both. An act
that was heard as another one is a *confusion*: of those left over on both sides, acts with the same slot and value are
paired first, then those of the same act and slot (another value was heard), then those of the same value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue
from dialgauge.intents import INFORM, REQUEST
from dialgauge.values import canonical

Listener: TypeAlias = Literal["user", "system"]
_NUMBER = re.compile(r"\d+(\.\d*)?(e[+-]?\d+)?")

#: Act name, slot, value in the form in which values are compared.
_Item: TypeAlias = tuple[str, str, str]


class HearingCounts(Struct, frozen=True, gc=False):
    """How many acts were said to a listener, how many it heard, and how many of these were said."""

    said: int = 0
    heard: int = 0
    right: int = 0


class ConversationCounts(Struct, frozen=True, kw_only=True, gc=False):
    """What can be counted in a conversation."""

    utterances: int
    exchanges: int
    #: By speaker.
    turns: dict[str, int]
    acts: dict[str, int]
    #: Constraints and requests that the user had said before, in the same words.
    repeated_constraints: int
    repeated_requests: int
    #: The most user turns in a row with the same acts.
    longest_run: int
    hearing: dict[Listener, HearingCounts]
    reason: str
    complete: bool | None
    #: Numbers that agents gave of their own work, such as ``system seconds``.
    usage: dict[str, float]


class HeardAs(NamedTuple):
    """What was said and what was heard, as act and slot; either is empty where there is nothing on that side."""

    listener: Listener
    said: str
    heard: str
    #: Was the same heard that was said, value and all?
    right: bool


class HeardActs:
    """What was heard for what, over many conversations."""

    def __init__(self) -> None:
        self.counts: Counter[HeardAs] = Counter()

    def note(self, listener: Listener, said: Sequence[Act], heard: Sequence[Act]) -> HearingCounts:
        """Take in one turn."""
        if said == heard:
            labels = [_label(act.name, act.slot) for act in said for _ in act.values or ("",)]
            for label in labels:
                self.counts[HeardAs(listener, label, label, True)] += 1
            return HearingCounts(len(labels), len(labels), len(labels))
        lost, invented = Counter(_items(said)), Counter(_items(heard))
        right = lost & invented
        for (name, slot, _), count in right.items():
            label = _label(name, slot)
            self.counts[HeardAs(listener, label, label, True)] += count
        for one, other in _confusions(list((lost - right).elements()), list((invented - right).elements())):
            self.counts[HeardAs(listener, one, other, False)] += 1
        return HearingCounts(lost.total(), invented.total(), right.total())


def conduct(dialogue: Dialogue, understanding: HeardActs) -> ConversationCounts:
    """Counts of a conversation; what was heard for what goes into ``understanding``."""
    turns, acts = {"user": 0, "system": 0}, {"user": 0, "system": 0}
    hearing: dict[Listener, list[HearingCounts]] = {"user": [], "system": []}
    user_turns: list[tuple[Act, ...]] = []
    for turn in dialogue.turns:
        said = turn.acts or ()
        turns[turn.speaker] += 1
        acts[turn.speaker] += len(said)
        if turn.speaker == "user":
            user_turns.append(said)
        if turn.acts is not None and turn.heard is not None:
            listener: Listener = "system" if turn.speaker == "user" else "user"
            hearing[listener].append(understanding.note(listener, said, turn.heard))
    outcome = dialogue.outcome
    return ConversationCounts(
        utterances=len(dialogue.turns),
        exchanges=turns["user"],
        turns=turns,
        acts=acts,
        repeated_constraints=_repeated(user_turns, INFORM),
        repeated_requests=_repeated(user_turns, REQUEST),
        longest_run=_longest_run(user_turns),
        hearing={listener: _sum(parts) for listener, parts in hearing.items()},
        reason=outcome.reason if outcome else "",
        complete=outcome.success if outcome else None,
        usage=_numbers(outcome.details if outcome else {}),
    )


def _label(name: str, slot: str) -> str:
    return f"{name} {slot}" if slot else name


def _items(acts: Iterable[Act]) -> list[_Item]:
    return [(act.name, act.slot, canonical(value)) for act in acts for value in act.values or ("",)]


def _confusions(lost: list[_Item], invented: list[_Item]) -> Iterable[tuple[str, str]]:
    """Pairs of what is left over on either side; what finds no partner is paired with nothing."""
    keys: tuple[Callable[[_Item], tuple[str, ...]], ...] = (
        lambda item: item[1:],
        lambda item: item[:2],
        lambda item: item[2:],
    )
    for key in keys:
        for item in list(lost):
            partner = next((other for other in invented if key(other) == key(item)), None)
            if partner is not None:
                lost.remove(item)
                invented.remove(partner)
                yield _label(*item[:2]), _label(*partner[:2])
    yield from ((_label(*item[:2]), "") for item in lost)
    yield from (("", _label(*item[:2])) for item in invented)


def _repeated(turns: Iterable[Sequence[Act]], intent: str) -> int:
    """How many things of a kind were said that had been said in an earlier turn."""
    before: set[Act] = set()
    repeated = 0
    for acts in turns:
        told = {act for act in acts if act.slot and act.intent == intent}
        repeated += len(told & before)
        before |= told
    return repeated


def _longest_run(turns: Iterable[Sequence[Act]]) -> int:
    longest = run = 0
    last: frozenset[Act] | None = None
    for acts in turns:
        now = frozenset(acts)
        run = run + 1 if now == last else 1
        longest, last = max(longest, run), now
    return longest


def _sum(parts: Sequence[HearingCounts]) -> HearingCounts:
    return HearingCounts(
        sum(part.said for part in parts), sum(part.heard for part in parts), sum(part.right for part in parts)
    )


def _numbers(details: dict[str, str]) -> dict[str, float]:
    """The numbers among the details of an outcome that belong to a speaker, such as ``system seconds``."""
    return {
        name: float(text)
        for name, text in details.items()
        if name.startswith(("user ", "system ")) and _NUMBER.fullmatch(text)
    }
