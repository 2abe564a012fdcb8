"""Bags of words as sparse matrices, in numpy alone, and match types.

A distinct line is tokenised once; a point is a count over distinct lines, and its bag is that count times the lines'
bags. Tokens are lower-cased and split on white space, so ``option:``, ``i'm`` and underscored names stay whole.

Sums are made term by term in the order of the columns, on one core: a library of linear algebra would start threads
for products as small as these, and its order of summation is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.rankers.episode import Point

#: Terms and rows of a product that are worked on at once, to bound the memory.
_TERMS, _ROWS = 1_000_000, 512


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Row by row the columns that are not zero, in rising order, and their values.

    The cells of row ``i`` stand at ``starts[i]`` up to ``starts[i + 1]``.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    width: int

    @classmethod
    def summed(
        cls,
        rows: Sequence[int] | NDArray[np.int64],
        columns: Sequence[int] | NDArray[np.int64],
        shape: tuple[int, int],
        values: NDArray[np.float64] | None = None,
    ) -> SparseRows:
        """Cells in any order; those named several times are summed. Without values each counts 1."""
        height, width = shape
        keys = np.asarray(rows, np.int64) * width + np.asarray(columns, np.int64)
        cells, which = np.unique(keys, return_inverse=True)
        sums = np.bincount(which.ravel(), weights=values, minlength=len(cells)).astype(np.float64)
        of_row = cells // max(width, 1)
        starts = np.searchsorted(of_row, np.arange(height + 1))
        return cls(starts, cells - of_row * width, sums, width)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.starts) - 1, self.width

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many cells of each row are not zero."""
        return np.diff(self.starts)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each cell."""
        return np.repeat(np.arange(self.shape[0]), self.sizes)

    def scaled(self, factors: NDArray[np.float64]) -> SparseRows:
        """Every column times its factor."""
        return SparseRows(self.starts, self.columns, self.values * factors[self.columns], self.width)

    def square_sums(self) -> NDArray[np.float64]:
        """Row by row the sum of squares."""
        return _added(self.rows, self.values**2, self.shape[0])

    def transposed(self) -> SparseRows:
        """Columns as rows."""
        return SparseRows.summed(self.columns, self.rows, (self.width, self.shape[0]), self.values)

    def dense(self) -> NDArray[np.float64]:
        """All rows with their zeros."""
        filled = np.zeros(self.shape)
        filled[self.rows, self.columns] = self.values
        return filled

    def composed(self, other: SparseRows) -> SparseRows:
        """The product with another one, sparse again."""
        places, owners = other._cells_of(self.columns)
        values = self.values[owners] * other.values[places]
        return SparseRows.summed(self.rows[owners], other.columns[places], (self.shape[0], other.width), values)

    def times(self, other: SparseRows) -> NDArray[np.float64]:
        """The product with another one, dense."""
        product = np.zeros((self.shape[0], other.width))
        for first, last in self._blocks(other):
            cells = slice(self.starts[first], self.starts[last])
            rows = np.repeat(np.arange(last - first), self.sizes[first:last])
            places, owners = other._cells_of(self.columns[cells])
            values = self.values[cells][owners] * other.values[places]
            targets = rows[owners] * other.width + other.columns[places]
            part = product[first:last]
            part += _added(targets, values, part.size).reshape(part.shape)
        return product

    def _blocks(self, other: SparseRows) -> Iterator[tuple[int, int]]:
        """Stretches of rows, each short enough that the terms of its product fit into memory."""
        terms = np.concatenate([[0], np.cumsum(other.sizes[self.columns])])[self.starts]
        first = 0
        while first < self.shape[0]:
            last = int(np.searchsorted(terms, terms[first] + _TERMS, side="right")) - 1
            last = min(max(last, first + 1), first + _ROWS, self.shape[0])
            yield first, last
            first = last

    def _cells_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the cells of some rows, one row after the other, and which of these rows each belongs to."""
        sizes = self.sizes[rows]
        owners = np.repeat(np.arange(len(rows)), sizes)
        before = np.cumsum(sizes) - sizes
        return np.arange(len(owners)) - before[owners] + self.starts[rows][owners], owners


def _added(places: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the values of each place, in the order in which they come."""
    return np.bincount(places, weights=values, minlength=size).astype(np.float64, copy=False)


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
