"""What a comparison owes to resampling: few numbers, slow to draw, so that whoever keeps them need not draw again."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from dialgauge.comparison.result import Comparison
from dialgauge.comparison.scores import PairedScores
from dialgauge.runs import Run
from dialgauge.stats import Floats, PairedRandomisation

_PARTS = PairedRandomisation.__struct_fields__[1:]


class ComparisonDraws(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Intervals and tests of a comparison. Arrays are nested lists, as :class:`Comparison` orders them."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    dialogues: int
    resamples: int
    seed: int
    level: float
    intervals: list[list[tuple[float, float]]]
    #: By part of a :class:`PairedRandomisation`, (pairs, measures).
    tested: dict[str, list[list[float]]]
    randomisation: dict[str, list[list[float]]]
    #: How each interval was made, (systems, measures).
    made: list[list[str]]
    one_more: tuple[str, ...]
    amounts: tuple[str, ...]

    @classmethod
    def of(cls, comparison: Comparison) -> ComparisonDraws:
        return cls(
            systems=comparison.systems,
            measures=comparison.measures,
            dialogues=len(comparison.dialogues),
            resamples=comparison.resamples,
            seed=comparison.seed,
            level=comparison.level,
            intervals=comparison.intervals.tolist(),
            tested=_listed(comparison.tested),
            randomisation=_listed(comparison.randomisation),
            made=[[comparison.made[system, name] for name in comparison.measures] for system in comparison.systems],
            one_more=comparison.one_more,
            amounts=comparison.amounts,
        )

    def comparison(self, scores: PairedScores, runs: Mapping[str, Run]) -> Comparison:
        """The comparison for which they were drawn; a ValueError where they are of other scores."""
        if (self.systems, self.measures, self.dialogues) != (scores.systems, scores.measures, len(scores.dialogues)):
            raise ValueError("drawn for other systems, measures or dialogues")
        made = np.array(self.made, object).reshape(len(self.systems), len(self.measures))
        names = [(system, measure) for system in self.systems for measure in self.measures]
        if {*self.one_more, *self.amounts} - set(self.measures):
            raise ValueError("drawn for other measures")
        return Comparison(
            scores=scores,
            intervals=_array(self.intervals, (len(self.systems), len(self.measures), 2)),
            tested=self._test(self.tested),
            randomisation=self._test(self.randomisation),
            resamples=self.resamples,
            seed=self.seed,
            level=self.level,
            runs=runs,
            made=dict(zip(names, made.ravel().tolist(), strict=True)),
            one_more=self.one_more,
            amounts=self.amounts,
        )

    @property
    def _pairs(self) -> tuple[tuple[int, int], ...]:
        count = len(self.systems)
        return tuple((first, second) for first in range(count) for second in range(first + 1, count))

    def _test(self, parts: Mapping[str, list[list[float]]]) -> PairedRandomisation:
        if set(parts) != set(_PARTS):
            raise ValueError("a test with other parts")
        shape = len(self._pairs), len(self.measures)
        return PairedRandomisation(self._pairs, *(_array(parts[part], shape) for part in _PARTS))


def _listed(test: PairedRandomisation) -> dict[str, list[list[float]]]:
    return {part: getattr(test, part).tolist() for part in _PARTS}


def _array(values: object, shape: tuple[int, ...]) -> Floats:
    array: Floats = np.array(values, np.float64)
    if array.shape != shape:
        raise ValueError(f"numbers of shape {array.shape} where {shape} are needed")
    return array
