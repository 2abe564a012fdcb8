"""What can be set of a language model: where it is, how it is asked, what it may cost, what is kept."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Literal, TypeAlias, cast, get_args

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest

#: The endpoint that starts a small model on this machine.
LOCAL = "local"
#: ``record``: answer from the cassette, else call and keep; ``replay``: never call; ``refuse``: neither call nor look;
#: ``off``: call every time and keep nothing.
Mode: TypeAlias = Literal["record", "replay", "refuse", "off"]
#: Settings that change how answers are fetched, never what they are: no part of a run's signature.
FETCHING = frozenset({"endpoint", "key_env", "headers", "timeout", "retries", "backoff", "cassette", "mode"})
_TOKEN_FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_OPTIONAL = ("temperature", "seed", "max_tokens", "max_completion_tokens")
#: A part of an address's query that holds a key.
_KEY_NAME = re.compile(r"key|token|secret|sig|auth|password", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"[\x21-\x7e]+")


class ChatSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked. Zero is no limit and no price; prices are per million tokens."""

    endpoint: str = ""
    model: str = ""
    key_env: str = ""
    temperature: float = 0.0
    max_tokens: int = 200
    #: What the endpoint calls that limit: some want ``max_completion_tokens``.
    max_tokens_field: str = "max_tokens"
    #: Fields of requests to leave out, separated by commas: ``temperature,seed`` for models that refuse them.
    omit: str = ""
    #: A JSON object of further fields of every request.
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
    dialogue_tokens: int = 0
    dialogue_money: float = 0.0
    cassette: str = ""
    mode: str = ""

    @property
    def how(self) -> Mode:
        """The mode; by default ``record`` with a cassette and ``off`` without one."""
        return cast(Mode, self.mode) if self.mode else "record" if self.cassette else "off"

    @property
    def model_name(self) -> str:
        """What the model is called in requests."""
        return self.model or ("SmolLM2-135M-Instruct" if self.endpoint == LOCAL else "")

    @property
    def calls(self) -> bool:
        """Will an endpoint be asked?"""
        return self.how in ("record", "off")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The cost of so many tokens, in the currency of the prices."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000

    def check(self) -> None:
        """Raise an error for settings that make no sense, before anything is asked."""
        self._check_mode()
        self._check_numbers()
        self._check_fields()
        if self.calls:
            self._check_endpoint()
            self.key()
        if not self.model_name:
            raise DialgaugeError(
                "a language model needs the name that its endpoint knows it by: --model NAME (setting model)"
            )
        if (self.budget_money or self.dialogue_money) and not (self.price_in or self.price_out):
            raise DialgaugeError("a budget in money needs prices: price_in and price_out, per million tokens")
        if (self.budget_tokens or self.budget_money) and not self.cassette:
            raise DialgaugeError(
                "a budget for the run needs a cassette (cassette=FILE): it counts what was paid, also by other "
                "workers and before an interruption"
            )

    def key(self) -> str:
        """The key from the environment variable that was named; empty where none is needed."""
        if not self.key_env:
            return ""
        if not _NAME.fullmatch(self.key_env):
            raise DialgaugeError("key_env takes the name of an environment variable that holds the key, not the key")
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise DialgaugeError("the environment variable that key_env names is not set, or empty")
        if not _KEY.fullmatch(key):
            raise DialgaugeError(f"the environment variable {self.key_env} holds characters that no key can have")
        return key

    def sent_headers(self) -> dict[str, str]:
        """The headers of a request, with the values that environment variables hold."""
        headers = {}
        for part in filter(None, map(str.strip, self.headers.split(";"))):
            name, colon, value = (piece.strip() for piece in part.partition(":"))
            if not colon or not _HEADER.fullmatch(name):
                raise DialgaugeError("the setting headers has the form 'Name: value; Other: value'")
            if value.startswith("$"):
                value = os.environ.get(value[1:], "").strip()
                if not value:
                    raise DialgaugeError(f"the environment variable that the header {name} names is not set, or empty")
            if not value.isprintable() or not value.isascii():
                raise DialgaugeError(f"the header {name} has characters that no header can have")
            headers[name] = value
        return headers

    def shaped(self, request: dict[str, Any]) -> dict[str, Any]:
        """A request with the fields that the endpoint wants."""
        sent = dict(request)
        if self.max_tokens_field != "max_tokens":
            sent[self.max_tokens_field] = sent.pop("max_tokens")
        for field in self._omitted:
            sent.pop(field, None)
        return {**sent, **self._extra}

    @property
    def _omitted(self) -> list[str]:
        return [field for part in self.omit.split(",") if (field := part.strip())]

    @property
    def _extra(self) -> dict[str, Any]:
        if not self.extra_body:
            return {}
        try:
            fields = json.loads(self.extra_body)
        except (ValueError, RecursionError) as error:
            raise DialgaugeError(f"the setting extra_body is not valid JSON ({error})") from error
        if not isinstance(fields, dict) or "messages" in fields:
            raise DialgaugeError('the setting extra_body must be a JSON object without messages: {"top_p": 0.9}')
        return fields

    def _check_fields(self) -> None:
        if self.max_tokens_field not in _TOKEN_FIELDS:
            known = nearest(self.max_tokens_field, _TOKEN_FIELDS)
            raise DialgaugeError(f"the setting max_tokens_field must be one of {', '.join(_TOKEN_FIELDS)}.{known}")
        unknown = next((field for field in self._omitted if field not in _OPTIONAL), None)
        if unknown is not None:
            raise DialgaugeError(f"a request cannot omit '{unknown}'.{nearest(unknown, _OPTIONAL)}")
        self._extra  # noqa: B018 - raises where it cannot be read
        if self.calls:
            self.sent_headers()

    def _check_mode(self) -> None:
        if self.mode and self.mode not in get_args(Mode):
            raise DialgaugeError(f"there is no mode '{self.mode}' of cassettes.{nearest(self.mode, get_args(Mode))}")
        if self.how in ("record", "replay") and not self.cassette:
            raise DialgaugeError(f"the mode {self.how} needs a cassette: cassette=FILE")

    def _check_numbers(self) -> None:
        least = {"max_tokens": 1}
        for name in type(self).__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, int | float) and value < least.get(name, 0):
                raise DialgaugeError(f"the setting {name} must be at least {least.get(name, 0)}, not {value:g}")
        if not self.timeout:
            raise DialgaugeError("the setting timeout must be more than 0 seconds")

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
