"""Cues for what to say next: words of the user, the state of the talk, and what the bot said before.

Cues are texts, so that a weight can be read; a classifier numbers them. Values are left out of the user's words (their
kind stands there instead), so that nothing is learned about a particular cuisine or area.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dialgauge.rankers.templates.history import Talk
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

    def of(self, talk: Talk) -> tuple[list[str], list[str]]:
        """(cues of the chosen groups, cues of all groups), each without repetition."""
        found = {
            "words": _words(talk),
            "state": [*_state(talk), *self._matches(talk)],
            "bot": [f"reply -{back}: {self._act(talk, back)}" for back in (1, 2)],
            "history": [f"said {self._stand_in[template]}" for template in talk.replies if template >= 0],
        }
        chosen, every = ([cue for group in groups for cue in found[group]] for groups in (self._groups, GROUPS))
        return list(dict.fromkeys([_ALWAYS, *chosen])), list(dict.fromkeys([_ALWAYS, *every]))

    def _act(self, talk: Talk, back: int) -> int:
        """The act of the reply so many replies back; -1 for a template unknown to training, -2 before the first."""
        template = talk.replies[-back] if len(talk.replies) >= back else -2
        return int(self._act_of[self._stand_in[template]]) if template >= 0 else template

    def _matches(self, talk: Talk) -> list[str]:
        """How many names of the knowledge base have all the values the user wishes."""
        wishes = tuple(talk.wish(field) for field in talk.lexicon.fields)
        if wishes not in self._fitting:
            wanted = {(field, value) for field, value in zip(talk.lexicon.fields, wishes, strict=True) if value}
            self._fitting[wishes] = sum(wanted <= facts.items() for facts in talk.lexicon.about.values())
        many = _size(self._fitting[wishes])
        return [f"matches {many}", f"matches {many} {_mentions(talk)} {_outcome(talk)}"]


def _words(talk: Talk) -> list[str]:
    """Words and adjacent pairs of the user's utterance."""
    words = [_typed(talk, word) for word in talk.words] or [_SILENT]
    pairs = zip(["^", *words], [*words, "$"], strict=True)
    return [*(f"word {word}" for word in words), *(f"words {one} {two}" for one, two in pairs)]


def _typed(talk: Talk, word: str) -> str:
    slot = talk.lexicon.value(word)
    return f"<{slot.kind}>" if slot else word


def _state(talk: Talk) -> list[str]:
    """Calls, results, proposals and wishes, alone and in the combinations that decide what is possible."""
    called = "just" if talk.just_called else "before" if talk.calls else "never"
    outcome, mentions, now, changes = _outcome(talk), _mentions(talk), _now(talk), _changes(talk)
    waiting = sum(name not in talk.offered for name in talk.results or ())
    filled = _filled(talk)
    cues = [
        f"called {called}",
        f"calls {_size(len(talk.calls))}",
        f"outcome {outcome}",
        f"outcome {outcome} called {called}",
        f"call {filled}",
        f"call {filled} {outcome} {called}",
        f"results {_size(len(talk.results or ()))}",
        f"waiting {_size(waiting)} called {called}",
        f"offered {_size(len(talk.offered))}",
        f"mentions {mentions}",
        f"mentions {mentions} {outcome} {called}",
        f"now {now}",
        f"now {now} {outcome} {bool(talk.offered)}",
        f"changes {changes}",
        f"changes {changes} {now} {outcome}",
        f"turn {_size(talk.turn)}",
    ]
    for field in talk.lexicon.fields:
        cues.extend(_of_field(talk, field))
    return cues


def _of_field(talk: Talk, field: str) -> list[str]:
    wish = talk.wish(field)
    cues = [f"{field} {_mention(talk, field)}", f"{field} {_change(talk, field)} {field in talk.now}"]
    if wish and not any(facts.get(field) == wish for facts in talk.lexicon.about.values()):
        cues.append(f"{field} unknown {field in talk.now}")
    if len({said.value for said in talk.by_user[field]}) > 1:
        cues.append(f"{field} several")
    return cues


def _outcome(talk: Talk) -> str:
    """Did the latest call find anything?"""
    if talk.results is None:
        return "none"
    return "some" if talk.results else "empty"


def _filled(talk: Talk) -> str:
    """Which fields the latest call set."""
    if not talk.calls:
        return "none"
    return "".join(
        "-" if value == field else "x" for field, value in zip(talk.lexicon.fields, talk.calls[-1], strict=True)
    )


def _mention(talk: Talk, field: str) -> str:
    if not talk.by_user[field]:
        return "."
    return "N" if field in talk.now else "o"


def _mentions(talk: Talk) -> str:
    """Per field: not mentioned by the user, mentioned now, or before."""
    return "".join(_mention(talk, field) for field in talk.lexicon.fields)


def _now(talk: Talk) -> str:
    return "".join("x" if field in talk.now else "-" for field in talk.lexicon.fields)


def _change(talk: Talk, field: str) -> str:
    wish = talk.wish(field)
    if not wish:
        return "."
    return "=" if talk.calls and talk.calls[-1][talk.lexicon.fields.index(field)] == wish else "!"


def _changes(talk: Talk) -> str:
    """Per field: no wish, the value of the latest call, or another."""
    return "".join(_change(talk, field) for field in talk.lexicon.fields)


def _size(number: int) -> str:
    """A number, roughly."""
    if number < 3:
        return str(number)
    return "3-5" if number < 6 else "6-10" if number < 11 else "11+"


