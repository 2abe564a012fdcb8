"""Numbers, clock times and days of the week in words or digits, as people write them.

Each reader takes the words of a text and a place, and gives what is read there and the place behind it.

>>> number_at(("a", "hundred", "and", "five"), 0), time_at(("half", "past", "nine"), 0)
((105.0, 4), (frozenset({570, 1290}), 3))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

from dialgauge.values.rules import DAYS

_T = TypeVar("_T")


class Place(NamedTuple, Generic[_T]):
    """A value with the tokens that say it: ``first`` up to ``last``, exclusive."""

    value: _T
    first: int
    last: int


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(_words(text))


_UNITS = {
    word: number
    for number, word in enumerate(
        _words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * number for number, word in enumerate(_words("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SCALES = {"hundred": 100, "thousand": 1000}
_SHORT_DAYS = {day[:size]: day for size in (3, 4, 5) for day in DAYS} | {"weds": "wednesday"}
#: Short days that are words of their own, and what stands before them when they are days.
_WORDS_TOO, _BEFORE_DAY = (
    frozenset(("sun", "sat", "mon", "wed")),
    frozenset(("on", ":", "-", "to", "day", "every", ",")),
)
_HALVES = frozenset(("am", "pm", "a.m.", "p.m."))
_MORNING, _EVENING = frozenset(("morning",)), frozenset(("evening", "afternoon", "night", "tonight"))


def places_of(
    words: tuple[str, ...], at: Callable[[tuple[str, ...], int], tuple[_T, int] | None]
) -> Iterator[Place[_T]]:
    """All that a reader reads in words, one behind the other."""
    position = 0
    while position < len(words):
        read = at(words, position)
        if read is None:
            position += 1
        else:
            yield Place(read[0], position, read[1])
            position = read[1]


def number_at(words: tuple[str, ...], position: int) -> tuple[float, int] | None:
    """The number that begins at a place."""
    if words[position] in _CURRENCY and position + 1 < len(words) and words[position + 1][:1].isdigit():
        return float(words[position + 1].replace(",", "")) if _is_number(words[position + 1]) else 0.0, position + 2
    if _is_number(words[position]):
        value = float(words[position].replace(",", ""))
        scaled = position + 1 < len(words) and words[position + 1] in ("k", "thousand") and value < 1000
        return (value * 1000, position + 2) if scaled else (value, position + 1)
    return _worded_number(words, position)


_CURRENCY = frozenset("£$€¥₹")


def _is_number(word: str) -> bool:
    return word[:1].isdigit() and ":" not in word and word.isascii()


def _worded_number(words: tuple[str, ...], position: int) -> tuple[float, int] | None:
    """ "twenty-one", "a hundred and five", "two thousand"."""
    total = current = 0
    if words[position] in ("a", "one") and position + 1 < len(words) and words[position + 1] in _SCALES:
        current, position = 1, position + 1
    last = -1
    while position < len(words):
        word = words[position]
        if word in _UNITS and (last < 0 or last in (10, 100)):
            current, last = current + _UNITS[word], 1
        elif word in _TENS and last in (-1, 100):
            current, last = current + _TENS[word], 10
        elif word in _SCALES and current:
            scale = _SCALES[word]
            total, current, last = (total + current * scale, 0, 100) if scale == 1000 else (total, current * 100, 100)
        elif (
            word in ("and", "-")
            and last in (10, 100)
            and position + 1 < len(words)
            and words[position + 1] in (_UNITS if last == 10 else {**_UNITS, **_TENS})
            and not (word == "and" and last == 10)
        ):
            pass
        else:
            break
        position += 1
    if last < 0:
        return None
    return float(total + current), position


_HOUR_WORDS = {word: number for word, number in _UNITS.items() if 1 <= number <= 12}
_PAST = {"quarter": 15, "half": 30, "five": 5, "ten": 10, "twenty": 20}


def time_at(words: tuple[str, ...], position: int) -> tuple[frozenset[int], int] | None:
    """The clock time that begins at a place: the minutes since midnight that it can mean."""
    word = words[position]
    if word in ("noon", "midday"):
        return frozenset((720,)), position + 1
    if word == "midnight":
        return frozenset((0, 1440)), position + 1
    return _digital(words, position) or _relative(words, position)


def _digital(words: tuple[str, ...], position: int) -> tuple[frozenset[int], int] | None:
    """ "15:03", "3:03 pm", "3.03pm", "3 pm", "15h03", "9 o'clock"."""
    word = words[position]
    following = words[position + 1] if position + 1 < len(words) else ""
    hour, _, minute = word.partition(":") if ":" in word else word.partition(".")
    hours = int(hour) if hour.isdecimal() and len(hour) <= 2 else _HOUR_WORDS.get(word, -1)
    if not 0 <= hours <= 24 or (minute and (len(minute) != 2 or not minute.isdecimal() or int(minute) > 59)):
        return None
    minutes = 60 * hours + int(minute or 0)
    if following in _HALVES and hours <= 12:
        return frozenset((minutes % 720 + (720 if following[0] == "p" else 0),)), position + 2
    if ":" in word and minute:
        return _spoken_time(words, position + 1, minutes, exact=hours > 12 or (len(hour) == 2 and hours < 10))
    if (
        following == "h"
        and position + 2 < len(words)
        and words[position + 2].isdecimal()
        and len(words[position + 2]) == 2
    ):
        return frozenset((minutes + int(words[position + 2]),)), position + 3
    if following in ("hrs", "h") and hours > 0 and not minute:
        return (frozenset((minutes,)), position + 2) if following == "hrs" else None
    if following == "o" and words[position + 1 : position + 3] == ("o", "'clock") and 1 <= hours <= 12:
        return _spoken_time(words, position + 3, minutes, exact=False)
    return None


def _relative(words: tuple[str, ...], position: int) -> tuple[frozenset[int], int] | None:
    """ "quarter past three", "ten to four", "half nine"."""
    start = position + 1 if words[position] == "a" else position
    if start + 2 >= len(words) + 0 or words[start] not in _PAST:
        return None
    offset, at = _PAST[words[start]], start + 1
    if words[start] == "twenty" and at < len(words) and words[at] in ("five", "-"):
        at += 2 if words[at] == "-" else 1
        offset = 25
    if at < len(words) and words[at] in ("minutes", "mins"):
        at += 1
    if at + 1 >= len(words) or words[at] not in ("past", "after", "to", "before"):
        return None
    named = words[at + 1]
    hours = int(named) if named.isdecimal() and len(named) <= 2 else _HOUR_WORDS.get(named, -1)
    if not 1 <= hours <= 24:
        return None
    minutes = 60 * hours + (offset if words[at] in ("past", "after") else -offset)
    return _spoken_time(words, at + 2, minutes, exact=hours > 12)


def _spoken_time(words: tuple[str, ...], after: int, minutes: int, *, exact: bool) -> tuple[frozenset[int], int]:
    """The minutes of the day that a time may mean, two if neither am nor pm is said, and the place behind it."""
    rest = words[after : after + 3]
    if rest[:1] and rest[0] in _HALVES:
        return frozenset((minutes % 720 + (720 if rest[0][0] == "p" else 0),)), after + 1
    if rest[:2] == ("in", "the") and len(rest) > 2:
        if rest[2] in _MORNING:
            return frozenset((minutes % 720,)), after + 3
        if rest[2] in _EVENING:
            return frozenset((minutes % 720 + 720,)), after + 3
    if exact or minutes >= 780:
        return frozenset((minutes,)), after
    return frozenset((minutes, (minutes + 720) % 1440)), after


def day_at(words: tuple[str, ...], position: int) -> tuple[str, int] | None:
    """The day of the week at a place."""
    word = words[position]
    plain = word.removesuffix("s") if word[:-1] in DAYS else word
    if plain in DAYS:
        return plain, position + 1
    day = _SHORT_DAYS.get(word)
    doubtful = word in _WORDS_TOO and (not position or words[position - 1] not in _BEFORE_DAY)
    return (day, position + 1) if day is not None and not doubtful else None
