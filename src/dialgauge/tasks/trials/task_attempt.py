"""One trial of one task, read from the conversation that tells of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Turn, read_details
from dialgauge.errors import DialgaugeError

#: How a conversation ended: by itself, at a limit, which counts as a failure, or by a failure that says nothing of the
#: agent.
End: TypeAlias = Literal["finished", "limit", "infrastructure"]
#: The ends that are known. Of any other the verdict decides: without one, something else than the agent failed.
ENDS: dict[str, End] = {
    "user_stop": "finished",
    "agent_stop": "finished",
    "": "finished",
    "max_steps": "limit",
    "too_many_errors": "limit",
    "agent_error": "limit",
    "max_tokens": "limit",
    "message_limit": "limit",
    "token_limit": "limit",
    "time_limit": "limit",
    "working_limit": "limit",
    "cost_limit": "limit",
    "turn_limit": "limit",
    "custom_limit": "limit",
    "operator_limit": "limit",
    "context_limit": "limit",
    "error": "infrastructure",
    "infrastructure_error": "infrastructure",
    "unexpected_error": "infrastructure",
    "user_error": "infrastructure",
    "timeout": "infrastructure",
    "context_window_exceeded": "infrastructure",
}
#: Logs of the benchmarks that have rewards, a plan and a user of their own; all others are logs of agents in general.
BENCHMARKS = frozenset({"tau", "tau2"})
#: A reward may miss the highest by so much and is the highest.
_ROUNDING = 1e-6
#: Longer numbers of trials and tasks were not meant.
_DIGITS = 7
_TurnCount: TypeAlias = Callable[[Turn], int]


class TaskAttempt(Struct, frozen=True, kw_only=True):
    """One trial of one task; None is what the file does not say."""

    id: str
    domains: tuple[str, ...] = ()
    task: str
    trial: int
    end: End
    reason: str
    success: bool | None
    reward: float | None
    parts: dict[str, float]
    costs: dict[str, float]
    turns: dict[str, int]
    #: Empty where there are results of tools and no calls.
    calls: dict[str, int]
    tokens: float | None = None
    #: Scores of a log that are numbers, and those that are labels.
    numbers: dict[str, float] = {}
    labels: dict[str, str] = {}
    #: Is there a verdict, or where a log has none a score, and is it one on the agent?
    scored: bool = False


def task_attempt(dialogue: Dialogue) -> TaskAttempt:
    """The attempt that a conversation is; one that says neither task nor verdict is an error."""
    outcome, details = dialogue.outcome, dialogue.details
    if outcome is None or ("task" not in details and (outcome.success is None or "trial" in details)):
        raise DialgaugeError(
            "it says neither whether its task was done (outcome, success) nor which task it is a trial of (outcome, "
            "details, task); logs of agents do, and what 'dialgauge data convert' makes of them",
            dialogue=dialogue.id,
        )
    trial = details.get("trial", "0")
    if not is_count(trial):
        raise DialgaugeError(f"the trial must be a whole number of a few digits (got '{trial}')", dialogue=dialogue.id)
    reward = _number(dialogue.id, "reward", details.get("reward"), most=1.0)
    judged = outcome.success is not None or details.get("benchmark") not in BENCHMARKS
    end = ENDS.get(outcome.reason, "finished" if judged else "infrastructure")
    return TaskAttempt(
        id=dialogue.id,
        domains=dialogue.domains,
        task=details.get("task", dialogue.id),
        trial=int(trial),
        end=end,
        reason=outcome.reason,
        success=outcome.success,
        reward=reward,
        parts={
            part: value
            for part, text in read_details("reward", details).items()
            if (value := _number(dialogue.id, f"reward's part {part}", text, most=1.0)) is not None
        },
        costs={
            side: cost
            for side, key in (("agent", "agent_cost"), ("user", "user_cost"), ("both", "cost"))
            if (cost := _number(dialogue.id, key, details.get(key))) is not None
        },
        tokens=_number(dialogue.id, "tokens", details.get("tokens")),
        turns=_by_side(dialogue, lambda turn: 1),
        calls={} if "results_alone" in details else _by_side(dialogue, lambda turn: len(turn.calls or ())),
    )


def is_count(text: str) -> bool:
    """Is it a whole number that somebody may have meant?"""
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def _by_side(dialogue: Dialogue, count: _TurnCount) -> dict[str, int]:
    sides = {"agent": "system", "user": "user"}
    return {
        side: sum(count(turn) for turn in dialogue.turns if turn.speaker == speaker) for side, speaker in sides.items()
    }


def _number(dialogue: str, name: str, text: str | None, most: float = math.inf) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if most < value <= most + _ROUNDING:
        return most
    if not (0 <= value <= most and math.isfinite(value)):
        limits = f"between 0 and {most:g}" if math.isfinite(most) else "≥ 0"
        raise DialgaugeError(f"the {name} must be {limits} (got {text})", dialogue=dialogue)
    return value
