"""Match types: which kinds of knowledge-base entities a text mentions (Bordes et al. 2017, section 4.3).

A type is a relation of the knowledge base (cuisine, location, price, party size, rating, phone, address, …); its
entities are all values that relation takes. A candidate *matches* a point in a type when one of its words is an
entity of that type and that word occurs in the point's history or last utterance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy import sparse

from dialgauge.dialogue import Fact
from dialgauge.responses.bags import Bags, Vocabulary, history_bags
from dialgauge.responses.episodes import Point


class TypedEntities:
    """The entities of each type, as a knowledge base lists them."""

    def __init__(self, words: dict[str, list[str]]) -> None:
        self.words = words
        self._vocabularies = {kind: Vocabulary(listed) for kind, listed in words.items()}

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

    def mentions(self, texts: Sequence[str]) -> list[sparse.csr_matrix]:
        """Per type: which entities each text mentions (texts × entities)."""
        return [vocabulary.bags(texts) for vocabulary in self._vocabularies.values()]

    def present(self, points: Sequence[Point], bags: Bags = history_bags) -> list[sparse.csr_matrix]:
        """Per type: which entities each point's input mentions (points × entities)."""
        return [bags(vocabulary, points) for vocabulary in self._vocabularies.values()]


def matches(
    present: Sequence[sparse.csr_matrix], mentioned: Sequence[sparse.csr_matrix]
) -> Iterator[sparse.csr_matrix]:
    """Per type: points × candidates, 1 where the candidate mentions an entity of the type that the point has too."""
    for of_points, of_candidates in zip(present, mentioned, strict=True):
        shared = (of_points @ of_candidates.T).tocsr()
        shared.data = np.ones_like(shared.data)
        yield shared
