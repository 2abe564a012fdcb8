"""Comparing trackers from their files: score them, then compare the scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dialgauge.comparison.divergence import Details
from dialgauge.comparison.result import RESAMPLES, Comparison, compare_scores
from dialgauge.comparison.scores import Scores, scores_from_frames
from dialgauge.comparison.states import state_details
from dialgauge.comparison.turns import TurnNumbers, on_the_same_turns, shared_turns
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.tracking import Results, Source, SystemScores, score
from dialgauge.values import DEFAULT_PROFILE

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Ontology


@dataclass(frozen=True)
class TrackerComparison(Comparison):
    """A comparison of trackers, with the scores of every turn and the states behind them."""

    results: Results

    @cached_property
    def turn_frames(self) -> dict[str, polars.DataFrame]:
        """The turn tables of the compared dialogues, by system."""
        return {system.name: shared_turns(system.turns, self.scores.dialogues) for system in self.results}

    def details(self, first: str, second: str) -> Details | None:
        """Finds the first difference of two systems' states in a dialogue."""
        return state_details(self.results[first].comparison, self.results[second].comparison)


def compare(
    gold: Source | None,
    predictions: Mapping[str, Source] | Sequence[str | Path],
    *,
    measures: str | Sequence[str] | None = None,
    profile: str = DEFAULT_PROFILE,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    gold_format: str | None = None,
    pred_format: str | None = None,
) -> TrackerComparison:
    """Which tracker is better, and by which measure?

    ``gold`` and ``predictions`` are as for :func:`dialgauge.score`; two systems at least. Tests are paired over the
    dialogues of which all systems were scored on the same turns.

    >>> comparison = dialgauge.compare("test.json", ["a.json", "b.json"])       # doctest: +SKIP
    >>> comparison.difference("a", "b", "JGA").adjusted                        # doctest: +SKIP
    0.0132
    """
    if len(predictions) < 2:
        raise DialgaugeError("a comparison needs at least two systems; name two prediction files, or more")
    results = score(
        gold,
        predictions,
        measures=measures,
        profile=profile,
        coverage=coverage,
        exclude=exclude,
        ontology=ontology,
        intervals=False,
        gold_format=gold_format,
        pred_format=pred_format,
    )
    return compare_results(results, resamples=resamples, seed=seed, level=level)


def compare_results(
    results: Results, *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> TrackerComparison:
    """Compare systems that were scored together under one profile."""
    if results.several_profiles:
        raise DialgaugeError("systems are compared under one profile; name only one")
    notes = _not_sums(results)
    scores = scores_from_frames(
        {system.name: system.dialogue_scores for system in results},
        signatures={system.name: results.signature.long() for system in results},
    )
    scores = on_the_same_turns(scores, {system.name: _turns(system) for system in results})
    scores = replace(scores, notes=(*scores.notes, *notes, *_unlike(results, scores)))
    plain = compare_scores(scores, resamples=resamples, seed=seed, level=level)
    return TrackerComparison(**{part.name: getattr(plain, part.name) for part in fields(plain)}, results=results)


def _not_sums(results: Results) -> list[str]:
    """A note on measures that no dialogue has a share of, such as F1 averaged over slots: they cannot be paired."""
    shares = {name for system in results for name in system.dialogue_scores["measure"].unique()}
    alone = list(dict.fromkeys(name for system in results for name in system.scores if name not in shares))
    if not alone:
        return []
    told = f"{', '.join(alone)} cannot be compared dialogue by dialogue ('dialgauge score' gives it with its interval)"
    if not shares:
        raise DialgaugeError(f"{told}; name another measure too")
    return [f"{told}; left out"]


def _unlike(results: Results, scores: Scores) -> list[str]:
    """Warnings where a measure was computed in another way for some systems."""
    notes = []
    for measure in scores.measures:
        written = {system.name: system.scores[measure].signature.measure for system in results}
        if len(set(written.values())) > 1:
            listed = ", ".join(f"{name} {form}" for name, form in written.items())
            notes.append(f"{measure} does not mean the same for all systems: {listed}")
    return notes


def _turns(system: SystemScores) -> TurnNumbers:
    aligned = system.comparison.aligned
    numbers = np.split(aligned.turn, aligned.offsets[1:-1])
    return {dialogue_key(name): tuple(one.tolist()) for name, one in zip(aligned.ids, numbers, strict=True)}
