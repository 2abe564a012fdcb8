"""Testing systems: intervals of scores, and paired randomisation of every pair by every measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dialgauge import stats
from dialgauge.comparison.pairing import Pairing
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.scores import PairedScores
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling, Summed, parse_measure, summed_intervals
from dialgauge.runs import Run

RESAMPLES = 10_000


def compare_scores(
    scores: PairedScores,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    runs: Mapping[str, Run] | None = None,
    pairing: Pairing | None = None,
) -> Comparison:
    """Compare systems: intervals and paired randomisation over dialogues."""
    if len(scores.systems) < 2:
        raise DialgaugeError("a comparison needs at least two systems; give two prediction files or runs, or more")
    how = Resampling(seed=seed, level=level)  # as scores have them that are not compared
    cells = [(system, measure) for system in scores.systems for measure in scores.measures]
    limits = summed_intervals([_summed(scores, *cell) for cell in cells], how)
    intervals = np.array([limit.ends for limit in limits]).reshape(*scores.num.shape[:2], 2)
    made = {cell: limit.made or str(how) for cell, limit in zip(cells, limits, strict=True)}
    randomisation = stats.paired_randomisation(scores.num, scores.den, resamples=resamples, seed=seed, level=level)
    for measure, sums in scores.several.items():
        column = scores.place_of_measure(measure)
        randomisation.take([column], stats.randomise_several(sums, resamples=resamples, seed=seed, level=level))
    tested = randomisation.copy()
    shares = [measure for measure in scores.measures if _of_trials(scores, measure)]
    amounts = [measure for measure in scores.measures if _is_amount(scores, measure)]
    for measure in (*shares, *amounts):
        index = scores.place_of_measure(measure)
        differences = stats.unit_differences(scores.num[:, index], scores.den[:, index], tested.pairs)
        if measure in shares:
            stats.limit_shares(tested, index, differences, level, scores.bounds(measure))
        else:
            stats.decide_amounts(tested, index, differences, level)
    return Comparison(
        scores=scores,
        intervals=intervals,
        tested=tested,
        randomisation=randomisation,
        resamples=resamples,
        seed=seed,
        level=level,
        runs=runs or {},
        pairing=pairing or Pairing(),
        made=made,
        one_more=tuple(shares),
        amounts=tuple(amounts),
    )


def _summed(scores: PairedScores, system: str, measure: str) -> Summed:
    place = scores.place_of_system(system)
    if several := scores.several.get(measure):
        return Summed(several.sums[place], scores.bounds(measure), several.of)
    cell = place, scores.place_of_measure(measure)
    return Summed(np.stack([scores.num[cell], scores.den[cell]]), scores.bounds(measure), one_more=_one_more(measure))


def _one_more(measure: str) -> bool:
    try:
        return parse_measure(measure).card.one_more
    except DialgaugeError:  # of a run that another version, or a package that is not here, wrote
        return False


def _of_trials(scores: PairedScores, measure: str) -> bool:
    """Has each unit one value from a few trials, the same units for all systems?"""
    if not _one_more(measure) or not np.isfinite(scores.bounds(measure)).all():
        return False
    lengths = scores.den[:, scores.place_of_measure(measure)].round(12)  # sixths of a task's trials are no whole one
    return bool((lengths == lengths[0]).all() and len(np.unique(lengths[lengths != 0])) == 1)


def _is_amount(scores: PairedScores, measure: str) -> bool:
    """May a unit be any number of times as much as the others? So may a score whose scale nobody knows."""
    units = (scores.den[:, scores.place_of_measure(measure)] != 0).any(axis=0).sum()
    low, high = scores.bounds(measure)
    without_end = (low, high) == (0.0, np.inf) or ((low, high) == (-np.inf, np.inf) and _one_more(measure))
    return bool(measure not in scores.several and without_end and units > 1)
