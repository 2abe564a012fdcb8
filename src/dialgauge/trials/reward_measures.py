"""Measures of results files beside those of trials: reward and its parts, cost, length. A unit is a conversation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import REWARD, Card, Parameter, Settings, UnitNumbers, Units
from dialgauge.trials.attempts import Attempts
from dialgauge.trials.score_scales import pop_scale
from dialgauge.trials.task_attempt import TaskAttempt

FAMILY = "trials"
MEAN_REWARD, COST, TURNS, TOOL_CALLS = "Reward", "Cost", "Turns", "ToolCalls"
#: Of logs in general: the mean of a score, the share of a label, and tokens.
SCORE, LABEL, TOKENS = "Score", "Label", "ModelTokens"
_IS = "="
_SIDES = ("both", "agent", "user")
_TAU = "Yao et al. 2024, tau-bench; Barres et al. 2025, tau2-bench"
_OURS = "dialgauge"

#: The value of one conversation, or of a part of it; None where it has none.
_Value: TypeAlias = Callable[[TaskAttempt, Settings, str], float | None]


class TrialEvidence(Units):
    """The attempts of a file; ``by_task`` is the same with all trials of a task as one unit of resampling.

    A part is one of the reward, a score, or a label of one.
    """

    tried = "task"
    named = ""

    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts.attempts
        self.tasks = attempts.tasks
        self.scores, self.has_verdicts = attempts.scores, attempts.has_verdicts
        #: Where nothing is judged, lengths and costs are those of all conversations that came to an end.
        self.judged = any(attempt.scored for attempt in self.attempts)
        self.dialogues = len(self.attempts)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def counts(self, attempt: TaskAttempt) -> bool:
        """Does an attempt count for rewards, lengths and costs?"""
        return attempt.scored if self.judged else attempt.end != "infrastructure"

    def by_task(self) -> TrialEvidence:
        """The same attempts, those of one task together."""
        other = copy.copy(self)
        other.dialogue = np.zeros(len(self.attempts), np.int64)
        for number, places in enumerate(self.tasks.values()):
            other.dialogue[places] = number
        other.dialogues = len(self.tasks)
        return other

    def part(self, name: str) -> TrialEvidence:
        """A part of the reward, a score or a label; which of them a measure knows is its own affair."""
        other = copy.copy(self)
        other.named = name
        return other

    @property
    def parts(self) -> list[str]:
        """The parts of the reward that any attempt has, by name."""
        return sorted({part for attempt in self.attempts for part in attempt.parts})

    def trial_verdicts(self, settings: Settings) -> Sequence[tuple[int, Sequence[bool]]]:
        """The verdicts of the file, of attempts that count, or those of one of its scores."""
        if part := self.named:
            return [
                (places[0], [value > 0 for index in places if (value := self._number(index, part)) is not None])
                for places in self.tasks.values()
            ]
        return [
            (places[0], [bool(attempt.success) for index in places if (attempt := self.attempts[index]).scored])
            for places in self.tasks.values()
        ]

    def _number(self, index: int, score: str) -> float | None:
        attempt = self.attempts[index]
        return attempt.numbers.get(score) if attempt.end != "infrastructure" else None

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """A file has its own verdicts, and no others."""
        if settings["rules"] != REWARD:
            return f"the file is judged by its rewards, not by the rules {settings['rules']}"
        part = self.named
        if part and not self.scores.is_zero_or_one(part):
            sentence = f"'{part}' is no score that is 0 or 1 in every conversation"
            return sentence if self.scores.names else f"rewards have parts, and pass^k and the like have none: [{part}]"
        if not part and not self.has_verdicts:
            return "no conversation has a verdict: neither a success, nor a score that is 0 or 1 in all of them"
        return None


def _values(value: _Value, evidence: TrialEvidence, settings: Settings) -> UnitNumbers:
    values = [
        value(attempt, settings, evidence.named) if evidence.counts(attempt) else None for attempt in evidence.attempts
    ]
    above = np.array([0.0 if each is None else each for each in values], np.float64)
    return above, np.array([each is not None for each in values], np.float64)


def _reward(attempt: TaskAttempt, settings: Settings, part: str) -> float | None:
    return attempt.parts.get(part) if part else attempt.reward


def _cost(attempt: TaskAttempt, settings: Settings, part: str) -> float | None:
    side = str(settings["of"])
    if side != "both" or side in attempt.costs:
        return attempt.costs.get(side)
    return sum(attempt.costs.values()) if len(attempt.costs) == 2 else None


def _count(what: str, attempt: TaskAttempt, settings: Settings, part: str) -> float | None:
    counts: dict[str, int] = getattr(attempt, what)
    if not any(attempt.turns.values()) or not counts:  # nobody kept its messages, or its calls
        return None
    side = str(settings["of"])
    return float(sum(counts.values()) if side == "both" else counts[side])


def _tokens(attempt: TaskAttempt, settings: Settings, part: str) -> float | None:
    return attempt.tokens


def _score(attempt: TaskAttempt, settings: Settings, part: str) -> float | None:
    return attempt.numbers.get(part)


def _label(attempt: TaskAttempt, settings: Settings, part: str) -> float | None:
    name, _, label = part.rpartition(_IS)
    return None if name not in attempt.labels else float(attempt.labels[name] == label)


def label_part(score: str, label: str) -> str:
    """How the share of a label is named: ``verdict=partial``."""
    return f"{score}{_IS}{label}"


def _task_values(value: _Value, evidence: TrialEvidence, settings: Settings) -> UnitNumbers:
    """Each conversation weighs as one of its task's: the mean over tasks of the means over their trials."""
    values = [
        None if attempt.end == "infrastructure" else value(attempt, settings, evidence.named)
        for attempt in evidence.attempts
    ]
    above, below = np.zeros(len(values)), np.zeros(len(values))
    for places in evidence.tasks.values():
        having = [index for index in places if values[index] is not None]
        for index in having:
            above[index], below[index] = (values[index] or 0.0) / len(having), 1 / len(having)
    return above, below


