"""What was said beside what was heard, act by act."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dialgauge.dialogue import Act
from dialgauge.values import canonical

#: Act name, slot, value in the form in which values are compared, value as it was said.
_Item: TypeAlias = tuple[str, str, str, str]

#: By which parts of an item the two sides are paired, the closest first.
_ALIKE = (slice(0, 3), slice(1, 3), slice(0, 2), slice(2, 3))


@dataclass(frozen=True)
class HeardRow:
    """An act and what was made of it. ``kind`` is ``right``, ``wrong`` (something else was heard), ``missed`` (it was
    not heard) or ``spurious`` (it was heard and never said)."""

    said: str
    heard: str
    kind: str


def heard_rows(said: Sequence[Act], heard: Sequence[Act]) -> list[HeardRow]:
    """Both sides in pairs: the same first; of the rest acts with the same slot and value, then the same act and slot
    (another value was heard), then the same value. What has no partner was missed, or is spurious."""
    lost, invented = list(_items(said)), list(_items(heard))
    rows = [
        HeardRow(_words(row), _words(other), "right" if parts == _ALIKE[0] else "wrong")
        for parts in _ALIKE
        for row, other in _paired(lost, invented, parts)
    ]
    rows += [HeardRow(_words(item), "", "missed") for item in lost]
    return rows + [HeardRow("", _words(item), "spurious") for item in invented]


def act_words(acts: Sequence[Act]) -> list[str]:
    """Acts as people read them, one for each value."""
    return [_words(item) for item in _items(acts)]


def _items(acts: Sequence[Act]) -> Iterator[_Item]:
    return ((act.name, act.slot, canonical(value), value) for act in acts for value in act.values or ("",))


def _words(item: _Item) -> str:
    name, slot, _, value = item
    words = f"{name} {slot}".strip()
    return f"{words} = {value}" if value else words


def _paired(lost: list[_Item], invented: list[_Item], parts: slice) -> Iterator[tuple[_Item, _Item]]:
    """Pairs that agree in some parts; they are taken out of both lists."""
    for item in list(lost):
        partner = next((other for other in invented if other[parts] == item[parts]), None)
        if partner is not None:
            lost.remove(item)
            invented.remove(partner)
            yield item, partner
