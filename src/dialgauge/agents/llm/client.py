"""A thin client of the OpenAI-compatible protocol: the cassette, the budget, then one request over HTTP.

What comes back is read up to a size and a time, and a key that it repeats is blotted out before anybody sees it.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.agents.llm.cassette import Cassette, Completion, TapeEntry, WantedCall, request_key
from dialgauge.agents.llm.settings import LOCAL, ChatSettings
from dialgauge.agents.registry import converted_options
from dialgauge.errors import DialgaugeError
from dialgauge.retry import TryAgain, is_temporary, retry_after, retrying
from dialgauge.text import BLOT, counted, secrets_in, without_secrets

if TYPE_CHECKING:
    import httpx

#: Bytes of an answer, tool calls that are looked at, and characters of text that are kept.
_MOST_BYTES, _MOST_CALLS, _MOST_TEXT = 4 << 20, 32, 20_000
#: After so many failed calls in a row the endpoint counts as down, and a call is tried once.
_DOWN = 3
#: Seconds; an endpoint that asks for more patience is as good as down.
_LONGEST_WAIT = 120.0
#: The value of a header that is so long may be a key.
_SECRET = 8
#: Characters of a token where an endpoint does not count them.
_CHARACTERS = 4
_SHOWN, _QUOTED = 80, 300
#: What a model thinks aloud; some templates open the thoughts themselves, and a limit may cut them off.
_THOUGHTS = re.compile(
    r"\A.*</(?:think|thinking|reasoning)>|<(?:think|thinking|reasoning)>.*", re.DOTALL | re.IGNORECASE
)
Messages = list[dict[str, Any]]


class ChatError(DialgaugeError):
    """The model gave no answer that can be used; it ends the dialogue, and nothing else."""


class BudgetSpent(DialgaugeError):
    """Nothing more may be asked."""


def chat_settings(given: Mapping[str, str]) -> ChatSettings:
    """Settings as the command line has them."""
    settings = ChatSettings(**converted_options("language models", ChatSettings, given))
    settings.check()
    return settings


class ChatClient:
    """Asks one model. It serves one dialogue after the other; several processes may have one each."""

    def __init__(self, settings: ChatSettings, *, pause: Callable[[float], None] = time.sleep) -> None:
        settings.check()
        self.settings = settings
        self._cassette = Cassette(Path(settings.cassette)) if settings.cassette else None
        if settings.mode == "replay" and not Path(settings.cassette).is_file():
            raise DialgaugeError("there is no such cassette to replay", file=settings.cassette)
        self._pause = pause
        self._http: httpx.Client | None = None
        self._headers = settings.sent_headers() if settings.mode == "record" else {}
        hidden = [value.removeprefix("Bearer ") for value in self._headers.values() if len(value) >= _SECRET]
        self._secrets = sorted([*hidden, *secrets_in(settings.endpoint)], key=len, reverse=True)
        #: The address without what may be secret in it.
        self._shown = without_secrets(settings.endpoint)
        #: Calls in a row that failed with all their tries.
        self._failed = 0

    def ask(self, messages: Messages, *, seed: int, **parameters: Any) -> Completion:
        """The model's answer, from the cassette or the endpoint. Raises :class:`ChatError` and :class:`BudgetSpent`."""
        settings = self.settings
        request = {
            "model": settings.model_name,
            "messages": messages,
            "temperature": settings.temperature,
            "seed": seed,
            "max_tokens": settings.max_tokens,
            **parameters,
            **settings.extra_fields(),
        }
        request = {field: value for field, value in request.items() if value is not None}
        key = request_key(request)
        kept = self._cassette.find(key) if self._cassette is not None else None
        if kept is not None:
            return kept
        if settings.mode == "replay":
            raise ChatError(
                f"the cassette {settings.cassette} has no answer to a request, and may only be replayed: the request "
                f"{key[:12]} that ends with “{_last(messages)}”"
            )
        self._check_budget()
        begun = time.monotonic()
        answer = completion_of(self._post(request), request)
        if self._cassette is not None:
            cost = settings.cost(answer.tokens_in, answer.tokens_out)
            seconds = round(time.monotonic() - begun, 3)
            self._cassette.keep(TapeEntry(key=key, request=request, answer=answer, cost=cost, seconds=seconds))
        return answer

    def _check_budget(self) -> None:
        """Compare what was paid, by whichever worker, with the budget: each worker goes over by one call at most."""
        tokens, money = self.settings.budget_tokens, self.settings.budget_money
        if self._cassette is None or not (tokens or money):
            return
        self._cassette.refresh()
        if tokens and self._cassette.tokens >= tokens:
            raise BudgetSpent(f"the budget of {counted(tokens, 'token')} for the run is spent")
        if money and self._cassette.money >= money:
            raise BudgetSpent(f"the budget of {money:g} in money for the run is spent")

    def _post(self, request: dict[str, Any]) -> dict[str, Any]:
        """The endpoint's answer: a JSON object."""
        tries = 1 if self._failed >= _DOWN else self.settings.retries + 1
        try:
            answer = retrying(
                lambda: self._try(request), tries=tries, first_wait=self.settings.backoff,
                longest_wait=_LONGEST_WAIT, sleep=self._pause, spread=True,
            )  # fmt: skip
        except TryAgain as again:
            self._failed += 1
            raise ChatError(f"the model at {self._shown} {again} ({counted(tries, 'try', 'tries')})") from again
        self._failed = 0
        return answer

    def _try(self, request: dict[str, Any]) -> dict[str, Any]:
        import httpx

        address, sent = self.settings.endpoint, {**request, "stream": False}
        if address == LOCAL:
            from dialgauge.agents.llm.local_model import local_address

            # With parts of other prompts in memory the last digits differ, and with them now and then a word.
            address, sent = local_address(), {**sent, "cache_prompt": False}
        if self._http is None:
            self._http = httpx.Client(timeout=self.settings.timeout, trust_env=self.settings.endpoint != LOCAL)
        base = httpx.URL(address)
        url = base.copy_with(path=f"{base.path.rstrip('/')}/chat/completions")
        try:
            with self._http.stream("POST", url, json=sent, headers=self._headers) as response:
                body = self._read(response)
        except httpx.TimeoutException as error:
            raise TryAgain(f"did not answer within {self.settings.timeout:g} seconds") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise TryAgain(f"did not answer: {self._without_keys(str(error) or type(error).__name__)}") from error
        answer: Any = None
        try:
            answer = self._without_keys(json.loads(body.decode("utf-8", "replace")))
        except (ValueError, RecursionError) as error:
            if response.is_success:
                raise TryAgain(f"did not answer with JSON ({type(error).__name__})") from error
        explained = f": {why}" if (why := _error_in(answer)) else ""
        if is_temporary(response.status_code):
            wait = retry_after(response.headers.get("Retry-After", ""))
            raise TryAgain(f"answered with status {response.status_code}{explained}", wait)
        if not response.is_success:
            raise ChatError(f"the model at {self._shown} answered with status {response.status_code}{explained}")
        if not isinstance(answer, dict):
            raise TryAgain("did not answer with a JSON object")
        if answer.get("choices") == [] and not explained:
            raise TryAgain("answered with an empty list of choices; its log may say why")
        return answer

    def _read(self, response: httpx.Response) -> bytes:
        """The body; a server that sends without end, or drop by drop, is not waited for."""
        deadline = time.monotonic() + self.settings.timeout
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > _MOST_BYTES:
                raise ChatError(f"the model at {self._shown} answered with more than {_MOST_BYTES:,} bytes")
            if time.monotonic() > deadline:
                raise TryAgain(f"did not finish its answer within {self.settings.timeout:g} seconds")
        return bytes(content)

    def _without_keys(self, part: Any) -> Any:
        """The same without any key in any text of it."""
        if isinstance(part, str):
            for secret in self._secrets:
                part = part.replace(secret, BLOT)
            return part
        if isinstance(part, list):
            return [self._without_keys(element) for element in part]
        if isinstance(part, dict):
            return {self._without_keys(name): self._without_keys(element) for name, element in part.items()}
        return part


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str | dict[str, Any] = "{}"


