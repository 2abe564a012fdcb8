"""The scores of parts that a run keeps beside its own: by domain, slot, user turn and service, with intervals.

``part_scores``  by (domain, slot, turn, service), part, measure (``JGA[hotel]``), dialogues, turns, spurious_turns,
                 value, low, high, interval (how it was made)
``part_sums``    dialogue, measure, num, den, as ``dialogue_scores`` has them; not of more than 20,000 dialogues

The measures are the usual ones that the run has; of a slot they are JGA (the turns in which it is right), AGA (its
recall) and F1. ``spurious_turns`` are those in which only the prediction has the domain; they do not count. Services
are those of SGD's official scores, with the evaluation's groups of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from dialgauge.measures import (
    MANY_UNITS,
    Evidence,
    Measure,
    Resampling,
    Score,
    Scores,
    Signature,
    SystemEvidence,
    score_systems,
)
from dialgauge.tracking.counts import SPURIOUS, domain_of
from dialgauge.tracking.details import Part
from dialgauge.tracking.measures import DEFAULT_MEASURES
from dialgauge.tracking.states import StateComparison

PART_SCORES, PART_SUMS = "part_scores", "part_sums"
#: The measures of a slot: how often it is right, its recall, its F1.
_OF_SLOTS = ("JGA", "AGA", "F1")


class _Group(NamedTuple):
    """Parts of one evidence."""

    evidence: Evidence
    ids: Sequence[str]
    parts: Callable[[], list[Part]]


class RunParts:
    """The parts of one system under one profile, measured when a table is asked for."""

    def __init__(self, comparison: StateComparison, measures: Sequence[Measure[Any]], how: Resampling | None) -> None:
        self._comparison, self._how = comparison, how
        self._measures = [measure for measure in measures if str(measure) in DEFAULT_MEASURES]
        self._groups = [_Group(comparison.counts, comparison.aligned.ids, self._of_states)]

    def add(self, evidence: Evidence, ids: Sequence[str], parts: Callable[[], list[Part]]) -> None:
        """Keep the parts of other evidence of the same system, too."""
        self._groups.append(_Group(evidence, ids, parts))

    def tables(self) -> Mapping[str, Callable[[], pl.DataFrame]]:
        """The functions that make the tables."""
        few = all(len(group.ids) <= MANY_UNITS for group in self._groups)
        return {PART_SCORES: self._score_table} | ({PART_SUMS: self._sums_table} if few else {})

    def _of_states(self) -> list[Part]:
        """Domains of either state, slots of gold, user turns."""
        counts, parts = self._comparison.counts, list[Part]()
        if counts.source is not None:
            spurious = _spurious_turns(self._comparison)
            in_gold = counts.slot_counts.in_gold().pairs
            domains = {domain_of(domain) for domain, _ in in_gold}
            for domain in sorted(domains | spurious.keys()):
                if domain in domains:
                    parts.append(self._part("domain", domain, domain, spurious.get(domain, 0)))
                else:
                    measures = [replace(measure, part=domain) for measure in self._measures]
                    parts.append(Part("domain", domain, 0, 0, spurious[domain], measures))
            parts += [self._part("slot", name, name) for name in sorted(map("-".join, in_gold))]
        numbers = np.flatnonzero(np.bincount(counts.turn)).tolist()
        return parts + [self._part("turn", str(number), f"turn={number}") for number in numbers]

    def _part(self, by: str, label: str, name: str, spurious: int = 0) -> Part:
        counts = self._comparison.counts if by == "slot" else self._comparison.counts.part(name)
        chosen = [measure for measure in self._measures if by != "slot" or str(measure) in _OF_SLOTS]
        dialogues = int(np.count_nonzero(np.bincount(counts.dialogue[counts.scored])))
        measures = [replace(measure, part=name) for measure in chosen]
        return Part(by, label, dialogues, int(counts.scored.sum()), spurious, measures)

    @cached_property
    def _scored(self) -> list[tuple[list[Part], Scores]]:
        """The parts of each evidence, and their scores with their sums."""
        found = []
        for group in self._groups:
            parts = group.parts()
            few = len(group.ids) <= MANY_UNITS
            measures = [part.measures for part in parts if part.turns]
            together = [[each for some in measures for each in some]] if few else measures
            # Of many dialogues one part after the other, without sums: they need not fit the memory.
            scored = [self._measured(group, some) for some in together]
            scores = {name: score for each in scored for name, score in each.scores.items()}
            found.append((parts, Scores(dialogues=group.ids, sums=scored[0].sums if few else {}, scores=scores)))
        return found

    def _measured(self, group: _Group, measures: Sequence[Measure[Any]]) -> Scores:
        system = SystemEvidence(evidence=group.evidence, measures=measures, dialogues=group.ids)
        return score_systems([system], self._how)[0]

    def _sums_table(self) -> pl.DataFrame:
        return pl.concat([scores.frame() for _, scores in self._scored])

    def _score_table(self) -> pl.DataFrame:
        rows = [
            (part, str(measure), scores.scores.get(str(measure)))
            for parts, scores in self._scored
            for part in parts
            for measure in part.measures
        ]
        columns: dict[str, tuple[list[Any], Any]] = {
            "by": ([part.by for part, *_ in rows], pl.String),
            "part": ([part.label for part, *_ in rows], pl.String),
            "measure": ([name for _, name, _ in rows], pl.String),
            "dialogues": ([part.dialogues for part, *_ in rows], pl.Int64),
            "turns": ([part.turns for part, *_ in rows], pl.Int64),
            "spurious_turns": ([part.spurious for part, *_ in rows], pl.Int64),
            **{
                end: ([getattr(score, end, None) for *_, score in rows], pl.Float64) for end in ("value", "low", "high")
            },
            "interval": ([_made(score) for *_, score in rows], pl.String),
        }
        return pl.DataFrame([pl.Series(name, values, dtype=kind) for name, (values, kind) in columns.items()])


def _made(score: Score | None) -> str | None:
    """How the interval was made, if there is one."""
    return Signature.parse(score.signature).get("interval") if score else None


def _spurious_turns(comparison: StateComparison) -> dict[str, int]:
    """For each domain that is predicted the turns in which only the prediction has it."""
    filled = comparison.filled
    names = sorted({domain_of(domain) for domain, _ in comparison.slots})
    if not names:
        return {}
    owner = np.array([names.index(domain_of(domain)) for domain, _ in comparison.slots], np.int64)
    cell = filled.row * np.int64(len(names)) + owner[filled.slot]
    size = len(comparison.aligned) * len(names)
    there = np.bincount(cell, minlength=size) > 0
    in_gold = np.bincount(cell[filled.verdict != SPURIOUS], minlength=size) > 0
    turns = np.asarray(there & ~in_gold).reshape(-1, len(names)).sum(axis=0)
    occurring = np.asarray(there).reshape(-1, len(names)).any(axis=0)
    return {names[place]: int(turns[place]) for place in np.flatnonzero(occurring).tolist()}
