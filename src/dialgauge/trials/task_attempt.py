"""One trial of one task, read from the conversation that tells of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue, End, Turn
from dialgauge.errors import DialgaugeError

#: Logs of the benchmarks that have rewards, a plan and a user of their own; all others are logs of agents in general.
BENCHMARKS = frozenset({"tau", "tau2"})
#: A reward may miss the highest by so much and is the highest.
_ROUNDING = 1e-6
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
    calls: dict[str, int]
    tokens: float | None = None
    seconds: float | None = None
    #: Scores of a log that are numbers, and those that are labels.
    numbers: dict[str, float] = {}
    labels: dict[str, str] = {}
    #: Is there a verdict, or where a log has none a score, and is it one on the agent?
    scored: bool = False


def task_attempt(dialogue: Dialogue) -> TaskAttempt:
    """The attempt that a conversation is; one that says neither task nor verdict is an error."""
    outcome = dialogue.ended
    if not outcome.task and outcome.success is None:
        raise DialgaugeError(
            "it says neither whether its task was done (outcome, success) nor which task it is a trial of (outcome, "
            "task); logs of agents do, and what 'dialgauge data convert' makes of them",
            dialogue=dialogue.id,
        )
    used = outcome.usage.values()
    tokens = [usage.tokens for usage in used if usage.tokens is not None]
    return TaskAttempt(
        id=dialogue.id,
        domains=dialogue.domains,
        task=outcome.task or dialogue.id,
        trial=outcome.trial,
        end=outcome.end,
        reason=outcome.reason,
        success=outcome.success,
        reward=None if outcome.reward is None else _share(dialogue.id, "reward", outcome.reward),
        parts={part: _share(dialogue.id, f"reward's part {part}", value) for part, value in outcome.parts.items()},
        costs={side: usage.cost for side, usage in outcome.usage.items() if usage.cost is not None},
        tokens=sum(tokens) if tokens else None,
        seconds=outcome.seconds,
        turns=_by_side(dialogue, lambda turn: 1),
        calls=_by_side(dialogue, lambda turn: len(turn.calls or ())),
    )


def _by_side(dialogue: Dialogue, count: _TurnCount) -> dict[str, int]:
    sides = {"agent": "system", "user": "user"}
    return {
        side: sum(count(turn) for turn in dialogue.turns if turn.speaker == speaker) for side, speaker in sides.items()
    }


def _share(dialogue: str, name: str, value: float) -> float:
    if 1 < value <= 1 + _ROUNDING:
        return 1.0
    if not 0 <= value <= 1:
        raise DialgaugeError(f"the {name} must be between 0 and 1 (got {value:g})", dialogue=dialogue)
    return value
