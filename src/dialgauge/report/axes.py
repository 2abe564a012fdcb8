"""Where the ticks of an axis stand: at round numbers, at both of its ends, at whole numbers where it counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: More digits behind the point than that are not read.
_DIGITS = 5


@dataclass(frozen=True)
class Ticks:
    """The numbers at an axis, from its beginning to its end, and how d3 prints them."""

    values: list[float]
    format: str

    @property
    def domain(self) -> list[float]:
        return [self.values[0], self.values[-1]]

    def scale(self, alt: Any) -> Any:
        return alt.Scale(domain=self.domain, nice=False, zero=False)

    def axis(self, alt: Any, **look: Any) -> Any:
        # With fewer ticks in mind, the renderer drops every other value, and so the last one.
        return alt.Axis(values=self.values, tickCount=len(self.values), format=self.format, **look)


def ticks(numbers: Sequence[float], *, most: int = 5, whole: bool = False) -> Ticks:
    """An axis in at most so many steps that shows these numbers; a single one is shown from 0.

    >>> ticks([0.0024, 0.0028], most=3)
    Ticks(values=[0.0024, 0.0026, 0.0028], format=',.4f')
    """
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0) or (0.0 if low else 1.0)
    place = math.floor(math.log10((high - low) / most))
    while True:
        for factor in (1, 2, 5):
            first, last = (_steps(end, factor, place, up=up) for end, up in ((low, False), (high, True)))
            if last - first <= most and not (whole and place < 0):
                digits = max(0, -place)
                values = [_number(step * factor, place) for step in range(first, last + 1)]
                return Ticks(values, f",.{digits}f" if digits <= _DIGITS else "~e")
        place += 1


def share_ticks(percentages: Sequence[float], *, most: int = 5) -> Ticks:
    """The part of an axis from 0 to 100 that shows these numbers with some room, never beyond its ends."""
    low, high = min(percentages, default=0.0), max(percentages, default=100.0)
    room = max(1.0, 0.08 * (high - low))
    ends = max(0.0, 5.0 * math.floor((low - room) / 5)), min(100.0, 5.0 * math.ceil((high + room) / 5))
    return ticks(ends, most=most)


def _steps(end: float, factor: int, place: int, *, up: bool) -> int:
    """The number of steps from 0 to the tick at or beyond an end; the last bits of a quotient are no step."""
    quotient = end / factor * 10.0**-place
    nearest = round(quotient)
    if math.isclose(quotient, nearest, rel_tol=1e-9, abs_tol=1e-9):
        return nearest
    return math.ceil(quotient) if up else math.floor(quotient)


def _number(steps: int, place: int) -> float:
    """``steps`` at a decimal place, without the last bits that multiplying leaves: 0.01, not 0.0099999999999999985."""
    return float(f"{steps}e{place}")
