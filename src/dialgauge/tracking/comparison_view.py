"""What tracking adds to a comparison of its runs.

That is the first turn on which two predicted states differ and in which slots, flexible goal accuracy as its
strictness lambda moves, and its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from dialgauge.comparison import ComparisonView, ItemDifference, TurnDivergence, dialogue_rows
from dialgauge.rendering import Column, Table, percent_note
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.fga import EXACT, TYPE2, default_rule, error_types, weights
from dialgauge.tracking.results import TrackingRuns
from dialgauge.tracking.tables import SLOT_ERRORS, SLOT_REWORDINGS, TURN_SCORES, frame_counts

if TYPE_CHECKING:
    import polars

    from dialgauge.comparison import Comparison
    from dialgauge.runs import Run

#: From joint goal accuracy (0) to nearly full forgiveness, in steps fine enough to see a crossing.
LAMBDAS = tuple(round(0.05 * step, 2) for step in range(41))

#: Those that a table shows.
_SHOWN = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)

_EMPTY = "-"


class TrackingView(ComparisonView):
    """What tracking runs add to their comparison."""

    # An empty state is a state.
    scores_missing_as_empty = True

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """What gold itself scores, under profiles that do not give it 100."""
        complete = [run for run in runs if _is_complete(run)]
        return TrackingRuns(complete).ceilings() if complete else []

    def reading_notes(self, runs: Sequence[Run]) -> list[str]:
        """What is said of the predictions beside their scores."""
        complete = [run for run in runs if _is_complete(run)]
        return [*TrackingRuns(complete).reading_notes()] if complete else []

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """The table ``turn_scores``, which runs of an older dialgauge lack in this form."""
        return run.table(TURN_SCORES) if _is_complete(run) else None

    def scored_turns(self, run: Run) -> polars.DataFrame | None:
        """The user turns by their number, which two gold files agree on even if one has no turns of the system."""
        if not _is_complete(run):
            return None
        return run.table(TURN_SCORES).select("dialogue", turn="user_turn")

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """The first turn on which the predicted states differ; None where there are only correctness flags."""
        if any(SLOT_REWORDINGS not in run.tables for run in (first, second)):
            return None
        positions, others = (
            dict(dialogue_rows(run, TURN_SCORES, dialogue).select("user_turn", "turn").rows())
            for run in (first, second)
        )
        mine, theirs = _differing(first, dialogue), _differing(second, dialogue)
        parted: dict[int, list[ItemDifference]] = {}
        for turn in sorted(positions.keys() & others.keys()):
            state, other = mine.get(turn, {}), theirs.get(turn, {})
            slots = (_difference(slot, state.get(slot), other.get(slot)) for slot in sorted({*state, *other}))
            if items := [item for item in slots if item.first != item.second]:
                parted[turn] = items
        if not parted:
            return None
        turn = min(parted)
        return TurnDivergence(positions[turn], len(parted), tuple(parted[turn]))

    def tables(self, comparison: Comparison) -> Mapping[str, Callable[[], list[Table]]]:
        """``sweep``: flexible goal accuracy at any strictness."""
        return {"sweep": lambda: [sweep_table(_sweep(comparison))]} if comparison.turn_scores else {}

    def documents(self, comparison: Comparison) -> Mapping[str, Callable[[], Any]]:
        return {"sweep": lambda: _sweep(comparison).as_dict()} if comparison.turn_scores else {}

    def figures(self, comparison: Comparison) -> Mapping[str, Callable[[], Any]]:
        """Where errors begin, the sweep over lambda, gold slots per dialogue, scores by domain."""
        from dialgauge.tracking.figures import tracking_figures

        return tracking_figures(comparison) if comparison.turn_scores else {}


VIEW = TrackingView()


def _is_complete(run: Run) -> bool:
    return "evidence" in run.details and TURN_SCORES in run.tables


def _differing(run: Run, dialogue: str) -> dict[int, dict[str, tuple[str, str]]]:
    """By turn and slot gold and predicted value, wherever the prediction is not gold word by word."""
    values: dict[int, dict[str, tuple[str, str]]] = {}
    for table in (SLOT_ERRORS, SLOT_REWORDINGS):
        rows = dialogue_rows(run, table, dialogue).select("user_turn", "domain", "slot", "gold", "predicted")
        for turn, domain, slot, gold, predicted in rows.iter_rows():
            values.setdefault(turn, {})[f"{domain}-{slot}"] = (gold or _EMPTY, predicted or _EMPTY)
    return values


def _difference(slot: str, first: tuple[str, str] | None, second: tuple[str, str] | None) -> ItemDifference:
    """Gold and both predictions of a slot that at least one run predicts in other words than gold's."""
    gold = (first or second or (_EMPTY, _EMPTY))[0]
    return ItemDifference(slot, gold, first[1] if first else gold, second[1] if second else gold)


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

    def as_dict(self) -> dict[str, Any]:
        return {
            "lambdas": self.lambdas,
            "scores": self.scores,
            "swaps": [structs.asdict(swap) for swap in self.swaps()],
        }


def sweep_counts(systems: Mapping[str, Counts]) -> Sweep:
    """FGA over all turns of each system at each lambda."""
    return Sweep(LAMBDAS, {name: [_flexible(counts, at) for at in LAMBDAS] for name, counts in systems.items()})


def _flexible(counts: Counts, rate: float) -> float:
    """The mean weight of the turns: exact ones count 1, and those that carry an error what FGA forgives of it."""
    rule = default_rule(counts)
    types, weight = error_types(counts, rule), weights(counts, rate, rule)
    return float((float((types == EXACT).sum()) + weight[types == TYPE2].sum()) / len(types))


def _sweep(comparison: Comparison) -> Sweep:
    return sweep_counts(compared_counts(comparison))


def compared_counts(comparison: Comparison) -> dict[str, Counts]:
    """By system the counts of the turns that are compared."""
    return turn_counts_of(comparison.runs, comparison.turn_scores)


def turn_counts_of(runs: Mapping[str, Run], turns: Mapping[str, polars.DataFrame]) -> dict[str, Counts]:
    """By system the counts of some of its turns."""
    return {name: frame_counts(frame, tracking_details(runs[name]).evidence) for name, frame in turns.items()}


def sweep_table(sweep: Sweep) -> Table:
    """FGA at some lambdas, and where systems swap places."""
    places = [index for index, at in enumerate(sweep.lambdas) if at in _SHOWN]
    columns = [Column(f"λ = {sweep.lambdas[index]:g}", digits=2, percent=True) for index in places]
    table = Table("Flexible goal accuracy by strictness", ["system", *columns])
    for name, values in sweep.scores.items():
        table.add(name, *(float(values[index]) for index in places))
    table.notes.append(percent_note())
    swaps = [f"{swap.after} passes {swap.before} at λ = {swap.at:.2f}" for swap in sweep.swaps()]
    table.notes.append(
        ("; ".join(swaps) if swaps else f"No two systems change places up to λ = {sweep.lambdas[-1]:g}") + "."
    )
    return table
