"""The settings of a language model: where it is, how it is asked, what it may cost, what is kept."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from msgspec import Struct

from dialgauge.errors import DialgaugeError, choice

#: The endpoint that starts a small model on this machine.
LOCAL = "local"
#: ``record``: answer from the cassette, else ask and keep the answer; ``replay``: never ask.
MODES = ("record", "replay")
#: Settings that change how answers are fetched, never what they are: no part of a run's signature.
FETCHING = frozenset({"endpoint", "key_env", "headers", "timeout", "retries", "backoff", "cassette", "mode"})
#: A part of an address's query that holds a key.
_KEY_NAME = re.compile(r"key|token|secret|sig|auth|password", re.IGNORECASE)
_KEY = re.compile(r"[\x21-\x7e]+")


class ChatSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked. Zero is no limit and no price; prices are per million tokens."""

    endpoint: str = ""
    model: str = ""
    key_env: str = ""
    temperature: float = 0.0
    max_tokens: int = 200
    #: A JSON object of further fields of every request; a field that is null is left out.
    extra_body: str = ""
    #: Further headers, ``Name: value``, separated by semicolons; ``$NAME`` stands for an environment variable.
    headers: str = ""
    timeout: float = 60.0
    retries: int = 5
    backoff: float = 0.5
    price_in: float = 0.0
    price_out: float = 0.0
    budget_tokens: int = 0
    budget_money: float = 0.0
    cassette: str = ""
    mode: str = "record"

    @property
    def model_name(self) -> str:
        """What the model is called in requests."""
        return self.model or ("SmolLM2-135M-Instruct" if self.endpoint == LOCAL else "")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The cost of so many tokens, in the currency of the prices."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000

    def check(self) -> None:
        """Raise an error for settings that make no sense, before anything is asked."""
        choice(self.mode, MODES, "the setting mode")
        for name in type(self).__struct_fields__:
            value, least = getattr(self, name), 1 if name == "max_tokens" else 0
            if isinstance(value, int | float) and value < least:
                raise DialgaugeError(f"the setting {name} must be at least {least}, not {value:g}")
        if not self.timeout:
            raise DialgaugeError("the setting timeout must be more than 0 seconds")
        self.extra_fields()
        if self.mode == "replay" and not self.cassette:
            raise DialgaugeError("the mode replay needs a cassette: cassette=FILE")
        if self.mode == "record":
            self._check_endpoint()
            self.sent_headers()
        if not self.model_name:
            raise DialgaugeError(
                "a language model needs the name that its endpoint knows it by: --model NAME (setting model)"
            )
        if self.budget_money and not (self.price_in or self.price_out):
            raise DialgaugeError("a budget in money needs prices: price_in and price_out, per million tokens")
        if (self.budget_tokens or self.budget_money) and not self.cassette:
            raise DialgaugeError(
                "a budget for the run needs a cassette (cassette=FILE): it counts what was paid, also by other "
                "workers and before an interruption"
            )

    def _check_endpoint(self) -> None:
        if self.endpoint == LOCAL:
            from dialgauge.agents.llm.local_model import check_local_model

            check_local_model()
            return
        if not self.endpoint:
            raise DialgaugeError(
                "a language model needs an endpoint: --endpoint URL (such as http://localhost:8000/v1) or --endpoint "
                "local; from Python, the setting endpoint"
            )
        import httpx

        try:
            address = httpx.URL(self.endpoint)
        except httpx.InvalidURL as error:
            raise DialgaugeError(f"the setting endpoint is not a web address ({error})") from error
        if address.scheme not in ("http", "https") or not address.host:
            raise DialgaugeError(
                "the setting endpoint is not a web address: it must begin with http:// or https://, or be local"
            )
        if address.userinfo or address.fragment or any(_KEY_NAME.search(name) for name in address.params):
            raise DialgaugeError(
                "the setting endpoint must not contain a user, password or key; a key belongs in an "
                "environment variable that key_env or headers names"
            )

    def sent_headers(self) -> dict[str, str]:
        """The headers of a request, with the key and other values from environment variables."""
        headers = {}
        if self.key_env:
            if not self.key_env.isidentifier():
                raise DialgaugeError(
                    "key_env takes the name of an environment variable that holds the key, not the key"
                )
            headers["Authorization"] = f"Bearer {_variable(self.key_env, 'key_env')}"
        for part in filter(None, map(str.strip, self.headers.split(";"))):
            name, colon, value = (piece.strip() for piece in part.partition(":"))
            if not colon or not name.replace("-", "").isalnum() or not name.isascii():
                raise DialgaugeError("the setting headers has the form 'Name: value; Other: value'")
            if value.startswith("$"):
                value = _variable(value[1:], f"the header {name}")
            if not value.isprintable() or not value.isascii():
                raise DialgaugeError(f"the header {name} has characters that no header can have")
            headers[name] = value
        return headers

    def extra_fields(self) -> dict[str, Any]:
        """Further fields of every request; None for one to leave out."""
        try:
            fields = json.loads(self.extra_body or "{}")
        except (ValueError, RecursionError) as error:
            raise DialgaugeError(f"the setting extra_body is not valid JSON ({error})") from error
        if not isinstance(fields, dict) or "messages" in fields:
            raise DialgaugeError('the setting extra_body must be a JSON object without messages: {"top_p": 0.9}')
        return fields


def _variable(name: str, what: str) -> str:
    """What an environment variable holds that a setting names."""
    value = os.environ.get(name, "").strip()
    if not value:
        raise DialgaugeError(f"the environment variable that {what} names is not set, or empty")
    if not _KEY.fullmatch(value):
        raise DialgaugeError(f"the environment variable {name} holds characters that no key can have")
    return value
