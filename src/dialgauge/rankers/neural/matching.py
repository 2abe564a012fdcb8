"""Match types for learned models: per candidate and type its entities, per point which entities it mentions.

A candidate's type word counts for a point when one of its entities of that type occurs in the point's history or
query (Bordes et al. 2017, section 4.5). Only the (candidate, type) pairs that can match at all are kept, about a sixth
of the tensor points × candidates × types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dialgauge.dialogue import Fact
from dialgauge.rankers.episode import Point
from dialgauge.rankers.neural.encoding import Ints
from dialgauge.rankers.neural.entities import RelationSchema


class Pairs(NamedTuple):
    """Candidates and the types they can match in, in parallel columns; ``entities`` is pairs × entities."""

    candidate: Ints
    kind: Ints
    entities: Ints


class Matcher:
    """Entities numbered from 1 by (type, word); 0 is "none" and never present."""

    def __init__(self, kinds: dict[str, list[str]], candidates: Sequence[str]) -> None:
        self.kinds = kinds
        self._numbers: dict[str, list[tuple[int, int]]] = {}
        count = 0
        for kind, words in enumerate(kinds.values()):
            for word in words:
                count += 1
                self._numbers.setdefault(word, []).append((kind, count))
        self.entities = count + 1
        self.pairs = self._pairs(candidates)
        self._of_line: dict[str, list[int]] = {}

    @classmethod
    def of_facts(cls, facts: Iterable[Fact], schema: RelationSchema, candidates: Sequence[str]) -> Matcher:
        """Types are the relations of the schema; entities the values each takes in the knowledge base."""
        kinds: dict[str, dict[str, None]] = {relation: {} for relation in schema.relations}
        for fact in facts:
            kinds[fact.relation][fact.value.lower()] = None
        return cls({kind: list(words) for kind, words in kinds.items()}, candidates)

    def _pairs(self, candidates: Sequence[str]) -> Pairs:
        """Every (candidate, type) in which the candidate has an entity, with those entities (padded with 0)."""
        entities: dict[tuple[int, int], list[int]] = {}
        for row, text in enumerate(candidates):
            for word in dict.fromkeys(text.lower().split()):
                for kind, number in self._numbers.get(word, ()):
                    entities.setdefault((row, kind), []).append(number)
        width = max(map(len, entities.values()), default=1)
        padded = [numbers + [0] * (width - len(numbers)) for numbers in entities.values()]
        return Pairs(
            candidate=np.array([row for row, _ in entities], dtype=np.int64),
            kind=np.array([kind for _, kind in entities], dtype=np.int64),
            entities=np.array(padded, dtype=np.int64).reshape(len(entities), width),
        )

    def present(self, points: Sequence[Point]) -> list[Ints]:
        """The entities each point mentions, in its history or its query."""
        lines = ((*(line.text for line in point.history), point.utterance) for point in points)
        mentioned = ({number for text in texts for number in self._in(text)} for texts in lines)
        return [np.array(sorted(numbers), dtype=np.int64) for numbers in mentioned]

    def everything(self, points: Sequence[Point]) -> list[Ints]:
        """All entities for every point: what a model that reads no history takes as mentioned."""
        return [np.arange(1, self.entities)] * len(points)

    def _in(self, text: str) -> list[int]:
        numbers = self._of_line.get(text)
        if numbers is None:
            numbers = [number for word in text.lower().split() for _, number in self._numbers.get(word, ())]
            self._of_line[text] = numbers
        return numbers


class Matches:
    """Which (candidate, type) pairs match for each point of a batch: ``present`` is batch × entities."""

    def __init__(self, present: Tensor, candidate: Tensor, kind: Tensor, entities: Tensor) -> None:
        self._candidate, self._kind = candidate, kind
        self._matched = present[:, entities].amax(dim=2)
        if len(present) == 1:  # most pairs do not match, and for one point they can be left out
            (matching,) = self._matched[0].nonzero(as_tuple=True)
            self._candidate, self._kind = candidate[matching], kind[matching]
            self._matched = self._matched[:, matching]

    def added(self, scores: Tensor, by_row: Tensor) -> Tensor:
        """The scores with each matching pair's share (``by_row``: batch × types) added to its candidate."""
        return scores.index_add(1, self._candidate, self._matched * by_row[:, self._kind])


class MatchTypes:
    """Which candidates can match in which types, kept on the device of the model."""

    def __init__(self, facts: Sequence[Fact], schema: RelationSchema, candidates: Sequence[str]) -> None:
        self.matcher = Matcher.of_facts(facts, schema, candidates)

    @property
    def kinds(self) -> int:
        """How many types there are."""
        return len(self.matcher.kinds)

    def matches(self, contexts: Sequence[Ints], tensor: Callable[[NDArray[Any]], Tensor]) -> Matches:
        """The matches of a batch; ``contexts`` holds the entities each point mentions."""
        present = np.zeros((len(contexts), self.matcher.entities), dtype=np.float32)
        for row, numbers in enumerate(contexts):
            present[row, numbers] = 1.0
        return Matches(tensor(present), *(tensor(column) for column in self.matcher.pairs))
