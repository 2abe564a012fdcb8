"""Measures of logs beside pass^k: reward, cost, time, length, scores and labels. A unit is a conversation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import REWARD, Card, Parameter, Settings, UnitNumbers, Units
from dialgauge.trials.log import SIDES, Attempt, TrialLog

FAMILY = "trials"
MEAN_REWARD, COST, TURNS, TOOL_CALLS = "Reward", "Cost", "Turns", "ToolCalls"
SECONDS, LATENCY, TOKENS = "Seconds", "Latency", "ModelTokens"
#: The mean of a score that the log gives, and the share of one of its labels.
SCORE, LABEL = "Score", "Label"
_TAU = "Yao et al. 2024, tau-bench; Barres et al. 2025, tau2-bench"
_OURS = "dialgauge"

#: The value of one conversation, or of a part of it; None where it has none.
_Value: TypeAlias = Callable[[Attempt, Settings, str], float | None]
#: What a measure must name in brackets.
_PartNeeded: TypeAlias = Literal["", "score", "label"]


class TrialEvidence(Units):
    """The attempts of a log; ``by_task`` is the same with all trials of a task as one unit of resampling.

    A part is one of the reward, a score, or a label of one.
    """

    tried = "task"
    named = ""

    def __init__(self, log: TrialLog) -> None:
        self.log, self.attempts = log, log.attempts
        #: Where nothing is judged, lengths and costs are those of all conversations that came to an end.
        self.judged = any(attempt.scored for attempt in self.attempts)
        self.dialogues = len(self.attempts)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def counts(self, attempt: Attempt) -> bool:
        """Does an attempt count for rewards, lengths and costs?"""
        return attempt.scored if self.judged else attempt.end != "infrastructure"

    def by_task(self) -> TrialEvidence:
        """The same attempts, those of one task together."""
        other = copy.copy(self)
        other.dialogue = np.zeros(len(self.attempts), np.int64)
        for number, places in enumerate(self.log.tasks.values()):
            other.dialogue[places] = number
        other.dialogues = len(self.log.tasks)
        return other

    def part(self, name: str) -> TrialEvidence:
        """A part of the reward, a score or a label, as the measure has it."""
        other = copy.copy(self)
        other.named = name
        return other

    @property
    def parts(self) -> list[str]:
        """The parts of the reward that any attempt has, by name."""
        return sorted({part for attempt in self.attempts for part in attempt.parts})

    def trial_verdicts(self, settings: Settings) -> Sequence[tuple[int, Sequence[bool]]]:
        """The verdicts of the log, of attempts that count, or those of one of its scores."""
        return [
            (places[0], [verdict for index in places if (verdict := self._verdict(self.attempts[index])) is not None])
            for places in self.log.tasks.values()
        ]

    def _verdict(self, attempt: Attempt) -> bool | None:
        if not self.named:
            return bool(attempt.success) if attempt.scored else None
        value = attempt.numbers.get(self.named) if attempt.end != "infrastructure" else None
        return None if value is None else value > 0

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """A log has its own verdicts, and no others."""
        if settings["rules"] != REWARD:
            return f"the log is judged by its rewards, not by the rules {settings['rules']}"
        if self.named and self.named not in self.log.zero_or_one:
            return f"'{self.named}' is no score that is 0 or 1 in every conversation"
        return None if self.named or self.log.has_verdicts else "no conversation has a verdict"


def label_part(score: str, label: str) -> str:
    """How the share of a label is named: ``verdict=partial``."""
    return f"{score}={label}"


def _per_conversation(value: _Value, evidence: TrialEvidence, settings: Settings) -> UnitNumbers:
    values = [
        value(attempt, settings, evidence.named) if evidence.counts(attempt) else None for attempt in evidence.attempts
    ]
    above = np.array([0.0 if each is None else each for each in values], np.float64)
    return above, np.array([each is not None for each in values], np.float64)


def _per_task(value: _Value, evidence: TrialEvidence, settings: Settings) -> UnitNumbers:
    """The mean over tasks of the means over their trials."""
    values = [
        None if attempt.end == "infrastructure" else value(attempt, settings, evidence.named)
        for attempt in evidence.attempts
    ]
    above, below = np.zeros(len(values)), np.zeros(len(values))
    for places in evidence.log.tasks.values():
        known = [(index, own) for index in places if (own := values[index]) is not None]
        for index, own in known:
            above[index], below[index] = own / len(known), 1 / len(known)
    return above, below


def _latency(evidence: TrialEvidence, settings: Settings) -> UnitNumbers:
    """Seconds of the agent, and its turns."""
    known = [
        (attempt.seconds["agent"], attempt.turns["agent"])
        if evidence.counts(attempt) and "agent" in attempt.seconds
        else (0.0, 0)
        for attempt in evidence.attempts
    ]
    above, below = np.array(known, np.float64).reshape(-1, 2).T
    return above, below


def _reward(attempt: Attempt, settings: Settings, part: str) -> float | None:
    return attempt.parts.get(part) if part else attempt.reward


def _by_side(what: str, attempt: Attempt, settings: Settings, part: str) -> float | None:
    """An amount of one side; of both as the log says it, or the sum where it says each."""
    amounts: dict[str, float] = getattr(attempt, what)
    side = str(settings["of"])
    if side != "both" or side in amounts:
        return amounts.get(side)
    return sum(amounts.values()) if all(side in amounts for side in SIDES) else None


def _count(what: str, attempt: Attempt, settings: Settings, part: str) -> float | None:
    """Turns or calls; None where nobody kept the messages."""
    value = _by_side(what, attempt, settings, part) if any(attempt.turns.values()) else None
    return None if value is None else float(value)


def _tokens(attempt: Attempt, settings: Settings, part: str) -> float | None:
    return attempt.tokens


def _score(attempt: Attempt, settings: Settings, part: str) -> float | None:
    return attempt.numbers.get(part)


def _label(attempt: Attempt, settings: Settings, part: str) -> float | None:
    name, _, label = part.rpartition("=")
    return None if name not in attempt.labels else float(attempt.labels[name] == label)


def _not_in_log(
    units: Callable[[TrialEvidence, Settings], UnitNumbers],
    what: str,
    part_needed: _PartNeeded,
    evidence: Any,
    settings: Settings,
) -> str | None:
    """Why a measure cannot be computed: no part is named, or no conversation that counts has what it is about."""
    if not isinstance(evidence, TrialEvidence):
        return "it is a measure of agents' logs"
    if not evidence.attempts or np.any(units(evidence, settings)[1]):
        return None
    if part_needed and not evidence.named:
        known = evidence.log.numeric if part_needed == "score" else evidence.log.labelled
        return f"name {what} in brackets: {', '.join(known) or 'the log has none'}"
    part = f" '{evidence.named}'" if evidence.named else ""
    side = "" if settings.get("of", "both") == "both" else f" of the {settings['of']}"
    return f"no conversation has {what}{part}{side}"


def _card(
    name: str,
    title: str,
    what: str,
    value: _Value,
    *,
    per_task: bool = False,
    part_needed: _PartNeeded = "",
    **more: Any,
) -> Card[Any]:
    units = partial(_per_task if per_task else _per_conversation, value)
    more = {"family": FAMILY, "source": _TAU, "obstacle": partial(_not_in_log, units, what, part_needed), **more}
    return Card(name=name, title=title, units=units, **more)


def _amount(name: str, title: str, what: str, value: _Value, unit: str, **more: Any) -> Card[Any]:
    sides = (Parameter("of", "both", ("both", *SIDES), "whose"),)
    more = {"unit": unit, "upper": math.inf, "higher_is_better": False, "parameters": sides, **more}
    return _card(name, title, what, value, formula=f"{title} / conversations that say it", **more)


CARDS: tuple[Card[Any], ...] = (
    _card(
        MEAN_REWARD, "mean reward", "a reward", _reward, parts=True, one_more=True,
        summary="Mean reward of the conversations, or of those that have a part, such as [DB].",
        formula="sum of rewards / conversations",
    ),
    _amount(
        COST, "cost", "a cost", partial(_by_side, "costs"), "dollars",
        summary="What a conversation cost, in dollars as the log has it, agent and user together or each.",
    ),
    _amount(
        SECONDS, "duration", "a duration", partial(_by_side, "seconds"), "seconds", source=_OURS,
        summary="How long a conversation took, as the log has it; of one side, the time that its replies took.",
    ),
    Card(
        name=LATENCY, family=FAMILY, title="latency", source=_OURS, unit="seconds", upper=math.inf,
        higher_is_better=False, units=_latency, obstacle=partial(_not_in_log, _latency, "a latency", ""),
        summary="Seconds that one reply of the agent took; mean over its turns.",
        formula="seconds of the agent / turns of the agent",
    ),
    _amount(
        TURNS, "turns", "messages", partial(_count, "turns"), "turns",
        summary="Turns per conversation, of both sides or of one.",
    ),
    _amount(
        TOOL_CALLS, "tool calls", "messages", partial(_count, "calls"), "calls",
        summary="Tool calls per conversation, of both sides or of one.",
    ),
    _amount(
        TOKENS, "model tokens", "tokens", _tokens, "tokens", parameters=(),
        summary="Tokens per conversation, read and written, as the log counts them.",
    ),
    _card(
        SCORE, "score", "the score", _score, per_task=True, part_needed="score", source=_OURS, unit="points",
        lower=-math.inf, upper=math.inf, higher_is_better=None, parts=True, one_more=True,
        summary="Mean of a score that the log gives its conversations, such as [helpfulness]: over tasks, of the means "
        "over their trials.",
        formula="mean over tasks of (sum of scores / trials that have one)",
    ),
    _card(
        LABEL, "share of a label", "the label", _label, per_task=True, part_needed="label", source=_OURS,
        higher_is_better=None, parts=True,
        summary="How often a score that is a label has this one, such as [tone=polite]: over tasks, of the shares of "
        "their trials.",
        formula="mean over tasks of (trials with the label / trials that have one)",
    ),
)  # fmt: skip
