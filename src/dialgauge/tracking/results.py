"""Scores, and everything that is told about them: tables, JSON, a notebook rendering."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from dialgauge.errors import DialgaugeError, missing_extra, nearest
from dialgauge.report import Cell, Column, Table
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.comparison import StateComparison
from dialgauge.tracking.intervals import Resampling
from dialgauge.tracking.measures.base import Measure
from dialgauge.tracking.signature import Signature
from dialgauge.tracking.views import View, view

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True)
class Score:
    """The value of a measure (a fraction), its interval where one was made, and its signature."""

    measure: str
    value: float
    low: float | None
    high: float | None
    signature: Signature

    def as_dict(self) -> dict[str, Any]:
        """For JSON: undefined is null."""
        return {
            "value": _defined(self.value),
            "low": _defined(self.low),
            "high": _defined(self.high),
            "signature": self.signature.long(),
        }


@dataclass(frozen=True)
class SystemScores:
    """One system under one profile."""

    name: str
    comparison: StateComparison
    measures: list[Measure]
    scores: dict[str, Score]
    #: Measures that were left out because the input cannot give them, with the reason.
    left_out: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def profile(self) -> str:
        """The profile's name."""
        return self.comparison.coder.profile.name

    @property
    def coverage(self) -> TurnCoverage:
        """What was scored and what was not."""
        return self.comparison.aligned.coverage

    def __getitem__(self, measure: str) -> float:
        if measure not in self.scores:
            why = self.left_out.get(measure)
            told = f": {why}" if why else f": it was not asked for.{nearest(measure, self.scores)}"
            raise DialgaugeError(f"{self.name} has no score {measure}{told}")
        return self.scores[measure].value

    def by(self, name: str) -> View:
        """The scores by domain, service, slot, turn or n-domains."""
        return view(name, self.comparison, self.measures)

    @cached_property
    def dialogue_scores(self) -> polars.DataFrame:
        """One row per dialogue and measure: numerator and denominator."""
        from dialgauge.tracking.frames import dialogue_scores

        return dialogue_scores(self)

    @cached_property
    def turns(self) -> polars.DataFrame:
        """One row per turn: the counts, the error type, and every measure."""
        from dialgauge.tracking.frames import turn_table

        return turn_table(self)

    @cached_property
    def slots(self) -> polars.DataFrame:
        """One row per dialogue and slot that occurs in it: the four counts."""
        from dialgauge.tracking.frames import slot_table

        return slot_table(self)

    def as_dict(self, views: tuple[str, ...] = ()) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "profile": self.profile,
            "dialogues": self.coverage.dialogues,
            "turns": self.coverage.turns,
            "scores": {name: score.as_dict() for name, score in self.scores.items()},
            "by": {name: _clean(self.by(name)) for name in views},
            "counts": self.comparison.counts.totals() | {"off_ontology": self.comparison.off_ontology},
            "left_out": self.left_out,
            **self.extra,
        }


