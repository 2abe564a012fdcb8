"""When a value of a row is what somebody wants: words, numbers, clock times, lists, yes and no.

Case and runs of spaces do not count, numbers and times are compared by value, and what is unknown fits no wish.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

#: How a column is compared with a wish.
Match: TypeAlias = Literal["same", "at-least", "at-most", "contains", "yes-no"]
MATCHES: tuple[Match, ...] = get_args(Match)
#: What orders values: a column compared with these holds numbers or clock times only.
ORDERED: tuple[Match, ...] = ("at-least", "at-most")

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:[,' ][0-9]{3})+(?:\.[0-9]+)?")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])")
_LATEST = 24 * 60 + 59
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_SEPARATOR = ";"


def plain(text: str) -> str:
    """A text without what does not count.

    >>> plain("  Old  Town ")
    'old town'
    """
    return " ".join(text.casefold().split())


def number(text: str) -> Decimal | None:
    """The value of a number; None for what is none, thousands separators included."""
    bare = text.strip()
    return Decimal(bare) if _NUMBER.fullmatch(bare) else None


def has_thousands(text: str) -> bool:
    """Is it a number with thousands separators?"""
    return _THOUSANDS.fullmatch(text.strip()) is not None


def minutes(text: str) -> int | None:
    """Minutes since midnight of a clock time, H:MM or HH:MM up to 24:59; None for what is none.

    >>> minutes("9:05"), minutes("24:40"), minutes("25:00"), minutes("9.05")
    (545, 1480, None, None)
    """
    match = _CLOCK.fullmatch(text.strip())
    minute = int(match[1]) * 60 + int(match[2]) if match else None
    return None if minute is None or minute > _LATEST else minute


def clock_text(minute: int) -> str:
    """A minute since midnight as HH:MM."""
    return f"{minute // 60:02}:{minute % 60:02}"


def truth(text: str) -> bool | None:
    """Yes and true, no and false; None for anything else."""
    return _TRUTHS.get(plain(text))


@lru_cache(1 << 16)
def comparable(text: str) -> Hashable:
    """What two values have in common that are the same.

    >>> comparable("007") == comparable("7.0"), comparable("9:05") == comparable("09:05"), comparable("A  b")
    (True, True, 'a b')
    """
    if (minute := minutes(text)) is not None:
        return ("time", minute)
    value = number(text)
    return plain(text) if value is None else value


def spelled(text: str) -> str:
    """The one spelling of all values that compare alike.

    >>> spelled("9:05"), spelled("7.50"), spelled("Monday")
    ('09:05', '7.5', 'monday')
    """
    if (minute := minutes(text)) is not None:
        return clock_text(minute)
    value = number(text)
    return plain(text) if value is None else f"{value.normalize():f}"


def ordinal(text: str) -> Decimal | None:
    """Where a number or a clock time stands in its order."""
    minute = minutes(text)
    return number(text) if minute is None else Decimal(minute)


def members(cell: str) -> list[str]:
    """The values that a cell lists.

    >>> members("child seat; roof box;")
    ['child seat', 'roof box']
    """
    return [part for item in cell.split(_SEPARATOR) if (part := item.strip())]


def fits(match: Match, cell: str | None, wanted: str) -> bool:
    """Does a cell fit a wish? An unknown cell fits none.

    >>> fits("at-least", "5", "4"), fits("at-most", "12:00", "9:30"), fits("contains", "gps; roof box", "GPS")
    (True, False, True)
    """
    if cell is None:
        return False
    if match == "contains":
        return comparable(wanted) in map(comparable, members(cell))
    if match == "yes-no":
        return truth(cell) is not None and truth(cell) == truth(wanted)
    if match in ORDERED:
        value, limit = ordinal(cell), ordinal(wanted)
        if value is None or limit is None:
            return False
        return value >= limit if match == "at-least" else value <= limit
    return comparable(cell) == comparable(wanted)
