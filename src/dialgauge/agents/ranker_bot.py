"""A ranker as a bot that talks: it keeps the dialog so far and says its best candidate."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dialgauge.dialogue import Fact
from dialgauge.rankers import NO_RESULT, SILENCE, Line, Point, Ranker, checked_scores

NO_ANSWER = "(no answer)"


class RankerBot:
    """Answers with the ranker's first candidate; fulfils the protocol of ``babi.interaction.Bot``."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker
        self.reset()

    def reset(self) -> None:
        """A new dialog begins."""
        self._lines: list[Line] = []
        self._turn = 0

    def respond(self, text: str, facts: Iterable[Fact] | None = None) -> str:
        """The bot's next sentence, after what the database showed and what the user said."""
        if facts is not None:
            shown = [Line("fact", f"{fact.entity} {fact.relation} {fact.value}") for fact in facts]
            self._lines.extend(shown or [Line("fact", NO_RESULT)])
        said = text.strip() or SILENCE
        point = Point("conversation", self._turn, tuple(self._lines), said, "")
        scores = checked_scores(self._ranker, [point])[0]
        reply = self._ranker.candidates[int(scores.argmax())] if np.isfinite(scores.max()) else NO_ANSWER
        self._lines.extend([Line("user", said), Line("bot", reply)])
        self._turn += 1
        return reply
