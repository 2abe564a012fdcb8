"""States as files have them: values that mean "absent", several values in one text, and states that repeat."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.source import Part

ABSENT = frozenset({"", "none", "not mentioned"})


def clean_state(raw: dict[str, dict[str, str | list[str]]], blank: State | None = None) -> State:
    """A nested domain → slot → value(s) mapping as a state, without slots that mean "absent" (they go to ``blank``)."""
    state: State = {}
    for domain, slots in raw.items():
        for slot, value in slots.items():
            if values := present_text(value) if isinstance(value, str) else present(value):
                state.setdefault(domain, {})[slot] = values
            elif blank is not None:
                blank.setdefault(domain, {})[slot] = (value,) if isinstance(value, str) else tuple(value)
        if blank is not None and domain not in state:  # to MultiWOZ_Evaluation a domain without slots is there
            blank.setdefault(domain, {})
    return state


_STATE = msgspec.json.Decoder(dict[str, dict[str, str | list[str]]])


def read_state(content: bytes, part: Part, blank: State | None = None) -> State:
    """:func:`clean_state` of JSON."""
    return clean_state(decode(_STATE, content, part), blank)


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
