"""The result of a comparison: scores with intervals, and for every pair of systems the differences and their tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dialgauge._version import __version__
from dialgauge.comparison.divergence import Details
from dialgauge.comparison.scores import Scores
from dialgauge.errors import DialgaugeError
from dialgauge.stats import (
    Floats,
    PairedBootstrap,
    PairedRandomisation,
    detectable,
    holm,
    noise_floor,
    paired_bootstrap,
    paired_randomisation,
    ratio_intervals,
    win_tie_loss,
)
from dialgauge.tracking import number

if TYPE_CHECKING:
    import polars

RESAMPLES = 10_000

#: Differences with a p-value below this count as found.
ALPHA = 0.05


@dataclass(frozen=True)
class Difference:
    """First minus second system on one measure. Undefined numbers are NaN; ``adjusted`` is Holm's p over all pairs."""

    first: str
    second: str
    measure: str
    difference: float
    low: float
    high: float
    error: float
    p_bootstrap: float
    p_randomisation: float
    adjusted: float
    wins: int
    ties: int
    losses: int

    @property
    def found(self) -> bool:
        """Whether the difference is significant after correction."""
        return self.adjusted < ALPHA

    def turned(self) -> Difference:
        """The same difference seen from the other side: second minus first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,
            low=0.0 - self.high,
            high=0.0 - self.low,
            wins=self.losses,
            losses=self.wins,
        )


@dataclass(frozen=True)
class Comparison:
    """Systems compared over the dialogues they share."""

    scores: Scores
    intervals: Floats
    bootstrap: PairedBootstrap
    randomisation: PairedRandomisation
    resamples: int
    seed: int
    level: float

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in the order they were given."""
        return self.scores.systems

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures all systems have."""
        return self.scores.measures

    @cached_property
    def values(self) -> Floats:
        """The corpus values, (systems, measures)."""
        return self.scores.values

    @cached_property
    def adjusted(self) -> Floats:
        """Holm's p-values of the randomisation test, (pairs, measures): a family is one measure's pairs of systems."""
        return holm(self.randomisation.p)

    @cached_property
    def floor(self) -> Floats:
        """For each measure the smallest difference every pair's interval can tell from 0: the largest over pairs.

        NaN where no pair of systems varies from dialogue to dialogue: such systems show nothing of the noise.
        """
        return _largest(noise_floor(self.bootstrap.error, level=self.level))

    @cached_property
    def detectable(self) -> Floats:
        """For each measure the true difference that would be found 8 times in 10, whatever the pair."""
        return _largest(detectable(self.bootstrap.error, level=self.level))

    @property
    def basis(self) -> str:
        """What the intervals come from, in words."""
        return f"{100 * self.level:g}% bootstrap intervals over {number(len(self.scores.dialogues), 'dialogue')}"

    @property
    def signature(self) -> str:
        """What the numbers depend on; two comparisons with equal signatures are comparable."""
        parts = {
            "dialogues": len(self.scores.dialogues),
            "test": "paired-randomisation",
            "intervals": f"paired-bootstrap-{self.level:g}",
            "resamples": self.resamples,
            "seed": self.seed,
            "correction": "holm" if len(self.systems) > 2 else "none",
            "dialgauge": __version__,
        }
        own = "|".join(f"{name}:{value}" for name, value in parts.items())
        scored = sorted(set(filter(None, self.scores.signatures)))
        return " + ".join([own, *scored])

    @property
    def turn_frames(self) -> Mapping[str, polars.DataFrame]:
        """The scores of every turn by system, where the comparison has them; see ``comparison.turns``."""
        return {}

    def details(self, first: str, second: str) -> Details | None:
        """Finds where two systems differ within a dialogue, where the comparison has more than scores."""
        return None

    def differences(self) -> Iterator[Difference]:
        """Every pair of systems on every measure, measure by measure."""
        for column in range(len(self.measures)):
            for row in range(len(self.bootstrap.pairs)):
                yield self._difference(row, column)

    def difference(self, first: str, second: str, measure: str) -> Difference:
        """One pair on one measure, first minus second."""
        column = self.scores.place_of_measure(measure)
        a, b = self.scores.place_of_system(first), self.scores.place_of_system(second)
        if a == b:
            raise DialgaugeError(f"'{first}' is compared with itself; name two different systems")
        found = self._difference(self.bootstrap.pairs.index((min(a, b), max(a, b))), column)
        return found if a < b else found.turned()

    def _difference(self, row: int, column: int) -> Difference:
        a, b = self.bootstrap.pairs[row]
        wins, ties, losses = win_tie_loss(self._by_dialogue[a, column], self._by_dialogue[b, column])
        return Difference(
            first=self.systems[a],
            second=self.systems[b],
            measure=self.measures[column],
            difference=float(self.bootstrap.difference[row, column]),
            low=float(self.bootstrap.low[row, column]),
            high=float(self.bootstrap.high[row, column]),
            error=float(self.bootstrap.error[row, column]),
            p_bootstrap=float(self.bootstrap.p[row, column]),
            p_randomisation=float(self.randomisation.p[row, column]),
            adjusted=float(self.adjusted[row, column]),
            wins=wins,
            ties=ties,
            losses=losses,
        )

    @cached_property
    def _by_dialogue(self) -> Floats:
        return self.scores.by_dialogue


def compare_scores(scores: Scores, *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95) -> Comparison:
    """Compare systems: intervals, paired bootstrap and paired randomisation over dialogues."""
    systems, measures, dialogues = scores.num.shape
    flat = (scores.num.reshape(-1, dialogues), scores.den.reshape(-1, dialogues))
    intervals = ratio_intervals(*flat, resamples=resamples, seed=seed, level=level)
    return Comparison(
        scores,
        intervals.reshape(systems, measures, 2),
        paired_bootstrap(scores.num, scores.den, resamples=resamples, seed=seed, level=level),
        paired_randomisation(scores.num, scores.den, resamples=resamples, seed=seed),
        resamples,
        seed,
        level,
    )


def _largest(values: Floats) -> Floats:
    """The largest of each column, NaN where all are undefined."""
    defined = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    result: Floats = np.where(np.isinf(defined), np.nan, defined)
    return result
