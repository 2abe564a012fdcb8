"""Systems of the town that fail in one conversation and serve all others as the rule system does."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dialgauge.agents import Reply, SystemContext, make_agent
from dialgauge.dialogue import Turn
from dialgauge.worlds.domain import act

GREETING = act("general-greet")


def _raise() -> Any:
    raise KeyError("nothing there")


def _hang() -> Any:
    """Not even its own ``except`` keeps the session from going on."""
    while True:
        with suppress(Exception):
            time.sleep(600)


def _ramble() -> Any:
    return Reply(turn=Turn(speaker="system", acts=(GREETING,) * 100_000))


def _write_a_book() -> Any:
    return Reply(turn=Turn(speaker="system", text="word " * 100_000, acts=()))


FAILURES: dict[str, Callable[[], Any]] = {
    "raises": _raise,
    "hangs": _hang,
    "100,000 acts": _ramble,
    "100,000 words": _write_a_book,
    "nothing": lambda: None,
    "a word": lambda: "hello",
    "no turn": lambda: Reply(turn=None),
    "a turn that is none": lambda: Reply(turn="hello"),  # type: ignore[arg-type]
    "text that is none": lambda: Reply(turn=Turn(speaker="system", text=5)),  # type: ignore[arg-type]
    "acts that are none": lambda: Reply(turn=Turn(speaker="system", acts=("hello",))),  # type: ignore[arg-type]
    "the other side": lambda: Reply(turn=Turn(speaker="user", acts=(GREETING,))),
}


class FailingSystem:
    """Fails at its second turn in the conversation ``at``."""

    name = "failing"

    def __init__(self, *, how: str, at: str) -> None:
        self._how, self._at, self._rules = how, at, make_agent("rule-system")

    def start(self, context: SystemContext) -> None:
        self._turns, self._bad = 0, context.dialogue_id == self._at
        self._rules.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        self._turns += 1
        if self._bad and self._turns == 2:
            answer: Reply = FAILURES[self._how]()
            return answer
        return self._rules.respond(turn)
