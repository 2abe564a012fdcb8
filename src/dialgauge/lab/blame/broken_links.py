"""The links of the chain from goal to outcome, and what a broken one looks like."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

Cause: TypeAlias = Literal[
    "never_said",
    "said_not_heard",
    "heard_not_acted_on",
    "acted_on_wrong",
    "answered_not_heard",
    "refused",
    "limit_reached",
    "infrastructure",
    "unclear",
]
Side: TypeAlias = Literal["user", "system", "world", "limit", "infrastructure", "unclear"]
#: In the order of the chain; where two links break in one turn, the earlier one counts.
CAUSES: tuple[Cause, ...] = get_args(Cause)
SIDES: tuple[Side, ...] = get_args(Side)
SIDE_OF: dict[Cause, Side] = {
    "never_said": "user",
    "said_not_heard": "system",
    "heard_not_acted_on": "system",
    "acted_on_wrong": "system",
    "answered_not_heard": "user",
    "refused": "world",
    "limit_reached": "limit",
    "infrastructure": "infrastructure",
    "unclear": "unclear",
}
#: As tables write them.
CAUSE_WORDS: dict[Cause, str] = {
    "never_said": "never said",
    "said_not_heard": "said, not heard",
    "heard_not_acted_on": "heard, not acted on",
    "acted_on_wrong": "acted on, wrong",
    "answered_not_heard": "answered, not heard",
    "refused": "refused by the world",
    "limit_reached": "limit reached",
    "infrastructure": "infrastructure",
    "unclear": "unclear",
}


class BrokenLink(Struct, frozen=True, kw_only=True):
    """Where the chain of one thing that the goal asks for broke."""

    cause: Cause
    #: In one sentence.
    sentence: str
    #: What it is about: a constraint, a booking, a request, a reference, a taxi; empty for the whole domain.
    part: str = ""
    slot: str = ""
    #: The turn in which the link broke; for what never happened, the last turn in which it could have.
    turn: int = 0
    #: How far the chain held: the turns in which it was said, heard, acted on and answered.
    said_turn: int | None = None
    heard_turn: int | None = None
    acted_turn: int | None = None
    answered_turn: int | None = None

    @property
    def side(self) -> Side:
        """Who broke it."""
        return SIDE_OF[self.cause]

    @property
    def order(self) -> tuple[int, int]:
        """First in time, then in the chain. What is unclear and came first leaves the rest unclear."""
        return self.turn, CAUSES.index(self.cause)
