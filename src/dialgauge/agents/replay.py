"""One side of a recorded dialogue, as an agent: it says what is recorded, whatever the other side says."""

from __future__ import annotations

from collections.abc import Iterator

from dialgauge.agents.protocol import Context, Reply
from dialgauge.dialogue import Dialogue, Speaker, Turn


class Replay:
    """Says the turns of one speaker in order, and is done after the last."""

    name = "replay"

    def __init__(self, dialogue: Dialogue, speaker: Speaker = "user") -> None:
        self._recorded = [turn for turn in dialogue.turns if turn.speaker == speaker]

    def start(self, context: Context) -> None:
        """From the first turn again."""
        del context
        self._left: Iterator[Turn] = iter(self._recorded)

    def respond(self, turn: Turn | None) -> Reply:
        """The next recorded turn."""
        recorded = next(self._left, None)
        return Reply(turn=recorded, done=recorded is None)

    def overrule(self, turn: Turn) -> None:
        """The record stays what it is."""
