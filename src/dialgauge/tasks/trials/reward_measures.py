"""Measures of results files beside those of trials: reward and its parts, cost, length. A unit is a conversation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import Card, Parameter, Rows, Settings
from dialgauge.tasks.trials.attempts import Attempts, TaskAttempt
from dialgauge.tasks.trials.trial_measures import REWARD

FAMILY = "trials"
MEAN_REWARD, COST, TURNS, TOOL_CALLS = "Reward", "Cost", "Turns", "ToolCalls"
_SIDES = ("both", "agent", "user")
_TAU = "Yao et al. 2024, tau-bench; Barres et al. 2025, tau2-bench"

#: The value of one conversation; None where it has none.
_Value: TypeAlias = Callable[[TaskAttempt, Settings], float | None]


class TrialEvidence:
    """The attempts of a file; ``by_task`` is the same with all trials of a task as one unit of resampling."""

    tried = "task"

    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts.attempts
        self.tasks = attempts.tasks
        self.dialogues = len(self.attempts)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def by_task(self) -> TrialEvidence:
        """The same attempts, those of one task together."""
        other = copy.copy(self)
        other.dialogue = np.zeros(len(self.attempts), np.int64)
        for number, places in enumerate(self.tasks.values()):
            other.dialogue[places] = number
        other.dialogues = len(self.tasks)
        return other

    @property
    def parts(self) -> list[str]:
        """The parts of the reward that any attempt has, by name."""
        return sorted({part for attempt in self.attempts for part in attempt.parts})

    def trial_verdicts(self, settings: Settings) -> Sequence[tuple[int, Sequence[bool]]]:
        """The verdicts of the file, of attempts that count."""
        return [
            (places[0], [bool(one.success) for place in places if (one := self.attempts[place]).scored])
            for places in self.tasks.values()
        ]

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """A file has its own verdicts, and no others."""
        if settings["rules"] != REWARD:
            return f"the file is judged by its rewards, not by the rules {settings['rules']}"
        return (
            f"rewards have parts, and pass^k and the like have none: [{settings['part']}]" if _part(settings) else None
        )


def _part(settings: Settings) -> str:
    return str(settings.get("part", ""))


def _rows(value: _Value, evidence: TrialEvidence, settings: Settings) -> Rows:
    values = [value(attempt, settings) if attempt.scored else None for attempt in evidence.attempts]
    above = np.array([0.0 if one is None else one for one in values], np.float64)
    return above, np.array([one is not None for one in values], np.float64)


def _reward(one: TaskAttempt, settings: Settings) -> float | None:
    part = _part(settings)
    return one.parts.get(part) if part else one.reward


def _cost(one: TaskAttempt, settings: Settings) -> float | None:
    side = str(settings["of"])
    if side != "both":
        return one.costs.get(side)
    return sum(one.costs.values()) if len(one.costs) == 2 else None


def _count(what: str, one: TaskAttempt, settings: Settings) -> float | None:
    counts: dict[str, int] = getattr(one, what)
    side = str(settings["of"])
    return float(sum(counts.values()) if side == "both" else counts[side])


def _no_results(evidence: Any, settings: Settings) -> str | None:
    return None if isinstance(evidence, TrialEvidence) else "it is a measure of results files, such as tau-bench's"


def _no_part(evidence: Any, settings: Settings) -> str | None:
    part = _part(settings)
    if (why := _no_results(evidence, settings)) or not part:
        return why
    return None if part in evidence.parts else f"no reward has the part '{part}'"


def _no_cost(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings) or _whole(settings):
        return why
    side = str(settings["of"])
    known = any(_cost(attempt, settings) is not None for attempt in evidence.attempts if attempt.scored)
    return None if known else f"the file does not say what {'both sides' if side == 'both' else f'the {side}'} cost"


def _no_count(evidence: Any, settings: Settings) -> str | None:
    return _no_results(evidence, settings) or _whole(settings)


def _whole(settings: Settings) -> str | None:
    return f"it has no parts; leave out [{_part(settings)}]" if _part(settings) else None


def _card(name: str, title: str, summary: str, formula: str, value: _Value, **more: Any) -> Card[Any]:
    return Card(
        name=name, family=FAMILY, title=title, summary=summary, formula=formula, source=_TAU,
        rows=partial(_rows, value), **more,
    )  # fmt: skip


def _amount(*arguments: Any, unit: str, **more: Any) -> Card[Any]:
    sides = (Parameter("of", "both", _SIDES, "whose"),)
    return _card(*arguments, unit=unit, upper=math.inf, higher_is_better=False, parameters=sides, **more)


CARDS: tuple[Card[Any], ...] = (
    _card(
        MEAN_REWARD, "mean reward", "Mean reward of the conversations, or of those that have a part, such as [DB].",
        "sum of rewards / conversations", _reward, obstacle=_no_part, one_more=True,
    ),
    _amount(
        COST, "cost", "What a conversation cost, in dollars as the file has it, agent and user together or each.",
        "sum of costs / conversations that say it", _cost, unit="dollars", obstacle=_no_cost,
    ),
    _amount(
        TURNS, "turns", "Turns per conversation, of both sides or of one.", "turns / conversations",
        partial(_count, "turns"), unit="turns", obstacle=_no_count,
    ),
    _amount(
        TOOL_CALLS, "tool calls", "Tool calls per conversation, of both sides or of one.", "calls / conversations",
        partial(_count, "calls"), unit="calls", obstacle=_no_count,
    ),
)  # fmt: skip
