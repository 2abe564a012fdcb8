"""Differences between two runs with their intervals, placed against zero in percent of the width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialgauge.report import SHARE

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, Difference

#: Measures that the plot shows; the tables have all of them.
_MOST = 12
#: Differences that span more than this are drawn on a square-root scale.
_WIDE_SPAN = 10.0
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_TICKS_A_SIDE = 3


@dataclass(frozen=True)
class Tick:
    """A line of the grid."""

    label: str
    at: float


@dataclass(frozen=True)
class DifferenceRow:
    """A measure: its difference in points, and where to draw it; one in its own unit is not drawn."""

    measure: str
    difference: Difference
    scale: float
    percent: bool
    clear: bool
    ahead: int | None
    low: float
    value: float
    high: float

    def amount(self, number: float) -> str:
        """A difference with its sign: shares in points with one digit, two where it is small; others with three."""
        value = number * self.scale
        digits = 1 if abs(value) >= 1 or value == 0 else 2
        if not self.percent and value and math.isfinite(value):
            digits = max(0, 2 - math.floor(math.log10(abs(value))))
        return f"{value:+.{digits}f}".replace("-", "−") if math.isfinite(value) else "–"


@dataclass(frozen=True)
class DifferencePlot:
    """The rows, and the grid in points with zero."""

    rows: Sequence[DifferenceRow]
    ticks: Sequence[Tick]
    zero: float
    square_root: bool


def difference_plot(comparison: Comparison, first: str, second: str) -> DifferencePlot:
    """First minus second on every measure of the whole, the headline first."""
    verdicts = {verdict.measure: verdict for verdict in comparison.verdict.measures}
    whole = [measure for measure in comparison.measures if not measure.endswith("]")] or list(comparison.measures)
    order = sorted(whole, key=lambda measure: list(verdicts).index(measure) if measure in verdicts else len(verdicts))
    found = [comparison.difference(first, second, measure) for measure in order[:_MOST]]
    shares = [one for one in found if _is_share(comparison, one) and math.isfinite(one.difference)]
    sizes = [abs(100 * one.difference) for one in shares if one.difference]
    bent = bool(sizes) and max(sizes) > _WIDE_SPAN * min(sizes)
    place: Callable[[float], float] = (lambda value: math.copysign(math.sqrt(abs(value)), value)) if bent else float
    ends = [100 * end for one in shares for end in (one.low, one.high, one.difference) if math.isfinite(end)]
    reach = max((abs(end) for end in ends), default=1.0) or 1.0
    least, most = min([*ends, -reach / 8]), max([*ends, reach / 8])
    span = place(most) - place(least)

    def across(value: float) -> float:
        return round(2 + 96 * (place(value) - place(least)) / span, 2) if math.isfinite(value) else 0.0

    two = len(comparison.systems) == 2
    rows = [_row(comparison, one, across, two) for one in found]
    ticks = [
        Tick(f"{value:+g}".replace("-", "−") if value else "0", across(value)) for value in _ticks(least, most, bent)
    ]
    return DifferencePlot(rows, ticks, across(0.0), bent)


def _row(comparison: Comparison, one: Difference, across: Callable[[float], float], two: bool) -> DifferenceRow:
    percent = _is_share(comparison, one)
    scale = 100.0 if percent else 1.0
    verdict = next((each for each in comparison.verdict.measures if each.measure == one.measure), None)
    clear = verdict.clear if verdict is not None and two else one.significant
    ahead = None if not clear else int(one.better == one.second)
    return DifferenceRow(
        one.measure, one, scale, percent, clear, ahead,
        across(one.low * scale), across(one.difference * scale), across(one.high * scale),
    )  # fmt: skip


def _is_share(comparison: Comparison, one: Difference) -> bool:
    score = comparison.scores.run_score(one.measure)
    return score is not None and score.unit == SHARE


def _ticks(least: float, most: float, bent: bool) -> list[float]:
    """Round numbers on either side of zero, not too many."""
    if bent:
        positive = [step for step in _STEPS if step >= 1 and step <= most][::-1][: 2 * _TICKS_A_SIDE : 2]
        negative = [-step for step in _STEPS if step >= 1 and -step >= least][::-1][: 2 * _TICKS_A_SIDE : 2]
        return sorted({*positive, *negative, 0.0})
    step = next((one for one in _STEPS if (most - least) / one <= 2 * _TICKS_A_SIDE), _STEPS[-1])
    return [number * step for number in range(math.ceil(least / step), math.floor(most / step) + 1)]
