"""Comparing stored runs of any kind, without their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dialgauge.comparison.divergence import Details
from dialgauge.comparison.result import RESAMPLES, Comparison, compare_scores
from dialgauge.comparison.scores import scores_from_frames
from dialgauge.comparison.slots import slot_details
from dialgauge.comparison.turns import TURN_TABLE, on_the_same_turns, shared_turns, turn_numbers
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run, Store

if TYPE_CHECKING:
    import polars

SCORE_TABLE = "dialogue_scores"
SLOT_TABLE = "slot_scores"

#: Parts of a signature in which runs may differ: what is compared, how much was scored, and how intervals were drawn.
#: The checksum of the gold states differs where one run lacks a dialogue, so it is looked at where the sizes agree.
_OWN = frozenset({"model", "seed", "dialogues", "dialogs", "turns", "responses", "interval", "gold"})


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

    @cached_property
    def slot_frames(self) -> dict[str, polars.DataFrame]:
        """The slot tables of the compared dialogues, of the runs that have one: those that were scored from states."""
        return {
            name: shared_turns(run.table(SLOT_TABLE), self.scores.dialogues)
            for name, run in self.runs.items()
            if SLOT_TABLE in run.tables
        }

    def details(self, first: str, second: str) -> Details | None:
        """Finds the slots on which two runs differ in a dialogue, where the runs say so."""
        turns, slots = self.turn_frames, self.slot_frames
        if not turns or first not in slots or second not in slots:
            return None
        return slot_details((turns[first], turns[second]), (slots[first], slots[second]))


def compare_runs(
    ids: Sequence[str], store: Store, *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> RunComparison:
    """Compare runs by the table ``dialogue_scores`` that every scoring run has."""
    if len(ids) < 2:
        raise DialgaugeError("a comparison needs at least two runs; name two or more")
    runs = [store.open(identifier) for identifier in ids]
    named = dict(zip(_names(runs), runs, strict=True))
    for run in runs:
        if SCORE_TABLE not in run.tables:
            raise DialgaugeError(f"run {run.id} has no table {SCORE_TABLE}, so it cannot be compared")
    scores = scores_from_frames(
        {name: run.table(SCORE_TABLE) for name, run in named.items()},
        signatures={name: run.manifest.signature for name, run in named.items()},
    )
    if all(TURN_TABLE in run.tables for run in runs):
        scores = on_the_same_turns(scores, {name: turn_numbers(run.table(TURN_TABLE)) for name, run in named.items()})
    scores = replace(scores, notes=(*scores.notes, *_unlike(named, scores.measures)))
    plain = compare_scores(scores, resamples=resamples, seed=seed, level=level)
    return RunComparison(**{part.name: getattr(plain, part.name) for part in fields(plain)}, runs=named)


def _names(runs: Sequence[Run]) -> list[str]:
    """The runs' names where they tell them apart, their ids where not."""
    if len({run.id for run in runs}) < len(runs):
        raise DialgaugeError("a run is compared with itself; name different runs")
    names = [run.manifest.name for run in runs]
    return names if len(set(names)) == len(names) else [run.id for run in runs]


def _unlike(runs: Mapping[str, Run], measures: Sequence[str]) -> list[str]:
    """Warnings where the runs are of different kinds or were scored under different settings."""
    kinds = sorted({run.manifest.kind for run in runs.values()})
    notes = [f"the runs are of different kinds: {', '.join(kinds)}"] if len(kinds) > 1 else []
    settings = {name: _parts(run.manifest.signature) for name, run in runs.items()}
    for part in dict.fromkeys(part for parts in settings.values() for part in parts):
        if part not in _OWN:
            notes += _different(f"a different {part}", {name: parts.get(part) for name, parts in settings.items()})
    for measure in measures:
        scored = {name: _parts(_signature(run, measure)) for name, run in runs.items()}
        notes += _different(f"another {measure}", {name: parts.get("measure") for name, parts in scored.items()})
        if len({(parts.get("dialogues"), parts.get("turns")) for parts in scored.values()}) == 1:
            gold = {name: parts.get("gold") for name, parts in scored.items()}
            notes += _different("other gold states", gold)
    return list(dict.fromkeys(notes))


def _different(what: str, values: Mapping[str, str | None]) -> list[str]:
    if len(set(values.values())) < 2:
        return []
    listed = "; ".join(f"{name} {value or 'none'}" for name, value in values.items())
    return [f"the runs were scored with {what}, so differences may come from that: {listed}"]


def _signature(run: Run, measure: str) -> str:
    """The signature of one score, which tracking runs keep beside its value."""
    score = run.manifest.scores.get(measure)
    return str(score.get("signature", "")) if isinstance(score, Mapping) else ""


def _parts(signature: str) -> dict[str, str]:
    """The parts of a signature, ``name:value|name:value``."""
    named = (part.partition(":") for part in signature.split("|") if part)
    return {name: value for name, _, value in named}
