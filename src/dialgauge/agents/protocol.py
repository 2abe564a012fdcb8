"""What an agent is: whoever takes part in a conversation, on either side, is started and then responds turn by turn.

An agent is a class with a name and two methods; one instance serves one conversation at a time:

    class Parrot:
        name = "parrot"

        def start(self, context):
            "A new conversation begins."

        def respond(self, turn):
            return Reply(turn=Turn(speaker="system", text=turn.text))

The context decides what an agent may see: a user gets the goal and never the database, a system gets the database and
never the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import astuple

from dialgauge.dialogue import Act, Fact, Goal, Ontology, State, Turn
from dialgauge.draws import Draws
from dialgauge.worlds import Desk

#: Why conversations end; an agent may give a reason of its own.
USER_DONE = "user_done"
USER_GAVE_UP = "user_gave_up"
SYSTEM_QUIT = "system_quit"
MAX_EXCHANGES = "max_exchanges"
TIME_BUDGET = "time_budget"
TOKEN_BUDGET = "token_budget"  # noqa: S105 - tokens of language models
AGENT_ERROR = "agent_error"
ENDPOINT_ERROR = "endpoint_error"
#: Ends that infrastructure brought about: they say nothing of either side.
BROKEN_ENDS = (ENDPOINT_ERROR, TIME_BUDGET, TOKEN_BUDGET)
#: The same in words.
END_WORDS = {
    USER_DONE: "the user was done",
    USER_GAVE_UP: "the user gave up",
    SYSTEM_QUIT: "the system ended it",
    MAX_EXCHANGES: "the limit of exchanges was reached",
    TIME_BUDGET: "it took too long",
    TOKEN_BUDGET: "the budget of tokens was spent",
    AGENT_ERROR: "an agent failed",
    ENDPOINT_ERROR: "an endpoint did not answer",
}

Level: TypeAlias = Literal["text", "act"]


class Usage(Struct, frozen=True):
    """What a reply cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    #: Replies without a word, and replies that a limit cut off.
    empty: int = 0
    cut: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))


NO_USAGE = Usage()


class Reply(Struct, frozen=True, kw_only=True):
    """What an agent says, and whether the conversation is over for it.

    A user that is done and still says something is answered once more. A turn of None ends the conversation without
    another word; it is allowed only together with ``done``.
    """

    turn: Turn | None
    #: What the agent understood of the turn it replies to; None where it has no acts.
    heard: tuple[Act, ...] | None = None
    #: For a system: what it now believes the user wants.
    state: State | None = None
    done: bool = False
    end_reason: str = ""
    usage: Usage = NO_USAGE
    #: For one that is done: was the task carried out? None where it does not judge; and why not, in a sentence.
    success: bool | None = None
    explanation: str = ""


class Limits(Struct, frozen=True, kw_only=True):
    """What no conversation may exceed."""

    exchanges: int = 100
    #: Of one turn.
    characters: int = 100_000
    acts: int = 1_000
    #: Of wall time for the whole conversation; 0: no limit.
    seconds: float = 0.0


class RandomStreams(Struct, frozen=True):
    """The random draws of one conversation: a stream for each role, which no other role disturbs."""

    seed: int
    dialogue_id: str
    trial: int = 0

    def __call__(self, role: str) -> Draws:
        """The stream of a role: ``user-core``, ``user-nlg``, ``system-core``, ``backend`` and so on."""
        return Draws(self.seed, "lab", self.dialogue_id, self.trial, role)


class Database(Protocol):
    """What a system may consult."""

    @property
    def facts(self) -> Sequence[Fact]:
        """All that is known."""

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """What a query finds; None for a text that is no query."""


class NoDatabase:
    """The database of a world without facts to look up by text."""

    facts: Sequence[Fact] = ()

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """Nothing is a query here."""
        del text
        return None


NO_DATABASE = NoDatabase()


class Environment(Protocol):
    """What a dialog shows of the database between its turns, where the world's protocol shows it."""

    def opening(self) -> tuple[Fact, ...] | None:
        """What is shown before the first turn."""

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """What is shown after the system said this; None for nothing, ``()`` for a query without results."""


class UserContext(Struct, frozen=True, kw_only=True):
    """What a user knows of the conversation that begins."""

    dialogue_id: str
    goal: Goal | None
    #: What the world drew for its simulated user beyond the goal: order, changes of mind, questions.
    plan: Any = None
    #: What can be asked for and booked, without the rows (:class:`dialgauge.worlds.domain.Domain`).
    domain: Any = None
    #: Random draws of its own.
    draws: Draws | None = None
    streams: RandomStreams | None = None
    level: Level = "text"
    #: The values that everybody in this world may know.
    ontology: Ontology | None = None
    limits: Limits = Limits()


class SystemContext(Struct, frozen=True, kw_only=True):
    """What a system knows of the conversation that begins."""

    dialogue_id: str
    database: Database = NO_DATABASE
    #: What the world offers beyond facts: search, booking, taxis.
    office: Desk | None = None
    #: The replies to choose from, where the task has them.
    candidates: tuple[str, ...] = ()
    #: The number of the bAbI task, where there is one.
    task: int = 0
    draws: Draws | None = None
    streams: RandomStreams | None = None
    level: Level = "text"
    ontology: Ontology | None = None
    limits: Limits = Limits()


Context: TypeAlias = UserContext | SystemContext


@runtime_checkable
class Agent(Protocol):
    """Whoever takes part in a conversation."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def start(self, context: Any) -> None:
        """A new conversation begins: a :class:`UserContext` for a user, a :class:`SystemContext` for a system."""

    def respond(self, turn: Turn | None) -> Reply:
        """The reply to a turn; None asks a user to begin."""


@runtime_checkable
class Overrulable(Agent, Protocol):
    """An agent that can follow a recorded conversation."""

    def overrule(self, turn: Turn) -> None:
        """The record says that this was said instead of the last reply."""
