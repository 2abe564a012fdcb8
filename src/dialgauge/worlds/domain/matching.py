"""When a value of a row is what somebody wants: words, numbers, clock times, lists, yes and no.

Values are the same by ``dialgauge.values``; what is unknown fits no wish.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

from dialgauge.values import comparable, minutes, number, truth

#: How a column is compared with a wish.
Match: TypeAlias = Literal["same", "at-least", "at-most", "contains", "yes-no"]
MATCHES: tuple[Match, ...] = get_args(Match)
#: What orders values: a column compared with these holds numbers or clock times only.
ORDERED: tuple[Match, ...] = ("at-least", "at-most")

_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:[,' ][0-9]{3})+(?:\.[0-9]+)?")
_SEPARATOR = ";"


def has_thousands(text: str) -> bool:
    """Is it a number with thousands separators?"""
    return _THOUSANDS.fullmatch(text.strip()) is not None


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