def _no_results(evidence: Any, settings: Settings) -> str | None:
    return None if isinstance(evidence, TrialEvidence) else "it is a measure of results files, such as tau-bench's"


def _no_part(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings):
        return why
    part = evidence.named
    if not part:
        known = any(attempt.reward is not None for attempt in evidence.attempts)
        return None if known or not evidence.attempts else "no conversation has a reward"
    return None if part in evidence.parts else f"no reward has the part '{part}'"


def _no_cost(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings):
        return why
    side = str(settings["of"])
    known = any(_cost(attempt, settings, "") is not None for attempt in evidence.attempts if evidence.counts(attempt))
    return None if known else f"the file does not say what {'both sides' if side == 'both' else f'the {side}'} cost"


def _no_tokens(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings):
        return why
    known = any(attempt.tokens is not None for attempt in evidence.attempts if evidence.counts(attempt))
    return None if known else "the file does not say how many tokens were used"


def _no_score(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings):
        return why
    part, known = evidence.named, evidence.scores.numeric
    return (
        None if part in known else f"name a score: Score[NAME], one of {', '.join(known) or 'which the file has none'}"
    )


def _no_label(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings):
        return why
    known = [label_part(name, label) for name, labels in evidence.scores.labelled.items() for label in labels]
    sentence = f"name a label: Label[NAME=LABEL], one of {', '.join(known) or 'which the file has none'}"
    return None if evidence.named in known else sentence


def _no_count(evidence: Any, settings: Settings) -> str | None:
    if why := _no_results(evidence, settings):
        return why
    said = any(any(attempt.turns.values()) for attempt in evidence.attempts if evidence.counts(attempt))
    return None if said or not evidence.attempts else "no conversation that counts has messages"


def _no_calls(evidence: Any, settings: Settings) -> str | None:
    if why := _no_count(evidence, settings):
        return why
    said = any(attempt.calls for attempt in evidence.attempts if evidence.counts(attempt))
    return None if said or not evidence.attempts else "no conversation that counts records the calls of its tools"


def _card(name: str, title: str, summary: str, formula: str, value: _Value, **more: Any) -> Card[Any]:
    return Card(
        name=name, family=FAMILY, title=title, summary=summary, formula=formula, source=_TAU,
        units=partial(_values, value), **more,
    )  # fmt: skip


def _amount(*arguments: Any, unit: str, **more: Any) -> Card[Any]:
    sides = (Parameter("of", "both", _SIDES, "whose"),)
    return _card(*arguments, unit=unit, upper=math.inf, higher_is_better=False, parameters=sides, **more)


CARDS: tuple[Card[Any], ...] = (
    _card(
        MEAN_REWARD, "mean reward", "Mean reward of the conversations, or of those that have a part, such as [DB].",
        "sum of rewards / conversations", _reward, parts=True, obstacle=_no_part, one_more=True,
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
        partial(_count, "calls"), unit="calls", obstacle=_no_calls,
    ),
    _card(
        TOKENS, "model tokens", "Tokens per conversation, read and written, as the log counts them.",
        "tokens / conversations that say it", _tokens, unit="tokens", upper=math.inf, higher_is_better=False,
        obstacle=_no_tokens,
    ),
    Card(
        name=SCORE, family=FAMILY, title="score", source=_OURS, unit="points", lower=-math.inf, upper=math.inf,
        summary="Mean of a score that the log gives its conversations, such as [helpfulness]: over tasks, of the means "
        "over their trials.",
        formula="mean over tasks of (sum of scores / trials that have one)", higher_is_better=None,
        units=partial(_task_values, _score), parts=True, obstacle=_no_score, one_more=True, shorthand=pop_scale,
    ),
    Card(
        name=LABEL, family=FAMILY, title="share of a label", source=_OURS,
        summary="How often a score that is a label has this one, such as [tone=polite]: over tasks, of the shares of "
        "their trials.",
        formula="mean over tasks of (trials with the label / trials that have one)", higher_is_better=None,
        units=partial(_task_values, _label), parts=True, obstacle=_no_label,
    ),
)  # fmt: skip
