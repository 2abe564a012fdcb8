"""What a dialog says of the entities that candidates name: features that a model may weigh.

Nothing here knows which relation matters or that the highest rating comes first: that is learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import NO_RESULT
from dialgauge.rankers.bags import is_number, tokens
from dialgauge.rankers.episode import Line, Point

NAME = "name"


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


class Entities:
    """Features of the entities that candidates name. This base class has none."""

    count = 0
    features = 0

    def named(self, text: str) -> list[int]:
        """The entities that a candidate names."""
        del text
        return []

    def said(self, point: Point) -> Iterable[tuple[int, int]]:
        """(entity, feature) for all that the dialog says."""
        del point
        return ()


class MatchTypes(Entities):
    """A feature for each type, which is a relation of the knowledge base: the dialog mentions the entity."""

    def __init__(self, facts: Iterable[Fact], schema: RelationSchema) -> None:
        values = dict.fromkeys((fact.value.lower(), schema.relations.index(fact.relation)) for fact in facts)
        self.count, self.features = len(values), len(schema.relations)
        self._of_word: dict[str, list[tuple[int, int]]] = {}
        for number, (word, kind) in enumerate(values):
            self._of_word.setdefault(word, []).append((number, kind))
        self._of_text: dict[str, list[tuple[int, int]]] = {}

    def mentioned(self, text: str) -> list[tuple[int, int]]:
        """(entity, type) for all entities in a text."""
        if text not in self._of_text:
            self._of_text[text] = [pair for word in tokens(text) for pair in self._of_word.get(word, ())]
        return self._of_text[text]

    def named(self, text: str) -> list[int]:
        return list(dict.fromkeys(entity for entity, _ in self.mentioned(text)))

    def said(self, point: Point) -> Iterable[tuple[int, int]]:
        texts = {*(line.text for line in point.history), point.utterance}
        return sorted({pair for text in texts for pair in self.mentioned(text)})


class TypedEntities(Entities):
    """The names of the knowledge base and the values of its relations, with a feature for every kind and mark.

    present      the entity occurs in the dialog so far, facts included
    latest       it is the entity of its kind that user or bot mentioned last
    of named     it belongs to the name that user or bot mentioned last
    listed       a fact of the dialog is about it (names only)
    offered      the bot has said it (names only)
    open         listed and not offered
    most, least  among the open names it has the largest, the smallest number of a relation (two marks for each)
    """

    def __init__(self, facts: Iterable[Fact], schema: RelationSchema) -> None:
        self._numeric = schema.numeric
        self.marks = ["present", "latest", "of named", "listed", "offered", "open"]
        self.marks += [f"{side} {relation}" for relation in schema.numeric for side in ("most", "least")]
        self.kinds = [NAME, *schema.relations]
        #: The number of each entity by kind and word, and the entities that facts give to each name.
        self.number: dict[tuple[str, str], int] = {}
        self._belongings: dict[str, list[int]] = {}
        for fact in facts:
            name = fact.entity.lower()
            self.number.setdefault((NAME, name), len(self.number))
            value = self.number.setdefault((fact.relation, fact.value.lower()), len(self.number))
            self._belongings.setdefault(name, []).append(value)
        self._kind = [kind for kind, _ in self.number]
        #: The entities of each word.
        self.of_word: dict[str, list[int]] = {}
        for (_, word), entity in self.number.items():
            self.of_word.setdefault(word, []).append(entity)
        self.count, self.features = len(self.number), len(self.kinds) * len(self.marks)

    def typed(self, text: str) -> list[str]:
        """The words of a text, each entity replaced by a word for its kind."""
        return [f"<{self._kind[self.of_word[word][0]]}>" if word in self.of_word else word for word in tokens(text)]

    def bare(self, text: str) -> list[str]:
        """The words of a text without its entities."""
        return [word for word in tokens(text) if word not in self.of_word]

    def named(self, text: str) -> list[int]:
        return [entity for word in tokens(text) for entity in self.of_word.get(word, ())]

    def said(self, point: Point) -> Iterable[tuple[int, int]]:
        for entity, mark in sorted(set(self._marked([*point.history, Line("user", point.utterance)]))):
            yield entity, self.kinds.index(self._kind[entity]) * len(self.marks) + self.marks.index(mark)

    def _marked(self, lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
        """(entity, mark) for all that the lines say."""
        latest: dict[str, int] = {}
        offered: set[str] = set()
        listed: dict[str, dict[str, float]] = {}
        last_name = ""
        for kind, text in lines:
            entities = self.named(text)
            yield from ((entity, "present") for entity in entities)
            if kind == "fact":
                if text != NO_RESULT:
                    name, relation, value = text.split(" ", 2)
                    numbers = listed.setdefault(name.lower(), {})
                    if relation in self._numeric and is_number(value):
                        numbers[relation] = float(value)
                continue
            latest.update((self._kind[entity], entity) for entity in entities)
            names = [word for word in tokens(text) if (NAME, word) in self.number]
            last_name = names[-1] if names else last_name
            offered.update(names if kind == "bot" else ())
        yield from ((entity, "latest") for entity in latest.values())
        yield from ((entity, "of named") for entity in self._belongings.get(last_name, ()))
        still_open = {name: numbers for name, numbers in listed.items() if name not in offered}
        yield from self._names(listed, "listed")
        yield from self._names(offered, "offered")
        yield from self._names(still_open, "open")
        for relation in self._numeric:
            values = {name: numbers[relation] for name, numbers in still_open.items() if relation in numbers}
            for side, edge in (("most", max), ("least", min)):
                extreme = edge(values.values(), default=None)
                yield from self._names((name for name in values if values[name] == extreme), f"{side} {relation}")

    def _names(self, names: Iterable[str], mark: str) -> Iterator[tuple[int, str]]:
        return ((self.number[NAME, name], mark) for name in names if (NAME, name) in self.number)
