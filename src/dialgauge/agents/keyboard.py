"""A person at the keyboard, as an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dialgauge.agents.protocol import Reply, SystemContext, UserContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.formats import SILENCE, is_silence

#: Reasons why a person ends a conversation.
RESTART, EXIT = "restart", "exit"

#: Around words; inside them (i'm, resto_rome) it belongs to the word.
_PUNCTUATION = ".,;:!?\"'`()[]{}…–—-*"

#: So often in a row the bot may call the database before the person is asked again.
_MOST_CALLS = 5
_MOST_NAMES = 8


def spoken(text: str) -> str:
    """What a person types, as the dialogs of the tasks have it: lower case, no punctuation around words.

    >>> spoken("Hey!  I'd like a table in Rome, please.")
    "hey i'd like a table in rome please"
    """
    low = text.lower().replace("’", "'")
    return " ".join(filter(None, (word.strip(_PUNCTUATION) for word in low.split()))) or low.strip()


class KeyboardUser:
    """Shows what the bot says and asks for an answer.

    An empty line is silence, and so is ``<SILENCE>``. What is typed reaches the bot as :func:`spoken`, or where
    ``raw`` as it is. While the database answers the bot's calls, the person is not asked. ``restart`` and
    ``exit`` (or the end of input) end the conversation.
    """

    name = "keyboard"

    def __init__(self, ask: Callable[[], str], show: Callable[[str], object], *, raw: bool = False) -> None:
        self._ask, self._show, self._raw = ask, show, raw

    def start(self, context: UserContext) -> None:
        del context
        self._calls = 0

    def respond(self, turn: Turn | None) -> Reply:
        if turn is not None:
            self._show(f"bot> {turn.text}")
            if turn.results is not None and self._calls < _MOST_CALLS:
                self._calls += 1
                self._show(f"     ({_found(turn.results)})")
                return _said(SILENCE)
        self._calls = 0
        text = self._heard()
        if text in (RESTART, EXIT):
            return Reply(turn=None, done=True, end_reason=text)
        if is_silence(text) or text.upper() == SILENCE:
            return _said(SILENCE)
        return _said(text if self._raw else spoken(text))

    def _heard(self) -> str:
        try:
            return self._ask().strip()
        except EOFError:
            self._show("")
            return EXIT


class KeyboardSystem:
    """A person in the system's place: shows what the user says and asks for an answer; ``exit`` ends."""

    name = "keyboard"

    def __init__(self, ask: Callable[[], str], show: Callable[[str], object]) -> None:
        self._ask, self._show = ask, show

    def start(self, context: SystemContext) -> None:
        del context

    def respond(self, turn: Turn | None) -> Reply:
        if turn is not None:
            self._show(f"user> {turn.text}")
        try:
            text = self._ask().strip()
        except EOFError:
            self._show("")
            text = EXIT
        if text == EXIT:
            return Reply(turn=None, done=True, end_reason=EXIT)
        return Reply(turn=Turn(speaker="system", text=text))


def _said(text: str) -> Reply:
    return Reply(turn=Turn(speaker="user", text=text))


def _found(facts: Iterable[Fact]) -> str:
    names = list(dict.fromkeys(fact.entity for fact in facts))
    if not names:
        return "nothing found"
    return f"{len(names)} found: {', '.join(names[:_MOST_NAMES])}{' …' if len(names) > _MOST_NAMES else ''}"
