"""Times as times: in recommended mode ``6 : 00 pm``, ``18.00`` and ``18:00`` are one value, and 09:15 is not 15:09."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialgauge.values.clock import spoken

_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_HALF_DAY_MARK = re.compile(r"[ap]\s*\.?\s*m\b|noon|night|morning|evening|afternoon")


def same_time(value: str, wanted: Iterable[str]) -> str | None:
    """The wanted value that is the same time of day, else the time as ``HH:MM``; None when the value is no time.

    A time before noon without "am" or "pm" is the afternoon one when the goal wants that and not the morning one:

    >>> same_time("6 : 00", ["18:00"]), same_time("6:00", ["06:00"]), same_time("6:00 am", ["18:00"])
    ('18:00', '06:00', '06:00')
    >>> same_time("09:15", ["9:15"]), same_time("cheap", ["9:15"])
    ('9:15', None)
    """
    clock = spoken(value)
    parts = _TIME.fullmatch(clock)
    if parts is None:
        return None
    spellings = {spoken(text): text for text in wanted}
    if clock in spellings or _HALF_DAY_MARK.search(value):
        return spellings.get(clock, clock)
    return spellings.get(f"{int(parts[1]) + 12}:{parts[2]}", clock)
