"""What measuring gives: for each measure a value with its interval, and for each dialogue the sums behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from dialgauge.measures.base import Floats, Measure, UnitNumbers, mean_of_ratios
from dialgauge.measures.records import Coverage, Score
from dialgauge.measures.registry import no_score
from dialgauge.measures.resampling import Interval, Resampling, intervals
from dialgauge.measures.signature import Signature

#: Rows of a table that are made at once.
_FRAME_ROWS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of one system.

    ``sums`` holds for each measure the sums of every dialogue, (k, dialogues), 0 where it has no score.
    """

    dialogues: Sequence[str]
    sums: Mapping[str, UnitNumbers]
    scores: Mapping[str, Score]
    coverage: Coverage = field(default_factory=Coverage)
    #: Measures that the evidence cannot give, with the reason.
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: How the intervals were made, where they were.
    resampling: Resampling | None = None

    def __getitem__(self, measure: str) -> Score:
        if measure not in self.scores:
            raise no_score(measure, self.scores, self.left_out)
        return self.scores[measure]

    @property
    def signature(self) -> Signature:
        """What all scores share, and how their intervals were made."""
        scores = [score for score in self.scores.values() if score.signature]
        signed = [Signature.parse(score.signature) for score in scores]
        if not signed:
            return Signature()
        shared = Signature.shared(signed)
        if self.resampling is None:
            return shared.with_(interval="")
        own = [
            "interval" in signature for score, signature in zip(scores, signed, strict=True) if score.low is not None
        ]
        return shared if own and all(own) else shared.with_(interval=str(self.resampling))

    def with_intervals(self, made: Sequence[Interval], how: Resampling) -> Scores:
        """The same scores with their intervals; where one is not made as most are, its signature says how."""
        limited = {
            name: _limited(score, interval, how) if interval.defined else score
            for (name, score), interval in zip(self.scores.items(), made, strict=True)
        }
        return replace(self, scores=limited, resampling=how)

    def joined(self, other: Scores) -> Scores:
        """These scores and other ones of the same system, over the dialogues of either; coverage stays this one's."""
        ids = {name: index for index, name in enumerate(dict.fromkeys((*self.dialogues, *other.dialogues)))}
        return replace(
            self,
            dialogues=tuple(ids),
            sums={**_spread(self, ids), **_spread(other, ids)},
            scores={**self.scores, **other.scores},
            left_out={**self.left_out, **other.left_out},
        )

    def frame(self) -> pl.DataFrame:
        """The table ``dialogue_scores``: dialogue, measure, num, den, where a dialogue has a score."""
        parts = []
        for index, sums in enumerate(self.sums.values()):
            if len(sums) == 2:
                above, below = sums
                there = np.flatnonzero(below > 0)
                parts.append((there, np.full(len(there), index), above[there], below[there]))
        owners, measures, num, den = _concatenated(parts, (int, int, float, float))
        return pl.DataFrame(
            {
                "dialogue": pl.Series(self.dialogues, dtype=pl.String).gather(owners),
                "measure": pl.Series(list(self.sums), dtype=pl.String).gather(measures),
                "num": pl.Series(num, dtype=pl.Float64),
                "den": pl.Series(den, dtype=pl.Float64),
            }
        )

    def frames(self) -> Iterator[pl.DataFrame]:
        """The same table in frames of some measures each, at least one, that fit into memory."""
        most = max(1, _FRAME_ROWS // max(len(self.dialogues), 1))
        for start in range(0, max(len(self.sums), 1), most):
            yield replace(self, sums=dict(islice(self.sums.items(), start, start + most))).frame()

    @property
    def has_several_sums(self) -> bool:
        """Is there a value that is no ratio of two sums?"""
        return any(len(sums) > 2 for sums in self.sums.values())

    def sums_frame(self) -> pl.DataFrame:
        """The table ``dialogue_sums``: dialogue, measure, place, sum, of values that come from several sums."""
        parts = []
        for index, sums in enumerate(self.sums.values()):
            if len(sums) > 2:
                columns = np.stack(list(sums), axis=1)
                there = np.flatnonzero(columns.any(axis=1))
                cells = columns[there].reshape(-1)
                places = np.tile(np.arange(len(sums)), len(there))
                parts.append((np.repeat(there, len(sums)), np.full(len(cells), index), places, cells))
        owners, measures, places, values = _concatenated(parts, (int, int, int, float))
        return pl.DataFrame(
            {
                "dialogue": pl.Series(self.dialogues, dtype=pl.String).gather(owners),
                "measure": pl.Series(list(self.sums), dtype=pl.String).gather(measures),
                "place": pl.Series(places, dtype=pl.Int64),
                "sum": pl.Series(values, dtype=pl.Float64),
            }
        )


@dataclass(frozen=True, kw_only=True)
class SystemEvidence:
    """One system's evidence, and what is to be measured on it."""

    evidence: Any
    measures: Sequence[Measure[Any]]
    #: The ids of the evidence's dialogues, in its order.
    dialogues: Sequence[str]
    #: What all scores share; the measure is added to each.
    signature: Signature = field(default_factory=Signature)
    coverage: Coverage = field(default_factory=Coverage)
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: The same evidence with other units of resampling, such as tasks with all their trials; None: dialogues.
    resampled: Any = None


def score_systems(systems: Sequence[SystemEvidence], how: Resampling | None = None) -> list[Scores]:
    """The scores of several systems; their intervals, where asked for, come from the same resamples."""
    sums = [{str(measure): measure.sums(system.evidence) for measure in system.measures} for system in systems]
    scored = [_scored(system, own) for system, own in zip(systems, sums, strict=True)]
    if how is None:
        return scored
    resampled = [
        [
            (measure, own[str(measure)] if system.resampled is None else measure.sums(system.resampled))
            for measure in system.measures
        ]
        for system, own in zip(systems, sums, strict=True)
    ]
    made = intervals(resampled, how)
    return [scores.with_intervals(limits, how) for scores, limits in zip(scored, made, strict=True)]


def _scored(system: SystemEvidence, sums: Mapping[str, Floats]) -> Scores:
    scores, kept = {}, {}
    for measure, own in zip(system.measures, sums.values(), strict=True):
        value = measure.value(system.evidence) if measure.card.value else float(measure.card.of(own.sum(axis=1)))
        signature = system.signature.with_(measure=measure.full(system.evidence))
        scores[str(measure)] = Score.of(measure, value, signature=signature)
        # The groups of a mean over groups are a system's own, so that nothing can be paired with their sums.
        if measure.card.of is not mean_of_ratios or len(own) == 2:
            kept[str(measure)] = own
    return Scores(
        dialogues=system.dialogues, sums=kept, scores=scores, coverage=system.coverage, left_out=system.left_out
    )


def _limited(score: Score, interval: Interval, how: Resampling) -> Score:
    made = "" if interval.made == str(how) else interval.made
    signature = Signature.parse(score.signature).with_(interval=made).long()
    return structs.replace(score, low=interval.low, high=interval.high, signature=signature)


def _concatenated(parts: Iterable[Sequence[NDArray[Any]]], kinds: Sequence[type]) -> list[NDArray[Any]]:
    """The columns of some tables below each other."""
    columns = zip(*([np.empty(0, kind) for kind in kinds], *parts), strict=True)
    return [np.concatenate(column) for column in map(list, columns)]


def _spread(scores: Scores, ids: Mapping[str, int]) -> dict[str, UnitNumbers]:
    places = np.array([ids[name] for name in scores.dialogues], np.int64)
    wide: dict[str, UnitNumbers] = {}
    for measure, sums in scores.sums.items():
        table = wide[measure] = np.zeros((len(sums), len(ids)))
        table[:, places] = sums
    return wide