class _Call(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(msgspec.Struct):
    """An answer in OpenAI's chat format, as far as we read it."""

    choices: list[_Choice]
    usage: _Usage | None = None


def completion_of(answer: dict[str, Any], request: dict[str, Any]) -> Completion:
    """What a model says in an endpoint's answer; one that is not in the format is refused."""
    try:
        known = msgspec.convert(answer, _Answer)
    except msgspec.ValidationError as error:
        if why := _error_in(answer):
            raise ChatError(f"the endpoint reports an error ({why})") from error
        raise ChatError(
            f"the answer is not in OpenAI's chat format ({error}); check that the address of the endpoint is complete"
        ) from error
    if not known.choices:
        raise ChatError(f"the endpoint reports an error ({_error_in(answer) or 'an empty list of choices'})")
    choice, usage = known.choices[0], known.usage or _Usage()
    content = choice.message.content or ""
    if not isinstance(content, str):  # in parts
        content = "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    text = _THOUGHTS.sub("", clean_text(content)).strip()
    calls = [
        WantedCall(
            clean_text(call.id or "")[:_SHOWN] or f"call-{number}",
            clean_text(call.function.name)[:_SHOWN],
            clean_text(_as_json(call.function.arguments))[:_MOST_TEXT],
        )
        for number, call in enumerate((choice.message.tool_calls or ())[:_MOST_CALLS], start=1)
    ]
    return Completion(
        text=text[:_MOST_TEXT],
        calls=tuple(calls),
        finish=(choice.finish_reason or "")[:_SHOWN],
        tokens_in=_count(usage.prompt_tokens, str(request["messages"])),
        tokens_out=_count(usage.completion_tokens, text),
    )


def clean_text(text: str) -> str:
    """Words without what no record can hold or no terminal should see."""
    known = text.encode("utf-8", "replace").decode()
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in known).strip()


def _as_json(arguments: str | dict[str, Any]) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _count(reported: int | None, text: str) -> int:
    return max(reported, 0) if reported is not None else math.ceil(len(text) / _CHARACTERS)


def _error_in(answer: Any) -> str:
    """What an endpoint says of an error, where it says it as they usually do."""
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(clean_text(message).split())[:_QUOTED] if isinstance(message, str) else ""


def _last(messages: Messages) -> str:
    words = " ".join(str(messages[-1].get("content") or "").split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
