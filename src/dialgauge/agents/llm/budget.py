"""What language models may cost, for one dialogue and for a run.

The run's count is the cassette: everything on it was paid, by whichever worker and before whichever interruption. A
call begins only while what was paid is below the budget, so each worker goes over by one call at most.
"""

from __future__ import annotations

from msgspec import Struct

from dialgauge.agents.llm.cassette import Cassette
from dialgauge.agents.llm.settings import ChatSettings
from dialgauge.text import counted


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

    def check(self) -> None:
        """Raises :class:`BudgetSpent` where nothing is left."""
        if self._tokens or self._money:
            self._cassette.refresh()
            paid = Cost(self._cassette.tokens, self._cassette.money)
            if paid.reaches(self._tokens, self._money):
                raise BudgetSpent(self._sentence(paid))

    def _sentence(self, paid: Cost) -> str:
        if self._tokens and paid.tokens >= self._tokens:
            return f"the budget of {counted(self._tokens, 'token')} for the run is spent"
        return f"the budget of {self._money:g} in money for the run is spent"


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
