"""A conversation as the checks see it: what the user was told, what it said, and what it had been told by then.

A text beside tool calls went to the tools, so a turn that another of the same speaker follows was not heard by the
other side. It still counts as known to whoever said it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.formats import as_text

#: What ends a conversation of tau-bench: ``###STOP###``, ``###TRANSFER###``, ``###OUT-OF-SCOPE###``.
STOP_TOKEN = re.compile(r"###\s?[A-Z][A-Z-]+\s?###")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[a-z0-9][a-z0-9'’_-]*")
#: Words that carry no matter of their own: they neither add to a message nor tell two messages apart.
LIGHT = frozenset(
    """
    a about above actually again all also am an and any anything are as at be been before but by can chance
    could did do does double-check check for from get go had has have having hello help hi how i i'd i'll i'm
    i've if in into is it it's its just kindly know let let's like look make me might mind more much my need no
    not now of off oh ok okay on one only or our out please possible proceed really right see since so some
    something still sure thank thanks that that's the their them then there there's these they this to too
    understand up us very want was way we well were what when where which who will wish with would yes yet you
    you're your
    """.split()  # noqa: SIM905
)


def plain_text(text: str) -> str:
    """A text with straight apostrophes and without stop tokens.

    >>> plain_text("That’s all. ###STOP###")
    "That's all."
    """
    return STOP_TOKEN.sub("", text).replace("’", "'").replace("‘", "'").strip()


def sentences(text: str) -> list[str]:
    """Sentences and lines of a text."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return _WORD.findall(text.replace("’", "'").lower())


def weighty(text: str) -> list[str]:
    """Its words without the light ones.

    >>> weighty("Could you please check my user ID again?")
    ['user', 'id']
    """
    return [word for word in words(text) if word not in LIGHT]


class RecordedExchange(Struct, frozen=True):
    """A message of the user that the agent heard, and the message of the agent that it answers."""

    turn: int
    text: str
    #: The agent's message before it; empty at the beginning.
    asked: str
    last: bool

    @property
    def plain(self) -> str:
        """The text without stop tokens."""
        return plain_text(self.text)

    @property
    def stops(self) -> bool:
        """Does it hold a stop token?"""
        return STOP_TOKEN.search(self.text) is not None


class ConversationView:
    """One dialogue, with what the checks ask of it."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.turns: Sequence[Turn] = dialogue.turns

    @cached_property
    def instruction(self) -> str:
        """What the user was told, as one text; empty where it was told nothing in words."""
        return "\n".join(self.dialogue.instruction).replace("’", "'")

    @cached_property
    def has_texts(self) -> bool:
        """Did both sides speak in words?"""
        speakers = {turn.speaker for turn in self.turns if turn.text.strip()}
        return speakers == {"user", "system"}

    @cached_property
    def has_acts(self) -> bool:
        """Are the acts of the user recorded, and does its goal say by slots what it wants?"""
        return bool(self.dialogue.goal and self.dialogue.goal.tasks) and any(
            turn.acts is not None for turn in self.turns if turn.speaker == "user"
        )

    @cached_property
    def exchanges(self) -> list[RecordedExchange]:
        """The messages of the user that the agent heard, those without words left out."""
        heard = [
            (index, turn)
            for index, turn in enumerate(self.turns)
            if turn.text.strip() and (index + 1 == len(self.turns) or self.turns[index + 1].speaker != turn.speaker)
        ]
        return [
            RecordedExchange(
                turn=index,
                text=turn.text,
                asked=next((turn.text for _, turn in reversed(heard[:number]) if turn.speaker == "system"), ""),
                last=all(later.speaker == "system" for _, later in heard[number + 1 :]),
            )
            for number, (index, turn) in enumerate(heard)
            if turn.speaker == "user"
        ]

    def said_before(self, turn: int, speaker: str) -> str:
        """All that one side said before a turn; of the user also what its own tools gave it."""
        parts = []
        for earlier in self.turns[:turn]:
            if earlier.speaker == speaker:
                parts.append(earlier.text)
        if speaker == "user":
            shown = [
                call for earlier in self.turns[: turn + 1] if earlier.speaker == "user" for call in earlier.calls or ()
            ]
            parts += [
                text
                for call in shown
                for text in (*map(as_text, call.given.values()), *([call.result] if call.result else []))
            ]
        return "\n".join(parts).replace("’", "'")

    def message(self, turn: int) -> int:
        """The message of the file that a turn was read from."""
        source = self.turns[turn].source
        return turn if source is None else source

    def acts(self, turn: int) -> tuple[Act, ...]:
        """What was said in a turn, as acts."""
        return self.turns[turn].acts or ()
