"""Between which numbers a score of a log lies: told by the caller or the log, or taken from its name and its values.

An interval needs the ends of the scale: without them, that of a few ratings from 1 to 5 goes from -4 to 7. What is
taken is always noted, and ``Score(scale=1:5)[NAME]`` tells another scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Setting
from dialgauge.text import Note, some_of

SCALE = "scale"
UNKNOWN = (-math.inf, math.inf)
#: Between 0 and 1 a score is a share, of which nothing is noted.
SHARE, _SIGNED, _PERCENT = (0.0, 1.0), (-1.0, 1.0), (0.0, 100.0)
_LIKERT, _TENTHS, _AMOUNT = (1.0, 5.0), (0.0, 10.0), (0.0, math.inf)
#: What is counted, timed or paid for cannot be below 0.
_COUNTED = re.compile(
    r"(?:^|[_.\s])(?:n|nr|num|number|count|total|time|seconds|sec|ms)(?:[_.\s]|$)|(?:Count|Number|Time|Seconds|Ms)$"
    r"|latency|frequency|quantity|duration|elapsed|tokens|length|words|steps|turns|calls|retries|errors|mistakes"
    r"|violations|cost|price|size"
)
_OF_HUNDRED = re.compile(r"percent|pct|%", re.IGNORECASE)
#: What somebody rated: by a word for it, or as a quality (politeness, clarity, fluency).
_RATED = re.compile(
    r"rating|stars|likert|csat|score|grade|quality|helpful|faithful|relevan|similar|coheren|satisf"
    r"|(?:ness|ity|cy)(?:[_.\s]|$)",
    re.IGNORECASE,
)
#: What starts at 1: if all are 1, they are no shares.
_FROM_ONE = re.compile(r"rating|stars|likert|csat", re.IGNORECASE)


#: Numbers that often say that there is none, and how large the others may then be.
_NO_NUMBER = {-1.0: 100, -9.0: 100, -99.0: 100, -999.0: 100, 99.0: 10, 999.0: 100, 9999.0: 100}


class Scale(NamedTuple):
    """The lowest and the highest number, infinite where unknown; was it taken from the name and the values?"""

    low: float
    high: float
    taken: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends."""
        return self.low, self.high

    def __str__(self) -> str:
        return "0 or more" if self.high == math.inf else f"{self.low:g} to {self.high:g}"


def scale_of(name: str, numbers: Sequence[float], maximum: float | None) -> Scale:
    """The scale of a score with these numbers; ``maximum`` is what the log says it is at most."""
    low, high = min(numbers), max(numbers)
    if maximum is not None:
        return Scale(0.0, maximum) if low >= 0 and high <= maximum else Scale(*UNKNOWN)
    counted, rated, of_hundred = (names.search(name) for names in (_COUNTED, _RATED, _OF_HUNDRED))
    if low >= 0 and high <= 1 and not counted and not (low == 1 and _FROM_ONE.search(name)):
        return Scale(*SHARE)
    suggested = [_AMOUNT] if counted else [_SIGNED]
    if low < high:  # one number suggests no scale
        suggested += [_LIKERT] if rated and all(number.is_integer() for number in numbers) else []
        suggested += [_TENTHS] if rated and not of_hundred else []
        suggested += [_PERCENT] if rated or of_hundred else []
    return next(
        (Scale(least, most, taken=True) for least, most in suggested if least <= low and high <= most), Scale(*UNKNOWN)
    )


def stray_number(numbers: Collection[float]) -> float | None:
    """A number beside ratings that may say that there is none, as -1 beside 1 to 5; beside 0 and 1 it may be meant."""
    for stray, most in _NO_NUMBER.items():
        others = set(numbers) - {stray}
        if stray in numbers and len(others) > 1 and min(others) >= 0 and 1 < max(others) <= most:
            return stray
    return None


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


def scale_notes(scales: Mapping[str, Scale], told: Collection[str]) -> list[Note]:
    """Which scales were taken and which are not known, of scores that were not told one."""
    taken = [f"'{name}' as {scale}" for name, scale in scales.items() if scale.taken and name not in told]
    unknown = [name for name, scale in scales.items() if scale.bounds == UNKNOWN and name not in told]
    notes = []
    if taken:
        first = next(name for name, scale in scales.items() if scale.taken and name not in told)
        notes.append(f"the log tells no scale, so intervals take {some_of(taken)}; if that is wrong, {_told(first)}")
    if unknown:
        names = some_of([f"'{name}'" for name in unknown])
        notes.append(f"intervals may leave the scale of {names}, which is not known; {_told(unknown[0])}")
    return [Note(SCALE, note) for note in notes]


def _told(name: str) -> str:
    return f"tell it with 'tasks score -m Score({SCALE}=LOW:HIGH)[{name}]'"
