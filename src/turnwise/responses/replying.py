"""Bots that answer with a sentence instead of scores: rules, a Python function, a server behind HTTP.

The sentence is looked up among the candidates. One that is not there counts as no answer, which is never correct.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from turnwise.errors import TurnwiseError
from turnwise.responses.episodes import Point
from turnwise.responses.ranker import Ranker, Scores, Tell, silent
from turnwise.responses.task import Task


class ReplyingRanker(Ranker):
    """A ranker whose only candidate is the sentence it would say."""

    @abstractmethod
    def reply(self, point: Point) -> str:
        """What the bot says here."""

    def scores(self, points: Sequence[Point]) -> Scores:
        index = {text: place for place, text in enumerate(self.candidates)}
        scores = np.full((len(points), len(self.candidates)), -np.inf)
        for row, point in enumerate(points):
            place = index.get(self.reply(point).strip())
            if place is not None:
                scores[row, place] = 0.0
        return scores


class CallableBot(ReplyingRanker):
    """Any Python function from a :class:`Point` to a sentence.

    >>> bot = CallableBot(lambda point: "hello what can i help you with today")
    """

    name: ClassVar[str] = "callable"
    summary = "a Python function from a point to a sentence"

    def __init__(self, function: Callable[[Point], str]) -> None:
        super().__init__()
        self._function = function

    def fit(self, task: Task, tell: Tell = silent) -> None:
        self.candidates = task.candidates

    def reply(self, point: Point) -> str:
        said = self._function(point)
        if not isinstance(said, str):
            raise TurnwiseError(
                f"the bot returned {type(said).__name__} where a sentence belongs",
                dialogue=point.dialogue,
                turn=point.turn,
            )
        return said


class _Answer(msgspec.Struct):
    reply: str


class HttpBot(ReplyingRanker):
    """A bot behind HTTP.

    Each reply is one POST of ``{"dialogue", "turn", "history": [{"speaker", "text"}], "utterance"}``; the server
    answers ``{"reply": "…"}``. Speakers are ``user``, ``bot`` and ``fact``.
    """

    name: ClassVar[str] = "http"
    summary = "a bot behind an HTTP address"

    def __init__(self, url: str, *, timeout: float = 30.0) -> None:
        super().__init__()
        import httpx

        self.url = url
        self._client = httpx.Client(timeout=timeout)

    def fit(self, task: Task, tell: Tell = silent) -> None:
        self.candidates = task.candidates

    def reply(self, point: Point) -> str:
        import httpx

        question = {
            "dialogue": point.dialogue,
            "turn": point.turn,
            "history": [{"speaker": line.kind, "text": line.text} for line in point.history],
            "utterance": point.utterance,
        }
        try:
            answer = self._client.post(self.url, json=question)
            answer.raise_for_status()
            return msgspec.json.decode(answer.content, type=_Answer).reply
        except httpx.HTTPError as error:
            reason = f"the bot at {self.url} did not answer ({error})"
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            reason = f'the bot at {self.url} did not answer {{"reply": "…"}} ({error})'
        raise TurnwiseError(reason, dialogue=point.dialogue, turn=point.turn)
