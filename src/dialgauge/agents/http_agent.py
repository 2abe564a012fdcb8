"""``http``: a system behind a server of somebody's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge.agents import llm
from dialgauge.agents.history_bots import HistoryBot
from dialgauge.agents.protocol import Reply, SystemContext, Usage
from dialgauge.dialogue import Act, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.intents import service_of
from dialgauge.rankers import Point
from dialgauge.text import without_secrets
from dialgauge.worlds import Desk
from dialgauge.worlds.domain import ServiceDesk

#: Bytes of an answer, and characters of a value.
_MOST_BYTES, _LONGEST_VALUE = 1 << 20, 200


class ToolRequest(msgspec.Struct):
    """A tool that a bot wants used."""

    name: str
    arguments: dict[str, Any] = {}


class _Answer(msgspec.Struct):
    """Words, or tools to be used first."""

    text: str | None = None
    calls: list[ToolRequest] = []
    #: What it meant, where it says so: ``[["Hotel-Inform", "area", "north"], …]``.
    acts: list[list[str]] | None = None


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
        self._desk: Desk | None = None

    def start(self, context: SystemContext) -> None:
        super().start(context)
        self._acts: list[list[str]] | None = None
        self._in_lab = context.office is not None and context.level == "text"
        self._limits, self._desk = context.limits, context.office

    def respond(self, turn: Turn | None) -> Reply:
        reply = super().respond(turn)
        if not self._in_lab or reply.turn is None:
            return reply
        text, longest = llm.clean_text(reply.turn.text), self._limits.characters
        usage = self._usage + Usage(empty=int(not text), cut=int(len(text) > longest))
        acts = None
        if self._acts is not None and isinstance(self._desk, ServiceDesk):
            acts = _known_acts(self._acts, self._desk.domain.acts("system"))[: self._limits.acts]
        spoken_turn = Turn(speaker="system", text=text[:longest], acts=acts)
        return replace(reply, turn=spoken_turn, state=self._desk.state if self._desk else None, usage=usage)

    def reply(self, point: Point) -> str:
        question: dict[str, Any] = {
            "dialogue": point.dialogue,
            "turn": point.turn,
            "history": [{"speaker": line.kind, "text": line.text} for line in point.history],
            "utterance": point.utterance,
        }
        desk = self._desk
        if desk is not None:
            question |= {"title": desk.title, "policy": desk.policy, "tools": desk.tools()}
        left = self._most_calls
        while True:
            answer = self._answer(question, point)
            if answer.text is not None:
                self._acts = answer.acts
                return answer.text
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

        content = b""
        headers = {"Content-Type": "application/json"}
        try:
            with self._client.stream("POST", self._url, content=msgspec.json.encode(question), headers=headers) as got:
                got.raise_for_status()
                for piece in got.iter_bytes():
                    content += piece
                    if len(content) > _MOST_BYTES:
                        raise self._no_answer(point, f"answered with more than {_MOST_BYTES:,} bytes")
            answer = msgspec.json.decode(content, type=_Answer)
        except httpx.HTTPStatusError as error:
            raise self._no_answer(point, f"did not answer: status {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise self._no_answer(point, f"did not answer ({str(error) or type(error).__name__})") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._no_answer(point, f'did not answer {{"text": "…"}} ({error})') from error
        if answer.text is None and not answer.calls:
            raise self._no_answer(point, 'answered neither {"text": "…"} nor {"calls": […]}')
        return answer

    def _no_answer(self, point: Point, reason: str) -> DialgaugeError:
        return DialgaugeError(f"the bot at {self.shown} {reason}", dialogue=point.dialogue, turn=point.turn)


def _known_acts(listed: list[list[str]], inventory: Mapping[str, tuple[str, ...]]) -> tuple[Act, ...]:
    """The acts that a server says it meant, without those that no system can say in the domain."""
    known = {name.lower(): (name, slots) for name, slots in inventory.items()}
    acts = []
    for name, slot, value in ((*entry, "", "", "")[:3] for entry in listed):
        spelled, slots = known.get(name.lower(), ("", ()))
        if slot in slots and len(value) <= _LONGEST_VALUE and (value or not slot):
            acts.append(Act(name=spelled, domain=service_of(spelled), slot=slot, values=(value,) if slot else ()))
    return tuple(dict.fromkeys(acts))
