"""Other words that users say for a value (``center``, ``moderately``): learned from what the bot answers.

A word is an alias of value v of a field when it begins like v, and at least half of the replies that name a value of
that field, right after an utterance with the word and without any value of the field, name v.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dialgauge.responses.episodes import SILENCE, Episode
from dialgauge.responses.templates.inventory import Inventory
from dialgauge.responses.templates.lexicon import Lexicon, Slot

_LETTERS = 3
_TIMES = 2
_SHARE = 0.5


def learn_aliases(dialogs: Iterable[Episode], inventory: Inventory) -> dict[str, Slot]:
    """Aliases by word."""
    together: Counter[tuple[str, Slot]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    for dialog in dialogs:
        for words, slot in _answers(dialog, inventory):
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


def _answers(dialog: Episode, inventory: Inventory) -> Iterator[tuple[list[str], Slot]]:
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


def _only_values(slots: tuple[Slot, ...], lexicon: Lexicon) -> list[Slot]:
    """The field values of a reply that names one value per field."""
    counts = Counter(slot.kind for slot in slots)
    return [slot for slot in slots if slot.kind in lexicon.values and counts[slot.kind] == 1]


def _kind(word: str, lexicon: Lexicon) -> str:
    slot = lexicon.value(word)
    return slot.kind if slot else ""
