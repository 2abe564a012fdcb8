"""Rules for times of day."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialgauge.values.rules import ValueRule

_WITH_COLON = re.compile(r"(\d{1,2}):(\d{2})")
_HALF_DAY = re.compile(r"(\d{1,2})(?:[:.,;](\d{1,2}))?(am|pm)")
_LOOSE = re.compile(r"(\d{1,2})[:.,;](\d{1,2})")

#: Words for times, as far as people use them for bookings.
_WORDS = {"noon": "12:00", "midday": "12:00", "midnight": "00:00", "lunch": "12:00", "lunchtime": "12:00"}


@dataclass(frozen=True, kw_only=True)
class ClockDigits(ValueRule):
    """``9:15``, ``09 : 15``, ``0915`` and ``915`` are ``09:15``; anything else stays as it is."""

    name: str = "times"

    def apply(self, value: str) -> tuple[str, ...]:
        return (padded(value),)

    def describe(self) -> str:
        return "H:MM, HH:MM, HHMM and HMM, with or without spaces → HH:MM"


@dataclass(frozen=True, kw_only=True)
class ClockWords(ValueRule):
    """Times as :class:`ClockDigits` reads them, and am, pm, other separators and a few words; 24:xx is 00:xx."""

    name: str = "times in words"

    def apply(self, value: str) -> tuple[str, ...]:
        return (spoken(value),)

    def describe(self) -> str:
        return "noon, midnight, 12-hour clock, other separators, missing zeros → HH:MM; 24:xx → 00:xx"


def padded(value: str) -> str:
    """Profile ``canon``, rule 1.

    >>> padded("9 : 15"), padded("0915"), padded("915"), padded("after 9:15")
    ('09:15', '09:15', '09:15', 'after 9:15')
    """
    text = value.replace(" ", "")
    if match := _WITH_COLON.fullmatch(text):
        return f"{match[1]:0>2}:{match[2]}"
    if text.isascii() and text.isdigit() and len(text) in (3, 4):
        return f"{text[:-2]:0>2}:{text[-2:]}"
    return value


def spoken(value: str) -> str:
    """A time as people write it, as HH:MM; anything else stays as it is.

    >>> spoken("3:30 pm"), spoken("12 am"), spoken("24:15"), spoken("17.5"), spoken("noon"), spoken("later")
    ('15:30', '00:00', '00:15', '17:05', '12:00', 'later')
    """
    text = value.replace(" ", "")
    if text in _WORDS:
        return _WORDS[text]
    if match := _HALF_DAY.fullmatch(text):
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
        return f"{hour:02}:{match[2] or '00':0>2}"
    if match := _LOOSE.fullmatch(text):
        return f"{int(match[1]) % 24:02}:{match[2]:0>2}"
    return padded(value)


def minutes(value: str) -> int | None:
    """Minutes after midnight of HH:MM; None for anything else.

    >>> minutes("01:30"), minutes("cheap")
    (90, None)
    """
    match = _WITH_COLON.fullmatch(value)
    return int(match[1]) * 60 + int(match[2]) if match else None
