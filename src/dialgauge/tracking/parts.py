"""The scores of parts that a run keeps beside its own: by domain, slot and user turn, with intervals.

``part_scores``  by (domain, slot, turn), part, measure (``JGA[hotel]``), dialogues, turns, spurious_turns, value, low,
                 high, interval (how it was made)
``part_sums``    dialogue, measure, num, den, as ``dialogue_scores`` has them; not of more than 20,000 dialogues

The measures are the usual ones that the run has; of a slot they are JGA (the turns in which it is right), AGA (its
recall) and F1. ``spurious_turns`` are those in which only the prediction has the domain; they do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import (
    MANY_UNITS,
    Measure,
    Resampling,
    Score,
    Scores,
    Signature,
    SystemEvidence,
    parse_measure,
    part_text,
    score_systems,
)
from dialgauge.tracking.counts import SPURIOUS, Counts, domain_of
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.measures import DEFAULT_MEASURES
from dialgauge.tracking.states import StateComparison

if TYPE_CHECKING:
    from dialgauge.runs import Run

PART_SCORES, PART_SUMS = "part_scores", "part_sums"
BY = ("domain", "slot", "turn")
#: The measures of a slot: how often it is right, its recall, its F1.
_OF_SLOTS = ("JGA", "AGA", "F1")


class _Part(NamedTuple):
    by: str
    name: str
    dialogues: int
    turns: int
    spurious: int
    measures: list[Measure[Any]]


class RunParts:
    """The parts of one system under one profile, measured when a table is asked for."""

    def __init__(self, comparison: StateComparison, measures: Sequence[Measure[Any]], how: Resampling | None) -> None:
        self._comparison, self._how = comparison, how
        self._measures = [measure for measure in measures if str(measure) in DEFAULT_MEASURES]

    def tables(self) -> Mapping[str, Callable[[], pl.DataFrame]]:
        """The functions that make the tables."""
        few = len(self._comparison.aligned.ids) <= MANY_UNITS
        return {PART_SCORES: self._score_table} | ({PART_SUMS: self._sums_table} if few else {})

    @cached_property
    def _parts(self) -> list[_Part]:
        """Domains of either state, slots of gold, user turns."""
        counts, parts = self._comparison.counts, list[_Part]()
        if counts.source is not None:
            spurious = _spurious_turns(self._comparison)
            in_gold = counts.slot_counts.in_gold().pairs
            domains = {domain_of(domain) for domain, _ in in_gold}
            for domain in sorted(domains | spurious.keys()):
                known = counts.part(domain) if domain in domains else None
                parts.append(self._part("domain", domain, domain, known, spurious.get(domain, 0)))
            for name in sorted(map("-".join, in_gold)):
                parts.append(self._part("slot", name, name, counts))
        for number in np.flatnonzero(np.bincount(counts.turn)).tolist():
            name = f"turn={number}"
            parts.append(self._part("turn", str(number), name, counts.part(name)))
        return parts

    def _part(self, by: str, label: str, name: str, counts: Counts | None, spurious: int = 0) -> _Part:
        chosen = [measure for measure in self._measures if by != "slot" or str(measure) in _OF_SLOTS]
        measures = [replace(measure, part=name) for measure in chosen]
        if counts is None:
            return _Part(by, label, 0, 0, spurious, measures)
        dialogues = int(np.count_nonzero(np.bincount(counts.dialogue[counts.scored])))
        return _Part(by, label, dialogues, int(counts.scored.sum()), spurious, measures)

    @cached_property
    def _scores(self) -> Scores:
        """The scores of all parts, with their sums; of many dialogues without them, one part after the other."""
        ids, measures = self._comparison.aligned.ids, [part.measures for part in self._parts if part.turns]
        if len(ids) <= MANY_UNITS:
            return self._measured([each for some in measures for each in some])
        scores = {name: score for some in measures for name, score in self._measured(some).scores.items()}
        return Scores(dialogues=ids, sums={}, scores=scores)

    def _measured(self, measures: Sequence[Measure[Any]]) -> Scores:
        comparison = self._comparison
        system = SystemEvidence(evidence=comparison.counts, measures=measures, dialogues=comparison.aligned.ids)
        return score_systems([system], self._how)[0]

    def _sums_table(self) -> pl.DataFrame:
        return self._scores.frame()

    def _score_table(self) -> pl.DataFrame:
        rows = [(part, str(measure)) for part in self._parts for measure in part.measures]
        scores = [self._scores.scores.get(name) for _, name in rows]
        made = [Signature.parse(score.signature).get("interval") if score else None for score in scores]
        ends = ("value", "low", "high")
        columns: dict[str, tuple[list[Any], Any]] = {
            "by": ([part.by for part, _ in rows], pl.String),
            "part": ([part.name for part, _ in rows], pl.String),
            "measure": ([name for _, name in rows], pl.String),
            "dialogues": ([part.dialogues for part, _ in rows], pl.Int64),
            "turns": ([part.turns for part, _ in rows], pl.Int64),
            "spurious_turns": ([part.spurious for part, _ in rows], pl.Int64),
            **{end: ([getattr(score, end, None) for score in scores], pl.Float64) for end in ends},
            "interval": (made, pl.String),
        }
        return pl.DataFrame([pl.Series(name, values, dtype=kind) for name, (values, kind) in columns.items()])


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


class PartScores(NamedTuple):
    """One part as a run keeps it: how much of it was scored, and its scores by the measure without the part."""

    dialogues: int
    turns: int
    spurious_turns: int
    scores: dict[str, Score]


def stored_parts(run: Run, by: str) -> dict[str, PartScores]:
    """The parts of a run by domain, slot or turn, in the table's order."""
    if by not in BY:
        raise DialgaugeError(f"scores are not kept by '{by}'.{nearest(by, BY)}")
    if PART_SCORES not in run.tables or not run.tables[PART_SCORES].rows:
        raise DialgaugeError(f"run {run.id} has no scores by {by}: none of the usual measures was scored")
    if by != "turn" and tracking_details(run).evidence.flags:
        raise DialgaugeError(f"run {run.id} has no scores by {by}: there are only correctness flags")
    parts: dict[str, PartScores] = {}
    for row in run.table(PART_SCORES).filter(by=by).iter_rows(named=True):
        part = parts.setdefault(row["part"], PartScores(row["dialogues"], row["turns"], row["spurious_turns"], {}))
        base = parse_measure(row["measure"], "tracking")
        name = str(replace(base, part=""))
        part.scores[name] = _score(run.scores.get(name), base, row)
    return parts


def _score(whole: Score | None, measure: Measure[Any], row: Mapping[str, Any]) -> Score:
    """A part's score, signed as the whole's."""
    signature = Signature.parse(whole.signature) if whole else Signature()
    named = {} if whole is None else {"measure": f"{signature['measure']}[{part_text(measure.part)}]"}
    signed = signature.with_(**named, interval=row["interval"] or "")
    return Score.of(measure, row["value"], row["low"], row["high"], signature=signed)
