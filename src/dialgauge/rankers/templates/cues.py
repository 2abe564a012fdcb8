"""Cues for what to say next: words of the user, the state of the dialog, and what the bot said before.

They are texts, so that a weight can be read; the experts number them. Values are left out of the user's words (their
kind stands there instead), so that nothing is learned about a particular cuisine or area.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialgauge.rankers.templates.history import DialogHistory

_ALWAYS = "always"
_SILENT = "<silence>"


def cues_of(history: DialogHistory) -> list[str]:
    """All cues of a point, without repetition."""
    return list(dict.fromkeys([_ALWAYS, *_words(history), *_state(history), *_replies(history)]))


def _words(history: DialogHistory) -> Iterator[str]:
    """Words and adjacent pairs of the user's utterance."""
    words = [_typed(history, word) for word in history.words] or [_SILENT]
    yield from (f"word {word}" for word in words)
    yield from (f"words {name} {two}" for name, two in zip(["^", *words], [*words, "$"], strict=True))


def _typed(history: DialogHistory, word: str) -> str:
    slot = history.lexicon.value(word)
    return f"<{slot.kind}>" if slot else word


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
    mentions, changes = ("".join(told(history, field) for field in fields) for told in (_mention, _change))
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
