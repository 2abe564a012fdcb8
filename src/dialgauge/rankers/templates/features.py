"""Points of dialogs as the model sees them: cues for what to say next, marks for what to fill in.

Cues are words of the user, the state of the dialog, and what the bot said before. They are texts, so that a weight can
be read; a classifier numbers them. Values are left out of the user's words (their kind stands there instead), so that
nothing is learned about a particular cuisine or area.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dialgauge.rankers.episode import AnsweredPoint, Episode, Point, points_of
from dialgauge.rankers.templates.history import Aliases, DialogHistory, Follower
from dialgauge.rankers.templates.inventory import NAME, Ints, Inventory, Slot

#: Groups of cues, each of which can be left out to see what it buys.
GROUPS = ("words", "state", "bot", "history")

_ALWAYS = "always"
_SILENT = "<silence>"


class Cues:
    """The cues of a point in a dialog; ``act_of`` maps templates to acts, so that paraphrases give the same cue.

    ``stand_in`` maps templates that training lacks to those that they count as.
    """

    def __init__(self, act_of: Ints, groups: Sequence[str] = GROUPS, stand_in: Ints | None = None) -> None:
        self._act_of, self._groups = act_of, tuple(groups)
        self._stand_in = np.arange(len(act_of)) if stand_in is None else stand_in
        self._fitting: dict[tuple[str, ...], int] = {}

    def of(self, history: DialogHistory) -> tuple[list[str], list[str]]:
        """(cues of the chosen groups, cues of all groups), each without repetition."""
        cues = {
            "words": _words(history),
            "state": [*_state(history), *self._matches(history)],
            "bot": [f"reply -{back}: {self._act(history, back)}" for back in (1, 2)],
            "history": [f"said {self._stand_in[template]}" for template in history.replies if template >= 0],
        }
        chosen, every = ([cue for group in groups for cue in cues[group]] for groups in (self._groups, GROUPS))
        return list(dict.fromkeys([_ALWAYS, *chosen])), list(dict.fromkeys([_ALWAYS, *every]))

    def _act(self, history: DialogHistory, back: int) -> int:
        """The act of the reply so many replies back; -1 for a template unknown to training, -2 before the first."""
        template = history.replies[-back] if len(history.replies) >= back else -2
        return int(self._act_of[self._stand_in[template]]) if template >= 0 else template

    def _matches(self, history: DialogHistory) -> list[str]:
        """How many names of the knowledge base have all the values the user asked for."""
        constraints = tuple(history.constraint(field) for field in history.lexicon.fields)
        if constraints not in self._fitting:
            wanted = {(field, value) for field, value in zip(history.lexicon.fields, constraints, strict=True) if value}
            self._fitting[constraints] = sum(wanted <= facts.items() for facts in history.lexicon.about.values())
        many = _size(self._fitting[constraints])
        return [f"matches {many}", f"matches {many} {_mentions(history)} {_outcome(history)}"]


def _words(history: DialogHistory) -> list[str]:
    """Words and adjacent pairs of the user's utterance."""
    words = [_typed(history, word) for word in history.words] or [_SILENT]
    pairs = zip(["^", *words], [*words, "$"], strict=True)
    return [*(f"word {word}" for word in words), *(f"words {one} {two}" for one, two in pairs)]


def _typed(history: DialogHistory, word: str) -> str:
    slot = history.lexicon.value(word)
    return f"<{slot.kind}>" if slot else word


def _state(history: DialogHistory) -> list[str]:
    """Calls, results, proposals and constraints, alone and in the combinations that decide what is possible."""
    called = "just" if history.just_called else "before" if history.calls else "never"
    outcome, mentions, now, changes = _outcome(history), _mentions(history), _now(history), _changes(history)
    waiting = sum(name not in history.offered for name in history.results or ())
    filled = _filled(history)
    cues = [
        f"called {called}",
        f"calls {_size(len(history.calls))}",
        f"outcome {outcome}",
        f"outcome {outcome} called {called}",
        f"call {filled}",
        f"call {filled} {outcome} {called}",
        f"results {_size(len(history.results or ()))}",
        f"waiting {_size(waiting)} called {called}",
        f"offered {_size(len(history.offered))}",
        f"mentions {mentions}",
        f"mentions {mentions} {outcome} {called}",
        f"now {now}",
        f"now {now} {outcome} {bool(history.offered)}",
        f"changes {changes}",
        f"changes {changes} {now} {outcome}",
        f"turn {_size(history.turn)}",
    ]
    for field in history.lexicon.fields:
        cues.extend(_of_field(history, field))
    return cues


