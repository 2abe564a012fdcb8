"""Bots that answer from the dialog so far: a fitted model, or a Python function.

Each keeps the lines of its conversation and says its reply to the place they lead to. That one method, ``reply``, is
also what teacher-forced evaluation asks, with the recorded lines instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from dialgauge.agents.protocol import NO_USAGE, Reply, SystemContext, Usage
from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT, SILENCE
from dialgauge.rankers import NO_ANSWER, Line, Point, Ranker, ReplyModel, checked_scores

#: What a bot says to words that mean nothing to it. It is off the record: the dialog goes on as if nothing was said.
NOT_UNDERSTOOD = "sorry i did not understand that could you say it in other words"


class HistoryBot(ABC):
    """A bot that answers a :class:`Point`: the lines before, and the user's words."""

    name: str
    #: For signatures: what it was set to, and the seed of a bot that draws.
    options: dict[str, str] = {}  # noqa: RUF012 - never changed
    seed: int = 0
    #: What one reply costs.
    _usage: Usage = NO_USAGE

    @abstractmethod
    def reply(self, point: Point) -> str:
        """What the bot says here."""

    def start(self, context: SystemContext) -> None:
        """A new dialog begins."""
        self._dialogue = context.dialogue_id
        self._lines: list[Line] = []
        self._turn = 0

    def respond(self, turn: Turn | None) -> Reply:
        """The answer to what the user said, after what the database showed."""
        text, results = (turn.text, turn.results) if turn is not None else ("", None)
        if results is not None:
            shown = [Line("fact", f"{fact.entity} {fact.relation} {fact.value}") for fact in results]
            self._lines.extend(shown or [Line("fact", NO_RESULT)])
        utterance = text.strip() or SILENCE
        reply = self.reply(Point(self._dialogue, self._turn, tuple(self._lines), utterance))
        if reply != NOT_UNDERSTOOD:
            self._lines.extend([Line("user", utterance), Line("bot", reply)])
            self._turn += 1
        return Reply(turn=Turn(speaker="system", text=reply), usage=self._usage)

    def overrule(self, turn: Turn) -> None:
        self._lines[-1] = Line("bot", turn.text.strip())


class ModelBot(HistoryBot):
    """Says what a fitted model answers: the first candidate of a ranker, the sentence of any other.

    When a ranker finds all candidates equally good, it has understood nothing, and the bot says so. With ``asks_back``
    it does so too when no word that the user says means anything to the model, whatever was said before.
    """

    def __init__(self, model: ReplyModel, *, asks_back: bool = False) -> None:
        self.model, self._asks_back = model, asks_back
        self.name, self.options, self.seed = model.name, model.options, model.seed

    def reply(self, point: Point) -> str:
        if self._asks_back and point.utterance != SILENCE and not self.model.understands(point.utterance):
            return NOT_UNDERSTOOD
        if not isinstance(self.model, Ranker):
            return str(self.model.reply(point))  # type: ignore[attr-defined]
        scores = checked_scores(self.model, [point])[0]
        best = int(scores.argmax())
        if scores.size > 1 and scores.min() == scores[best] > -float("inf"):
            return NOT_UNDERSTOOD
        return self.model.candidates[best] if scores[best] > -float("inf") else NO_ANSWER


class CallableBot(HistoryBot):
    """Any Python function from a :class:`Point` to a sentence.

    >>> bot = CallableBot(lambda point: "hello what can i help you with today")
    """

    def __init__(self, function: Callable[[Point], str], name: str = "callable") -> None:
        self._function, self.name = function, name

    def reply(self, point: Point) -> str:
        answer = self._function(point)
        if not isinstance(answer, str):
            raise DialgaugeError(
                f"the bot returned {type(answer).__name__} instead of a sentence",
                dialogue=point.dialogue,
                turn=point.turn,
            )
        return answer