@dataclass(frozen=True)
class Results:
    """All systems under all profiles, in the order they were named."""

    systems: list[SystemScores]
    resampling: Resampling | None

    def __iter__(self) -> Iterator[SystemScores]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def __getitem__(self, name: str | int) -> SystemScores:
        if isinstance(name, int):
            return self.systems[name]
        for system in self.systems:
            if system.name == name:
                return system
        raise DialgaugeError(f"there is no system '{name}'.{nearest(name, (one.name for one in self.systems))}")

    @property
    def signature(self) -> Signature:
        """What all scores share; where systems differ in the turns or slots they were scored on, it is left open."""
        bases = [system.comparison.signature for system in self.systems]
        shared = {
            name: values.pop()
            for name in ("slots", "coverage", "dialogues", "turns", "gold")
            if len(values := {getattr(base, name) for base in bases}) == 1
        }
        profiles = "+".join(dict.fromkeys(base.profile for base in bases))
        return Signature(profile=profiles, interval=str(self.resampling) if self.resampling else "", **shared)

    @property
    def several_profiles(self) -> bool:
        """Was more than one profile asked for?"""
        return len({system.profile for system in self.systems}) > 1

    def best(self, measure: str) -> Callable[[Iterable[float]], float]:
        """``max``, or ``min`` for a measure of which less is better."""
        cards = {str(one): one.card for system in self.systems for one in system.measures}
        return max if cards[measure].higher_is_better else min

    def as_dict(self, views: tuple[str, ...] = ()) -> dict[str, Any]:
        """The JSON that ``dialgauge score --json`` writes."""
        return {
            "signature": self.signature.long(),
            "coverage": {
                "policy": self.systems[0].coverage.policy,
                "systems": {system.name: system.coverage.as_dict() for system in self.systems},
            },
            "systems": [system.as_dict(views) for system in self.systems],
        }

    def table(self) -> Table:
        """Systems down, measures across, in percent."""
        names = list(dict.fromkeys(name for system in self.systems for name in system.scores))
        lead = ["system", *(["profile"] if self.several_profiles else []), "dialogues", "turns"]
        ranked = len(self.systems) > 1 and not self.several_profiles
        marks: list[Literal["max", "min"] | None] = [
            ("max" if self.best(name) is max else "min") if ranked else None for name in names
        ]
        columns = [Column(name, digits=2, percent=True, best=best) for name, best in zip(names, marks, strict=True)]
        table = Table("State-tracking scores (percent)", [*lead, *columns])
        for system in self.systems:
            profile = [system.profile] if self.several_profiles else []
            cells = [_cell(system.scores.get(name)) for name in names]
            table.add(system.name, *profile, system.coverage.dialogues, system.coverage.turns, *cells)
        table.notes = self.notes()
        return table

    def notes(self) -> list[str]:
        """The signature, the meaning of intervals, and what was not scored."""
        notes = [f"Signature: {self.signature.short()}"]
        if self.resampling:
            notes.append(
                f"Intervals: {self.resampling.level:.0%}, {self.resampling.resamples} resamples of dialogues, "
                f"seed {self.resampling.seed}."
            )
        scored_on = {(system.profile, system.comparison.signature.gold) for system in self.systems}
        if len(scored_on) > len({system.profile for system in self.systems}):
            notes.append(
                "The systems were not scored on the same gold turns: compare them with care, or score missing "
                "predictions as empty."
            )
        for system in self.systems:
            for measure, why in system.left_out.items():
                notes.append(f"{system.name}: no {measure}: {why}.")
        return notes

    def frame(self) -> polars.DataFrame:
        """One row per system, profile and measure."""
        import polars

        return polars.DataFrame(
            [
                {
                    "system": system.name,
                    "profile": system.profile,
                    "measure": name,
                    "value": score.value,
                    "low": score.low,
                    "high": score.high,
                    "signature": score.signature.long(),
                }
                for system in self.systems
                for name, score in system.scores.items()
            ]
        )

    def pandas(self) -> pandas.DataFrame:
        """:meth:`frame` for pandas (extra ``pandas``)."""
        try:
            return self.frame().to_pandas()
        except ModuleNotFoundError as error:
            raise missing_extra(error.name or "pandas", "pandas", "a pandas frame") from error

    def __str__(self) -> str:
        return self.table().render("markdown")

    def _repr_html_(self) -> str:
        from dialgauge.tracking.notebook import html_table

        return html_table(self.table())


def _cell(score: Score | None) -> Cell:
    if score is None:
        return Cell(None)
    return Cell(score.value, _defined(score.low), _defined(score.high))


def _defined(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _clean(found: View) -> View:
    return {
        group: {
            key: {name: _defined(score) for name, score in value.items()} if key == "scores" else value
            for key, value in facts.items()
        }
        for group, facts in found.items()
    }
