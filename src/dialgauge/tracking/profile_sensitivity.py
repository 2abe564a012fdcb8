"""How much of a score is the comparison rule: one measure under several profiles, and what each rule does to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dialgauge.tracking.encode import Flags
from dialgauge.tracking.measures.base import Measure
from dialgauge.tracking.study import Study
from dialgauge.values import Profile


@dataclass(frozen=True)
class RuleEffect:
    """What leaving one rule out of a profile would do to one system."""

    system: str
    profile: str
    rule: str
    #: Turns that are exact only with the rule, and only without it.
    gained: int
    lost: int
    value_without: float


@dataclass(frozen=True)
class Sensitivity:
    """Values by system and profile, the effect of every rule, and the pairs of systems whose order changes."""

    measure: str
    profiles: list[str]
    values: dict[str, dict[str, float]]
    rules: list[RuleEffect]
    #: (first, second, profile where the first is better, profile where the second is better).
    swaps: list[tuple[str, str, str, str]]


def sensitivity(
    study: Study, measure: Measure, profiles: Sequence[Profile], advance: Callable[[int], None] = lambda steps: None
) -> Sensitivity:
    """One measure of every system under every profile; ``advance`` is told of every comparison done."""
    values: dict[str, dict[str, float]] = {name: {} for name in study.systems}
    effects: list[RuleEffect] = []
    exact: dict[tuple[str, str], Flags] = {}
    for profile in profiles:
        for name in study.systems:
            values[name][profile.name], exact[name, profile.name] = _scored(study, name, measure, profile)
            advance(1)
    for profile in profiles:
        for rule in profile.values:
            reduced = profile.without(rule)
            for name in study.systems:
                value, without = _scored(study, name, measure, reduced)
                with_rule = exact[name, profile.name]
                gained, lost = int((with_rule & ~without).sum()), int((without & ~with_rule).sum())
                advance(1)
                effects.append(RuleEffect(name, profile.name, rule.name, gained, lost, value))
    names = [profile.name for profile in profiles]
    return Sensitivity(str(measure), names, values, effects, _swaps(values, names))


def _scored(study: Study, name: str, measure: Measure, profile: Profile) -> tuple[float, Flags]:
    comparison = study.comparison(name, profile)
    counts = comparison.counts_with_slots() if measure.grouped else comparison.counts
    return measure.value(counts), counts.exact


def _swaps(values: dict[str, dict[str, float]], profiles: list[str]) -> list[tuple[str, str, str, str]]:
    found = []
    for first, second in combinations(values, 2):
        signs = [(name, np.sign(values[first][name] - values[second][name])) for name in profiles]
        ahead = [name for name, sign in signs if sign > 0]
        behind = [name for name, sign in signs if sign < 0]
        if ahead and behind:
            found.append((first, second, ahead[0], behind[0]))
    return found
