"""A thin client of the OpenAI-compatible protocol: a cassette, a budget, and then one request."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge.agents.llm.budget import Cost, DialogueBudget, RunBudget
from dialgauge.agents.llm.cassette import Cassette, Completion, TapeEntry, WantedCall, request_key
from dialgauge.agents.llm.settings import LOCAL, ChatSettings
from dialgauge.agents.registry import converted_options
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.agents.llm.transport import Transport


#: Characters of a token where an endpoint does not count them.
_CHARACTERS = 4
#: Tool calls of one answer that are looked at, and characters of text that are kept.
_MOST_CALLS, _MOST_TEXT = 32, 20_000
_SHOWN = 80
_THOUGHTS = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"))
_QUOTED = 300
Messages = list[dict[str, Any]]


def chat_settings(given: Mapping[str, str]) -> ChatSettings:
    """Settings as the command line has them."""
    settings = ChatSettings(**converted_options("language models", ChatSettings, given))
    settings.check()
    return settings


class ChatClient:
    """Asks one model. It serves one dialogue after the other; several processes may have one each."""

    def __init__(self, settings: ChatSettings) -> None:
        settings.check()
        self.settings = settings
        self._cassette = Cassette(Path(settings.cassette)) if settings.cassette and settings.how != "off" else None
        if self._cassette is not None and settings.how == "replay" and not self._cassette.path.is_file():
            raise DialgaugeError("there is no such cassette to replay", file=settings.cassette)
        self._budget = RunBudget(self._cassette, settings) if self._cassette is not None else None

    def ask(self, messages: Messages, *, seed: int, purse: DialogueBudget, **parameters: Any) -> Completion:
        """The model's answer, from the cassette or the endpoint.

        Raises :class:`~dialgauge.agents.llm.transport.ChatError` where there is none, and ``BudgetSpent``.
        """
        purse.check()
        settings = self.settings
        request = {
            "model": settings.model_name,
            "messages": messages,
            "temperature": settings.temperature,
            "seed": seed,
            "max_tokens": settings.max_tokens,
            **parameters,
        }
        request = settings.shaped(request)
        key = request_key(request)
        kept = self._cassette.find(key) if self._cassette is not None and settings.how != "refuse" else None
        answer = self._called(request, key) if kept is None else kept
        purse.add(Cost(answer.tokens_in + answer.tokens_out, settings.cost(answer.tokens_in, answer.tokens_out)))
        return answer

    def _called(self, request: dict[str, Any], key: str) -> Completion:
        from dialgauge.agents.llm.transport import ChatError

        if not self.settings.calls:
            raise ChatError(f"{self._why_not()}: the request {key[:12]} that ends with “{_last(request)}”")
        if self._budget is not None:
            self._budget.check()
        return self._fetched(request, key)

    def _why_not(self) -> str:
        if self.settings.how == "replay":
            return f"the cassette {self.settings.cassette} has no answer to a request, and may only be replayed"
        return "no model may be asked (mode=refuse)"

    def _fetched(self, request: dict[str, Any], key: str) -> Completion:
        sent = {**request, "stream": False}
        if self.settings.endpoint == LOCAL:
            # With parts of other prompts in memory the last digits differ, and with them now and then a word.
            sent["cache_prompt"] = False
        begun = time.monotonic()
        answer = completion_of(self._transport.post(sent), request)
        if self._cassette is not None:
            cost = self.settings.cost(answer.tokens_in, answer.tokens_out)
            seconds = round(time.monotonic() - begun, 3)
            self._cassette.keep(TapeEntry(key=key, request=request, answer=answer, cost=cost, seconds=seconds))
        return answer

    @cached_property
    def _transport(self) -> Transport:
        from dialgauge.agents.llm.transport import Transport

        if self.settings.endpoint == LOCAL:
            from dialgauge.agents.llm.local_model import local_address

            return Transport(self.settings, local_address, trust_environment=False)
        return Transport(self.settings, lambda: self.settings.endpoint)


def completion_of(answer: dict[str, Any], request: dict[str, Any]) -> Completion:
    """What is of use in an endpoint's answer, whatever else is in it or missing."""
    from dialgauge.agents.llm.transport import ChatError

    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        raise ChatError(f"the model's answer has no message in it: {_why_no_message(answer)}")
    text = without_thoughts(clean_text(message.get("content")))
    finish = first.get("finish_reason")
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Completion(
        text=text[:_MOST_TEXT],
        calls=_tool_calls(message.get("tool_calls")),
        finish=finish if isinstance(finish, str) and len(finish) < _SHOWN else "",
        tokens_in=_count(counts.get("prompt_tokens"), str(request["messages"])),
        tokens_out=_count(counts.get("completion_tokens"), text),
    )


def _why_no_message(answer: dict[str, Any]) -> str:
    choices, error = answer.get("choices"), answer.get("error")
    explanation = clean_text(error.get("message") if isinstance(error, dict) else error)
    if explanation:
        return f"the endpoint reports an error ({' '.join(explanation.split())[:_QUOTED]})"
    if choices == []:
        return "its list of choices is empty, so the endpoint produced no reply; the endpoint's log may say why"
    if choices is None:
        return "it has no 'choices'; check that the endpoint speaks OpenAI's chat format and its address is complete"
    return "choices[0].message is missing or no object; check that the endpoint speaks OpenAI's chat format"


def without_thoughts(text: str) -> str:
    """What a model says, without what it thought aloud; thoughts that were cut off leave nothing to say.

    >>> without_thoughts("<think>They want a van.</think>Which day?"), without_thoughts("<think>Hmm, a van")
    ('Which day?', '')
    """
    for opening, closing in _THOUGHTS:
        begin = text.find(opening)
        while begin >= 0:
            end = text.find(closing, begin)
            text = text[:begin] + (text[end + len(closing) :] if end >= 0 else "")
            begin = text.find(opening)
        _, closed, rest = text.rpartition(closing)  # some templates open the thoughts themselves
        text = rest if closed else text
    return text.strip()


def clean_text(content: object) -> str:
    """Words without what no record can hold or no terminal should see; also of content in parts."""
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    if not isinstance(content, str):
        return ""
    text = content.encode("utf-8", "replace").decode()
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text).strip()


def _tool_calls(given: object) -> tuple[WantedCall, ...]:
    calls = []
    for number, entry in enumerate(given[:_MOST_CALLS] if isinstance(given, list) else ()):
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        identifier = clean_text(entry.get("id"))[:_SHOWN] or f"call-{number + 1}"
        calls.append(
            WantedCall(identifier, clean_text(function.get("name"))[:_SHOWN], clean_text(arguments)[:_MOST_TEXT])
        )
    return tuple(calls)


def _count(reported: object, text: str) -> int:
    if isinstance(reported, int) and not isinstance(reported, bool) and reported >= 0:
        return reported
    return math.ceil(len(text) / _CHARACTERS)


def _last(request: dict[str, Any]) -> str:
    words = " ".join(str(request["messages"][-1].get("content") or "").split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
