"""Between which numbers a score of a log lies, which its interval does not leave.

``Score(scale=1:5)[NAME]`` tells it, or all its values are between 0 and 1. Otherwise it is not known, which is noted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Setting
from dialgauge.text import Note, some_of

SCALE = "scale"
_SHARE, _UNKNOWN = (0.0, 1.0), (-math.inf, math.inf)


def scale_of(low: float, high: float) -> tuple[float, float]:
    """The ends of the scale of a score with values between these, infinite where unknown."""
    return _SHARE if low >= 0 and high <= 1 else _UNKNOWN


def told_scale(text: str) -> tuple[float, float]:
    """The scale that ``1:5`` tells."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DialgaugeError(f"a scale is two numbers, the lower one first, such as scale=1:5 (got '{text}')")
    return low, high


def pop_scale(pairs: dict[str, str]) -> dict[str, Setting]:
    """Take the scale out of what was written of a measure: it sets the ends of intervals, and no value."""
    if SCALE in pairs:
        told_scale(pairs.pop(SCALE))
    return {}


def scale_notes(scales: Mapping[str, tuple[float, float]], told: Collection[str]) -> list[Note]:
    """Which scales are not known, of scores that were not told one."""
    unknown = [name for name, scale in scales.items() if scale == _UNKNOWN and name not in told]
    if not unknown:
        return []
    names = some_of([f"'{name}'" for name in unknown])
    how = f"tell it with 'tasks score -m Score({SCALE}=LOW:HIGH)[{unknown[0]}]'"
    return [Note(SCALE, f"intervals may leave the scale of {names}, which is not known; {how}")]
