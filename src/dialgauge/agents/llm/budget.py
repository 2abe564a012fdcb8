"""What language models may cost, for one dialogue and for a run.

The run's count is the cassette: everything on it was paid, by whichever worker and before whichever interruption. A
call begins only while what was paid and what is under way stays below the budget, so no more than one call goes over.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec
from msgspec import Struct

from dialgauge.agents.llm.cassette import Cassette
from dialgauge.agents.llm.settings import ChatSettings
from dialgauge.files import atomic, is_alive
from dialgauge.text import counted

#: Seconds between two looks at what others have under way.
_PAUSE = 0.02


class BudgetSpent(Exception):
    """Nothing more may be asked."""


class Cost(Struct, frozen=True):
    """Tokens, and money."""

    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.tokens + other.tokens, self.money + other.money)

    def reaches(self, tokens: int, money: float) -> bool:
        """Is one of two limits met? Zero is no limit."""
        return bool((tokens and self.tokens >= tokens) or (money and self.money >= money))


class RunBudget:
    """The budget of a run, shared by all processes that use its cassette."""

    def __init__(self, cassette: Cassette, settings: ChatSettings) -> None:
        self._cassette = cassette
        self._tokens, self._money = settings.budget_tokens, settings.budget_money
        self._file = cassette.path.with_name(f".{cassette.path.name}.under-way")

    @contextmanager
    def reserved(self, most: Cost) -> Iterator[None]:
        """Ask leave for a call that costs at most so much; raises :class:`BudgetSpent` where there is none."""
        if not (self._tokens or self._money):
            yield
            return
        ticket = f"{os.getpid()}-{uuid.uuid4().hex}"
        while not self._take(ticket, most):
            time.sleep(_PAUSE)
        try:
            yield
        finally:
            self._give_back(ticket)

    def _take(self, ticket: str, most: Cost) -> bool:
        """Reserve; false while calls of others must be waited for."""
        with self._cassette.lock():
            self._cassette.refresh()
            paid = Cost(self._cassette.tokens, self._cassette.money)
            if paid.reaches(self._tokens, self._money):
                raise BudgetSpent(self._sentence(paid))
            under_way = _alive(self._under_way())
            if sum(under_way.values(), paid).reaches(self._tokens, self._money):
                return False
            self._write(under_way | {ticket: most})
            return True

    def _give_back(self, ticket: str) -> None:
        with self._cassette.lock():
            self._write({name: cost for name, cost in self._under_way().items() if name != ticket})

    def _under_way(self) -> dict[str, Cost]:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Cost])
        return {}

    def _write(self, under_way: dict[str, Cost]) -> None:
        if under_way:
            with atomic(self._file) as scratch:
                scratch.write_bytes(msgspec.json.encode(under_way))
        else:
            self._file.unlink(missing_ok=True)

    def _sentence(self, paid: Cost) -> str:
        if self._tokens and paid.tokens >= self._tokens:
            return f"the budget of {counted(self._tokens, 'token')} for the run is spent"
        return f"the budget of {self._money:g} in money for the run is spent"


def _alive(under_way: dict[str, Cost]) -> dict[str, Cost]:
    """Without the calls of processes that were killed."""
    processes = {ticket: ticket.partition("-")[0] for ticket in under_way}
    return {
        ticket: cost
        for ticket, cost in under_way.items()
        if processes[ticket].isdecimal() and is_alive(int(processes[ticket]))
    }


class DialogueBudget:
    """The budget of one dialogue; answers from a cassette count too, so that a replay ends where the original did."""

    def __init__(self, settings: ChatSettings) -> None:
        self._tokens, self._money = settings.dialogue_tokens, settings.dialogue_money
        self._spent = Cost()

    def check(self) -> None:
        """Raises :class:`BudgetSpent` where nothing is left."""
        if self._spent.reaches(self._tokens, self._money):
            what = counted(self._tokens, "token") if self._tokens and self._spent.tokens >= self._tokens else "money"
            raise BudgetSpent(f"the budget of {what} for a dialogue is spent")

    def add(self, cost: Cost) -> None:
        """One more call."""
        self._spent += cost
