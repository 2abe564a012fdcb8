"""Texts as templates with slots: which words are entities, and of what kind.

That is read off the knowledge base, the facts in dialogs and the candidates. Kinds are relations of the facts, and
``name`` for what the facts are about. A *field* is a relation that a call can set (``api_call italian R_location
cheap``). Fields take values that no fact has (a cuisine nobody cooks): those come from the calls among the candidates,
and by analogy from candidates that differ from others in one word only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT
from dialgauge.rankers.episode import Episode
from dialgauge.rankers.features import is_number

Ints = NDArray[np.int64]

NAME = "name"
#: The kind of a whole candidate.
TEXT = "text"
CALL = "api_call"
#: A shape with this many fillings has an open slot; a word that would complete it is a value of that slot.
_FILLINGS = 6


class Slot(NamedTuple):
    """An entity in a text: its kind and the word or name itself."""

    kind: str
    value: str


class EntityLexicon(msgspec.Struct, dict=True):
    """Entities by kind, and what is known of each name."""

    #: Relations in the order of a call's arguments.
    fields: tuple[str, ...]
    #: Values of each field.
    values: dict[str, tuple[str, ...]]
    #: What facts say of each name.
    about: dict[str, dict[str, str]]

    def __post_init__(self) -> None:
        self.kinds: dict[str, Slot] = {}
        for name, facts in self.about.items():
            for relation, value in facts.items():
                if relation not in self.values:
                    self.kinds[value.lower()] = Slot(relation, name)
        for field in self.fields:
            for value in self.values[field]:
                self.kinds.setdefault(value.lower(), Slot(field, value))
        self._names = {name.lower(): name for name in self.about}
        self._name_pattern = _any_name(self.about)
        self._matches: dict[frozenset[tuple[str, str]], int] = {}

    def value(self, word: str) -> Slot | None:
        """The field value a word is, if any."""
        slot = self.kinds.get(word)
        return slot if slot is not None and slot.kind in self.values else None

    def named(self, text: str) -> list[str]:
        """The names a text has, in order."""
        return [self._names[match[0].lower().replace(" ", "_")] for match in self._name_pattern.finditer(text)]

    def matches(self, constraints: Mapping[str, str]) -> int:
        """How many names have all of these values; an empty text wants none."""
        wanted = frozenset((field, value) for field, value in constraints.items() if value)
        if wanted not in self._matches:
            self._matches[wanted] = sum(wanted <= facts.items() for facts in self.about.values())
        return self._matches[wanted]

    def split(self, text: str) -> tuple[str, tuple[Slot, ...]]:
        """The shape of a bot's text, with ``<kind>`` for each entity, and the entities in order."""
        words = text.split()
        if words[:1] == [CALL] and len(words) == len(self.fields) + 1:
            return CALL, tuple(map(Slot, self.fields, words[1:]))
        names = iter(self.named(text))
        shape, slots = [], []
        for word in self._name_pattern.sub("\0", text).split():
            slot = Slot(NAME, next(names)) if word == "\0" else self.kinds.get(word.lower())
            shape.append(f"<{slot.kind}>" if slot else word)
            if slot:
                slots.append(slot)
        return " ".join(shape), tuple(slots)


def learn_lexicon(facts: Iterable[Fact], dialogs: Iterable[Episode], texts: Sequence[str]) -> EntityLexicon:
    """The lexicon of a knowledge base, dialogs and the texts a bot may say."""
    known = [(fact.entity, fact.relation, fact.value) for fact in facts]
    relations: dict[str, dict[str, None]] = {}
    about: dict[str, dict[str, str]] = {}
    for name, relation, value in dict.fromkeys([*known, *_shown(dialogs)]):
        if not is_number(value):
            about.setdefault(name, {}).setdefault(relation, value)
            relations.setdefault(relation, {})[value] = None
    calls = [words[1:] for words in map(str.split, texts) if words[:1] == [CALL]]
    fields = _fields(calls, relations)
    values = {field: dict(relations[field]) for field in fields}
    for call in calls:
        for field, value in zip(fields, call, strict=False):
            if value != field:
                values[field][value] = None
    return _with_analogies(
        EntityLexicon(fields, {field: tuple(listed) for field, listed in values.items()}, about), texts
    )


def _shown(dialogs: Iterable[Episode]) -> Iterator[tuple[str, str, str]]:
    for dialog in dialogs:
        for line in dialog.lines:
            if line.kind == "fact" and line.text != NO_RESULT:
                name, relation, value = line.text.split(" ", 2)
                yield name, relation, value


