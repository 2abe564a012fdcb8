"""Points as integers: distinct lines are numbered once, and a point is a run of line numbers.

A memory is one line of the history (user, bot or fact); the current utterance is the query. Facts count as the
user's (Bordes et al. 2017, section 4.4). Time is relative: the newest memory has index 0; indices stop at 999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.responses.episodes import Line, Point

Ints = NDArray[np.int64]
#: From a text to its words.
Split: TypeAlias = Callable[[str], list[str]]

TIMES = 1000
USER, BOT = 0, 1
PAD = 0


@dataclass(frozen=True)
class Encoded:
    """Points in columns: ``memories[starts[i]:starts[i + 1]]`` are the line numbers of point i's history."""

    starts: Ints
    memories: Ints
    speakers: Ints
    queries: Ints
    gold: Ints

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def lengths(self) -> Ints:
        """How many memories each point has."""
        return np.diff(self.starts)


class Lines:
    """Distinct lines and their words; 0 is the empty line that pads. Words it was not given are left out."""

    def __init__(self, words: dict[str, int], split: Split) -> None:
        self._words, self._split = words, split
        self._numbers: dict[str, int] = {"": PAD}
        #: The word numbers of each line.
        self.tokens: list[list[int]] = [[]]

    def number(self, text: str) -> int:
        """The number of a line."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.tokens)
            self.tokens.append([self._words[word] for word in self._split(text) if word in self._words])
        return found


def words_of(text: str) -> list[str]:
    """The words of a text."""
    return text.lower().split()


def words_and_pairs(text: str) -> list[str]:
    """The words of a text and its pairs of adjacent words.

    >>> words_and_pairs("We will be six")
    ['we', 'will', 'be', 'six', 'we will', 'will be', 'be six']
    """
    words = text.lower().split()
    return [*words, *(f"{first} {second}" for first, second in pairwise(words))]


def vocabulary(texts: Iterable[str], split: Split) -> list[str]:
    """The words of the texts, in order of appearance."""
    return list(dict.fromkeys(word for text in dict.fromkeys(texts) for word in split(text)))


def encode(points: Sequence[Point], lines: Lines, index: Mapping[str, int]) -> Encoded:
    """Points as line numbers; ``index`` gives the place of the gold reply (-1 where it is not a candidate)."""
    starts = [0]
    memories: list[int] = []
    speakers: list[int] = []
    for point in points:
        memories.extend(lines.number(line.text) for line in point.history)
        speakers.extend(_speaker(line) for line in point.history)
        starts.append(len(memories))
    return Encoded(
        starts=np.array(starts, dtype=np.int64),
        memories=np.array(memories, dtype=np.int64),
        speakers=np.array(speakers, dtype=np.int64),
        queries=np.array([lines.number(point.utterance) for point in points], dtype=np.int64),
        gold=np.array([index.get(point.reply, -1) for point in points], dtype=np.int64),
    )


def _speaker(line: Line) -> int:
    return BOT if line.kind == "bot" else USER


def batches(lengths: Ints, size: int, seed: int | None = None) -> list[Ints]:
    """Points in batches of similar length, so that little is padded; a seed shuffles points and batches.

    Without a seed the order is by length alone. Every point is in exactly one batch.
    """
    order = np.arange(len(lengths))
    if seed is None:
        order = order[np.argsort(lengths, kind="stable")]
        return [order[start : start + size] for start in range(0, len(order), size)]
    draws = np.random.Generator(np.random.PCG64(seed))
    order = draws.permutation(order)
    order = order[np.argsort(lengths[order], kind="stable")]
    cut = [order[start : start + size] for start in range(0, len(order), size)]
    return [cut[place] for place in draws.permutation(len(cut))]


def padded(encoded: Encoded, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Line numbers, speakers and times of a batch's memories (rows × longest).

    Times of cells that hold no memory are -1.
    """
    starts, lengths = encoded.starts[rows][:, None], encoded.lengths[rows][:, None]
    place = np.arange(lengths.max(initial=0))
    at, times = starts + place, np.minimum(lengths - 1 - place, TIMES - 1)
    outside = times < 0
    ragged = outside.any()
    if ragged:
        at[outside] = 0
    ids, speakers = encoded.memories.take(at), encoded.speakers.take(at)
    if ragged:
        ids[outside], speakers[outside], times[outside] = PAD, 0, -1
    return ids, speakers, times
