"""A thin client of the OpenAI-compatible protocol: a cassette, a budget, a gate, and then one request."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge.agents.llm.budget import Cost, DialogueBudget, RunBudget
from dialgauge.agents.llm.cassette import Cassette, Completion, TapeEntry, WantedCall, request_key
from dialgauge.agents.llm.in_flight import awaited
from dialgauge.agents.llm.settings import LOCAL, ChatSettings
from dialgauge.errors import DialgaugeError
from dialgauge.files import reason
from dialgauge.locks import FileLock, locked, try_lock

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
        if self._budget is None:
            return self._fetched(request, key)
        with self._budget.reserved(self._most(request)):
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
        begun, transport = time.monotonic(), self._transport
        if self._cassette is None:
            with self._gate.passed():
                return completion_of(transport.post(sent), request)
        with self._gate.passed(), awaited():
            answer = completion_of(transport.post(sent), request)
            cost = self.settings.cost(answer.tokens_in, answer.tokens_out)
            seconds = round(time.monotonic() - begun, 3)
            self._cassette.keep(TapeEntry(key=key, request=request, answer=answer, cost=cost, seconds=seconds))
        return answer

    def _most(self, request: dict[str, Any]) -> Cost:
        """The most that a call can cost: a text has at most as many tokens as bytes."""
        tokens_in, tokens_out = len(json.dumps(request).encode()), self.settings.max_tokens
        return Cost(tokens_in + tokens_out, self.settings.cost(tokens_in, tokens_out))

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.settings.endpoint, concurrency=self.settings.concurrency, rate=self.settings.rate)

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


#: Seconds between two tries to get a place.
_PAUSE = 0.02


class Gate:
    """How many requests go to one host at a time, and how fast: for all processes of this user on this machine."""

    def __init__(self, endpoint: str, *, concurrency: int, rate: float) -> None:
        name = hashlib.sha256(endpoint.encode()).hexdigest()[:16]
        user = os.getuid() if hasattr(os, "getuid") else 0
        self._folder = Path(tempfile.gettempdir()) / f"dialgauge-{user}" / name
        self._concurrency, self._rate = concurrency, rate

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Wait for a place and a moment, and hold the place."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = self._place()
            self._wait_for_turn()
        except OSError as error:
            raise DialgaugeError(f"requests cannot be counted ({reason(error)})", file=str(self._folder)) from error
        try:
            yield
        finally:
            lock.release()

    def _place(self) -> FileLock:
        for number in cycle(range(self._concurrency)):
            if lock := try_lock(self._folder / f"place-{number}"):
                return lock
            if number == self._concurrency - 1:
                time.sleep(_PAUSE)
        raise AssertionError("cycles do not end")

    def _wait_for_turn(self) -> None:
        if not self._rate:
            return
        file = self._folder / "next"
        with locked(self._folder / "turn"):
            now = time.time()
            allowed = now
            with suppress(OSError, ValueError):
                # No more than the places can wait: a time further ahead is of a slower rate, or of another clock.
                allowed = min(float(file.read_text()), now + self._concurrency * 60 / self._rate)
            start = max(now, allowed)
            file.write_text(repr(start + 60 / self._rate))
        time.sleep(max(0.0, start - now))
