"""What was said against what was heard: the errors of both sides' language understanding.

Acts said and acts heard in a turn are compared without regard to order. What is left over on both sides is paired: acts
that differ only in the value, then only in the name, then only in the slot; the rest was missed or invented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Speaker, Turn

Fault: TypeAlias = Literal["value", "act", "slot", "missed", "invented"]

NOTHING = ""


class Confusion(Struct, frozen=True, gc=False):
    """``speaker`` said one thing and the other side heard another. Values are only given when they alone differ."""

    speaker: Speaker
    fault: Fault
    said: str
    heard: str


def confusions(turns: Iterable[Turn]) -> Counter[Confusion]:
    """All confusions of a dialogue; turns whose understanding was not recorded do not count."""
    found: Counter[Confusion] = Counter()
    for turn in turns:
        if turn.heard is not None and turn.acts is not None and turn.acts != turn.heard:
            found.update(turn_confusions(turn))
    return found


def turn_confusions(turn: Turn) -> tuple[Confusion, ...]:
    """The confusions of one turn."""
    return _compare(turn.speaker, turn.acts or (), turn.heard or ())


@lru_cache(maxsize=1 << 14)
def _compare(speaker: Speaker, acts: tuple[Act, ...], understood: tuple[Act, ...]) -> tuple[Confusion, ...]:
    said, heard = _rest(acts, understood), _rest(understood, acts)
    rules: tuple[tuple[Fault, Callable[[Act], tuple[str, ...]], bool], ...] = (
        ("value", lambda act: (act.name.lower(), act.slot.lower()), True),
        ("act", lambda act: (act.slot.lower(),), False),
        ("slot", lambda act: (act.name.lower(),), False),
    )
    found = [
        Confusion(speaker, fault, describe(one, with_value), describe(other, with_value))
        for fault, key, with_value in rules
        for one, other in _pairs(said, heard, key)
    ]
    found += [Confusion(speaker, "missed", describe(act), NOTHING) for act in said]
    found += [Confusion(speaker, "invented", NOTHING, describe(act)) for act in heard]
    return tuple(found)


def describe(act: Act, with_value: bool = False) -> str:
    """An act as people write it: ``restaurant-inform(food)``, ``restaurant-inform(food=thai)``."""
    slot = act.slot.lower()
    inside = f"{slot}={', '.join(act.values).lower()}" if with_value and act.values else slot
    return f"{act.name.lower()}({inside})"


def _folded(act: Act) -> tuple[str, str, tuple[str, ...]]:
    return act.name.lower(), act.slot.lower(), tuple(value.lower().strip() for value in act.values)


def _rest(acts: Iterable[Act], others: Iterable[Act]) -> list[Act]:
    """The acts without those that occur on the other side too."""
    known = Counter(map(_folded, others))
    rest = []
    for act in acts:
        key = _folded(act)
        if known[key]:
            known[key] -= 1
        else:
            rest.append(act)
    return rest


def _pairs(said: list[Act], heard: list[Act], key: Callable[[Act], tuple[str, ...]]) -> Iterator[tuple[Act, Act]]:
    """Acts of both sides with the same key, taken out of both lists."""
    for act in list(said):
        match = next((other for other in heard if key(other) == key(act)), None)
        if match is not None:
            said.remove(act)
            heard.remove(match)
            yield act, match