# Marks that tell fillings apart: what the dialog has to do with an entity, computed alike for every world.
#
# A mark says nothing about which entity is right; its weight is learned. For a value: said by the user (now, last,
# before), by the bot, in a call, or a fact of the name in question; for an open field of a call: whether the user ever
# mentioned the field, and what the bot asked. For a name: said last, said before, its rank among the results, and how
# many of the user's wishes it meets and misses.

#: (number of the entity, mark)
Mark = tuple[int, str]
_RANKS = 3


class Marks:
    """The marks of a point in a dialog."""

    def __init__(self, inventory: Inventory) -> None:
        self._entities = inventory.entities
        self._meeting: dict[tuple[str, ...], list[Mark]] = {}

    def of(self, talk: Talk) -> list[Mark]:
        """All marks, on entities that occur in candidates."""
        waiting = [name for name in talk.ranked() if name not in talk.offered]
        found = list(self._meets(talk))
        for kind, value, mark in (*self._of_names(talk, waiting), *self._of_fields(talk, waiting)):
            number = self._entities.get(Slot(kind, value))
            if number is not None:
                found.append((number, mark))
        return found

    def _of_fields(self, talk: Talk, waiting: list[str]) -> Iterator[tuple[str, str, str]]:
        for position, field in enumerate(talk.lexicon.fields):
            for value, mark in _of_user(talk, field):
                yield field, value, mark
            said = talk.by_bot[field]
            if said:
                yield field, said[-1].value, "bot just" if said[-1].turn == talk.turn - 1 else "bot last"
                for value in dict.fromkeys(mention.value for mention in said[:-1]):
                    yield field, value, "bot before"
            for value in dict.fromkeys(call[position] for call in talk.calls[:-1]):
                yield field, value, "earlier call"
            if talk.calls:
                yield field, talk.calls[-1][position], "last call"
            if talk.offered:
                yield field, talk.fact(talk.offered[-1], field), "of the name said last"
            if waiting:
                yield field, talk.fact(waiting[0], field), "of the first waiting"
            for mark in _of_open(talk, field):
                yield field, field, mark

    def _of_names(self, talk: Talk, waiting: list[str]) -> Iterator[tuple[str, str, str]]:
        when = "after call" if talk.just_called else "silence" if not talk.words else "spoken"
        if talk.offered:
            yield NAME, talk.offered[-1], "said last"
            yield NAME, talk.offered[-1], f"said last, {when}"
        for name in talk.offered[:-1]:
            yield NAME, name, "said before"
        if len(talk.offered) > 1:
            yield NAME, talk.offered[-2], "said last but one"
        for rank, name in enumerate(waiting[:_RANKS]):
            yield NAME, name, f"waiting {rank}"
        if waiting:
            yield NAME, waiting[0], f"waiting 0, {when}"
            yield NAME, waiting[-1], "waiting, lowest"
        for rank, name in enumerate(talk.ranked()[:_RANKS]):
            yield NAME, name, f"result {rank}"
        for name in talk.results or ():
            yield NAME, name, "result"
        for name in waiting:
            yield NAME, name, "waiting"
        if talk.user_name:
            yield NAME, talk.user_name, "said by the user"
        meets_all = [name for name in waiting if _meets_all(talk, name)]
        if meets_all:
            yield NAME, meets_all[0], "first waiting that meets all"

    def _meets(self, talk: Talk) -> list[Mark]:
        """How many wishes each known name meets and misses."""
        fields = talk.lexicon.fields
        wishes = tuple(talk.wish(field) for field in fields)
        if wishes not in self._meeting:
            wanted = {field: wish for field, wish in zip(fields, wishes, strict=True) if wish}
            marks: list[Mark] = []
            for name, facts in talk.lexicon.about.items():
                number = self._entities.get(Slot(NAME, name))
                known = [facts[field] == wish for field, wish in wanted.items() if field in facts]
                if number is not None and any(known):
                    marks.append((number, f"meets {sum(known)}"))
                if number is not None and not all(known):
                    marks.append((number, f"misses {len(known) - sum(known)}"))
            self._meeting[wishes] = marks
        return self._meeting[wishes]


def _meets_all(talk: Talk, name: str) -> bool:
    return all(talk.wish(field) in ("", talk.fact(name, field)) for field in talk.lexicon.fields)


def _of_user(talk: Talk, field: str) -> Iterator[tuple[str, str]]:
    """Marks of the values of a field that the user said."""
    said = talk.by_user[field]
    if not said:
        return
    last = said[-1]
    yield last.value, "user last"
    yield last.value, "user now" if last.turn == talk.turn else "user earlier"
    if talk.calls and last.turn > talk.call_turn:
        yield last.value, "user since call"
    if last.alias:
        yield last.value, "user by another word"
    for value in dict.fromkeys(mention.value for mention in said[:-1]):
        yield value, "user before"
    for value in dict.fromkeys(mention.value for mention in said if mention.turn == talk.turn):
        yield value, "user in this turn"


def _of_open(talk: Talk, field: str) -> Iterator[str]:
    """Marks of leaving a field of a call open."""
    said = talk.by_user[field]
    yield "open"
    yield "open, mentioned" if said else "open, never mentioned"
    if said and said[-1].alias:
        yield "open, mentioned by another word"
    if talk.calls:
        yield "open, called before"
    for template in dict.fromkeys(talk.replies):
        if template >= 0 and len(talk.inventory.members[template]) == 1:
            yield f"open, after: {talk.inventory.templates[template]}"
