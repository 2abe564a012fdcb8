"""Testing systems: intervals of scores, and paired randomisation of every pair by every measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dialgauge import stats
from dialgauge.comparison.pairing import Pairing
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.scores import PairedScores
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling, Summed, measure_of_kind, parse_measure, summed_intervals
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
    how = Resampling(seed=seed, level=level)  # the settings of scores that are not compared
    kind = next(iter(runs.values())).kind if runs else ""
    one_more = {measure for measure in scores.measures if _is_one_more(measure, kind)}
    cells = [(system, measure) for system in scores.systems for measure in scores.measures]
    limits = summed_intervals([_summed(scores, *cell, one_more=cell[1] in one_more) for cell in cells], how)
    intervals = np.array([limit.ends for limit in limits]).reshape(*scores.num.shape[:2], 2)
    made = {cell: limit.made or str(how) for cell, limit in zip(cells, limits, strict=True)}
    randomisation = stats.paired_randomisation(scores.num, scores.den, resamples=resamples, seed=seed, level=level)
    for measure, sums in scores.several.items():
        column = scores.place_of_measure(measure)
        randomisation.take([column], stats.randomise_several(sums, resamples=resamples, seed=seed, level=level))
    tested = randomisation.copy()
    shares = [measure for measure in scores.measures if measure in one_more and _is_of_trials(scores, measure)]
    amounts = [measure for measure in scores.measures if _is_amount(scores, measure, one_more=measure in one_more)]
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


def _summed(scores: PairedScores, system: str, measure: str, *, one_more: bool) -> Summed:
    place = scores.place_of_system(system)
    if several := scores.several.get(measure):
        return Summed(several.sums[place], scores.bounds(measure), several.of)
    cell = place, scores.place_of_measure(measure)
    return Summed(np.stack([scores.num[cell], scores.den[cell]]), scores.bounds(measure), one_more=one_more)


def _is_one_more(measure: str, kind: str) -> bool:
    """Whether the measure's card asks for intervals with one more unit; False if no package here has a card."""
    try:
        return (measure_of_kind(measure, kind) if kind else parse_measure(measure)).card.one_more
    except DialgaugeError:
        return False


def _is_of_trials(scores: PairedScores, measure: str) -> bool:
    """Whether each unit has one bounded value from a few trials, the same units for all systems."""
    if not np.isfinite(scores.bounds(measure)).all():
        return False
    lengths = scores.den[:, scores.place_of_measure(measure)].round(12)  # 6 x 1/6 is not exactly 1 in floats
    return bool((lengths == lengths[0]).all() and len(np.unique(lengths[lengths != 0])) == 1)


def _is_amount(scores: PairedScores, measure: str, *, one_more: bool) -> bool:
    """Whether values are unbounded: amounts such as cost and turns, and scores without a known scale."""
    units = (scores.den[:, scores.place_of_measure(measure)] != 0).any(axis=0).sum()
    low, high = scores.bounds(measure)
    without_end = (low, high) == (0.0, np.inf) or ((low, high) == (-np.inf, np.inf) and one_more)
    return bool(measure not in scores.several and without_end and units > 1)
