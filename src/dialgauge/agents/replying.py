"""Bots that answer with a sentence instead of scores: rules, a Python function, a server behind HTTP.

The sentence is looked up among the candidates. One that is not there counts as no answer, which is never correct.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Point, Ranker, RankingTask, Scores, Tell, silent


class ReplyingRanker(Ranker):
    """A ranker whose only candidate is the sentence it would say."""

    @abstractmethod
    def reply(self, point: Point) -> str:
        """What the bot says here."""

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        self.candidates = tuple(candidates)

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

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        self.candidates = task.candidates

    def reply(self, point: Point) -> str:
        said = self._function(point)
        if not isinstance(said, str):
            raise DialgaugeError(
                f"the bot returned {type(said).__name__} where a sentence belongs",
                dialogue=point.dialogue,
                turn=point.turn,
            )
        return said


#: A reply is a sentence; an answer longer than this is none.
_MOST_BYTES = 1 << 20


class _Answer(msgspec.Struct):
    reply: str


class _TooLong(Exception):
    """The server sent more than a reply."""


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

        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise DialgaugeError(f"'{url}' is no web address ({error})") from error
        self._url = parsed
        self._client = httpx.Client(timeout=timeout)
        #: The address without what may be secret in it.
        self.shown = str(parsed.copy_with(userinfo=b"", query=None, fragment=None))
        self.options = {"url": self.shown}

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
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
            return msgspec.json.decode(self._post(question), type=_Answer).reply
        except httpx.HTTPStatusError as error:
            reason = f"did not answer: status {error.response.status_code}"
        except httpx.HTTPError as error:
            reason = f"did not answer ({str(error) or type(error).__name__})"
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            reason = f'did not answer {{"reply": "…"}} ({error})'
        except _TooLong:
            reason = f"answered with more than {_MOST_BYTES:,} bytes"
        raise DialgaugeError(f"the bot at {self.shown} {reason}", dialogue=point.dialogue, turn=point.turn)

    def _post(self, question: dict[str, Any]) -> bytes:
        content = b""
        with self._client.stream("POST", self._url, json=question) as answer:
            answer.raise_for_status()
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise _TooLong
        return content
