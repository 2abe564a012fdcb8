"""A dialogue as a bot sees it: lines in order, and the places where it must answer.

Lines are what the user said, what the bot said, and facts that a query returned (Bordes et al. 2017, section 3.1). The
answer to line ``k`` is predicted from all lines up to and including ``k``, with the bot's *gold* lines in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT, SILENCE

NO_ANSWER = "(no answer)"
Kind: TypeAlias = Literal["user", "bot", "fact"]


class Line(NamedTuple):
    """One line of a dialog and who it is from."""

    kind: Kind
    text: str


class Point(Struct, frozen=True):
    """A place where the bot must answer, as the bot sees it: the lines before and the user's words.

    ``turn`` counts the replies of the dialogue from 0.
    """

    dialogue: str
    turn: int
    history: tuple[Line, ...]
    utterance: str


class AnsweredPoint(Point, frozen=True):
    """A place with the gold reply: what a model learns from, and what no bot under evaluation is given."""

    reply: str

    @property
    def question(self) -> Point:
        """The place without the reply."""
        return Point(self.dialogue, self.turn, self.history, self.utterance)


class Episode(NamedTuple):
    """A dialogue as lines; ``prompts`` holds the positions of the user lines that a bot line answers."""

    id: str
    lines: tuple[Line, ...]
    prompts: tuple[int, ...]
    #: The dialogue behind the lines; None for lines made by hand.
    source: Dialogue | None = None

    def points(self) -> list[AnsweredPoint]:
        """The places to answer with what was answered, in order."""
        return [
            AnsweredPoint(self.id, number, self.lines[:at], self.lines[at].text, self.lines[at + 1].text)
            for number, at in enumerate(self.prompts)
        ]

    @property
    def reply_turns(self) -> list[int]:
        """The position of each reply among the dialogue's turns; without a dialogue, their numbers."""
        if self.source is None:
            return list(range(len(self.prompts)))
        return [position for position, turn in enumerate(self.source.turns) if turn.speaker == "system"]

    @property
    def choices(self) -> list[tuple[str, ...] | None]:
        """For each reply the candidates that its turn brings; None where those of the whole task count."""
        if self.source is None:
            return [None] * len(self.prompts)
        own = (turn.candidates for turn in self.source.turns if turn.speaker == "system")
        return [None if texts is None else tuple(text.strip() for text in texts) for texts in own]


def episode(dialogue: Dialogue) -> Episode:
    """The lines of a dialogue. A bot that speaks unasked answers silence; a user turn without reply is an error."""
    lines: list[Line] = []
    prompts: list[int] = []
    for position, turn in enumerate(dialogue.turns):
        lines.extend(_facts(turn.results))
        text = turn.text.strip()
        if turn.speaker == "user":
            if lines and lines[-1].kind == "user":
                raise DialgaugeError("two user turns follow each other", dialogue=dialogue.id, turn=position)
            lines.append(Line("user", text or SILENCE))
            continue
        if not lines or lines[-1].kind != "user":
            lines.append(Line("user", SILENCE))
        prompts.append(len(lines) - 1)
        lines.append(Line("bot", text))
    while lines and lines[-1].kind == "user":
        lines.pop()
    return Episode(dialogue.id, tuple(lines), tuple(prompts), dialogue)


def episodes(dialogues: Iterable[Dialogue]) -> tuple[Episode, ...]:
    """All dialogues as episodes."""
    return tuple(map(episode, dialogues))


def points_of(dialogs: Iterable[Episode]) -> list[AnsweredPoint]:
    """All places to answer with what was answered, dialog by dialog."""
    return [point for dialog in dialogs for point in dialog.points()]


def _facts(results: tuple[Fact, ...] | None) -> list[Line]:
    if results is None:
        return []
    if not results:
        return [Line("fact", NO_RESULT)]
    return [Line("fact", f"{fact.entity} {fact.relation} {fact.value}") for fact in results]
