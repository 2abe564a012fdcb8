"""What can be set of a language model: where it is, how it is asked, what it may cost, what is kept."""

from __future__ import annotations

import os
import re
from typing import Literal, TypeAlias, cast, get_args

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest

#: The endpoint that starts a small model on this machine.
LOCAL = "local"
#: ``record``: answer from the cassette, else call and keep; ``replay``: never call; ``refuse``: neither call nor look;
#: ``off``: call every time and keep nothing.
Mode: TypeAlias = Literal["record", "replay", "refuse", "off"]
#: Settings that change how answers are fetched, never what they are: no part of a run's signature.
FETCHING = frozenset(
    {"endpoint", "key_env", "timeout", "retries", "backoff", "concurrency", "rate", "cassette", "mode"}
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"[\x21-\x7e]+")


class ChatSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked. Zero is no limit and no price; prices are per million tokens."""

    endpoint: str = ""
    model: str = ""
    key_env: str = ""
    temperature: float = 0.0
    max_tokens: int = 200
    timeout: float = 60.0
    retries: int = 5
    backoff: float = 0.5
    concurrency: int = 8
    #: Requests a minute.
    rate: float = 0.0
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
        """The mode, where none was given that which fits: a cassette is there to be recorded on."""
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
        """In the currency of the prices."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000

    def check(self) -> None:
        """An error for what cannot be meant, before anything is asked."""
        self._check_mode()
        self._check_numbers()
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

    def _check_mode(self) -> None:
        if self.mode and self.mode not in get_args(Mode):
            raise DialgaugeError(f"there is no mode '{self.mode}' of cassettes.{nearest(self.mode, get_args(Mode))}")
        if self.how in ("record", "replay") and not self.cassette:
            raise DialgaugeError(f"the mode {self.how} needs a cassette: cassette=FILE")

    def _check_numbers(self) -> None:
        least = {"max_tokens": 1, "concurrency": 1}
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
        if address.userinfo or address.query or address.fragment:
            raise DialgaugeError(
                "the setting endpoint must not contain a user, password or query; a key belongs in an "
                "environment variable that key_env names"
            )