def _fields(calls: Sequence[Sequence[str]], relations: dict[str, dict[str, None]]) -> tuple[str, ...]:
    """The relation at each position of a call: the one that most of the arguments there name or are values of."""
    fields = []
    for arguments in zip(*calls, strict=False):
        votes: Counter[str] = Counter()
        for word in arguments:
            votes.update(relation for relation, values in relations.items() if word == relation or word in values)
        if not votes:
            raise DialgaugeError(
                f"the arguments of the calls ({', '.join(sorted(set(arguments))[:3])}, …) are values of no relation of "
                "the facts; give the knowledge base that belongs to the task"
            )
        fields.append(votes.most_common(1)[0][0])
    return tuple(fields)


def _with_analogies(lexicon: EntityLexicon, texts: Sequence[str]) -> EntityLexicon:
    """The lexicon with words added that stand where values of a field stand in many other texts."""
    shapes = [lexicon.split(text)[0].split() for text in texts]
    fillings = Counter(" ".join(shape) for shape in shapes)
    values = {field: dict.fromkeys(listed) for field, listed in lexicon.values.items()}
    for shape in shapes:
        if fillings[" ".join(shape)] >= _FILLINGS:
            continue
        for index, word in enumerate(shape):
            for field in lexicon.fields:
                opened = " ".join([*shape[:index], f"<{field}>", *shape[index + 1 :]])
                if not word.startswith("<") and fillings[opened] >= _FILLINGS:
                    values[field][word] = None
    return msgspec.structs.replace(lexicon, values={field: tuple(listed) for field, listed in values.items()})


def _any_name(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern for all names, written with underscores, with spaces, or with both."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    spelled = ("[ _]".join(map(re.escape, name.split("_"))) for name in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)" if longest_first else r"(?!)", re.IGNORECASE)


class Parsed(NamedTuple):
    """A text as template and entities; the template is -1 when no candidate has it."""

    template: int
    slots: tuple[Slot, ...]


class Inventory:
    """The candidates as templates, numbered in their order, and the one index of the entities they are told apart by.

    A shape that only one text has is no template with slots but a fixed sentence (``You can ask for restaurants …``
    though ``ask`` is also a restaurant).
    """

    def __init__(self, lexicon: EntityLexicon, candidates: Sequence[str]) -> None:
        self.lexicon, self.candidates = lexicon, tuple(candidates)
        #: Candidate to its place in the file.
        self.index = {text: index for index, text in enumerate(candidates)}
        split = [lexicon.split(text) for text in candidates]
        fillings: dict[str, set[tuple[Slot, ...]]] = {}
        for shape, slots in split:
            fillings.setdefault(shape, set()).add(slots)
        self._open = {shape for shape, filled in fillings.items() if len(filled) > 1}
        closed = [
            (shape, slots) if shape in self._open else (text, ())
            for text, (shape, slots) in zip(candidates, split, strict=True)
        ]
        self.templates = list(dict.fromkeys(shape for shape, _ in closed))
        self._number = {shape: number for number, shape in enumerate(self.templates)}
        self._parsed: dict[str, Parsed] = {}
        self.template_of: Ints = np.array([self._number[shape] for shape, _ in closed], dtype=np.int64)
        self.members = [np.flatnonzero(self.template_of == number) for number in range(len(self.templates))]
        #: The kinds of each template's slots, sorted.
        self.signatures = [tuple(sorted(slot.kind for slot in closed[members[0]][1])) for members in self.members]
        keys = [(Slot(TEXT, text), *self._keys(slots)) for text, (_, slots) in zip(candidates, closed, strict=True)]
        #: Names, values and whole candidates, numbered.
        self.entities = {slot: number for number, slot in enumerate(dict.fromkeys(s for key in keys for s in key))}
        #: The entities of each candidate, the candidate itself first.
        self.keys = [[self.entities[slot] for slot in key] for key in keys]

    def _keys(self, slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
        """The name, said or told by what belongs to it (``resto_rome_phone``); the values where there is neither."""
        values = self.lexicon.values
        named = [slot for slot in slots if slot.kind == NAME] or [slot for slot in slots if slot.kind not in values]
        return (Slot(NAME, named[0].value),) if named else slots

    def parse(self, text: str) -> Parsed:
        """A text as template and entities."""
        parsed = self._parsed.get(text)
        if parsed is None:
            shape, slots = self.lexicon.split(text)
            if shape not in self._open:
                shape, slots = text, ()
            parsed = self._parsed[text] = Parsed(self._number.get(shape, -1), slots)
        return parsed

    def is_call(self, template: int) -> bool:
        return template >= 0 and self.templates[template] == CALL
