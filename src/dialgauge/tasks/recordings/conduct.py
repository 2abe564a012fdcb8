"""How a recorded conversation went, whatever came of it: its length, its loops, and how well each side understood.

What was said is held against what was heard, act by act and value by value, in every turn that records both. An act
that was heard as another one is a *confusion*: of those left over on both sides, acts with the same slot and value are
paired first, then those of the same act and slot (another value was heard), then those of the same value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue
from dialgauge.values import canonical

Listener: TypeAlias = Literal["user", "system"]

#: Act name, slot, value in the form in which values are compared.
_Item: TypeAlias = tuple[str, str, str]
#: By which parts of an item what is left over on both sides is paired, the closest first.
ALIKE = (slice(1, 3), slice(0, 2), slice(2, 3))
_Any = TypeVar("_Any", bound=tuple[str, ...])


class HearingCounts(Struct, frozen=True, gc=False):
    """How many acts were said to a listener, how many it heard, and how many of these were said."""

    said: int = 0
    heard: int = 0
    right: int = 0

    def plus(self, other: HearingCounts) -> HearingCounts:
        return HearingCounts(self.said + other.said, self.heard + other.heard, self.right + other.right)


class ConversationCounts(Struct, frozen=True, kw_only=True, gc=False):
    """What can be counted in a conversation."""

    utterances: int
    #: How often the user spoke.
    exchanges: int
    #: The most user turns in a row with the same acts.
    longest_run: int
    hearing: dict[Listener, HearingCounts]


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
        #: How often what was heard for what.
        self.counts: Counter[HeardAs] = Counter()

    def note(self, listener: Listener, said: Sequence[Act], heard: Sequence[Act]) -> HearingCounts:
        lost, invented = Counter(_items(said)), Counter(_items(heard))
        right = lost & invented
        for (name, slot, _), count in right.items():
            label = _label(name, slot)
            self.counts[HeardAs(listener, label, label, True)] += count
        if lost != invented:
            for label, other in _confusions(list((lost - right).elements()), list((invented - right).elements())):
                self.counts[HeardAs(listener, label, other, False)] += 1
        return HearingCounts(lost.total(), invented.total(), right.total())


def conduct(dialogue: Dialogue, understanding: HeardActs) -> ConversationCounts:
    """Counts of a conversation; what was heard for what goes into ``understanding``."""
    exchanges = longest = run = 0
    last: frozenset[Act] | None = None
    hearing: dict[Listener, HearingCounts] = {"user": HearingCounts(), "system": HearingCounts()}
    for turn in dialogue.turns:
        said = turn.acts or ()
        if turn.speaker == "user":
            exchanges += 1
            whole = frozenset(said)
            run = run + 1 if whole == last else 1
            longest, last = max(run, longest), whole
        if turn.acts is not None and turn.heard is not None:
            listener: Listener = "system" if turn.speaker == "user" else "user"
            hearing[listener] = hearing[listener].plus(understanding.note(listener, said, turn.heard))
    return ConversationCounts(utterances=len(dialogue.turns), exchanges=exchanges, longest_run=longest, hearing=hearing)


def _label(name: str, slot: str) -> str:
    return f"{name} {slot}" if slot else name


def _items(acts: Iterable[Act]) -> list[_Item]:
    return [(act.name, act.slot, canonical(value)) for act in acts for value in act.values or ("",)]


def _confusions(lost: list[_Item], invented: list[_Item]) -> Iterable[tuple[str, str]]:
    """Pairs of what is left over on either side; what finds no partner is paired with nothing."""
    for parts in ALIKE:
        yield from ((_label(*item[:2]), _label(*other[:2])) for item, other in paired_items(lost, invented, parts))
    yield from ((_label(*item[:2]), "") for item in lost)
    yield from (("", _label(*item[:2])) for item in invented)


def paired_items(lost: list[_Any], invented: list[_Any], parts: slice) -> Iterator[tuple[_Any, _Any]]:
    """Items of both sides that agree in some parts; they are taken out of both lists."""
    for item in list(lost):
        partner = next((other for other in invented if other[parts] == item[parts]), None)
        if partner is not None:
            lost.remove(item)
            invented.remove(partner)
            yield item, partner