def _of_field(history: DialogHistory, field: str) -> list[str]:
    constraint = history.constraint(field)
    cues = [f"{field} {_mention(history, field)}", f"{field} {_change(history, field)} {field in history.now}"]
    if constraint and not any(facts.get(field) == constraint for facts in history.lexicon.about.values()):
        cues.append(f"{field} unknown {field in history.now}")
    if len({said.value for said in history.by_user[field]}) > 1:
        cues.append(f"{field} several")
    return cues


def _outcome(history: DialogHistory) -> str:
    """Did the latest call find anything?"""
    if history.results is None:
        return "none"
    return "some" if history.results else "empty"


def _filled(history: DialogHistory) -> str:
    """Which fields the latest call set."""
    if not history.calls:
        return "none"
    return "".join(
        "-" if value == field else "x" for field, value in zip(history.lexicon.fields, history.calls[-1], strict=True)
    )


def _mention(history: DialogHistory, field: str) -> str:
    if not history.by_user[field]:
        return "."
    return "N" if field in history.now else "o"


def _mentions(history: DialogHistory) -> str:
    """Per field: not mentioned by the user, mentioned now, or before."""
    return "".join(_mention(history, field) for field in history.lexicon.fields)


def _now(history: DialogHistory) -> str:
    return "".join("x" if field in history.now else "-" for field in history.lexicon.fields)


def _change(history: DialogHistory, field: str) -> str:
    constraint = history.constraint(field)
    if not constraint:
        return "."
    return "=" if history.calls and history.calls[-1][history.lexicon.fields.index(field)] == constraint else "!"


def _changes(history: DialogHistory) -> str:
    """Per field: no constraint, the value of the latest call, or another."""
    return "".join(_change(history, field) for field in history.lexicon.fields)


def _size(number: int) -> str:
    """A number, roughly."""
    if number < 3:
        return str(number)
    return "3-5" if number < 6 else "6-10" if number < 11 else "11+"


# Marks.

#: (number of the entity, mark)
Mark = tuple[int, str]
_RANKS = 3


class Marks:
    """The marks of a point in a dialog: what it has to do with an entity, computed alike for every world.

    A mark says nothing about which entity is right; its weight is learned. For a value: said by the user (now, last,
    before), by the bot, in a call, or a fact of the name in question; for an open field of a call: whether the user
    ever mentioned the field, and what the bot asked. For a name: said last, said before, its rank among the results,
    and how many of the user's constraints it meets and misses.
    """

    def __init__(self, inventory: Inventory) -> None:
        self._entities = inventory.entities
        self._meeting: dict[tuple[str, ...], list[Mark]] = {}

    def of(self, history: DialogHistory) -> list[Mark]:
        """All marks, on entities that occur in candidates."""
        waiting = [name for name in history.ranked() if name not in history.offered]
        marks = list(self._meets(history))
        for kind, value, mark in (*self._of_names(history, waiting), *self._of_fields(history, waiting)):
            number = self._entities.get(Slot(kind, value))
            if number is not None:
                marks.append((number, mark))
        return marks

    def _of_fields(self, history: DialogHistory, waiting: list[str]) -> Iterator[tuple[str, str, str]]:
        for position, field in enumerate(history.lexicon.fields):
            for value, mark in _of_user(history, field):
                yield field, value, mark
            said = history.by_bot[field]
            if said:
                yield field, said[-1].value, "bot just" if said[-1].turn == history.turn - 1 else "bot last"
                for value in dict.fromkeys(mention.value for mention in said[:-1]):
                    yield field, value, "bot before"
            for value in dict.fromkeys(call[position] for call in history.calls[:-1]):
                yield field, value, "earlier call"
            if history.calls:
                yield field, history.calls[-1][position], "last call"
            if history.offered:
                yield field, history.fact(history.offered[-1], field), "of the name said last"
            if waiting:
                yield field, history.fact(waiting[0], field), "of the first waiting"
            for mark in _of_open(history, field):
                yield field, field, mark

    def _of_names(self, history: DialogHistory, waiting: list[str]) -> Iterator[tuple[str, str, str]]:
        when = "after call" if history.just_called else "silence" if not history.words else "spoken"
        if history.offered:
            yield NAME, history.offered[-1], "said last"
            yield NAME, history.offered[-1], f"said last, {when}"
        for name in history.offered[:-1]:
            yield NAME, name, "said before"
        if len(history.offered) > 1:
            yield NAME, history.offered[-2], "said last but one"
        for rank, name in enumerate(waiting[:_RANKS]):
            yield NAME, name, f"waiting {rank}"
        if waiting:
            yield NAME, waiting[0], f"waiting 0, {when}"
            yield NAME, waiting[-1], "waiting, lowest"
        for rank, name in enumerate(history.ranked()[:_RANKS]):
            yield NAME, name, f"result {rank}"
        for name in history.results or ():
            yield NAME, name, "result"
        for name in waiting:
            yield NAME, name, "waiting"
        if history.user_name:
            yield NAME, history.user_name, "said by the user"
        meets_all = [name for name in waiting if _meets_all(history, name)]
        if meets_all:
            yield NAME, meets_all[0], "first waiting that meets all"

    def _meets(self, history: DialogHistory) -> list[Mark]:
        """How many constraints each known name meets and misses."""
        fields = history.lexicon.fields
        constraints = tuple(history.constraint(field) for field in fields)
        if constraints not in self._meeting:
            wanted = {field: constraint for field, constraint in zip(fields, constraints, strict=True) if constraint}
            marks: list[Mark] = []
            for name, facts in history.lexicon.about.items():
                number = self._entities.get(Slot(NAME, name))
                known = [facts[field] == constraint for field, constraint in wanted.items() if field in facts]
                if number is not None and any(known):
                    marks.append((number, f"meets {sum(known)}"))
                if number is not None and not all(known):
                    marks.append((number, f"misses {len(known) - sum(known)}"))
            self._meeting[constraints] = marks
        return self._meeting[constraints]


