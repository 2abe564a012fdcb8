"""What several trials of one task tell: pass^k, how often a second trial changes the verdict, and the noise of both.

These cards serve all evidence that can say how the trials of its tasks ended (:class:`TrialVerdicts`): results of
tau-bench, and the lab's recordings, where a task is a goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import (
    Card,
    Floats,
    Parameter,
    Settings,
    UnitNumbers,
    flip_chance,
    noise_floor,
    noise_sums,
    pass_chance,
)
from dialgauge.text import times

FAMILY = "outcomes"
PASS, FLIPS, NOISE = "pass", "Flips", "TrialNoise"
REWARD = "reward"
TRIAL_RULES = Parameter(
    "rules", REWARD, (REWARD, "strict", "compat"),
    "reward: the verdict in the file; strict and compat judge the lab's recordings, by our rules and by ConvLab-2's",
)  # fmt: skip
_TAU = "Yao et al. 2024, tau-bench"
_OURS = "dialgauge"


@runtime_checkable
class TrialVerdicts(Protocol):
    """Evidence whose units are conversations, several for each task."""

    dialogues: int
    dialogue: NDArray[np.integer[Any]]
    #: What is tried several times: a task, a goal.
    tried: str

    def trial_verdicts(self, settings: Settings) -> Sequence[tuple[int, Sequence[bool]]]:
        """For each task the place of its first conversation, and the verdicts on those that have one."""

    @property
    def scored(self) -> NDArray[np.bool_]:
        """The conversations that count."""

    def part(self, name: str) -> Self:
        """The verdicts on a part of each conversation, or by another score."""

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """Why there are no verdicts by these rules, as the end of a sentence."""


def _units(evidence: TrialVerdicts) -> int:
    return len(evidence.dialogue)


def _pass(evidence: TrialVerdicts, settings: Settings) -> UnitNumbers:
    """On the first conversation of each task that was tried k times."""
    k, above, below = int(settings["k"]), np.zeros(_units(evidence)), np.zeros(_units(evidence))
    for index, verdicts in evidence.trial_verdicts(settings):
        if len(verdicts) >= k:
            above[index], below[index] = pass_chance(sum(verdicts), len(verdicts), k), 1.0
    return above, below


def _flips(evidence: TrialVerdicts, settings: Settings) -> UnitNumbers:
    above, below = np.zeros(_units(evidence)), np.zeros(_units(evidence))
    for index, verdicts in evidence.trial_verdicts(settings):
        if len(verdicts) > 1:
            above[index], below[index] = flip_chance(sum(verdicts), len(verdicts)), 1.0
    return above, below


def trial_noise_sums(evidence: TrialVerdicts, settings: Settings) -> Floats:
    """The sums behind the noise floor of pass^1, of each task at its first conversation."""
    verdicts = evidence.trial_verdicts(settings)
    sums = np.zeros((3, evidence.dialogues))
    sums[:, evidence.dialogue[[index for index, _ in verdicts]]] = noise_sums(each for _, each in verdicts)
    return sums


def _never(settings: Settings) -> bool:
    """It is a limit with a margin in it, and no estimate."""
    return False


def _too_few(evidence: Any, settings: Settings) -> str | None:
    if not isinstance(evidence, TrialVerdicts):
        return "it judges recorded conversations, and these are responses"
    if why := evidence.verdict_obstacle(settings):
        return why
    needed = int(settings.get("k", 2))
    most = max((len(verdicts) for _, verdicts in evidence.trial_verdicts(settings)), default=0)
    return None if most >= needed else f"no {evidence.tried} was tried {times(needed)}"


_TRIED = {"c": "successful trials of a task", "n": "trials of that task"}
_CHOICES = {"C(m, k)": "the number of ways to choose k of m things"}

CARDS: tuple[Card[Any], ...] = (
    Card(
        name=PASS, family=FAMILY, title="pass^k", source=_TAU,
        summary="The chance that k trials of one task (goal), drawn without replacement, all succeed; mean over tasks.",
        formula="mean over tasks of C(successes, k) / C(trials, k)", symbols=_CHOICES,
        units=_pass, parameters=(TRIAL_RULES,), parts=True, mark="^", one_more=True,
        cutoff=Parameter("k", 1, summary="how many trials must all succeed", whole=True), obstacle=_too_few,
    ),
    Card(
        name=FLIPS, family=FAMILY, title="flip rate", source=_OURS, higher_is_better=False,
        summary="The chance that a second trial of the same task changes the verdict; mean over tasks.",
        formula="mean over tasks of 2c(n - c) / (n(n - 1))", symbols=_TRIED,
        units=_flips, parameters=(TRIAL_RULES,), parts=True, obstacle=_too_few, one_more=True,
    ),
    Card(
        name=NOISE, family=FAMILY, title="noise floor over trials", source=_OURS, higher_is_better=False,
        summary="The difference in pass^1 that two runs of the same agent on the same tasks, with as many trials, stay "
        "below 95% of the time: anything smaller may be chance.",
        formula="1.96 sqrt(2 (sum of c(n - c) / (n^2 (n - 1)) + 1 / N^2)) / tasks, at most 1",
        symbols=_TRIED | {"N": "mean of n over the tasks"},
        sums=trial_noise_sums, of=noise_floor, has_interval=_never, parameters=(TRIAL_RULES,), parts=True,
        obstacle=_too_few,
    ),
)  # fmt: skip
