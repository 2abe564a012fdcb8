"""When two values are the same to our own agents, verdicts and checks. Published evaluators have profiles instead."""

from __future__ import annotations

import re
from functools import lru_cache

from dialgauge.dialogue import DONTCARE

#: Values that constrain nothing.
NO_CONSTRAINT = frozenset(
    {"", DONTCARE, "dont care", "don't care", "do n't care", "do nt care", "not mentioned", "do not care", "any"}
)
_TIME = re.compile(r"(\d{1,2}):(\d\d)")
_SPELLINGS = {
    "center": "centre",
    "guest house": "guesthouse",
    "guest houses": "guesthouse",
    "free": "yes",
    "free wifi": "yes",
    "free parking": "yes",
    "mutliple sports": "multiple sports",
    "swimming pool": "swimmingpool",
    "night club": "nightclub",
    "concert hall": "concerthall",
}


def same_value(value: str, other: str) -> bool:
    """Whether two values of a slot mean the same: times by the clock, others in their canonical form.

    >>> same_value("9:15", "09:15"), same_value("The Cambridge Belfry", "cambridge belfry"), same_value("1", "2")
    (True, True, False)
    """
    if value == other:
        return True
    if (time := clock(value)) is not None:
        return time == clock(other)
    return canonical(value) == canonical(other)


def constrains(value: str) -> bool:
    """Is a value more than "any"?"""
    return value.lower() not in NO_CONSTRAINT


@lru_cache(1 << 16)
def canonical(value: str) -> str:
    """A value in the form in which it is compared.

    >>> canonical("The Cambridge Belfry"), canonical("Guest house"), canonical("saint john 's  college")
    ('cambridge belfry', 'guesthouse', 'saint johns college')
    """
    text = value.lower().replace(" '", "'").replace("'", "").replace("-", " ").replace("&", " and ")
    text = " ".join(text.split())
    text = text.removeprefix("the ")
    return _SPELLINGS.get(text, text)


@lru_cache(1 << 14)
def clock(value: str) -> int | None:
    """Minutes since midnight; None for what is no time of day.

    >>> clock("09:15"), clock("24:10"), clock("soon")
    (555, 1450, None)
    """
    match = _TIME.fullmatch(value.strip())
    return int(match[1]) * 60 + int(match[2]) if match else None
