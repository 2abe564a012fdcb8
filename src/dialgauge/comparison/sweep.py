"""Where two systems change places under flexible goal accuracy as its strictness lambda moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from dialgauge.report import Column, Table

#: From joint goal accuracy (0) to nearly full forgiveness, in steps fine enough to see a crossing.
LAMBDAS = tuple(round(0.05 * step, 2) for step in range(41))


@dataclass(frozen=True)
class Swap:
    """Below ``at``, ``before`` is higher; above it, ``after``."""

    at: float
    before: str
    after: str


@dataclass(frozen=True)
class Sweep:
    """Corpus values of FGA at each lambda, by system."""

    lambdas: tuple[float, ...]
    scores: Mapping[str, Sequence[float]]

    def swaps(self) -> list[Swap]:
        """Every crossing of two systems, interpolated between the two lambdas around it; touching is no crossing."""
        found = []
        for first, second in combinations(self.scores, 2):
            gap = np.asarray(self.scores[first]) - np.asarray(self.scores[second])
            steps = np.flatnonzero(np.abs(gap) > 1e-12)
            for left, right in pairwise(steps.tolist()):
                if gap[left] * gap[right] < 0:
                    share = gap[left] / (gap[left] - gap[right])
                    at = self.lambdas[left] + share * (self.lambdas[right] - self.lambdas[left])
                    order = (first, second) if gap[left] > 0 else (second, first)
                    found.append(Swap(float(at), *order))
        return sorted(found, key=lambda swap: (swap.at, swap.before, swap.after))


def sweep_table(sweep: Sweep, shown: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)) -> Table:
    """FGA at some lambdas, and where systems swap places."""
    places = [place for place, at in enumerate(sweep.lambdas) if at in shown]
    columns = [Column("system"), *(Column(f"λ = {sweep.lambdas[place]:g}", best="max") for place in places)]
    table = Table("Flexible goal accuracy by strictness", columns)
    for name, values in sweep.scores.items():
        table.add(name, *(float(values[place]) for place in places))
    swaps = [f"{swap.after} passes {swap.before} at λ = {swap.at:.2f}" for swap in sweep.swaps()]
    table.notes.append(
        ("; ".join(swaps) if swaps else f"No two systems change places up to λ = {sweep.lambdas[-1]:g}") + "."
    )
    return table
