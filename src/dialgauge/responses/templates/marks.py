"""Marks that tell fillings apart: what the dialog has to do with an entity, computed alike for every world.

A mark says nothing about which entity is right; its weight is learned. For a value: said by the user (now, last,
before), by the bot, in a call, or a fact of the name in question; for an open field of a call: whether the user ever
mentioned the field, and what the bot asked. For a name: said last, said before, its rank among the results, and how
many of the user's wishes it meets and misses.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialgauge.responses.templates.inventory import Inventory
from dialgauge.responses.templates.lexicon import NAME, Slot
from dialgauge.responses.templates.talk import Talk

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
