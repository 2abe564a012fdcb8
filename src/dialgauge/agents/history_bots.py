"""Bots that answer from the dialog so far: a fitted model, a Python function, a server behind HTTP.

Each keeps the lines of its conversation and says its reply to the place they lead to. That one method, ``reply``, is
also what teacher-forced evaluation asks, with the recorded lines instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge.agents import llm
from dialgauge.agents.protocol import NO_USAGE, Reply, SystemContext, Usage
from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT, SILENCE
from dialgauge.rankers import NO_ANSWER, Line, Point, Ranker, ReplyModel, checked_scores
from dialgauge.text import without_secrets
from dialgauge.worlds.domain import Domain, ServiceDesk

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


#: A reply is a sentence; an answer longer than this is none.
_MOST_BYTES = 1 << 20


class ToolRequest(msgspec.Struct):
    """A tool that a bot wants used."""

    name: str
    arguments: dict[str, Any] = {}


class _Answer(msgspec.Struct):
    """Words, or tools to be used first."""

    text: str | None = None
    #: The older name of the text.
    reply: str | None = None
    calls: list[ToolRequest] = []
    #: What it meant, where it says so: ``[["Hotel-Inform", "area", "north"], …]``.
    acts: list[list[str]] | None = None


class _TooLong(Exception):
    """The server sent more than a reply."""


class HttpBot(HistoryBot):
    """A bot behind HTTP.

    Each reply is one POST of ``{"dialogue", "turn", "history": [{"speaker", "text"}], "utterance"}``, in the lab also
    ``"title"``, ``"policy"`` and ``"tools"`` of the domain. The server answers ``{"text": "…"}``, or ``{"calls":
    [{"name", "arguments"}]}``; then ``{"dialogue", "turn", "results": [{"name", "result"}]}`` is posted, and so on
    until there is a text. Speakers are ``user``, ``bot`` and ``fact``. What the bot said is read from its words and
    calls; a server that knows its acts may send ``"acts"`` along.
    """

    name = "http"
    side = "system"
    levels = ("text",)
    remote = True
    acts_source = "words and calls"
    _usage = Usage(calls=1)

    def __init__(self, url: str, *, timeout: float = 30.0, calls: int = 12) -> None:
        """``calls`` are the tools that the bot may use for one reply."""
        import httpx

        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise DialgaugeError(f"'{without_secrets(url)}' is not a web address ({error})") from error
        self._url = parsed
        self._client = httpx.Client(timeout=float(timeout))
        self._most_calls = int(calls)
        #: The address without what may be secret in it.
        self.shown = without_secrets(str(parsed))
        self.options = {"url": self.shown}

    def start(self, context: SystemContext) -> None:
        super().start(context)
        self._acts: list[list[str]] | None = None
        self._desk: ServiceDesk | None = None
        self._in_lab = context.office is not None and context.level == "text"
        self._domain: Domain | None = None
        self._most_acts, self._longest = context.limits.acts, context.limits.characters
        if isinstance(context.office, ServiceDesk):
            self._desk, self._domain = context.office, context.office.domain

    def respond(self, turn: Turn | None) -> Reply:
        reply = super().respond(turn)
        if not self._in_lab or reply.turn is None:
            return reply
        text = llm.clean_text(reply.turn.text)
        usage = self._usage + Usage(empty=int(not text), cut=int(len(text) > self._longest))
        acts = None
        if self._acts is not None and self._domain is not None:
            acts = llm.reported_acts(self._acts, self._domain.acts("system"), self._most_acts)
        spoken_turn = Turn(speaker="system", text=text[: self._longest], acts=acts)
        return replace(reply, turn=spoken_turn, state=self._desk.state if self._desk else None, usage=usage)

    def reply(self, point: Point) -> str:
        question: dict[str, Any] = {
            "dialogue": point.dialogue,
            "turn": point.turn,
            "history": [{"speaker": line.kind, "text": line.text} for line in point.history],
            "utterance": point.utterance,
        }
        desk = getattr(self, "_desk", None)
        if desk is not None and self._domain is not None:
            question |= {"title": self._domain.title, "policy": self._domain.policy, "tools": desk.tools()}
        left = self._most_calls
        while True:
            answer = self._answer(question, point)
            if answer.text is not None or answer.reply is not None:
                self._acts = answer.acts
                return (answer.text if answer.text is not None else answer.reply) or ""
            if desk is None or left <= 0:
                raise self._no_answer(
                    point, f"asked for more than {self._most_calls} tools" if desk else "has no tools"
                )
            results = [
                {"name": call.name, "result": desk.call(call.name, call.arguments).answer}
                for call in answer.calls[:left]
            ]
            left -= len(answer.calls)
            question = {"dialogue": point.dialogue, "turn": point.turn, "results": results}

    def _answer(self, question: dict[str, Any], point: Point) -> _Answer:
        """What the server answers: words or calls."""
        import httpx

        try:
            answer = msgspec.json.decode(self._post(question), type=_Answer)
        except httpx.HTTPStatusError as error:
            raise self._no_answer(point, f"did not answer: status {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise self._no_answer(point, f"did not answer ({str(error) or type(error).__name__})") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._no_answer(point, f'did not answer {{"text": "…"}} ({error})') from error
        except _TooLong as error:
            raise self._no_answer(point, f"answered with more than {_MOST_BYTES:,} bytes") from error
        if answer.text is None and answer.reply is None and not answer.calls:
            raise self._no_answer(point, 'answered neither {"text": "…"} nor {"calls": […]}')
        return answer

    def _no_answer(self, point: Point, reason: str) -> DialgaugeError:
        return DialgaugeError(f"the bot at {self.shown} {reason}", dialogue=point.dialogue, turn=point.turn)

    def _post(self, question: dict[str, Any]) -> bytes:
        content = b""
        body = msgspec.json.encode(question)
        headers = {"Content-Type": "application/json"}
        with self._client.stream("POST", self._url, content=body, headers=headers) as answer:
            answer.raise_for_status()
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise _TooLong
        return content
