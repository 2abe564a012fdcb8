"""Our own ranker: a memory network over typed entities that knows what the dialog says of each.

Words of the dialog that are entities of the knowledge base are replaced by a word for their kind, and left out of the
candidates, so nothing can be learned about a particular restaurant or town. What a candidate's entities have to do with
the dialog comes in as marks (see ``entities``): mentioned, mentioned last, proposed before, best rated of
those still open, and so on, each with a weight of its own per kind and mark. All weights are learned from dialogs.

What facts say is in the marks, so a list of facts is one memory, however long it is: the network cannot come to depend
on how many results a query usually has.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from torch import Tensor

from dialgauge.dialogue import Fact
from dialgauge.formats import NO_RESULT
from dialgauge.rankers.episode import Line, Point
from dialgauge.rankers.neural.config import Hyperparameters
from dialgauge.rankers.neural.encoding import Ints
from dialgauge.rankers.neural.entities import Entities
from dialgauge.rankers.neural.learned import Batch, all_settings_but
from dialgauge.rankers.neural.memn2n import MemN2N
from dialgauge.rankers.neural.scoring import Extra

#: What a list of facts reads as.
SOME_FACTS = Line("fact", "<facts>")
#: One size for all tasks.
_SIZES = Hyperparameters(dim=32, hops=3)


class Typed(MemN2N):
    """A memory network over typed entities."""

    name = "typed"
    summary = "memory network over typed entities (ours)"
    settable = all_settings_but("history", "shared", "entity_dropout", "preset")

    def preset_config(self, task: int) -> Hyperparameters:
        return msgspec.structs.replace(_SIZES)

    def learn_world(self, facts: Sequence[Fact]) -> None:
        self.entities = Entities(facts, self.schema)
        self.extra_rows = len(self.entities.kinds) * len(self.entities.marks)
        self._index_entities()

    def _index_entities(self) -> None:
        """Which entities each candidate names, and the row of weights where each entity's kind begins."""
        named = [[entity for _, entity in self.entities.mentioned(text)] for text in self.candidates]
        pairs = [(row, entity) for row, entities in enumerate(named) for entity in entities]
        self._pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        first = np.zeros(self.entities.count, dtype=np.int64)
        for same_word in self.entities.of_word.values():
            for kind, entity in same_word:
                first[entity] = kind * len(self.entities.marks)
        self._first_row = first

    def split_line(self, text: str) -> list[str]:
        return self.entities.typed(text)

    def split_candidate(self, text: str) -> list[str]:
        return self.entities.bare(text)

    def view(self, point: Point) -> Point:
        """Facts that follow each other, except "no result", become one line."""
        history: list[Line] = []
        for line in point.history:
            shown = SOME_FACTS if line.kind == "fact" and line.text != NO_RESULT else line
            if shown is not SOME_FACTS or not history or history[-1] is not SOME_FACTS:
                history.append(shown)
        return msgspec.structs.replace(point, history=tuple(history))

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        return [self.entities.marked(point) for point in points]

    def shared_with(self, batch: Batch) -> Extra | None:
        marks = batch.contexts
        point = np.repeat(np.arange(len(marks)), [len(rows) for rows in marks])
        entity, mark = np.concatenate([np.zeros((0, 2), dtype=np.int64), *marks]).T
        row = self._first_row[entity] + mark
        marked = self.tensor(point), self.tensor(entity), self.tensor(row)
        pairs = self.tensor(self._pairs[:, 0]), self.tensor(self._pairs[:, 1])
        return MarkedMemory(marked, self.entities.count, pairs)


class MarkedMemory:
    """Marks on entities, where other networks have match types.

    The marks of a batch are three columns: point, entity, row of extra weights; ``pairs`` says which entities each
    candidate names.
    """

    def __init__(self, marks: tuple[Tensor, Tensor, Tensor], count: int, pairs: tuple[Tensor, Tensor]) -> None:
        self._point, self._entity, self._row = marks
        self._count = count
        self._candidate, self._named = pairs

    def added(self, scores: Tensor, by_row: Tensor) -> Tensor:
        """The scores with the weight of each entity's marks added to the candidates that name it."""
        worth = scores.new_zeros(len(scores), self._count)
        worth = worth.index_put((self._point, self._entity), by_row[self._point, self._row], accumulate=True)
        return scores.index_add(1, self._candidate, worth[:, self._named])
