"""The one loop behind every conversation: simulated, in the lab, in the terminal, replayed.

The user speaks first, and its last words are answered too. What the database shows between turns comes from the
scenario's environment. Only words cross to the other side, at the level of acts also the acts, never the states and
labels that the record keeps. An agent that fails ends its own conversation only, and what was said until then stays.
"""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from dialgauge.agents.protocol import (
    AGENT_ERROR,
    ENDPOINT_ERROR,
    MAX_EXCHANGES,
    NO_DATABASE,
    NO_USAGE,
    SYSTEM_QUIT,
    TIME_BUDGET,
    USER_DONE,
    Agent,
    Context,
    Database,
    Environment,
    Level,
    Limits,
    RandomStreams,
    Reply,
    SystemContext,
    Usage,
    UserContext,
)
from dialgauge.dialogue import Act, Dialogue, Fact, Goal, Ontology, Outcome, SideUsage, Speaker, Turn
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.worlds import Desk

#: The detail of an outcome that says in a sentence why the conversation failed.
EXPLANATION = "explanation"
#: Seconds; no alarm can be set for much longer.
_LONGEST = 1e8
_UNTOLD = {"user": USER_DONE, "system": SYSTEM_QUIT}


class Scenario(Struct, frozen=True, kw_only=True):
    """One conversation to be held: what the user wants, and the world it happens in. Neither side sees it whole."""

    dialogue_id: str
    database: Database = NO_DATABASE
    office: Desk | None = None
    #: What is shown between turns; None for nothing.
    environment: Environment | None = None
    goal: Goal | None = None
    plan: Any = None
    #: What users know of the domain.
    domain: Any = None
    user_draws: Draws | None = None
    streams: RandomStreams | None = None
    ontology: Ontology | None = None
    domains: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    task: int = 0
    level: Level = "text"
    limits: Limits = Limits()

    def user_context(self) -> UserContext:
        """What the user may see."""
        return UserContext(
            goal=self.goal, plan=self.plan, domain=self.domain, draws=self.user_draws, **self._for_both()
        )

    def system_context(self) -> SystemContext:
        """What the system may see."""
        return SystemContext(
            database=self.database, office=self.office, candidates=self.candidates, task=self.task,
            **self._for_both(),
        )  # fmt: skip

    def _for_both(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("dialogue_id", "streams", "level", "ontology", "limits")}


def converse(user: Agent, system: Agent, scenario: Scenario) -> Dialogue:
    """Hold one conversation; the dialogue carries its outcome."""
    turns: list[Turn] = []
    try:
        with _time_limit(scenario.limits.seconds):
            outcome = _hold(user, system, scenario, turns)
    except _Failure as failure:
        outcome = failure.outcome
    except _OutOfTime:
        outcome = _out_of_time(
            scenario.limits, "system" if len(turns) % 2 else "user", system if len(turns) % 2 else user
        )
    return Dialogue(
        id=scenario.dialogue_id,
        turns=tuple(turns),
        goal=scenario.goal,
        domains=scenario.domains,
        outcome=outcome,
    )


def _hold(user: Agent, system: Agent, scenario: Scenario, turns: list[Turn]) -> Outcome:
    """The conversation turn by turn; ``turns`` holds what was said, also when an agent fails."""
    limits, environment, with_acts = scenario.limits, scenario.environment, scenario.level == "act"
    office = scenario.office
    costs = {"user": NO_USAGE, "system": NO_USAGE}
    _start(user, scenario.user_context(), "user")
    _start(system, scenario.system_context(), "system")
    shown, message = environment.opening() if environment is not None else None, None
    while True:
        reply = _respond(user, message, "user", limits, turns, costs)
        if reply.turn is None:
            return _ended(reply, "user", costs)
        if len(turns) >= 2 * limits.exchanges:
            return _outcome(
                costs, False, MAX_EXCHANGES, "session", f"no end after {counted(limits.exchanges, 'exchange')}"
            )
        turn = reply.turn if shown is None else replace(reply.turn, results=shown)
        turns.append(turn)
        answer = _respond(system, _crossing(turn, turn.results, with_acts), "system", limits, turns, costs)
        calls = None if office is None else office.take_calls()
        if answer.turn is None:
            return _ended(answer, "system", costs)
        turns.append(answer.turn if calls is None else replace(answer.turn, calls=calls))
        if reply.done:
            return _ended(reply, "user", costs)
        if answer.done:
            return _ended(answer, "system", costs)
        shown = environment.answer(answer.turn.text) if environment is not None else None
        message = _crossing(answer.turn, shown, with_acts)
        if calls and getattr(user, "sees_calls", False):
            message = replace(message, calls=calls)


def _crossing(turn: Turn, shown: tuple[Fact, ...] | None, with_acts: bool) -> Turn:
    """What the other side gets to know of a turn."""
    if with_acts:
        return Turn(speaker=turn.speaker, text=turn.text, acts=turn.acts, results=shown)
    return Turn(speaker=turn.speaker, text=turn.text, results=shown)