def _meets_all(history: DialogHistory, name: str) -> bool:
    return all(history.constraint(field) in ("", history.fact(name, field)) for field in history.lexicon.fields)


def _of_user(history: DialogHistory, field: str) -> Iterator[tuple[str, str]]:
    """Marks of the values of a field that the user said."""
    said = history.by_user[field]
    if not said:
        return
    last = said[-1]
    yield last.value, "user last"
    yield last.value, "user now" if last.turn == history.turn else "user earlier"
    if history.calls and last.turn > history.call_turn:
        yield last.value, "user since call"
    if last.alias:
        yield last.value, "user by another word"
    for value in dict.fromkeys(mention.value for mention in said[:-1]):
        yield value, "user before"
    for value in dict.fromkeys(mention.value for mention in said if mention.turn == history.turn):
        yield value, "user in this turn"


def _of_open(history: DialogHistory, field: str) -> Iterator[str]:
    """Marks of leaving a field of a call open."""
    said = history.by_user[field]
    yield "open"
    yield "open, mentioned" if said else "open, never mentioned"
    if said and said[-1].alias:
        yield "open, mentioned by another word"
    if history.calls:
        yield "open, called before"
    for template in dict.fromkeys(history.replies):
        if template >= 0 and len(history.inventory.members[template]) == 1:
            yield f"open, after: {history.inventory.templates[template]}"


# Points as examples.


class MarkedPoint(NamedTuple):
    """A point: marks on entities, and marks on candidates that the bot has said (candidate, mark)."""

    entities: list[Mark]
    texts: list[tuple[int, int]]


def said_texts(history: DialogHistory, index: dict[str, int]) -> list[tuple[int, int]]:
    """(candidate, mark) of what the bot has said: 0 in its latest reply, 1 earlier."""
    latest = history.texts[-1:]
    earlier = [text for text in dict.fromkeys(history.texts) if text not in latest]
    return [(index[text], mark) for mark, texts in enumerate((latest, earlier)) for text in texts if text in index]


class Example(NamedTuple):
    """A point of a dialog: cues of the chosen groups, cues of every group, and marks."""

    cues: list[str]
    every: list[str]
    marked: MarkedPoint


class Reader:
    """Reads points; cues that are computed once for all points of a state are kept."""

    def __init__(self, inventory: Inventory, aliases: Aliases, cues: Cues) -> None:
        self._cues, self._marks = cues, Marks(inventory)
        self._follower = Follower(inventory, aliases)
        self._index = {text: place for place, text in enumerate(inventory.candidates)}

    def read(self, points: Sequence[Point]) -> list[Example]:
        """Points as examples; consecutive points of a dialog are read in one go."""
        return [self._example(point) for point in points]

    def _example(self, point: Point) -> Example:
        history = self._follower.at(point)
        marked = MarkedPoint(self._marks.of(history), said_texts(history, self._index))
        return Example(*self._cues.of(history), marked)


def reply_templates(dialogs: Sequence[Episode], inventory: Inventory) -> list[list[int]]:
    """The templates of each dialog's replies, in order."""
    return [[inventory.parse(point.reply).template for point in points_of([dialog])] for dialog in dialogs]


def reply_candidates(dialogs: Sequence[Episode], inventory: Inventory) -> list[int]:
    """The numbers of all replies that are candidates."""
    index = {text: place for place, text in enumerate(inventory.candidates)}
    return [index[point.reply] for point in points_of(dialogs) if point.reply in index]


def gold_candidates(points: Sequence[AnsweredPoint], inventory: Inventory) -> Ints:
    """The numbers of the points' gold replies among the candidates."""
    index = {text: place for place, text in enumerate(inventory.candidates)}
    return np.array([index[point.reply] for point in points], dtype=np.int64)
