"""Slot names and values of MultiWOZ made comparable, and how alike two of them are.

The rules are those of the field's standard evaluator (Nekvinda and Dušek 2021), so that its numbers come out; they are
not good rules. Times lose their meaning in places (``12:30 pm`` is 24:30, ``929`` is no time at all), and all slots but
those named here are compared as they are written: ``Monday`` is not ``monday``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

#: Values that constrain nothing.
DONT_CARE = frozenset({"dontcare", "not mentioned", "don't care", "dont care", "do n't care", "do not care"})

_SLOTS = {"arriveby": "arrive", "leaveat": "leave"}
_NAMES = ("name", "destination", "departure")
_TIMES = ("arrive", "leave", "arriveby", "leaveat", "time")

_TYPES = {
    "swimming pool": "swimmingpool",
    "mutliple sports": "multiple sports",
    "night club": "nightclub",
    "guest house": "guesthouse",
}
_FOODS = {
    "eriterean": "mediterranean",
    "brazilian": "portuguese",
    "portugese": "portuguese",
    "sea food": "seafood",
    "modern american": "north american",
    "americas": "north american",
    "intalian": "italian",
    "italain": "italian",
    "asian or oriental": "asian",
    "english": "british",
    "brutish": "british",
    "bristish": "british",
    "australasian": "australian",
    "gastropod": "gastropub",
    "europeon": "european",
}
_PLACES = {
    "hotel du vin bistro": "hotel du vin and bistro",
    "the river bar and grill": "the river bar steakhouse and grill",
    "nando's": "nandos",
    "city center b and b": "city center north b and b",
    "acorn house": "acorn guest house",
    "caffee uno": "caffe uno",
    "cafe uno": "caffe uno",
    "rosa's": "rosas bed and breakfast",
    "restaurant called two two": "restaurant two two",
    "restaurant 2 two": "restaurant two two",
    "restaurant two 2": "restaurant two two",
    "restaurant 2 2": "restaurant two two",
    "restaurant 1 7": "restaurant one seven",
    "restaurant 17": "restaurant one seven",
    "lime house": "limehouse",
    "cityrooms": "cityroomz",
    "whale of time": "whale of a time",
    "huntingdon hotel": "huntingdon marriott hotel",
    "holiday inn exlpress, cambridge": "express by holiday inn cambridge",
    "university hotel": "university arms hotel",
    "arbury guesthouse and lodge": "arbury lodge guesthouse",
    "arbury guesthouse": "arbury lodge guesthouse",
    "bridge house": "bridge guest house",
    "nandos in the city centre": "nandos city centre",
    "broughton gallery": "broughton house gallery",
    "scudamores punt co": "scudamores punting co",
    "cambridge botanic gardens": "cambridge university botanic gardens",
    "the botanical gardens at cambridge university": "cambridge university botanic gardens",
    "the junction": "junction theatre",
    "trinity street college": "trinity college",
    "christ college": "christ's college",
    "christs": "christ's college",
    "history of science museum": "whipple museum of the history of science",
    "parkside pools": "parkside swimming pool",
    "cafe jello museum": "cafe jello gallery",
}
_WORDED_TIMES = {
    "afternoon": "13:00",
    "lunch": "12:00",
    "noon": "12:00",
    "mid-day": "12:00",
    "around lunch time": "12:00",
    "morning": "08:00",
    "seven o'clock tomorrow evening": "07:00",
    "three forty five p.m": "15:45",
    "one thirty p.m.": "13:30",
    "six fourty five": "06:45",
    "eight thirty": "08:30",
}
_WORDED_BEGINNINGS = {"one o'clock p.m": "13:00", "ten o'clock a.m": "10:00"}
_CLOCK = re.compile(r"(\d\d):(\d\d)")
_ALIKE = 90


@lru_cache(1 << 16)
def normal_slot(slot: str) -> str:
    """The slot's name in lower case, without spaces, with one word for each of the two times.

    >>> normal_slot("arriveBy"), normal_slot("price range")
    ('arrive', 'pricerange')
    """
    plain = slot.lower().replace(" ", "")
    return _SLOTS.get(plain, plain)


@lru_cache(1 << 16)
def normal_value(slot: str, value: str) -> str:
    """The value of a slot (named as :func:`normal_slot` names it) in the form in which it is compared."""
    if slot in _NAMES:
        return _place(value)
    if slot in _TIMES:
        return _time(value)
    if slot == "type":
        return _TYPES.get(value, value)
    if slot == "food":
        food = value.strip().lower()
        return _FOODS.get(food, food)
    if slot in ("parking", "internet") and value == "free":
        return "yes"
    return value


def _place(value: str) -> str:
    name = value.strip().lower().replace(" & ", " and ").replace("&", " and ").replace(" '", "'")
    return _PLACES.get(name, name)


def _time(value: str) -> str:
    text = value.strip().lower()
    if text in _WORDED_TIMES:
        return _WORDED_TIMES[text]
    for beginning, time in _WORDED_BEGINNINGS.items():
        if text.startswith(beginning):
            return time
    text = _without_words(text)
    if text.endswith(("pm", "p.m.")):
        text = text[:-2] if text.endswith("pm") else text
        text = (text[:-4] if text.endswith("p.m.") else text).strip()
        afternoon = _afternoon(text)
        if afternoon is not None:
            return afternoon
    return _clock(text)


def _without_words(text: str) -> str:
    if text.startswith("by"):
        text = text[3:]
    for word in ("after", "afer"):
        if text.startswith(word):
            text = text[len(word) :].strip()
    for word in ("am", "a.m."):
        if text.endswith(word):
            text = text[: -len(word)].strip()
    return text


def _afternoon(text: str) -> str | None:
    """Twelve hours later, even at noon; None where there is no number to read."""
    hour, colon, rest = text.partition(":")
    if (colon and ":" in rest) or not (hour.strip() if colon else hour).isdecimal():
        return None
    return f"{int(hour) + 12}:{rest if colon else '00'}"


def _clock(text: str) -> str:
    if not text:
        return "00:00"
    if text[-1] in ".,?":
        text = text[:-1]
    if text.isdigit():
        return f"{text[:2]}:{text[2:]}" if len(text) == 4 else f"{text:0>2}:00"
    if ":" in text:
        text = text.replace(" ", "")
    if len(text) == 4 and text[1] == ":":
        return f"0{text}"
    return text


@lru_cache(1 << 16)
def minutes(time: str) -> int:
    """Minutes since midnight; 0 for whatever does not begin like a clock.

    >>> minutes("09:15"), minutes("24:55"), minutes("evening")
    (555, 1495, 0)
    """
    clock = _CLOCK.match(time)
    return 60 * int(clock[1]) + int(clock[2]) if clock else 0


def similarity(row: str, wanted: str) -> int:
    """How alike a value of the database and a wanted one are, from 0 to 100.

    The best match of the shorter text within the longer, looked for only where a cheapest alignment of the two has
    equal characters: what fuzzywuzzy's ``partial_ratio`` gives with its Levenshtein library. rapidfuzz's own
    ``partial_ratio`` is another function, and would make ``yu garden`` a ``curry garden``.
    """
    if row == wanted:
        return 100
    if not row or not wanted:
        return 0
    short, long = (row, wanted) if len(row) <= len(wanted) else (wanted, row)
    best = 0.0
    for block in Levenshtein.opcodes(short, long).as_matching_blocks():
        start = max(block.b - block.a, 0)
        best = max(best, Indel.normalized_similarity(short, long[start : start + len(short)]))
        if best > 0.995:
            return 100
    return round(100 * best)


@lru_cache(1 << 16)
def alike(row: str, wanted: str) -> bool:
    """Is the similarity of a value of the database and a wanted one at least 90?"""
    return similarity(row, wanted) >= _ALIKE


class LikeTexts:
    """The values of a column of the database, asked which of them are alike to a wanted one.

    The longest common subsequence tells most of them apart in one call. With L of its characters, of which a part of
    the longer text has no more, and s characters in the shorter text, a match is at most 2L / (s + L); it takes 0.895
    for a similarity of 90, and so L >= 0.81 s.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._lengths = np.array([len(text) for text in self._texts], np.int64)

    def alike(self, wanted: str) -> list[str]:
        """The values that are alike."""
        return [text for text in self.perhaps_alike(wanted) if alike(text, wanted)]

    def perhaps_alike(self, wanted: str) -> list[str]:
        """The values that may be alike: all that are, and others."""
        common = process.cdist([wanted], self._texts, scorer=LCSseq.similarity)[0].astype(np.int64)
        near = np.flatnonzero(10 * common >= 8 * np.minimum(self._lengths, len(wanted))).tolist()
        return [self._texts[place] for place in near]
