"""What tracking adds to a comparison of its runs.

That is which turns were scored, and flexible goal accuracy as its strictness lambda moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from dialgauge.comparison import Pairing
from dialgauge.measures import Bounds, Resampling, intervals, parse_measure
from dialgauge.text import named_note, note_kind
from dialgauge.tracking.checks import SHOWN
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.fga import EXACT, TYPE2, default_rule, error_types, weights
from dialgauge.tracking.tables import TURN_SCORES, frame_counts

if TYPE_CHECKING:
    import polars

    from dialgauge.comparison import Comparison
    from dialgauge.runs import Run

#: From joint goal accuracy (0) to nearly full forgiveness, in steps fine enough to see a crossing.
LAMBDAS = tuple(round(0.05 * step, 2) for step in range(41))


class TrackingPairing(Pairing):
    """Turns are paired by their number among the user's."""

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """What gold itself scores, under profiles that do not give it 100."""
        return list(dict.fromkeys(note for run in runs for note in run.notes if note_kind(note) == "ceiling"))

    def reading_notes(self, runs: Sequence[Run]) -> list[str]:
        """What is said of the predictions beside their scores."""
        return [named_note(run.name, note) for run in runs for note in run.notes if note_kind(note) in SHOWN]

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """The table ``turn_scores``."""
        return run.table(TURN_SCORES) if _is_complete(run) else None

    def scored_turns(self, run: Run) -> polars.DataFrame | None:
        """The user turns by their number, which two gold files agree on even if one has no turns of the system."""
        if not _is_complete(run):
            return None
        return run.table(TURN_SCORES).select("dialogue", turn="user_turn")


PAIRING = TrackingPairing()


def _is_complete(run: Run) -> bool:
    return "evidence" in run.details and TURN_SCORES in run.tables


class Swap(Struct, frozen=True):
    """Below ``at``, ``before`` is higher; above it, ``after``."""

    at: float
    before: str
    after: str


class Sweep(Struct, frozen=True):
    """Corpus values of FGA at each lambda, by system."""

    lambdas: tuple[float, ...]
    scores: Mapping[str, Sequence[float]]

    def swaps(self) -> list[Swap]:
        """Every crossing of two systems, interpolated between the two lambdas around it; touching is no crossing."""
        swaps = []
        for first, second in combinations(self.scores, 2):
            gap = np.asarray(self.scores[first]) - np.asarray(self.scores[second])
            steps = np.flatnonzero(np.abs(gap) > 1e-12)
            for left, right in pairwise(steps.tolist()):
                if gap[left] * gap[right] < 0:
                    share = gap[left] / (gap[left] - gap[right])
                    at = self.lambdas[left] + share * (self.lambdas[right] - self.lambdas[left])
                    order = (first, second) if gap[left] > 0 else (second, first)
                    swaps.append(Swap(float(at), *order))
        return sorted(swaps, key=lambda swap: (swap.at, swap.before, swap.after))


def sweep_counts(systems: Mapping[str, Counts]) -> Sweep:
    """FGA over all turns of each system at each lambda."""
    return Sweep(LAMBDAS, {name: [_flexible(counts, at) for at in LAMBDAS] for name, counts in systems.items()})


def _flexible(counts: Counts, rate: float) -> float:
    """The mean weight of the turns: exact ones count 1, and those that carry an error what FGA forgives of it."""
    rule = default_rule(counts)
    types, weight = error_types(counts, rule), weights(counts, rate, rule)
    return float((float((types == EXACT).sum()) + weight[types == TYPE2].sum()) / len(types))


def sweep_intervals(systems: Mapping[str, Counts], how: Resampling) -> dict[str, list[Bounds]]:
    """The interval of every system's FGA at each of LAMBDAS."""
    measures = [parse_measure(f"FGA@{at:g}", "tracking") for at in LAMBDAS]
    made = intervals([[(measure, measure.sums(counts)) for measure in measures] for counts in systems.values()], how)
    return {system: [band.ends for band in bands] for system, bands in zip(systems, made, strict=True)}


def compared_counts(comparison: Comparison) -> dict[str, Counts]:
    """By system the counts of the turns that are compared."""
    return {
        name: frame_counts(frame, tracking_details(comparison.runs[name]).evidence)
        for name, frame in comparison.turn_scores.items()
    }
