"""Bags of words as sparse matrices, and match types.

A distinct line is tokenised once; a point is a count over distinct lines, and its bag is that count times the lines'
bags. Tokens are lower-cased and split on white space, so ``option:``, ``i'm`` and underscored names stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.rankers.episode import Point
from dialgauge.rankers.sparse_rows import SparseRows


def tokens(text: str) -> list[str]:
    """Lower-case words between white space."""
    return text.lower().split()


def words_and_pairs(text: str) -> list[str]:
    """The words of a text and its pairs of adjacent words.

    >>> words_and_pairs("We will be six")
    ['we', 'will', 'be', 'six', 'we will', 'will be', 'be six']
    """
    words = tokens(text)
    return [*words, *(f"{first} {second}" for first, second in pairwise(words))]


class WordIndex:
    """Words with their numbers, in order of first appearance; words it does not know are not counted."""

    def __init__(self, words: Iterable[str], split: Callable[[str], list[str]] = tokens) -> None:
        self._split = split
        self.index = {word: index for index, word in enumerate(dict.fromkeys(words))}

    def __len__(self) -> int:
        return len(self.index)

    @classmethod
    def of_texts(cls, texts: Iterable[str], split: Callable[[str], list[str]] = tokens) -> WordIndex:
        """All words of the texts; ``split`` says what a word is."""
        return cls((word for text in texts for word in split(text)), split)

    def bags(self, texts: Sequence[str]) -> SparseRows:
        """How often each word occurs in each text (texts × words)."""
        rows: list[int] = []
        columns: list[int] = []
        for row, text in enumerate(texts):
            known = [self.index[word] for word in self._split(text) if word in self.index]
            rows.extend([row] * len(known))
            columns.extend(known)
        return SparseRows.summed(rows, columns, (len(texts), len(self)))


#: From a vocabulary and points to their bags: :func:`history_bags` or :func:`utterance_bags`.
Bags: TypeAlias = Callable[["WordIndex", Sequence[Point]], SparseRows]


def history_bags(vocabulary: WordIndex, points: Sequence[Point]) -> SparseRows:
    """The bag of each point's whole history, facts and both speakers included, with the last utterance."""
    return _bags_of_lines(vocabulary, [[*(line.text for line in point.history), point.utterance] for point in points])


def utterance_bags(vocabulary: WordIndex, points: Sequence[Point]) -> SparseRows:
    """The bag of each point's last utterance alone."""
    return _bags_of_lines(vocabulary, [[point.utterance] for point in points])


def _bags_of_lines(vocabulary: WordIndex, groups: Sequence[Sequence[str]]) -> SparseRows:
    distinct: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, group in enumerate(groups):
        columns.extend(distinct.setdefault(text, len(distinct)) for text in group)
        rows.extend([row] * len(group))
    lines = SparseRows.summed(rows, columns, (len(groups), len(distinct)))
    return lines.composed(vocabulary.bags(list(distinct)))


class TypedEntities:
    """The entities of each type, as a knowledge base lists them (Bordes et al. 2017, section 4.5).

    A type is a relation of the knowledge base (cuisine, location, phone, …); its entities are all values that relation
    takes. A candidate *matches* a point in a type when one of its words is an entity of that type and that word occurs
    in the point's history or last utterance.
    """

    def __init__(self, words: dict[str, list[str]]) -> None:
        self.words = words
        self._vocabularies = {kind: WordIndex(listed) for kind, listed in words.items()}

    @classmethod
    def of_facts(cls, facts: Iterable[Fact]) -> TypedEntities:
        """One type per relation, entities in the facts' order."""
        words: dict[str, dict[str, None]] = {}
        for fact in facts:
            words.setdefault(fact.relation, {})[fact.value.lower()] = None
        return cls({kind: list(listed) for kind, listed in words.items()})

    @property
    def kinds(self) -> list[str]:
        """The types, in the order of the knowledge base."""
        return list(self.words)

    def mentions(self, texts: Sequence[str]) -> list[SparseRows]:
        """Per type: which texts mention each entity (entities × texts)."""
        return [vocabulary.bags(texts).transposed() for vocabulary in self._vocabularies.values()]

    def present(self, points: Sequence[Point], bags: Bags = history_bags) -> list[SparseRows]:
        """Per type: which entities each point's input mentions (points × entities)."""
        return [bags(vocabulary, points) for vocabulary in self._vocabularies.values()]


def matches(present: Sequence[SparseRows], mentioned: Sequence[SparseRows]) -> Iterator[NDArray[np.bool_]]:
    """Per type: points × candidates, whether the candidate mentions an entity of the type that the point has too."""
    for of_points, of_candidates in zip(present, mentioned, strict=True):
        yield of_points.times(of_candidates) > 0


def is_number(text: str) -> bool:
    """Is it a number, such as a rating? Those are compared, not named."""
    return text.removeprefix("-").replace(".", "", 1).isdecimal()
