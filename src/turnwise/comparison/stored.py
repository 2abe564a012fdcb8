"""Comparing stored runs of any kind, without their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

from turnwise.comparison.parting import Details
from turnwise.comparison.result import RESAMPLES, Comparison, compare_scores
from turnwise.comparison.scores import scores_from_frames
from turnwise.comparison.slots import slot_details
from turnwise.comparison.turns import TURN_TABLE, shared_turns
from turnwise.errors import TurnwiseError
from turnwise.runs import Run, Store

if TYPE_CHECKING:
    import polars

SCORE_TABLE = "dialogue_scores"
SLOT_TABLE = "slot_scores"


@dataclass(frozen=True)
class RunComparison(Comparison):
    """A comparison of stored runs; what else the runs hold can be looked at too."""

    runs: dict[str, Run]

    @cached_property
    def turn_frames(self) -> dict[str, polars.DataFrame]:
        """The turn tables of the compared dialogues by system, where every run has one; else nothing."""
        if not all(TURN_TABLE in run.tables for run in self.runs.values()):
            return {}
        return {name: shared_turns(run.table(TURN_TABLE), self.scores.dialogues) for name, run in self.runs.items()}

    def details(self, first: str, second: str) -> Details | None:
        """Finds the slots on which two runs differ in a dialogue, where the runs say so."""
        chosen = (self.runs[first], self.runs[second])
        if not self.turn_frames or not all(SLOT_TABLE in run.tables for run in chosen):
            return None
        return slot_details(
            (self.turn_frames[first], self.turn_frames[second]),
            (chosen[0].table(SLOT_TABLE), chosen[1].table(SLOT_TABLE)),
        )


def compare_runs(
    ids: Sequence[str], store: Store, *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> RunComparison:
    """Compare runs by the table ``dialogue_scores`` that every scoring run has."""
    if len(ids) < 2:
        raise TurnwiseError("a comparison needs at least two runs; name two or more")
    runs = [store.open(identifier) for identifier in ids]
    named = dict(zip(_names(runs), runs, strict=True))
    for run in runs:
        if SCORE_TABLE not in run.tables:
            raise TurnwiseError(f"run {run.id} has no table {SCORE_TABLE}, so it cannot be compared")
    scores = scores_from_frames(
        {name: run.table(SCORE_TABLE) for name, run in named.items()},
        signatures={name: run.manifest.signature for name, run in named.items()},
    )
    scores = replace(scores, notes=(*scores.notes, *_unlike(named)))
    plain = compare_scores(scores, resamples=resamples, seed=seed, level=level)
    return RunComparison(**{part.name: getattr(plain, part.name) for part in fields(plain)}, runs=named)


def _names(runs: Sequence[Run]) -> list[str]:
    """The runs' names where they tell them apart, their ids where not."""
    if len({run.id for run in runs}) < len(runs):
        raise TurnwiseError("a run is compared with itself; name different runs")
    names = [run.manifest.name for run in runs]
    return names if len(set(names)) == len(names) else [run.id for run in runs]


def _unlike(runs: Mapping[str, Run]) -> list[str]:
    """A warning where the runs are of different kinds or were scored under different settings."""
    kinds = {run.manifest.kind for run in runs.values()}
    notes = [f"the runs are of different kinds: {', '.join(sorted(kinds))}"] if len(kinds) > 1 else []
    signatures = {name: run.manifest.signature for name, run in runs.items()}
    if len(set(signatures.values())) > 1:
        listed = "; ".join(f"{name} has {signature or 'no signature'}" for name, signature in signatures.items())
        notes.append(f"the runs were scored under different settings, so differences may come from those: {listed}")
    return notes
