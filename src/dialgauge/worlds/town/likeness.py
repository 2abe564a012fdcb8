"""When a value of the database is alike to a wanted one, by the rules of Nekvinda and Dušek's evaluator (2021)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from dialgauge.values import similarity

#: Values that constrain nothing.
DONT_CARE: frozenset[str] = frozenset(
    {"dontcare", "not mentioned", "don't care", "dont care", "do n't care", "do not care"}
)

_CLOCK = re.compile(r"(\d\d):(\d\d)")
_ALIKE = 90


@lru_cache(1 << 16)
def minutes(time: str) -> int:
    """Minutes since midnight; 0 for whatever does not begin like a clock.

    >>> minutes("09:15"), minutes("24:55"), minutes("evening")
    (555, 1495, 0)
    """
    clock = _CLOCK.match(time)
    return 60 * int(clock[1]) + int(clock[2]) if clock else 0


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
        return [text for text in self.perhaps_alike(wanted) if alike(text, wanted)]

    def perhaps_alike(self, wanted: str) -> list[str]:
        """The values that may be alike: all that are, and others."""
        common = process.cdist([wanted], self._texts, scorer=LCSseq.similarity)[0].astype(np.int64)
        near = np.flatnonzero(10 * common >= 8 * np.minimum(self._lengths, len(wanted))).tolist()
        return [self._texts[index] for index in near]
