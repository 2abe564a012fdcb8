"""When two values are the same to our own agents, verdicts and checks. Published evaluators have profiles instead.

Case and runs of spaces do not count, and numbers and clock times are compared by value. What else does not count is a
table: MultiWOZ's town writes one thing in several ways.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from dialgauge.dialogue import DONTCARE

#: Values that constrain nothing.
NO_CONSTRAINT = frozenset(
    {"", DONTCARE, "dont care", "don't care", "do n't care", "do nt care", "not mentioned", "do not care", "any"}
)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])")
_LATEST = 24 * 60 + 59
#: The last minute of the next day, on which a train of the town may arrive.
NEXT_DAY = 48 * 60 - 1


class Spellings(Struct, frozen=True, eq=False, kw_only=True):
    """Ways of writing the same value: signs that are replaced, in order, an article before it, and whole values."""

    signs: tuple[tuple[str, str], ...] = ()
    article: str = ""
    values: Mapping[str, str] = {}


AS_WRITTEN = Spellings()
#: True is yes.
TRUTHS = Spellings(values={"true": "yes", "false": "no"})
TOWN_SPELLINGS = Spellings(
    signs=((" '", "'"), ("'", ""), ("-", " "), ("&", " and ")),
    article="the ",
    values={
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
    },
)


def same_value(value: str, other: str, spellings: Spellings = TOWN_SPELLINGS) -> bool:
    """Whether two values of a slot mean the same.

    >>> same_value("9:15", "09:15"), same_value("The Cambridge Belfry", "cambridge belfry"), same_value("1", "2")
    (True, True, False)
    """
    return value == other or comparable(value, spellings) == comparable(other, spellings)


@lru_cache(1 << 16)
def comparable(text: str, spellings: Spellings = AS_WRITTEN) -> Hashable:
    """What two values have in common that are the same.

    >>> comparable("007") == comparable("7.0"), comparable("9:05") == comparable("09:05"), comparable("A  b")
    (True, True, 'a b')
    """
    if (minute := minutes(text)) is not None:
        return ("time", minute)
    value = number(text)
    return plain(text, spellings) if value is None else value


def spelled(text: str) -> str:
    """The one spelling of all values that compare alike.

    >>> spelled("9:05"), spelled("7.50"), spelled("Monday")
    ('09:05', '7.5', 'monday')
    """
    if (minute := minutes(text)) is not None:
        return clock_text(minute)
    value = number(text)
    return plain(text) if value is None else f"{value.normalize():f}"


def plain(text: str, spellings: Spellings = AS_WRITTEN) -> str:
    """A text without what does not count.

    >>> plain("  Old  Town ")
    'old town'
    """
    text = text.casefold()
    for sign, other in spellings.signs:
        text = text.replace(sign, other)
    text = " ".join(text.split()).removeprefix(spellings.article)
    return spellings.values.get(text, text)


@lru_cache(1 << 16)
def canonical(value: str) -> str:
    """A value in the spelling in which the town's are compared.

    >>> canonical("The Cambridge Belfry"), canonical("Guest house"), canonical("saint john 's  college")
    ('cambridge belfry', 'guesthouse', 'saint johns college')
    """
    return plain(value, TOWN_SPELLINGS)


def constrains(value: str) -> bool:
    """Is a value more than "any"?"""
    return value.lower() not in NO_CONSTRAINT


def truth(text: str) -> bool | None:
    """Yes and true, no and false; None for anything else."""
    return {"yes": True, "no": False}.get(plain(text, TRUTHS))


def number(text: str) -> Decimal | None:
    """The value of a number; None for what is none, thousands separators included."""
    bare = text.strip()
    return Decimal(bare) if _NUMBER.fullmatch(bare) else None


def minutes(text: str, latest: int = _LATEST) -> int | None:
    """Minutes since midnight of a clock time, H:MM or HH:MM up to 24:59 or another; None for what is none.

    >>> minutes("9:05"), minutes("24:40"), minutes("25:00"), minutes("9.05"), minutes("25:00", NEXT_DAY)
    (545, 1480, None, None, 1500)
    """
    match = _CLOCK.fullmatch(text.strip())
    minute = int(match[1]) * 60 + int(match[2]) if match else None
    return None if minute is None or minute > latest else minute


def clock_text(minute: int) -> str:
    """A minute since midnight as HH:MM."""
    return f"{minute // 60:02}:{minute % 60:02}"
