"""Marks: what an entity has to do with the dialog so far, as the choice of what to fill in needs it.

A mark says nothing about which entity is right; its weight is learned. For a value: said last or before, by the user or
the bot, or by the user since the latest call; or that it leaves a field of a call open. For a name: the bot said it
last, the user named it, it is the first result, or the first not yet proposed. For a whole candidate: the bot said it
last, or before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from dialgauge.rankers.templates.history import DialogHistory
from dialgauge.rankers.templates.inventory import NAME, TEXT, Slot

#: (number of the entity, its kind and the mark)
Mark: TypeAlias = tuple[int, str]
_Given: TypeAlias = tuple[str, str]


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
    when = "after a call" if history.just_called else "in silence" if not history.words else "spoken to"
    ranked = history.ranked()
    for name in ranked[:1]:
        yield name, "first result"
    for name in [name for name in ranked if name not in history.offered][:1]:
        yield name, f"first waiting, {when}"
    for name in history.offered[-1:]:
        yield name, f"said last, {when}"
    if history.user_name:
        yield history.user_name, "said by the user"


def _of_field(history: DialogHistory, field: str) -> Iterator[_Given]:
    yield field, "open"
    for who, said in (("user", history.by_user[field]), ("bot", history.by_bot[field])):
        for mention in said[-1:]:
            yield mention.value, f"{who} last"
        for mention in said[:-1]:
            yield mention.value, f"{who} before"
    for mention in history.by_user[field][-1:]:
        if history.calls and mention.turn > history.call_turn:
            yield mention.value, "user since the call"
