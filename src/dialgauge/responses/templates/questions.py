"""Which field a question asks for: of a known one, users' answers tell it; of a new one, its words.

A known question without slots asks for the field that users name next far more often than after other replies. The
words of a new question are judged by how users use them: ``area`` goes with locations because users who say it name
one, or are told one.

    lift(word, field) = P(field | word) / P(field)

where a field counts when a value of it is in the utterance or in the reply to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from dialgauge.responses.episodes import SILENCE, Episode
from dialgauge.responses.templates.inventory import Inventory
from dialgauge.responses.templates.lexicon import Lexicon
from dialgauge.responses.templates.logistic import Floats

#: Observations of "nothing special" added to each word or question.
_PRIOR = 5.0
_LEAST_ANSWERS = 20
#: An answer names the field this much more often than usual, and this much more than the next field.
_LIFT, _AHEAD = 1.5, 2.0
#: Log-lift of the word that tells the field most, and by how much all words together prefer it to the next.
_STRONG, _MARGIN = 0.9, 0.5

#: (what is counted, which fields it came with)
_Sighting: TypeAlias = tuple[Sequence[str], set[str]]


def asked_fields(dialogs: Iterable[Episode], inventory: Inventory) -> dict[str, int]:
    """Field to the known template that asks for it."""
    fields, best = inventory.lexicon.fields, dict[str, tuple[float, int]]()
    if not fields:  # chat logs without calls have none
        return {}
    for text, (lift, times) in _lifts(_answers(dialogs, inventory), fields).items():
        template = int(text)
        order = np.argsort(lift)
        high, next_high = lift[order[-1]], lift[order[-2:]][0] if len(fields) > 1 else 0.0
        if times >= _LEAST_ANSWERS and high >= _LIFT and high >= _AHEAD * next_high:
            field = fields[int(order[-1])]
            best[field] = max(best.get(field, (0.0, -1)), (times, template))
    return {field: template for field, (_, template) in best.items()}


class Words:
    """What the words of questions ask for."""

    def __init__(self, dialogs: Iterable[Episode], inventory: Inventory) -> None:
        self._inventory, self._fields = inventory, inventory.lexicon.fields
        self._lift = {
            word: np.log(lift) for word, (lift, _) in _lifts(_utterances(dialogs, inventory), self._fields).items()
        }

    def asked(self, template: int) -> str | None:
        """The field that a template's question asks for, if its words tell; one that it names is not asked for."""
        words = [self._lift[word] for word in _question(self._inventory.templates[template]) if word in self._lift]
        named = self._inventory.signature(template)
        places = [place for place, field in enumerate(self._fields) if field not in named]
        if not words or not places:
            return None
        total = np.sum(words, axis=0)
        order = sorted(places, key=lambda place: float(total[place]))
        clear = len(order) == 1 or total[order[-1]] - total[order[-2]] > _MARGIN
        return self._fields[order[-1]] if clear and max(word[order[-1]] for word in words) > _STRONG else None


def _question(template: str) -> list[str]:
    """The words of a template's last sentence, if that is a question without slots."""
    last = template.split(" . ")[-1]
    if not last.endswith("?") or "<" in last:
        return []
    return [word.lower().strip("?.,") for word in last.split()]


def _lifts(sightings: Iterable[_Sighting], fields: Sequence[str]) -> dict[str, tuple[Floats, float]]:
    """Per thing counted: the lift of each field, and how often it was seen."""
    count: dict[str, Floats] = {}
    total = np.zeros(len(fields) + 1)
    for things, found in sightings:
        row = np.array([*(field in found for field in fields), True], dtype=np.float64)
        total += row
        for thing in things:
            count[thing] = count.get(thing, np.zeros(len(row))) + row
    usual = np.maximum(total[:-1], 1.0) / max(total[-1], 1.0)
    return {
        thing: ((row[:-1] + _PRIOR * usual) / (row[-1] + _PRIOR) / usual, float(row[-1]))
        for thing, row in count.items()
    }


def _answers(dialogs: Iterable[Episode], inventory: Inventory) -> Iterator[_Sighting]:
    """After each reply (its template's number as text, if it is a question without slots): what the user names."""
    for dialog in dialogs:
        replied: list[str] = []
        for line in dialog.lines:
            if line.kind == "bot":
                template = inventory.parse(line.text).template
                asks = template >= 0 and bool(_question(inventory.templates[template]))
                replied = [str(template)] if asks and not inventory.signature(template) else []
            elif line.kind == "user" and line.text != SILENCE:
                yield replied, _named(line.text.lower().split(), inventory.lexicon)


def _utterances(dialogs: Iterable[Episode], inventory: Inventory) -> Iterator[_Sighting]:
    """The words of each utterance that are no values, and the fields in it and in the reply."""
    for dialog in dialogs:
        for at in dialog.asked:
            text = dialog.lines[at].text
            if text == SILENCE:
                continue
            words = text.lower().split()
            found = _named(words, inventory.lexicon)
            template, slots = inventory.parse(dialog.lines[at + 1].text)
            if not inventory.is_call(template):
                found |= {slot.kind for slot in slots}
            plain = [word for word in dict.fromkeys(words) if inventory.lexicon.value(word) is None]
            yield plain, found


def _named(words: Sequence[str], lexicon: Lexicon) -> set[str]:
    return {slot.kind for slot in map(lexicon.value, words) if slot is not None}
