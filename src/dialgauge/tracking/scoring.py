"""From a study to results: every system under every profile, every measure, with intervals and signatures."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from dialgauge.errors import DialgaugeError
from dialgauge.tracking.comparison import StateComparison
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.intervals import Resampling, intervals
from dialgauge.tracking.measures.base import Measure
from dialgauge.tracking.results import Results, Score, SystemScores
from dialgauge.tracking.study import Study
from dialgauge.values import Profile


def score_study(
    study: Study,
    measures: Sequence[Measure],
    profiles: Sequence[Profile],
    *,
    resampling: Resampling | None,
    required: Collection[str] = (),
) -> Results:
    """Score every system of a study under every profile.

    A measure that a system's input cannot give is left out and said so; if it is ``required``, because the user named
    it, it is an error.
    """
    prepared = [
        _prepared(name, study.comparison(name, profile), measures, required)
        for profile in profiles
        for name in study.systems
    ]
    work = [(counts, possible) for _, counts, possible, _ in prepared]
    if resampling:
        bounds = intervals(work, resampling)
    else:
        bounds = [[(math.nan, math.nan)] * len(possible) for _, possible in work]
    results = []
    for ((name, comparison), counts, possible, left_out), limits in zip(prepared, bounds, strict=True):
        base = comparison.signature
        scores = {
            str(measure): Score(
                str(measure),
                measure.value(counts),
                None if math.isnan(low) else low,
                None if math.isnan(high) else high,
                replace(base, measure=measure.full(counts)),
            )
            for measure, (low, high) in zip(possible, limits, strict=True)
        }
        results.append(SystemScores(name, comparison, possible, scores, left_out))
    return Results(results, resampling)


def _prepared(
    name: str, comparison: StateComparison, measures: Sequence[Measure], required: Collection[str]
) -> tuple[tuple[str, StateComparison], Counts, list[Measure], dict[str, str]]:
    comparison.require_scope(name)
    counts = comparison.counts
    obstacles = {str(measure): measure.obstacle(counts) for measure in measures}
    left_out = {measure: why for measure, why in obstacles.items() if why}
    for measure, why in left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=name)
    possible = [measure for measure in measures if str(measure) not in left_out]
    if any(one.grouped for one in possible):
        counts = comparison.counts_with_slots()
    return (name, comparison), counts, possible, left_out
