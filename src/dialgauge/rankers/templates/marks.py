"""Marks: what an entity has to do with the dialog so far, as the choice of what to fill in needs it.

A mark says nothing about which entity is right; its weight is learned. For a value: said by the user (now, last,
before), by the bot, in a call, or a fact of the name in question; for an open field of a call: whether the user ever
mentioned the field, and what the bot asked. For a name: said last, said before, its rank among the results. For a whole
candidate: said just now, said earlier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from dialgauge.rankers.templates.history import DialogHistory
from dialgauge.rankers.templates.inventory import NAME, TEXT, Slot

#: (number of the entity, its kind and the mark)
Mark: TypeAlias = tuple[int, str]
_Given: TypeAlias = tuple[str, str]
_RANKS = 3


def marks_of(history: DialogHistory) -> list[Mark]:
    """All marks, on entities that candidates have."""
    given = [
        *((TEXT, text, mark) for text, mark in _of_texts(history)),
        *((NAME, name, mark) for name, mark in _of_names(history)),
        *((field, value, mark) for field in history.lexicon.fields for value, mark in _of_field(history, field)),
    ]
    numbers = ((history.inventory.entities.get(Slot(kind, value)), f"{kind}: {mark}") for kind, value, mark in given)
    return [(number, mark) for number, mark in numbers if number is not None]


def _of_texts(history: DialogHistory) -> Iterator[_Given]:
    for text in history.texts[-1:]:
        yield text, "said last"
    for text in history.texts[:-1]:
        if text != history.texts[-1]:
            yield text, "said before"


def _of_names(history: DialogHistory) -> Iterator[_Given]:
    when = "after call" if history.just_called else "silence" if not history.words else "spoken"
    waiting = history.waiting()
    for name in history.offered[-1:]:
        yield name, "said last"
        yield name, f"said last, {when}"
    for name in history.offered[:-1]:
        yield name, "said before"
    for name in history.offered[-2:-1]:
        yield name, "said last but one"
    for rank, name in enumerate(waiting[:_RANKS]):
        yield name, f"waiting {rank}"
    for name in waiting:
        yield name, "waiting"
    for name in waiting[:1]:
        yield name, f"waiting 0, {when}"
    for name in waiting[-1:]:
        yield name, "waiting, lowest"
    for rank, name in enumerate(history.ranked()):
        yield name, "result"
        if rank < _RANKS:
            yield name, f"result {rank}"
    if history.user_name:
        yield history.user_name, "said by the user"
    for name in [name for name in waiting if _meets_all(history, name)][:1]:
        yield name, "first waiting that meets all"


def _meets_all(history: DialogHistory, name: str) -> bool:
    facts = history.lexicon.about.get(name, {})
    return all(history.constraint(field) in ("", facts.get(field)) for field in history.lexicon.fields)


def _of_field(history: DialogHistory, field: str) -> Iterator[_Given]:
    yield from _of_user(history, field)
    position = history.lexicon.fields.index(field)
    said = history.by_bot[field]
    for mention in said[-1:]:
        yield mention.value, "bot just" if mention.turn == history.turn - 1 else "bot last"
    for mention in said[:-1]:
        yield mention.value, "bot before"
    for call in history.calls[-1:]:
        yield call[position], "last call"
    for call in history.calls[:-1]:
        yield call[position], "earlier call"
    for name in history.offered[-1:]:
        yield history.lexicon.about.get(name, {}).get(field, ""), "of the name said last"
    for name in history.waiting()[:1]:
        yield history.lexicon.about.get(name, {}).get(field, ""), "of the first waiting"
    for mark in _of_open(history, field):
        yield field, mark


def _of_user(history: DialogHistory, field: str) -> Iterator[_Given]:
    """Marks of the values of a field that the user said."""
    said = history.by_user[field]
    for last in said[-1:]:
        yield last.value, "user last"
        yield last.value, "user now" if last.turn == history.turn else "user earlier"
        if history.calls and last.turn > history.call_turn:
            yield last.value, "user since call"
    for mention in said[:-1]:
        yield mention.value, "user before"
    for mention in said:
        if mention.turn == history.turn:
            yield mention.value, "user in this turn"


def _of_open(history: DialogHistory, field: str) -> Iterator[str]:
    """Marks of leaving a field of a call open."""
    yield "open"
    yield "open, mentioned" if history.by_user[field] else "open, never mentioned"
    if history.calls:
        yield "open, called before"
    for template in dict.fromkeys(history.replies):
        if template >= 0 and len(history.inventory.members[template]) == 1:
            yield f"open, after: {history.inventory.templates[template]}"
