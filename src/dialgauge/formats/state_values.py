"""States as files have them: values that mean "absent", several values in one text, and states that repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.source import Part

ABSENT = frozenset({"", "none", "not mentioned"})
#: The slots of a domain that are filled, and those whose value means "absent".
_Slots: TypeAlias = tuple[dict[str, Values], dict[str, Values]]


def clean_state(raw: dict[str, dict[str, str | list[str]]], blank: State | None = None) -> State:
    """A nested domain → slot → value(s) mapping as a state, without slots that mean "absent" (they go to ``blank``)."""
    return _gathered(((domain, _clean_slots(slots)) for domain, slots in raw.items()), blank)


def _gathered(domains: Iterable[tuple[str, _Slots]], blank: State | None) -> State:
    state: State = {}
    for domain, (filled, absent) in domains:
        if filled:
            state[domain] = filled
        if blank is not None and (absent or not filled):  # to MultiWOZ_Evaluation a domain without slots is there
            blank[domain] = dict(absent)
    return state


def _clean_slots(raw: dict[str, str | list[str]]) -> _Slots:
    filled: dict[str, Values] = {}
    absent: dict[str, Values] = {}
    for slot, value in raw.items():
        values = present_text(value) if isinstance(value, str) else present(value)
        if values:
            filled[slot] = values
        else:
            absent[slot] = (value,) if isinstance(value, str) else tuple(value)
    return filled, absent


_STATE = msgspec.json.Decoder(dict[str, dict[str, str | list[str]]])
_DOMAINS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SLOTS = msgspec.json.Decoder(dict[str, str | list[str]])


def read_state(content: bytes, part: Part, blank: State | None = None) -> State:
    """:func:`clean_state` of JSON. All turns, and all files, share what is written the same: states, and domains."""
    try:
        state, absent = _known_state(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return clean_state(decode(_STATE, content, part), blank)
    if absent and blank is not None:
        blank |= {domain: dict(slots) for domain, slots in absent.items()}
    return state


@lru_cache(maxsize=1 << 15)
def _known_state(content: bytes) -> tuple[State, State]:
    absent: State = {}
    domains = [(domain, _known_slots(bytes(raw))) for domain, raw in _DOMAINS.decode(content).items()]
    return _gathered(domains, absent), absent


@lru_cache(maxsize=1 << 16)
def _known_slots(content: bytes) -> _Slots:
    return _clean_slots(_SLOTS.decode(content))


def present(value: str | list[str] | Values) -> Values:
    """The value or values as a tuple, without those that mean "absent"."""
    if isinstance(value, str):
        return () if value.strip().lower() in ABSENT else (value,)
    return tuple(item for item in value if item.strip().lower() not in ABSENT)


#: The same for one text, remembered: a file repeats a few thousand values over and over.
present_text: Callable[[str], Values] = lru_cache(maxsize=1 << 16)(present)


def alternatives(value: str, separators: str = "|<>") -> Values:
    """Acceptable values written in one string, ``a|b`` (MultiWOZ 2.4 also has ``a<b`` and ``a>b``), each once.

    >>> alternatives("hotel|guesthouse"), alternatives("none")
    (('hotel', 'guesthouse'), ())
    """
    pieces = [value]
    for separator in separators:
        if separator in value:
            pieces = [part for piece in pieces for part in piece.split(separator)]
    if len(pieces) == 1:
        return present(value)
    return tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip().lower() not in ABSENT))
