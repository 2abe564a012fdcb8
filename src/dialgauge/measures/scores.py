"""What measuring gives: for each measure a value with its interval, and for each dialogue the sums behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from dialgauge.measures.base import Measure, Rows
from dialgauge.measures.records import Coverage, Score
from dialgauge.measures.registry import no_score
from dialgauge.measures.resampling import NO_INTERVAL, Interval, Resampling, intervals
from dialgauge.measures.signature import Signature


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of one system.

    ``sums`` holds for each measure numerator and denominator of every dialogue, 0 / 0 where it has no score; a value
    that is no ratio of sums has a score and no sums.
    """

    dialogues: Sequence[str]
    sums: Mapping[str, Rows]
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
        for index, (above, below) in enumerate(self.sums.values()):
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


def score_systems(systems: Sequence[SystemEvidence], how: Resampling | None = None) -> list[Scores]:
    """The scores of several systems; their intervals, where asked for, come from the same resamples."""
    if how is None:
        made: list[list[Interval]] = [[NO_INTERVAL] * len(system.measures) for system in systems]
    else:
        made = intervals([(system.evidence, system.measures) for system in systems], how)
    return [_scored(system, limits, how) for system, limits in zip(systems, made, strict=True)]


def _scored(system: SystemEvidence, limits: Sequence[Interval], how: Resampling | None) -> Scores:
    evidence, base = system.evidence, system.signature
    scores = Scores(
        dialogues=system.dialogues,
        sums={str(measure): measure.by_dialogue(evidence) for measure in system.measures if not measure.grouped},
        scores={
            str(measure): Score.of(
                measure, measure.value(evidence), signature=base.with_(measure=measure.full(evidence))
            )
            for measure in system.measures
        },
        coverage=system.coverage,
        left_out=system.left_out,
    )
    return scores.with_intervals(limits, how) if how else scores


def _limited(score: Score, interval: Interval, how: Resampling) -> Score:
    made = "" if interval.made == str(how) else interval.made
    signature = Signature.parse(score.signature).with_(interval=made).long()
    return structs.replace(score, low=interval.low, high=interval.high, signature=signature)


def sums_table(measures: Sequence[Measure[Any]], evidence: Any, dialogues: Sequence[str]) -> pl.DataFrame:
    """The table ``dialogue_sums``: dialogue, measure, place, sum, of measures whose values come from several sums."""
    parts = []
    for number, measure in enumerate(measures):
        if measure.card.statistics is None:
            continue
        sums = measure.card.statistics(evidence, measure.settings(evidence))
        there = np.flatnonzero(sums.any(axis=0))
        cells = sums[:, there].T.reshape(-1)
        places = np.tile(np.arange(len(sums)), len(there))
        parts.append((np.repeat(there, len(sums)), np.full(len(cells), number), places, cells))
    owners, named, places, values = _concatenated(parts, (int, int, int, float))
    return pl.DataFrame(
        {
            "dialogue": pl.Series(dialogues, dtype=pl.String).gather(owners),
            "measure": pl.Series([str(measure) for measure in measures], dtype=pl.String).gather(named),
            "place": pl.Series(places, dtype=pl.Int64),
            "sum": pl.Series(values, dtype=pl.Float64),
        }
    )


def _concatenated(parts: Iterable[Sequence[NDArray[Any]]], kinds: Sequence[type]) -> list[NDArray[Any]]:
    """The columns of some tables below each other."""
    columns = zip(*([np.empty(0, kind) for kind in kinds], *parts), strict=True)
    return [np.concatenate(column) for column in map(list, columns)]


def _spread(scores: Scores, ids: Mapping[str, int]) -> dict[str, Rows]:
    places = np.array([ids[name] for name in scores.dialogues], np.int64)
    wide: dict[str, Rows] = {}
    for measure, sums in scores.sums.items():
        above, below = np.zeros(len(ids)), np.zeros(len(ids))
        above[places], below[places] = sums
        wide[measure] = above, below
    return wide
