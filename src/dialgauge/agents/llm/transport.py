"""One request to an OpenAI-compatible endpoint over HTTP, tried again where that may help.

Whatever comes back is somebody else's: it is read up to a size and a time, and a key that it repeats is blotted out
before anybody sees it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import httpx

from dialgauge.agents.llm.settings import ChatSettings
from dialgauge.errors import DialgaugeError
from dialgauge.retry import TryAgain, is_temporary, retry_after, retrying
from dialgauge.text import BLOT, counted, secrets_in, without_secrets

#: No reply of a few hundred tokens is longer.
_MOST_BYTES = 4 << 20
#: So many calls in a row that failed with all their tries: the endpoint is down, and no dialogue waits for it any more.
_DOWN = 3
#: Seconds; an endpoint that asks for more patience is as good as down.
_LONGEST_WAIT = 120.0
#: The value of a header that is so long may be a key.
_SECRET = 8
#: Characters of an endpoint's own words in an error.
_QUOTED = 300


class ChatError(DialgaugeError):
    """The model gave no answer that can be used; it ends the dialogue, and nothing else."""


class Transport:
    """Posts to one endpoint."""

    def __init__(
        self,
        settings: ChatSettings,
        address: Callable[[], str],
        *,
        trust_environment: bool = True,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``address`` is asked before each try: a local server may have been started anew."""
        self._settings, self._address, self._pause = settings, address, pause
        self._key = settings.key()
        #: The address without what may be secret in it, and all that must be shown to nobody, the longest first.
        self._shown = without_secrets(settings.endpoint)
        self._headers = settings.sent_headers()
        hidden = [value for value in self._headers.values() if len(value) >= _SECRET]
        self._secrets = sorted(
            filter(None, [self._key, *hidden, *secrets_in(settings.endpoint)]), key=len, reverse=True
        )
        self._client = httpx.Client(timeout=settings.timeout, trust_env=trust_environment)
        #: Calls in a row that no try could mend; from :data:`_DOWN` on, one try is enough until something answers.
        self._lost = 0

    def post(self, request: dict[str, Any]) -> dict[str, Any]:
        """The endpoint's answer: a JSON object. Raises :class:`ChatError` when it cannot be had."""
        tries = 1 if self._lost >= _DOWN else self._settings.retries + 1
        try:
            answer = retrying(
                lambda: self._try(request),
                tries=tries,
                first_wait=self._settings.backoff,
                longest_wait=_LONGEST_WAIT,
                sleep=self._pause,
                spread=True,
            )
        except TryAgain as again:
            self._lost += 1
            raise ChatError(f"the model at {self._shown} {again} ({counted(tries, 'try', 'tries')})") from again
        self._lost = 0
        return answer

    def _try(self, request: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        headers |= self._headers
        base = httpx.URL(self._address())
        url = base.copy_with(path=f"{base.path.rstrip('/')}/chat/completions")
        try:
            with self._client.stream("POST", url, json=request, headers=headers) as response:
                status = response.status_code
                body = self._read(response)
        except httpx.TimeoutException as error:
            raise TryAgain(f"did not answer within {self._settings.timeout:g} seconds") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise TryAgain(f"did not answer: {self._clean(str(error) or type(error).__name__)}") from error
        if is_temporary(status):
            wait = retry_after(response.headers.get("Retry-After", ""))
            raise TryAgain(f"answered with status {status}{self._told(body)}", wait)
        if not response.is_success:
            raise ChatError(f"the model at {self._shown} answered with status {status}{self._told(body)}")
        return self._decoded(body)

    def _read(self, response: httpx.Response) -> str:
        """The body; a server that sends without end, or drop by drop, is not waited for."""
        deadline = time.monotonic() + self._settings.timeout
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > _MOST_BYTES:
                raise ChatError(f"the model at {self._shown} answered with more than {_MOST_BYTES:,} bytes")
            if time.monotonic() > deadline:
                raise TryAgain(f"did not finish its answer within {self._settings.timeout:g} seconds")
        return self._clean(content.decode("utf-8", "replace"))

    def _decoded(self, body: str) -> dict[str, Any]:
        try:
            answer = self._blotted(json.loads(body))
        except (ValueError, RecursionError) as error:
            raise TryAgain(f"did not answer with JSON ({type(error).__name__})") from error
        if not isinstance(answer, dict):
            raise TryAgain("did not answer with a JSON object")
        if answer.get("choices") == [] and not answer.get("error"):
            raise TryAgain("answered with an empty list of choices; its log may say why")
        return answer

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, BLOT)
        return text

    def _blotted(self, part: Any) -> Any:
        """The same once more after decoding: JSON may write a sign of the key in another way."""
        if isinstance(part, str):
            return self._clean(part)
        if isinstance(part, list):
            return [self._blotted(element) for element in part]
        if isinstance(part, dict):
            return {self._clean(name): self._blotted(element) for name, element in part.items()}
        return part

    def _told(self, body: str) -> str:
        """What the endpoint says of an error, where it says it as they usually do."""
        try:
            error = self._blotted(json.loads(body))["error"]
            message = error["message"] if isinstance(error, dict) else error
        except (ValueError, RecursionError, KeyError, TypeError, IndexError):
            return ""
        if not isinstance(message, str):
            return ""
        words = " ".join(message.encode("utf-8", "replace").decode().split())
        return f": {words[:_QUOTED]}"