def _ended(reply: Reply, speaker: Speaker, costs: dict[str, Usage]) -> Outcome:
    return _outcome(costs, reply.success, reply.end_reason or _UNTOLD[speaker], speaker, reply.explanation)


def _outcome(costs: dict[str, Usage], success: bool | None, reason: str, ended_by: str, why: str) -> Outcome:
    used = {speaker: usage for speaker, usage in costs.items() if usage is not NO_USAGE}
    return Outcome(
        success=success,
        reason=reason,
        ended_by=ended_by,
        seconds=sum(usage.seconds for usage in used.values()) or None,
        usage={"agent" if speaker == "system" else speaker: _recorded(usage) for speaker, usage in used.items()},
        facts={EXPLANATION: why} if why else {},
    )


def _recorded(usage: Usage) -> SideUsage:
    counts = {name: count for name, count in asdict(usage).items() if count}
    return SideUsage(tokens=usage.tokens_in + usage.tokens_out or None, **counts)


# Agents are strangers: whatever they raise or return ends their conversation and nothing else.


class _OutOfTime(BaseException):
    """The conversation took too long. No agent's ``except Exception`` shall swallow it."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer; 0 is no limit. It takes the main thread and a system with alarms."""
    main = threading.current_thread() is threading.main_thread()
    if not seconds or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, _LONGEST))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Failure(Exception):
    """An agent failed; the outcome says how."""

    def __init__(self, speaker: Speaker, why: str, cause: BaseException | None = None, *, remote: bool = False) -> None:
        super().__init__(why)
        facts = {EXPLANATION: why}
        if cause is not None and not isinstance(cause, DialgaugeError):
            facts["traceback"] = "".join(traceback.format_exception(cause)).strip()
        # A user that fails says nothing about the system.
        success = None if speaker == "user" else False
        reason = ENDPOINT_ERROR if remote and isinstance(cause, DialgaugeError) else AGENT_ERROR
        self.outcome = Outcome(success=success, reason=reason, ended_by=speaker, facts=facts)


def _out_of_time(limits: Limits, speaker: Speaker, agent: Agent) -> Outcome:
    why = f"the conversation took longer than {limits.seconds:g} seconds; {_name(agent)} was to answer"
    success = None if speaker == "user" else False
    return Outcome(success=success, reason=TIME_BUDGET, ended_by=speaker, facts={EXPLANATION: why})


def _start(agent: Agent, context: Context, speaker: Speaker) -> None:
    try:
        agent.start(context)
    except (Exception, SystemExit) as error:
        raise _Failure(speaker, _sentence(agent, error), error, remote=getattr(agent, "remote", False)) from error


def _respond(
    agent: Agent, message: Turn | None, speaker: Speaker, limits: Limits, turns: list[Turn], costs: dict[str, Usage]
) -> Reply:
    """An agent's reply, checked; what it understood is noted on the turn that it replies to."""
    try:
        reply = agent.respond(message)
        problem = _problem(reply, speaker, limits)
    except (Exception, SystemExit) as error:
        raise _Failure(speaker, _sentence(agent, error), error, remote=getattr(agent, "remote", False)) from error
    if problem:
        raise _Failure(speaker, f"{_name(agent)} {problem}")
    if reply.turn is not None and not reply.turn.text.isascii():
        reply = replace(reply, turn=_writable(reply.turn))
    if turns and (reply.heard is not None or reply.state is not None):
        state = reply.state if speaker == "system" else None
        turns[-1] = replace(turns[-1], heard=reply.heard, predicted=state)
    if reply.usage is not NO_USAGE:
        costs[speaker] = costs[speaker] + reply.usage
    return reply


def _writable(turn: Turn) -> Turn:
    """The turn without halves of signs, which no file can hold."""
    text = turn.text.encode("utf-8", "replace").decode()
    return turn if text == turn.text else replace(turn, text=text)


def _problem(reply: object, speaker: Speaker, limits: Limits) -> str:
    """What is wrong with a reply, as the end of a sentence; empty where nothing is."""
    if not isinstance(reply, Reply):
        return f"returned {type(reply).__name__} instead of a Reply"
    turn = reply.turn
    if turn is None:
        return "" if reply.done else "returned no turn and is not done"
    if type(turn) is not Turn or type(turn.text) is not str:
        return "returned something other than a turn with a text"
    if any(type(act) is not Act for act in turn.acts or ()):
        return "returned something other than acts"
    if turn.speaker != speaker:
        return f"returned a turn of the {turn.speaker} where it is the {speaker}"
    if len(turn.text) > limits.characters:
        return f"said {len(turn.text):,} characters at once; {limits.characters:,} are allowed"
    if len(turn.acts or ()) > limits.acts:
        return f"said {len(turn.acts or ()):,} acts at once; {limits.acts:,} are allowed"
    return ""


def _sentence(agent: Agent, error: BaseException) -> str:
    return str(error) if isinstance(error, DialgaugeError) else f"{_name(agent)} raised {type(error).__name__}: {error}"


def _name(agent: Agent) -> str:
    return f"the agent {getattr(agent, 'name', type(agent).__name__)}"
