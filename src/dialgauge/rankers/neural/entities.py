"""What a dialog says about each entity: marks that a model may weigh, computed the same way for every world.

Entities are the values of the knowledge base's relations and the names they belong to, each with its kind (the
relation, or ``name``). Nothing here knows which relation matters or that the highest rating comes first: that is
learned.

    present     the entity occurs in the dialog so far, facts included
    latest      it is the entity of its kind that was mentioned last by user or bot
    of named    it belongs to the name that was mentioned last by user or bot
    listed      a fact of the dialog is about it (names only)
    offered     the bot has said it (names only)
    open        listed and not offered
    most, least among the open names it has the largest, the smallest number of a relation (one pair per such relation)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import NO_RESULT
from dialgauge.rankers.episode import Line, Point
from dialgauge.rankers.features import is_number

NAME = "name"
_PLAIN = ("present", "latest", "of named", "listed", "offered", "open")

Marks = NDArray[np.int64]


class Entities:
    """Entities numbered from 1 by kind and word; 0 is none. Kinds are numbered as the schema lists the relations."""

    def __init__(self, facts: Iterable[Fact], schema: RelationSchema) -> None:
        self.kinds = {kind: number for number, kind in enumerate((NAME, *schema.relations))}
        self.of_word: dict[str, list[tuple[int, int]]] = {}
        self._belongings: dict[str, list[int]] = {}
        self._seen: dict[tuple[int, str], int] = {}
        for fact in facts:
            name = fact.entity.lower()
            self._add(self.kinds[NAME], name)
            number = self._add(self.kinds[fact.relation], fact.value.lower())
            self._belongings.setdefault(name, []).append(number)
        self.count = len(self._seen) + 1
        self.numeric = schema.numeric
        self.marks = [*_PLAIN, *(f"{side} {relation}" for relation in self.numeric for side in ("most", "least"))]
        names = list(self.kinds)
        self._kind_word = {word: f"<{names[same_word[0][0]]}>" for word, same_word in self.of_word.items()}
        self._in_line: dict[str, list[tuple[int, int]]] = {}

    def _add(self, kind: int, word: str) -> int:
        number = self._seen.get((kind, word))
        if number is None:
            number = self._seen[kind, word] = len(self._seen) + 1
            self.of_word.setdefault(word, []).append((kind, number))
        return number

    def typed(self, text: str) -> list[str]:
        """The words of a text, each entity replaced by a word for its kind."""
        return [self._kind_word.get(word, word) for word in text.lower().split()]

    def bare(self, text: str) -> list[str]:
        """The words of a text without its entities."""
        return [word for word in text.lower().split() if word not in self.of_word]

    def mentioned(self, text: str) -> list[tuple[int, int]]:
        """(kind, entity) of each entity word in a text, in order."""
        pairs = self._in_line.get(text)
        if pairs is None:
            pairs = [pair for word in text.lower().split() for pair in self.of_word.get(word, ())]
            self._in_line[text] = pairs
        return pairs

    def marked(self, point: Point) -> Marks:
        """(entity, mark) of everything the dialog says, as rows."""
        so_far = _DialogSoFar(self)
        for line in point.history:
            so_far.take(line)
        so_far.take(Line("user", point.utterance))
        return np.array(sorted(so_far.marks()), dtype=np.int64).reshape(-1, 2)

    def belongings(self, name: str) -> list[int]:
        """The entities that facts give to a name."""
        return self._belongings.get(name, [])


class _DialogSoFar:
    """What was said, as far as entities go."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._present: set[int] = set()
        self._latest: dict[int, int] = {}
        self._named = ""
        self._offered: set[str] = set()
        self._numbers: dict[str, dict[str, float]] = {}

    def take(self, line: Line) -> None:
        pairs = self._entities.mentioned(line.text)
        self._present.update(number for _, number in pairs)
        if line.kind == "fact":
            if line.text != NO_RESULT:
                name, relation, value = line.text.split(" ", 2)
                about = self._numbers.setdefault(name.lower(), {})
                if relation in self._entities.numeric and is_number(value):
                    about[relation] = float(value)
            return
        self._latest.update(pairs)
        for word in line.text.lower().split():
            if any(kind == 0 for kind, _ in self._entities.of_word.get(word, ())):
                self._named = word
                if line.kind == "bot":
                    self._offered.add(word)

    def marks(self) -> set[tuple[int, int]]:
        """All marks as (entity, mark)."""
        number_of = {mark: number for number, mark in enumerate(self._entities.marks)}
        marks = {(entity, number_of["present"]) for entity in self._present}
        marks.update((entity, number_of["latest"]) for entity in self._latest.values())
        marks.update((entity, number_of["of named"]) for entity in self._entities.belongings(self._named))
        kinds = self._entities.of_word
        number = {
            name: next((number for kind, number in kinds.get(name, ()) if kind == 0), 0)
            for name in {*self._numbers, *self._offered}
        }
        waiting = [name for name in self._numbers if name not in self._offered]
        marks.update((number[name], number_of["listed"]) for name in self._numbers)
        marks.update((number[name], number_of["offered"]) for name in self._offered)
        marks.update((number[name], number_of["open"]) for name in waiting)
        for relation in self._entities.numeric:
            values = {name: self._numbers[name][relation] for name in waiting if relation in self._numbers[name]}
            for side, extreme in (("most", max), ("least", min)):
                if values:
                    edge = extreme(values.values())
                    marks.update(
                        (number[name], number_of[f"{side} {relation}"]) for name in values if values[name] == edge
                    )
        return marks


class RelationSchema(msgspec.Struct, frozen=True):
    """Relations in the order of first appearance, and those of them all of whose values are numbers.

    Their order numbers the weights of a model; it stays when the model moves to another world.
    """

    relations: tuple[str, ...]
    numeric: tuple[str, ...]

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> RelationSchema:
        """The schema of a knowledge base."""
        numbers: dict[str, bool] = {}
        for fact in facts:
            numbers[fact.relation] = numbers.get(fact.relation, True) and is_number(fact.value)
        return cls(tuple(numbers), tuple(relation for relation, numeric in numbers.items() if numeric))

    def check(self, facts: Sequence[Fact]) -> None:
        """A relation that the model has no weights for is an error."""
        unknown = next((fact.relation for fact in facts if fact.relation not in self.relations), None)
        if unknown is not None:
            raise DialgaugeError(
                f"the knowledge base has the relation {unknown}, which the model never saw."
                f"{nearest(unknown, self.relations)}"
            )
