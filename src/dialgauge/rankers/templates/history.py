"""What has happened in a dialog so far: mentions, calls, results and proposals. Whatever the ranker learns from dialogs
or answers in them, it reads them through :class:`DialogHistory`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dialgauge.formats import NO_RESULT, SILENCE
from dialgauge.rankers.episode import Episode, Line
from dialgauge.rankers.features import is_number
from dialgauge.rankers.templates.inventory import NAME, Inventory, Slot

#: Words that users say for a value, such as ``center`` for ``centre``.
Aliases = Mapping[str, Slot]


class Mention(NamedTuple):
    """A value that was said, and in which turn."""

    turn: int
    value: str


class DialogHistory:
    """A dialog as it goes on; :meth:`take` reads one line."""

    def __init__(self, inventory: Inventory, aliases: Aliases) -> None:
        self.inventory, self.lexicon, self._aliases = inventory, inventory.lexicon, aliases
        self.turn = 0
        #: What the user said in this turn, and last since the bot told something.
        self.words: list[str] = []
        self.unanswered: list[str] = []
        #: Fields of which the user named a value in this turn.
        self.now: set[str] = set()
        self.by_user: dict[str, list[Mention]] = {field: [] for field in self.lexicon.fields}
        self.by_bot: dict[str, list[Mention]] = {field: [] for field in self.lexicon.fields}
        self.user_name = ""
        self.calls: list[tuple[str, ...]] = []
        self.call_turn = -1
        #: Names that the latest call returned, with their facts; None before the first.
        self.results: dict[str, dict[str, str]] | None = None
        #: Names the bot has said, the latest last.
        self.offered: list[str] = []
        #: Templates and texts of the bot's replies.
        self.replies: list[int] = []
        self.texts: list[str] = []
        self._answered = False

    def take(self, line: Line) -> None:
        if line.kind == "user":
            self._hear(line.text)
        elif line.kind == "bot":
            self._say(line.text)
        else:
            self._learn(line.text)

    def _hear(self, text: str) -> None:
        self.turn += 1
        self.words = [] if text == SILENCE else text.lower().split()
        self.unanswered = self.words or self.unanswered
        self.now = set()
        self._answered = False
        for word in self.words:
            slot = self.value(word)
            if slot is not None:
                self.by_user[slot.kind].append(Mention(self.turn, slot.value))
                self.now.add(slot.kind)
            elif "_" in word:
                self.user_name = next(iter(self.lexicon.named(word)), self.user_name)

    def _say(self, text: str) -> None:
        template, slots = self.inventory.parse(text)
        self.replies.append(template)
        self.texts.append(text)
        if self.inventory.is_call(template):
            self.calls.append(tuple(slot.value for slot in slots))
            self.call_turn = self.turn
            self.results = {}
            return
        self.unanswered = []
        for slot in slots:
            if slot.kind in self.by_bot:
                self.by_bot[slot.kind].append(Mention(self.turn, slot.value))
            elif slot.kind == NAME:
                self.offered = [*(name for name in self.offered if name != slot.value), slot.value]

    def _learn(self, text: str) -> None:
        if text == NO_RESULT:
            self.results = {}
            return
        if not self._answered or self.results is None:
            self.results, self._answered = {}, True
        name, relation, value = text.split(" ", 2)
        self.results.setdefault(name, {})[relation] = value

    def value(self, word: str) -> Slot | None:
        """The field value a user's word stands for, if any."""
        return self.lexicon.value(word) or self._aliases.get(word)

    @property
    def just_called(self) -> bool:
        """Was the bot's latest reply a call?"""
        return bool(self.replies) and self.inventory.is_call(self.replies[-1])

    def constraint(self, field: str) -> str:
        """The value of a field that the user said last, or an empty text."""
        mentions = self.by_user[field]
        return mentions[-1].value if mentions else ""

    def ranked(self) -> list[str]:
        """The names of the latest results by the number that facts give them (a rating), highest first."""
        results = self.results or {}
        return sorted(results, key=lambda name: -_number(results[name]))


def _number(facts: Mapping[str, str]) -> float:
    return next((float(value) for value in facts.values() if is_number(value)), float("-inf"))


# Aliases, learned from what the bot answers.

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
    for words, slot in (pair for dialog in dialogs for pair in _revealed_values(dialog, inventory)):
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
    """(what the user said, a value that the next reply names) where the user had not named the value before."""
    history = DialogHistory(inventory, {})
    for line in dialog.lines:
        if line.kind == "bot" and not inventory.is_call(inventory.parse(line.text).template):
            named = {slot.kind for slot in map(history.value, history.unanswered) if slot}
            for slot in inventory.parse(line.text).slots:
                mentions = history.by_user.get(slot.kind)
                if (
                    mentions is not None
                    and slot.kind not in named
                    and slot.value not in {mention.value for mention in mentions}
                ):
                    yield history.unanswered, slot
        history.take(line)
