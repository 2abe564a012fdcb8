"""Paired differences where the randomisation test alone does not do: amounts, and intervals of pass^k.

Swapping sides makes every swapped difference symmetric. Differences of amounts are skewed where one system's amounts
have a heavy tail, and equal means are then found different too often: at 5%, in 13% of 20 costs. So a difference of
amounts is significant only if one more unit would not undo it either. Shares keep the randomisation's verdicts, but the
interval that turns it round is too narrow where most differences are 0; theirs asks for one more unit as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats.one_more_unit import (
    Ends,
    amount_difference_interval,
    amount_difference_p,
    share_difference_interval,
)
from dialgauge.stats.randomisation import PairedRandomisation
from dialgauge.stats.resampling import Floats, divide
from dialgauge.stats.significance import holm


def unit_differences(num: Floats, den: Floats, pairs: ArrayLike) -> list[Floats]:
    """For each pair of systems how much its units differ; the mean is the difference of the ratios.

    ``num`` and ``den`` are (systems, units). Where two systems have units of other lengths, the ratios are linearised.
    """
    return [_differences(num[[a, b]], den[[a, b]]) for a, b in np.asarray(pairs).tolist()]


def _differences(num: Floats, den: Floats) -> Floats:
    there = (den != 0).any(axis=0)
    above, below = num[:, there], den[:, there]
    if (below == below[:1, :1]).all():
        first, second = above / below
        return np.asarray(first - second)
    ratio = divide(above.sum(axis=1), below.sum(axis=1))
    pulls = (above - ratio[:, None] * below) / below.mean(axis=1, keepdims=True)
    scale = np.abs(pulls).max(initial=0.0)
    # The last bits of equal units are no variation.
    apart = np.where(np.abs(pulls[0] - pulls[1]) <= 1e-12 * scale, 0.0, pulls[0] - pulls[1])
    return np.asarray(ratio[0] - ratio[1] + apart)


def limit_shares(
    tested: PairedRandomisation, column: int, differences: list[Floats], level: float, bounds: Ends = (0.0, 1.0)
) -> None:
    """Give a measure with two bounds intervals with one more unit; its verdicts stay, and no interval denies one."""
    width = bounds[1] - bounds[0]

    def interval(units: Floats, within: float) -> Ends:
        low, high = share_difference_interval(units / width, within)
        return low * width, high * width

    _limit(tested, column, differences, level, [0] * len(differences), interval)


def decide_amounts(tested: PairedRandomisation, column: int, differences: list[Floats], level: float) -> None:
    """Hold the differences of amounts against one more unit too: the larger p-value counts, and the interval is its.

    Of several pairs these p-values are corrected by Holm's step-down, the randomisation's by its own.
    """
    alone = np.array([amount_difference_p(units) for units in differences])
    steps = np.argsort(np.argsort(alone, kind="stable"), kind="stable").tolist()
    for part, more in ((tested.p, alone), (tested.adjusted, holm(alone))):
        part[:, column] = np.fmax(part[:, column], np.where(np.isnan(part[:, column]), np.nan, more))
    widest = _limit(tested, column, differences, level, steps, amount_difference_interval)
    difference = tested.difference[:, column]
    reach = np.where(difference < 0, widest[:, 1] - difference, difference - widest[:, 0])
    tested.reach[:, column] = np.fmax(tested.reach[:, column], reach)


def _limit(
    tested: PairedRandomisation,
    column: int,
    differences: list[Floats],
    level: float,
    steps: Sequence[int],
    interval: Callable[[Floats, float], Ends],
) -> Floats:
    """Put an interval in the place of the randomisation's that holds for all pairs together and agrees with the
    verdicts; return those of the first step, before they were made to agree."""
    alpha, pairs = round(1 - level, 12), len(differences)
    widest = np.full((pairs, 2), np.nan)
    for row, units in enumerate(differences):
        difference = tested.difference[row, column]
        if np.isnan(difference) or not len(units):
            continue
        widest[row] = low, high = interval(units, 1 - alpha / pairs)
        if np.isnan(low):  # all units differ alike
            continue
        if tested.adjusted[row, column] < alpha:
            # The end that faces 0 is that of the step, or of the test, which found the difference.
            own = interval(units, 1 - alpha / (pairs - steps[row])) if steps[row] else (low, high)
            if difference > 0:
                low = next((end for end in (low, own[0], tested.low[row, column]) if end > 0), 0.0)
            else:
                high = next((end for end in (high, own[1], tested.high[row, column]) if end < 0), 0.0)
        else:
            low, high = min(low, 0.0), max(high, 0.0)
        tested.low[row, column], tested.high[row, column] = low, high
    return widest
