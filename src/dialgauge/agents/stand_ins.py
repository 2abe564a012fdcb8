"""Agents that stand in for real ones: people as a corpus recorded them, an echo, and silence.

The people are an upper bound and a fixture: whatever the other side says, they say what they said. Echo and silence
show how the other side copes with nobody there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec.structs import replace

from dialgauge import formats
from dialgauge.agents.act_agents import requested
from dialgauge.agents.protocol import SYSTEM_QUIT, USER_DONE, Context, Reply, UserContext
from dialgauge.dialogue import Act, Dialogue, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.worlds.domain import goal_act

_TRIAL = "#"


@lru_cache(2)
def _corpus(path: str) -> dict[str, Dialogue]:
    return {_plain(dialogue.id): dialogue for dialogue in formats.read(path).dialogues}


def _plain(identifier: str) -> str:
    """The id of a dialogue without trial and file ending."""
    return identifier.partition(_TRIAL)[0].removesuffix(".json")


class CorpusAgent:
    """Says what one side of a recorded dialogue said: the dialogue whose goal it is given."""

    def __init__(self, speaker: Speaker, corpus: str) -> None:
        self.name = f"corpus-{speaker}"
        self._speaker, self._path = speaker, corpus

    def start(self, context: Context) -> None:
        """Look up the dialogue."""
        dialogue = _corpus(self._path).get(_plain(context.dialogue_id))
        if dialogue is None:
            raise DialgaugeError(f"{self.name} has no dialogue '{context.dialogue_id}' in {self._path} to replay")
        turns = [_as_said(turn) for turn in dialogue.turns if turn.speaker == self._speaker]
        self._left: Iterator[tuple[int, Turn]] = iter(enumerate(turns, start=1))
        self._count = len(turns)

    def respond(self, turn: Turn | None) -> Reply:
        """The next turn; a user leaves with its last one, a system when it has no more."""
        heard = None if turn is None else turn.acts
        number, recorded = next(self._left, (self._count, None))
        if recorded is None:
            reason = USER_DONE if self._speaker == "user" else SYSTEM_QUIT
            why = f"the recorded {self._speaker} says no more after {counted(self._count, 'turn')}"
            return Reply(turn=None, heard=heard, done=True, end_reason=reason, explanation=why)
        done = self._speaker == "user" and number == self._count
        return Reply(turn=recorded, heard=heard, done=done, end_reason=USER_DONE if done else "")


def _as_said(turn: Turn) -> Turn:
    """A recorded turn as agents of the town say it: text and acts, nothing that annotators added."""
    acts = None if turn.acts is None else tuple(_goal_act(act) for act in turn.acts)
    asked = requested(acts) if acts and turn.speaker == "user" else None
    return Turn(speaker=turn.speaker, text=turn.text, acts=acts, requested=asked)


def _goal_act(annotated: Act) -> Act:
    renamed = goal_act(annotated)
    return renamed if renamed.slot else replace(renamed, values=())


class Echo:
    """Says what it hears."""

    name = "echo"

    def start(self, context: Context) -> None:
        """Note which side it is on."""
        self._speaker: Speaker = "user" if isinstance(context, UserContext) else "system"

    def respond(self, turn: Turn | None) -> Reply:
        """The other side's words and acts."""
        if turn is None:
            return Reply(turn=Turn(speaker=self._speaker, acts=()))
        return Reply(turn=Turn(speaker=self._speaker, text=turn.text, acts=turn.acts), heard=turn.acts)


class Silent(Echo):
    """Says nothing."""

    name = "silent"

    def respond(self, turn: Turn | None) -> Reply:
        """No word and no act."""
        return Reply(turn=Turn(speaker=self._speaker, acts=()), heard=None if turn is None else turn.acts)


def corpus_user(*, corpus: str) -> CorpusAgent:
    """The user of a recorded dialogue."""
    return CorpusAgent("user", corpus)


def corpus_system(*, corpus: str) -> CorpusAgent:
    """The system of a recorded dialogue."""
    return CorpusAgent("system", corpus)
