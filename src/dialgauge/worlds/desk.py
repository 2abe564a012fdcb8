"""The desk: what a side may look up and do in a conversation, the same for services and for tools over records."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Call, State

Side: TypeAlias = Literal["system", "user"]
#: ``ok``; ``error``: the tool refused or failed; ``unknown``: there is no such tool on this side.
Status: TypeAlias = Literal["ok", "error", "unknown"]


class CallOutcome(Struct, frozen=True):
    """What came of a call: the tool's result, or the reason why there is none."""

    status: Status
    result: Any = None
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def answer(self) -> Any:
        """What the caller gets: the result, or the error as an object."""
        return self.result if self.ok else {"error": self.reason}

    @property
    def text(self) -> str:
        """What the caller is told: a text as it is, anything else as JSON, an error as one."""
        if not self.ok:
            return f"Error: {self.reason}"
        return self.result if isinstance(self.result, str) else msgspec.json.encode(self.result).decode()


class Desk(Protocol):
    """One conversation's tools. Every call is on the record."""

    #: Who the system works for, and what it must and must not do.
    title: str
    policy: str

    def tools(self, side: Side = "system") -> list[dict[str, Any]]:
        """Name, description and parameters (JSON Schema) of each tool of a side."""

    def call(self, name: str, arguments: object, side: Side = "system") -> CallOutcome:
        """Call a tool; arguments are an object, or its JSON. A mistake of the caller is told to the caller."""

    def take_calls(self) -> tuple[Call, ...]:
        """The calls since this was last asked."""

    @property
    def ended(self) -> bool:
        """Was a tool called that ends the conversation?"""

    @property
    def state(self) -> State | None:
        """What the system believes the user to want, as far as its calls show it."""


def as_arguments(arguments: object) -> object:
    """The arguments of a call, parsed where they are JSON; None where that fails."""
    if not isinstance(arguments, str):
        return arguments
    with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        return msgspec.json.decode(arguments or "{}")
    return None
