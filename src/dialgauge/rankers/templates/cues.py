"""What the history of a dialog tells the model: cues for what to say next, marks for what to fill in.

Cues are words of the user, the state of the dialog, and what the bot said before.

They are texts, so that a weight can be read; the experts number them. Values are left out of the user's words (their
kind stands there instead), so that nothing is learned about a particular cuisine or area.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from dialgauge.rankers.templates.history import DialogHistory
from dialgauge.rankers.templates.inventory import NAME, TEXT, Slot

_ALWAYS = "always"
_SILENT = "<silence>"


def cues_of(history: DialogHistory) -> list[str]:
    """All cues of a point, without repetition."""
    return list(dict.fromkeys([_ALWAYS, *_words(history), *_state(history), *_replies(history)]))


def _words(history: DialogHistory) -> Iterator[str]:
    """Words and adjacent pairs of the user's utterance."""
    slots = [(word, history.lexicon.value(word)) for word in history.words]
    words = [f"<{slot.kind}>" if slot else word for word, slot in slots] or [_SILENT]
    yield from (f"word {word}" for word in words)
    yield from (f"words {name} {two}" for name, two in zip(["^", *words], [*words, "$"], strict=True))


def _replies(history: DialogHistory) -> Iterator[str]:
    """The templates of the last two replies (-1: unknown, -2: before the first), and of all."""
    for back in (1, 2):
        yield f"reply -{back}: {history.replies[-back] if len(history.replies) >= back else -2}"
    yield from (f"said {template}" for template in history.replies if template >= 0)


def _state(history: DialogHistory) -> Iterator[str]:
    """Calls, their outcome, the user's constraints and how many names meet them, alone and together."""
    fields = history.lexicon.fields
    called = "just" if history.just_called else "before" if history.calls else "never"
    outcome = "none" if history.results is None else "some" if history.results else "empty"
    mentions, changes = ("".join(describe(history, field) for field in fields) for describe in (_mention, _change))
    matches = _size(history.lexicon.matches({field: history.constraint(field) for field in fields}))
    now = "".join("x" if field in history.now else "-" for field in fields)
    yield f"called {called}"
    yield f"outcome {outcome}"
    yield f"outcome {outcome} called {called}"
    yield from (f"{field} {_mention(history, field)}" for field in fields)
    yield f"mentions {mentions}"
    yield f"mentions {mentions} {outcome} {called}"
    yield f"changes {changes}"
    yield f"changes {changes} {now} {outcome}"
    yield f"matches {matches}"
    yield f"matches {matches} {outcome} {called}"


def _mention(history: DialogHistory, field: str) -> str:
    """Not mentioned by the user, mentioned now, or before."""
    if not history.by_user[field]:
        return "."
    return "N" if field in history.now else "o"


def _change(history: DialogHistory, field: str) -> str:
    """No constraint, the value of the latest call, or another."""
    constraint = history.constraint(field)
    if not constraint:
        return "."
    return "=" if history.calls and history.calls[-1][history.lexicon.fields.index(field)] == constraint else "!"


def _size(number: int) -> str:
    """A number, roughly."""
    if number < 3:
        return str(number)
    return "3-5" if number < 6 else "6-10" if number < 11 else "11+"


# Marks. One says nothing about which entity is right; its weight is learned. For a value: said last or before, by the
# user or the bot, or by the user since the latest call; or that it leaves a field of a call open. For a name: the bot
# said it last, the user named it, it is the first result, or the first not yet proposed. For a whole candidate: the bot
# said it last, or before.

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
    for who, mentions in (("user", history.by_user[field]), ("bot", history.by_bot[field])):
        for mention in mentions[-1:]:
            yield mention.value, f"{who} last"
        for mention in mentions[:-1]:
            yield mention.value, f"{who} before"
    for mention in history.by_user[field][-1:]:
        if history.calls and mention.turn > history.call_turn:
            yield mention.value, "user since the call"
