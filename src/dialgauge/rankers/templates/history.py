"""What has happened in a dialog so far, as the cues and marks need it: mentions, calls, results and proposals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dialgauge.rankers.episode import NO_RESULT, SILENCE, Line, Point
from dialgauge.rankers.templates.inventory import NAME, Inventory, Slot, is_number

#: Words that users say for a value, such as ``center`` for ``centre``.
Aliases = Mapping[str, Slot]


class Mention(NamedTuple):
    """A value that was said: in which turn, which value, and whether by another word for it."""

    turn: int
    value: str
    alias: bool = False


class DialogHistory:
    """A dialog as it goes on; :meth:`take` reads one line."""

    def __init__(self, inventory: Inventory, aliases: Aliases) -> None:
        self.inventory, self.lexicon, self._aliases = inventory, inventory.lexicon, aliases
        fields = self.lexicon.fields
        self.turn = 0
        self.words: list[str] = []
        self.now: set[str] = set()
        self.by_user: dict[str, list[Mention]] = {field: [] for field in fields}
        self.by_bot: dict[str, list[Mention]] = {field: [] for field in fields}
        self.user_name = ""
        self.calls: list[tuple[str, ...]] = []
        self.call_turn = -1
        #: Names and facts that the latest call returned; None before the first.
        self.results: dict[str, dict[str, str]] | None = None
        self.facts: dict[str, dict[str, str]] = {}
        #: Names the bot has said, the latest last.
        self.offered: list[str] = []
        #: Templates and texts of the bot's replies.
        self.replies: list[int] = []
        self.texts: list[str] = []
        self._answered = False

    def take(self, line: Line) -> None:
        """Read a line."""
        if line.kind == "user":
            self._hear(line.text)
        elif line.kind == "bot":
            self._say(line.text)
        else:
            self._learn(line.text)

    def _hear(self, text: str) -> None:
        self.turn += 1
        self.words = [] if text == SILENCE else text.lower().split()
        self.now = set()
        self._answered = False
        for word in self.words:
            slot, alias = self.lexicon.value(word), False
            if slot is None:
                slot, alias = self._aliases.get(word), True
            if slot is not None:
                self.by_user[slot.kind].append(Mention(self.turn, slot.value, alias))
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
        self.facts.setdefault(name, {})[relation] = value

    @property
    def just_called(self) -> bool:
        """Was the bot's latest reply a call?"""
        return bool(self.replies) and self.inventory.is_call(self.replies[-1])

    def constraint(self, field: str) -> str:
        """The value of a field that the user said last, or an empty text."""
        said = self.by_user[field]
        return said[-1].value if said else ""

    def fact(self, name: str, relation: str) -> str:
        """What is known of a name, from the dialog first."""
        known = self.facts.get(name, {}).get(relation) or self.lexicon.about.get(name, {}).get(relation)
        return known or ""

    def ranked(self) -> list[str]:
        """The names of the latest results by the number that facts give them (a rating), highest first."""
        results = self.results or {}
        return sorted(results, key=lambda name: -_number(results[name]))


def _number(facts: Mapping[str, str]) -> float:
    return next((float(value) for value in facts.values() if is_number(value)), float("-inf"))


class Follower:
    """Follows dialogs point by point, going on from the last point where the next one extends it."""

    def __init__(self, inventory: Inventory, aliases: Aliases) -> None:
        self._inventory, self._aliases = inventory, aliases
        self._history = DialogHistory(inventory, aliases)
        self._taken: tuple[Line, ...] = ()

    def at(self, point: Point) -> DialogHistory:
        """The dialog up to and including the user's words; valid until the next call."""
        lines = (*point.history, Line("user", point.utterance))
        done = len(self._taken)
        if lines[:done] != self._taken or done >= len(lines):
            self._history, done = DialogHistory(self._inventory, self._aliases), 0
        for line in lines[done:]:
            self._history.take(line)
        self._taken = lines
        return self._history


class PointChain(NamedTuple):
    """Points of dialogs, each after its predecessor; ``places`` says where those asked for are."""

    points: list[Point]
    #: The place of the point before, -1 for the first of a dialog.
    before: list[int]
    #: What the bot said at the point before.
    said: list[str]
    places: list[int]


def with_predecessors(points: Sequence[Point]) -> PointChain:
    """The points, and before each the earlier points of its dialog, as far as not already there.

    Points come in any order and from any place of a dialog; those of one dialog that follow each other share theirs.
    """
    chain = PointChain([], [], [], [])
    for point in points:
        prompts = _prompts(point.history)
        if not (chain.points and prompts and _extends(point, prompts[-1], chain.points[-1])):
            for turn, at in enumerate(prompts):
                earlier = Point(point.dialogue, turn, point.history[:at], point.history[at].text)
                _add(chain, earlier, prompts[:turn])
        _add(chain, point, prompts)
        chain.places.append(len(chain.points) - 1)
    return chain


def _add(chain: PointChain, point: Point, prompts: Sequence[int]) -> None:
    chain.before.append(len(chain.points) - 1 if prompts else -1)
    chain.said.append(point.history[prompts[-1] + 1].text if prompts else "")
    chain.points.append(point)


def _prompts(history: Sequence[Line]) -> list[int]:
    """Where a user line is answered by the bot."""
    kinds = [line.kind for line in history]
    return [at for at, pair in enumerate(pairwise(kinds)) if pair == ("user", "bot")]


def _extends(point: Point, at: int, last: Point) -> bool:
    """Is the last point the one whose user line stands at this place of the history?"""
    return last.utterance == point.history[at].text and last.history == point.history[:at]
