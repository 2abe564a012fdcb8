"""How much of a score is the comparison rule: one measure under several profiles, and what each rule does to it.

Other profiles need the dialogues compared anew, so this is measured while scoring; the runs keep it as a table
``sensitivity`` (measure, profile, rule, value, gained, lost; without a rule, the value under the whole profile).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import Struct, structs

from dialgauge.measures import Measure
from dialgauge.rendering import Column, Table
from dialgauge.tracking.details import ceiling_sentence, tracking_details
from dialgauge.tracking.encode import Flags
from dialgauge.tracking.results import SENSITIVITY
from dialgauge.values import Profile

if TYPE_CHECKING:
    from dialgauge.rendering import Table
    from dialgauge.runs import Run
    from dialgauge.tracking.prepared_inputs import PreparedInputs


class RuleEffect(Struct, frozen=True):
    """What leaving one rule out of a profile would do to one system."""

    system: str
    profile: str
    rule: str
    #: Turns that are exact only with the rule, and only without it.
    gained: int
    lost: int
    value_without: float


class Sensitivity(Struct, frozen=True):
    """Values by system and profile, and the effect of every rule."""

    measure: str
    profiles: list[str]
    values: dict[str, dict[str, float]]
    rules: list[RuleEffect]
    #: Whether the measure is a share, and whether more of it is better.
    share: bool = True
    higher_is_better: bool = True
    #: Profile to the value of gold against itself, where that is not 100.
    ceilings: dict[str, float | None] = {}

    @property
    def swaps(self) -> list[tuple[str, str, str, str]]:
        """(first, second, profile where the first is ahead, profile where the second is ahead)."""
        swaps = []
        better = 1 if self.higher_is_better else -1
        for first, second in combinations(self.values, 2):
            gaps = {name: better * (self.values[first][name] - self.values[second][name]) for name in self.profiles}
            ahead = [name for name, gap in gaps.items() if gap > 0]
            behind = [name for name, gap in gaps.items() if gap < 0]
            if ahead and behind:
                swaps.append((first, second, ahead[0], behind[0]))
        return swaps

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "profiles": self.profiles,
            "values": self.values,
            "rules": [structs.asdict(effect) for effect in self.rules],
            "swaps": self.swaps,
            "gold_against_itself": self.ceilings,
        }

    def frame(self, system: str) -> pl.DataFrame:
        """What the run of a system keeps."""
        whole = [(self.measure, name, None, value, None, None) for name, value in self.values[system].items()]
        rules = [
            (self.measure, rule.profile, rule.rule, rule.value_without, rule.gained, rule.lost)
            for rule in self.rules
            if rule.system == system
        ]
        names, counts = ("measure", "profile", "rule"), ("gained", "lost")
        schema = {**dict.fromkeys(names, pl.String), "value": pl.Float64, **dict.fromkeys(counts, pl.Int64)}
        return pl.DataFrame([*whole, *rules], schema=schema, orient="row").with_columns(pl.col("value").fill_nan(None))


def profile_sensitivity(
    inputs: PreparedInputs,
    measure: Measure[Any],
    profiles: Sequence[Profile],
    advance: Callable[[int], None] = lambda steps: None,
) -> Sensitivity:
    """One measure of every system under every profile; ``advance`` is told of every comparison done."""
    values: dict[str, dict[str, float]] = {name: {} for name in inputs.systems}
    effects: list[RuleEffect] = []
    exact: dict[tuple[str, str], Flags] = {}
    for profile in profiles:
        for name in inputs.systems:
            values[name][profile.name], exact[name, profile.name] = _scored(inputs, name, measure, profile)
            advance(1)
    for profile in profiles:
        for rule in profile.values:
            reduced = profile.without(rule)
            for name in inputs.systems:
                value, without = _scored(inputs, name, measure, reduced)
                with_rule = exact[name, profile.name]
                gained, lost = int((with_rule & ~without).sum()), int((without & ~with_rule).sum())
                advance(1)
                effects.append(RuleEffect(name, profile.name, rule.name, gained, lost, value))
    names = [profile.name for profile in profiles]
    first = next(iter(inputs.systems))
    ceilings = {profile.name: inputs.ceiling(first, profile, [measure]) for profile in profiles}
    return Sensitivity(
        str(measure),
        names,
        values,
        effects,
        measure.card.unit == "share",
        measure.card.higher_is_better is not False,
        {name: ceiling[str(measure)] for name, ceiling in ceilings.items() if ceiling},
    )


def _scored(inputs: PreparedInputs, name: str, measure: Measure[Any], profile: Profile) -> tuple[float, Flags]:
    comparison = inputs.comparison(name, profile)
    return measure.value(comparison.counts), comparison.counts.exact


def read_sensitivity(runs: Sequence[Run]) -> Sensitivity:
    """What the runs keep of it, one for each system."""
    kept = {run.name: run.table(SENSITIVITY).rows() for run in runs if SENSITIVITY in run.tables}
    first = next(iter(kept.values()))
    measure = first[0][0]
    values = {name: {row[1]: _number(row[3]) for row in rows if row[2] is None} for name, rows in kept.items()}
    # By profile, then rule, then system, as they were measured; a rule of one name may stand in a profile twice.
    places = [index for index, row in enumerate(first) if row[2] is not None]
    effects = [
        RuleEffect(name, profile, rule, gained, lost, _number(value))
        for index in places
        for name, rows in kept.items()
        for _, profile, rule, value, gained, lost in (rows[index],)
    ]
    profiles = list(next(iter(values.values())))
    score = next((run.scores[measure] for run in runs if measure in run.scores), None)
    share, higher = score is None or score.unit == "share", score is None or score.higher_is_better is not False
    ceilings = next((known for run in runs if (known := tracking_details(run).sensitivity_ceilings)), {})
    return Sensitivity(measure, profiles, values, effects, share, higher, ceilings)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def sensitivity_tables(result: Sensitivity) -> list[Table]:
    """One measure under all profiles, and what each rule does."""
    percent = result.share
    values = Table(
        f"{result.measure} under each profile",
        ["system", *(Column(profile, digits=2, percent=percent) for profile in result.profiles)],
        notes=[*_ceiling_notes(result), *_swap_notes(result)],
        unit="percent" if percent else "",
    )
    for system, by_profile in result.values.items():
        values.add(system, *(by_profile[profile] for profile in result.profiles))
    rules = Table(
        "Turns that each rule flips",
        ["profile", "rule", "system", "exact only with it", "exact only without it",
         Column(f"{result.measure} without it", digits=2, percent=percent)],
        notes=["Each rule is left out on its own; rules that flip no turn of any system are not listed."],
    )  # fmt: skip
    for effect in result.rules:
        if effect.gained or effect.lost:
            rules.add(effect.profile, effect.rule, effect.system, effect.gained, effect.lost, effect.value_without)
    return [values, rules] if len(rules) else [values]


def _ceiling_notes(result: Sensitivity) -> list[str]:
    shares = {result.measure: result.share}
    return [ceiling_sentence(name, {result.measure: value}, shares) for name, value in result.ceilings.items()]


def _swap_notes(result: Sensitivity) -> list[str]:
    if len(result.values) < 2:
        return []
    if not result.swaps:
        return ["The order of the systems is the same under all profiles."]
    return [
        f"The order changes: {first} is ahead of {second} under {ahead}, behind under {behind}."
        for first, second, ahead, behind in result.swaps
    ]
