"""Differences between two runs with their intervals, placed against zero in percent of the width.

Shares have one axis in points. Amounts, such as a cost or a number of turns, have each an axis of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dialgauge.presentation import is_of_part
from dialgauge.rendering import SHARE

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, Difference

#: Measures that the plot shows; the tables have all of them.
_MOST = 12
#: Differences that span more than this are drawn on a square-root scale.
_WIDE_SPAN = 10.0
_TICKS_A_SIDE = 3
#: Digits of an amount that count.
_SIGNIFICANT = 3


class Tick(Struct, frozen=True):
    """A line of the grid."""

    label: str
    at: float


class Axis(Struct, frozen=True):
    """Where values stand, in percent of the width, with zero and round numbers."""

    place: Callable[[float], float]
    ticks: Sequence[Tick]
    square_root: bool = False

    @property
    def zero(self) -> float:
        return self.place(0.0)


class DifferenceRow(Struct, frozen=True):
    """A measure: its difference, shares in points, and the axis to draw it on."""

    measure: str
    difference: Difference
    percent: bool
    clear: bool
    ahead: int | None
    axis: Axis

    @property
    def _scale(self) -> float:
        return 100.0 if self.percent else 1.0

    def at(self, number: float) -> float:
        return self.axis.place(number * self._scale)

    def amount(self, number: float) -> str:
        """A difference with its sign: shares in points with one digit, two where it is small; others with three."""
        value = number * self._scale
        if not math.isfinite(value):
            return "–"
        digits = 1 if abs(value) >= 1 or value == 0 else 2
        if not self.percent:
            digits = _digits(max(map(abs, _ends([self.difference])), default=0.0))
        return f"{value:+.{digits}f}".replace("-", "−")


class DifferencePlot(Struct, frozen=True):
    """The rows of shares with the axis in points that they have in common, and those of amounts."""

    shares: Sequence[DifferenceRow]
    amounts: Sequence[DifferenceRow]
    points: Axis

    @property
    def upwards(self) -> bool:
        """Whether more is better by all shares, so that one end of their axis is better than the other."""
        return all(row.difference.higher_is_better for row in self.shares)


def difference_plot(comparison: Comparison, first: str, second: str) -> DifferencePlot:
    """First minus second on every measure of the whole, the headline first."""
    verdicts = {verdict.measure: verdict for verdict in comparison.verdict.measures}
    measures = comparison.measures
    whole = [measure for measure in measures if not is_of_part(measure, measures)] or list(measures)
    order = sorted(whole, key=lambda measure: list(verdicts).index(measure) if measure in verdicts else len(verdicts))
    differences = [comparison.difference(first, second, measure) for measure in order[:_MOST]]
    shares = [difference for difference in differences if _is_share(comparison, difference)]
    sizes = [abs(share.difference) for share in shares if math.isfinite(share.difference) and share.difference]
    points = _axis([100 * end for end in _ends(shares)], bent=bool(sizes) and max(sizes) > _WIDE_SPAN * min(sizes))
    amounts = [difference for difference in differences if not _is_share(comparison, difference)]
    return DifferencePlot(
        [_row(comparison, share, points) for share in shares],
        [_row(comparison, amount, _axis(_ends([amount]))) for amount in amounts],
        points,
    )


def _row(comparison: Comparison, difference: Difference, axis: Axis) -> DifferenceRow:
    verdict = next((each for each in comparison.verdict.measures if each.measure == difference.measure), None)
    clear = verdict.clear if verdict is not None and len(comparison.systems) == 2 else difference.significant
    ahead = None if not clear else int((difference.better or difference.higher) == difference.second)
    return DifferenceRow(difference.measure, difference, _is_share(comparison, difference), clear, ahead, axis)


def _is_share(comparison: Comparison, difference: Difference) -> bool:
    score = comparison.scores.run_score(difference.measure)
    return score is not None and score.unit == SHARE


def _ends(differences: Sequence[Difference]) -> list[float]:
    return [
        end
        for difference in differences
        for end in (difference.low, difference.high, difference.difference)
        if math.isfinite(end)
    ]


def _axis(ends: Sequence[float], *, bent: bool = False) -> Axis:
    """An axis that has room for all ends and for zero; ``bent`` by the square root."""
    root: Callable[[float], float] = (lambda value: math.copysign(math.sqrt(abs(value)), value)) if bent else float
    reach = max(map(abs, ends), default=1.0) or 1.0
    least, most = min([*ends, -reach / 8]), max([*ends, reach / 8])
    span = root(most) - root(least)

    def place(value: float) -> float:
        return round(2 + 96 * (root(value) - root(least)) / span, 2) if math.isfinite(value) else 0.0

    ticks = [Tick(_signed(value), place(value)) for value in _ticks(least, most, bent=bent)]
    return Axis(place, ticks, bent)


def _ticks(least: float, most: float, *, bent: bool) -> list[float]:
    """Round numbers on either side of zero, not too many."""
    step = _round_step((most - least) / (2 * _TICKS_A_SIDE))
    if not bent:
        first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)  # whatever the last bits are
        return [number * step for number in range(first, last + 1)]
    rounds = [1, 2, 5, 10, 20, 50, 100]
    positive = [step for step in rounds if step <= most][::-1][: 2 * _TICKS_A_SIDE : 2]
    negative = [-step for step in rounds if -step >= least][::-1][: 2 * _TICKS_A_SIDE : 2]
    return sorted({*positive, *negative, 0})


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def _digits(number: float) -> int:
    """Digits after the point that leave the significant ones."""
    return max(0, _SIGNIFICANT - 1 - math.floor(math.log10(number))) if number else 1


def _signed(value: float) -> str:
    return f"{value:+.6g}".replace("-", "−") if value else "0"
