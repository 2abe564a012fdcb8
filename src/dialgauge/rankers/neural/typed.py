"""Our own ranker: a memory network over typed entities that knows what the dialog says of each.

Words of the dialog that are entities of the knowledge base are replaced by a word for their kind, and left out of the
candidates, so nothing can be learned about a particular restaurant or town. What a candidate's entities have to do with
the dialog comes in as marks (see ``entities``): mentioned, mentioned last, proposed before, best rated of
those still open, and so on, each with a weight of its own per kind and mark. All weights are learned from dialogs.

Unknown words that users say are read as the nearest known one (:class:`Spelling`) when the model answers; it learns
from words as they are.

What facts say is in the marks, so a list of facts is one memory, however long it is: the network cannot come to depend
on how many results a query usually has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from dialgauge.rankers.ranker import Attention, ScoreMatrix

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

    def _build(self, of_lines: Sequence[str], of_candidates: Sequence[str]) -> None:
        super()._build(of_lines, of_candidates)
        self._learn_spelling()

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        super().move(candidates, facts)
        self._learn_spelling()

    def _learn_spelling(self) -> None:
        self._spelling = Spelling([*self._words, *self.entities.of_word], likeness=self.config.spelling)

    def _corrected(self, point: Point) -> Point:
        """The point with the user's words as the model knows them."""
        history = tuple(
            line._replace(text=self._spelling.corrected(line.text)) if line.kind == "user" else line
            for line in point.history
        )
        return msgspec.structs.replace(point, history=history, utterance=self._spelling.corrected(point.utterance))

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        return super().scores([self._corrected(point) for point in points])

    def attention(self, point: Point) -> Attention:
        return super().attention(self._corrected(point))

    def understands(self, utterance: str) -> bool:
        return super().understands(self._spelling.corrected(utterance))

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


#: Shorter words have too many neighbours.
_SHORTEST = 4


class Spelling:
    """Known words, and the nearest of them to any other.

    Likeness is one less the share of letters to be added, dropped, changed or swapped (optimal string alignment over
    the longer word). Words with digits or underscores are names and stay what they are, as do very short words.

    >>> Spelling(["cuisine", "reservation"], likeness=0.75).corrected("a cusine and two reservations please")
    'a cuisine and two reservation please'
    """

    def __init__(self, known: Iterable[str], *, likeness: float) -> None:
        self._known = frozenset(known)
        self._choices = sorted(word for word in self._known if _is_plain(word))
        self._likeness = likeness
        self._nearest: dict[str, str] = {}

    def corrected(self, text: str) -> str:
        """The text with every unknown word replaced by the nearest known one, if one is near enough."""
        words = text.split(" ")
        return " ".join(map(self._read, words)) if any(word.lower() not in self._known for word in words) else text

    def _read(self, word: str) -> str:
        low = word.lower()
        if low in self._known or not _is_plain(low):
            return word
        if low not in self._nearest:
            self._nearest[low] = self._find(low)
        return self._nearest[low]

    def _find(self, word: str) -> str:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        near = process.extractOne(
            word, self._choices, scorer=OSA.normalized_similarity, score_cutoff=self._likeness, processor=None
        )
        return str(near[0]) if near is not None else word


def _is_plain(word: str) -> bool:
    return len(word) >= _SHORTEST and all(letter.isalpha() or letter in "'’-" for letter in word)
