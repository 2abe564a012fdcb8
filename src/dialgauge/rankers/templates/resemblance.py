"""Templates that no known dialog has: which known ones they resemble.

A new template with the same kinds of slots as a known one and words in common says the same in other words: the two are
one act, and if the known wording is dropped, the new one has taken its place. Others are only heard, not said: where
they occur in a dialog they count as the known template that asks for the same field, or has most words in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from dialgauge.rankers.episode import SILENCE, Episode
from dialgauge.rankers.templates.alignment import words_in_common
from dialgauge.rankers.templates.expectation import Expected, Novelty
from dialgauge.rankers.templates.inventory import EntityLexicon, Ints, Inventory, Slot
from dialgauge.rankers.templates.logistic import Floats

#: Least words in common (Jaccard) with a template of the same slots, and with any.
_SAME_SLOTS, _ANY = 0.25, 0.5


def paraphrases(inventory: Inventory, uses: Floats) -> dict[int, int]:
    """New template to the known one with the same kinds of slots and most words in common."""
    known = [t for t in np.flatnonzero(uses > 0).tolist() if inventory.signature(t)]
    known_of = {}
    for new in np.flatnonzero(uses == 0).tolist():
        alike = [t for t in known if inventory.signature(t) == inventory.signature(new)]
        best = _most_alike(inventory, new, alike, _SAME_SLOTS)
        if best is not None:
            known_of[new] = best
    return known_of


def questions(dialogs: Sequence[Episode], inventory: Inventory, novelty: Novelty) -> dict[int, int]:
    """Question with more new texts than known uses, to the known template that asks for the same field."""
    asking = asked_fields(dialogs, inventory)
    words = QuestionWords(dialogs, inventory)
    known_of = {}
    for template in np.flatnonzero(novelty.new > novelty.uses).tolist():
        known = asking.get(words.asked_field(template) or "")
        if known is not None and known != template:
            known_of[template] = known
    return known_of


def stand_ins(inventory: Inventory, uses: Floats, resembled: Mapping[int, int]) -> Ints:
    """Per template the known one that it counts as when it is heard; itself for known ones and strangers."""
    known = np.flatnonzero(uses > 0).tolist()
    heard_as = np.arange(len(inventory.templates))
    for new in np.flatnonzero(uses == 0).tolist():
        best = _most_alike(inventory, new, known, _ANY)
        heard_as[new] = new if best is None else resembled.get(best, best)
    for new, alike in resembled.items():
        heard_as[new] = alike
    return heard_as


def inherited(expected: Expected, novelty: Novelty, alike: Mapping[int, int]) -> Floats:
    """Expected uses, where paraphrases share what their known template, if dropped, would have had."""
    uses = expected.uses.copy()
    texts: Counter[int] = Counter()
    for new, known in alike.items():
        texts[known] += int(novelty.new[new]) + 1
    for new, known in alike.items():
        left = (1.0 - expected.kept[known]) * expected.dialogs * expected.rate[known]
        uses[new] = max(uses[new], left * (novelty.new[new] + 1.0) / texts[known])
    return uses


def _most_alike(inventory: Inventory, new: int, others: Sequence[int], least: float) -> int | None:
    common = {t: words_in_common(inventory.templates[t], inventory.templates[new]) for t in others}
    best = max(common, key=lambda t: common[t], default=None)
    return best if best is not None and common[best] >= least else None


# Which field a question asks for: of a known one, users' answers tell it; of a new one, its words, judged by how users
# use them. ``area`` goes with locations because users who say it name one, or are told one.
#
#     lift(word, field) = P(field | word) / P(field)
#
# where a field counts when a value of it is in the utterance or in the reply to it.

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


class QuestionWords:
    """What the words of questions ask for."""

    def __init__(self, dialogs: Iterable[Episode], inventory: Inventory) -> None:
        self._inventory, self._fields = inventory, inventory.lexicon.fields
        self._lift = {
            word: np.log(lift) for word, (lift, _) in _lifts(_utterances(dialogs, inventory), self._fields).items()
        }

    def asked_field(self, template: int) -> str | None:
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
    for things, named in sightings:
        row = np.array([*(field in named for field in fields), True], dtype=np.float64)
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
        for at in dialog.prompts:
            text = dialog.lines[at].text
            if text == SILENCE:
                continue
            words = text.lower().split()
            named = _named(words, inventory.lexicon)
            template, slots = inventory.parse(dialog.lines[at + 1].text)
            if not inventory.is_call(template):
                named |= {slot.kind for slot in slots}
            plain = [word for word in dict.fromkeys(words) if inventory.lexicon.value(word) is None]
            yield plain, named


def _named(words: Sequence[str], lexicon: EntityLexicon) -> set[str]:
    return {slot.kind for slot in map(lexicon.value, words) if slot is not None}


# Aliases: other words that users say for a value (``center``, ``moderately``), learned from what the bot answers.

_LETTERS = 3
_TIMES = 2
_SHARE = 0.5


def learn_aliases(dialogs: Iterable[Episode], inventory: Inventory) -> dict[str, Slot]:
    """Aliases by word.

    A word is an alias of value v of a field when it begins like v, and at least half of the replies that name a value
    of that field, right after an utterance with the word and without any value of the field, name v.
    """
    together: Counter[tuple[str, Slot]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    for dialog in dialogs:
        for words, slot in _revealed_values(dialog, inventory):
            for word in dict.fromkeys(words):
                alone[word, slot.kind] += 1
                if inventory.lexicon.value(word) is None and _begins_like(word, slot.value):
                    together[word, slot] += 1
    return {
        word: slot
        for (word, slot), times in together.items()
        if times >= _TIMES and times >= _SHARE * alone[word, slot.kind]
    }


def _begins_like(word: str, value: str) -> bool:
    return len(word) >= _LETTERS and any(part.startswith(word[:_LETTERS]) for part in value.split("_"))


def _revealed_values(dialog: Episode, inventory: Inventory) -> Iterator[tuple[list[str], Slot]]:
    """(what the user said, a value that the next reply names) where nobody had said the value before."""
    words: list[str] = []
    said: set[str] = set()
    for line in dialog.lines:
        if line.kind == "user" and line.text != SILENCE:
            words = line.text.lower().split()
            said.update(words)
        elif line.kind == "bot" and words:
            template, slots = inventory.parse(line.text)
            if inventory.is_call(template):
                continue
            for slot in _only_values(slots, inventory.lexicon):
                if slot.value not in said and all(_kind(word, inventory.lexicon) != slot.kind for word in words):
                    yield words, slot
            said.update(slot.value for slot in slots)
            words = []


def _only_values(slots: tuple[Slot, ...], lexicon: EntityLexicon) -> list[Slot]:
    """The field values of a reply that names one value per field."""
    counts = Counter(slot.kind for slot in slots)
    return [slot for slot in slots if slot.kind in lexicon.values and counts[slot.kind] == 1]


def _kind(word: str, lexicon: EntityLexicon) -> str:
    slot = lexicon.value(word)
    return slot.kind if slot else ""
