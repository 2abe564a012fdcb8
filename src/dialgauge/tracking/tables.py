"""The tables of a tracking run: made from a comparison of states when asked for, and read back as counts.

Beside the tables of every run, where ``turn`` is the position of the turn in the dialogue and ``user_turn`` the number
of the user's turn:

``turn_scores``      dialogue, turn, user_turn, the counts, exact, error_type, the flags that FGA and TurnLabel need,
                     and a column for each measure
``slot_scores``      dialogue, domain, slot and the counts over the dialogue's turns, for every slot that occurs in it
``slot_errors``      dialogue, turn, user_turn, domain, slot, kind (wrong, missed, spurious), gold, predicted: every
                     slot that is not right, values as the profile normalises them, null for an absent slot
``slot_rewordings``  the same without kind: slots that are right in other words than gold's
``predictions``      dialogue, turn, user_turn, state (the prediction as its source writes it, JSON; null: none), text
                     (the user's words, where the corpus lacks them)
``part_scores``      by (domain, slot, turn, service), part, measure (``JGA[hotel]``), dialogues, turns, spurious_turns,
                     value, low, high, interval (how it was made)
``part_sums``        dialogue, measure, num, den, as ``dialogue_scores`` has them; not of more than 20,000 dialogues

Correctness flags tell neither values nor slots of gold, so that runs of them lack the slot tables. Parts are scored by
the usual measures of the run and those that were named one by one; of a slot they are JGA (the turns in which it is
right), AGA (its recall) and F1. ``spurious_turns`` are those in which only the prediction has the domain; they do not
count. Services are those of SGD's official scores, with the evaluation's groups of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import polars as pl

from dialgauge.dialogue import Turn
from dialgauge.measures import (
    Evidence,
    Measure,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    score_systems,
)
from dialgauge.runs import GivenTable, Pieces, coded_column
from dialgauge.tracking.counts import CORRECT, MISSED, SPURIOUS, WRONG, Counts, TurnCounts, domain_of
from dialgauge.tracking.details import CountBasis, Part, tracking_details
from dialgauge.tracking.encode import Codes
from dialgauge.tracking.fga import default_rule, error_types
from dialgauge.tracking.measures import DEFAULT_MEASURES, averages_slots
from dialgauge.tracking.states import StateComparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dialgauge.runs import Run
    from dialgauge.tracking.states import FilledSlots, StateComparison

PART_SCORES, PART_SUMS = "part_scores", "part_sums"
#: Of more dialogues a run keeps the scores of parts, not their sums.
_MANY_DIALOGUES = 20_000
#: The measures of a slot: how often it is right, its recall, its F1.
_OF_SLOTS = ("JGA", "AGA", "F1")


_PART_COLUMNS = {
    **dict.fromkeys(("by", "part", "measure"), pl.String),
    **dict.fromkeys(("dialogues", "turns", "spurious_turns"), pl.Int64),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    "interval": pl.String,
}


class _Group(NamedTuple):
    """Parts of one evidence."""

    evidence: Evidence
    ids: Sequence[str]
    parts: Callable[[], list[Part]]


class RunParts:
    """The parts of one system under one profile, measured when a table is asked for."""

    def __init__(
        self,
        comparison: StateComparison,
        measures: Sequence[Measure[Any]],
        how: Resampling | None,
        named: Collection[str] = (),
    ) -> None:
        """``named``: the measures that the user named one by one; of others only the usual ones are kept."""
        self._comparison, self._how = comparison, how
        kept = {*DEFAULT_MEASURES, *named}
        self._measures = [each for each in measures if each.card.parts and not each.part and str(each) in kept]
        self._groups = [_Group(comparison.counts, comparison.aligned.ids, self._of_states)]

    def add(self, evidence: Evidence, ids: Sequence[str], parts: Callable[[], list[Part]]) -> None:
        """Keep the parts of other evidence of the same system, too."""
        self._groups.append(_Group(evidence, ids, parts))

    def tables(self) -> Mapping[str, Callable[[], pl.DataFrame]]:
        """The functions that make the tables."""
        few = all(len(group.ids) <= _MANY_DIALOGUES for group in self._groups)
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
            few = len(group.ids) <= _MANY_DIALOGUES
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
        rows = []
        for parts, scores in self._scored:
            for part in parts:
                for name in map(str, part.measures):
                    ends: tuple[float | str | None, ...] = (None,) * 4
                    if score := scores.scores.get(name):
                        ends = score.value, score.low, score.high, Signature.parse(score.signature).get("interval")
                    rows.append((part.by, part.label, name, part.dialogues, part.turns, part.spurious, *ends))
        return pl.DataFrame(rows, schema=_PART_COLUMNS, orient="row")


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


TURN_SCORES, SLOT_SCORES, SLOT_ERRORS, SLOT_REWORDINGS, PREDICTIONS = (
    "turn_scores", "slot_scores", "slot_errors", "slot_rewordings", "predictions",
)  # fmt: skip

#: The counts C, V, D, W, as all tables call them.
COUNTS = ("correct", "wrong_value", "missed", "spurious")
#: What a turn did since the one before it: FGA, turn matches and turn labels need it.
FLAGS = ("new_error", "label_match", "same_errors")
KINDS = {WRONG: "wrong", MISSED: "missed", SPURIOUS: "spurious"}
ERROR_TYPES = ("exact", "type1", "type2")

#: Dialogues of a piece of a table that is too large to be held.
_PIECE = 1 << 13

MakeTable: TypeAlias = Callable[[], GivenTable]


def run_tables(comparison: StateComparison, measures: Sequence[Measure[Any]]) -> Mapping[str, MakeTable]:
    """The functions that make the tables of one system under one profile."""
    tables: dict[str, MakeTable] = {TURN_SCORES: partial(_turn_scores, comparison, measures)}
    if not comparison.flags_only:
        tables |= {
            SLOT_SCORES: partial(_slot_scores, comparison),
            SLOT_ERRORS: partial(_slot_errors, comparison),
            SLOT_REWORDINGS: partial(_slot_rewordings, comparison),
        }
    return {**tables, PREDICTIONS: partial(_predictions, comparison)}


def _turn_scores(comparison: StateComparison, measures: Sequence[Measure[Any]]) -> pl.DataFrame:
    counts = comparison.counts
    types = error_types(counts, default_rule(counts))
    columns = {
        **_places(comparison),
        **_counted(*(getattr(counts.turns, name) for name in ("correct", "wrong", "missed", "spurious"))),
        "exact": pl.Series(counts.exact, dtype=pl.Boolean),
        "error_type": coded_column(ERROR_TYPES, types),
        **_flagged(counts.turns),
    }
    for measure in measures:
        if not averages_slots(measure):
            above, below = measure.units(counts)
            value = np.full(len(counts), np.nan)
            np.divide(above, below, out=value, where=below > 0)
            columns[str(measure)] = pl.Series(value, dtype=pl.Float64).fill_nan(None)
    return pl.DataFrame(columns)


def _slot_scores(comparison: StateComparison) -> pl.DataFrame:
    table = comparison.counts.slot_counts
    occurring = (table.correct + table.wrong + table.missed + table.spurious) > 0
    slot, dialogue = np.nonzero(occurring)
    order = np.lexsort((slot, dialogue))
    slot, dialogue = slot[order], dialogue[order]
    return pl.DataFrame(
        {
            "dialogue": coded_column(comparison.aligned.ids, dialogue),
            **_named(table.pairs, slot),
            **_counted(*(part[slot, dialogue] for part in table.parts())),
        }
    )


def _slot_errors(comparison: StateComparison) -> pl.DataFrame:
    wrong = comparison.filled.where(comparison.filled.verdict > CORRECT)
    kind = coded_column(["", "", *KINDS.values()], wrong.verdict)
    return _slots(comparison, wrong, {"kind": kind})


def _slot_rewordings(comparison: StateComparison) -> pl.DataFrame:
    filled = comparison.filled
    return _slots(comparison, filled.where((filled.verdict == CORRECT) & (filled.gold != filled.predicted)), {})


def _slots(comparison: StateComparison, slots: FilledSlots, more: Mapping[str, pl.Series]) -> pl.DataFrame:
    """A row per slot, with both values."""
    texts = [" | ".join(values) if values else None for values in comparison.coder.values]
    return pl.DataFrame(
        {
            **_places(comparison, slots.row),
            **_named(comparison.slots, slots.slot),
            **more,
            "gold": coded_column(texts, slots.gold),
            "predicted": coded_column(texts, slots.predicted),
        }
    )


def _predictions(comparison: StateComparison) -> Pieces:
    """In pieces: the dialogues may lie in a file that is too large to be held."""
    ids = comparison.aligned.ids
    begins = [*range(0, len(ids), _PIECE), len(ids)]
    return Pieces(lambda: (_some_predictions(comparison, *some) for some in pairwise(begins)))


def _some_predictions(comparison: StateComparison, first: int, last: int) -> pl.DataFrame:
    """The predictions for scored dialogues [first, last)."""
    aligned, theirs = comparison.aligned, comparison.system.predicted.offsets
    rows = np.arange(aligned.offsets[first], aligned.offsets[last], dtype=np.int32)
    predicted = aligned.predicted_row[rows]
    owners = np.where(predicted < 0, -1, np.searchsorted(theirs, predicted, side="right") - 1)
    answers: list[Turn | None] = []
    known, turns = -1, list[Turn]()
    for owner, place in zip(owners.tolist(), (predicted - theirs[owners]).tolist(), strict=True):
        if owner >= 0 and owner != known:
            known, turns = owner, list(comparison.system.dialogues[owner].user_turns())
        answers.append(turns[place] if owner >= 0 else None)
    states = [None if turn is None else getattr(turn, comparison.system.predicted.kind) for turn in answers]
    lines = msgspec.json.Encoder().encode_lines(states).decode().split("\n")
    worded = comparison.system.gold_corpus.user_turns[1][aligned.gold_row[rows]]
    words = [
        turn.text if turn is not None and turn.text and not own else None
        for turn, own in zip(answers, worded.tolist(), strict=True)
    ]
    return pl.DataFrame(
        {
            **_places(comparison, rows),
            "state": pl.Series([None if line == "null" else line for line in lines[: len(states)]], dtype=pl.String),
            "text": pl.Series(words, dtype=pl.String),
        }
    )


def _places(comparison: StateComparison, rows: Codes | None = None) -> dict[str, pl.Series]:
    """dialogue, turn and user_turn of some scored turns, or of all."""
    aligned = comparison.aligned
    chosen = np.arange(len(aligned), dtype=np.int32) if rows is None else rows
    return {
        "dialogue": coded_column(aligned.ids, aligned.dialogue[chosen]),
        "turn": pl.Series(comparison.system.gold_corpus.user_turns[0][aligned.gold_row[chosen]], dtype=pl.Int64),
        "user_turn": pl.Series(aligned.turn[chosen], dtype=pl.Int32),
    }


def _named(pairs: Sequence[tuple[str, str]], slots: NDArray[Any]) -> dict[str, pl.Series]:
    return {
        "domain": coded_column([domain for domain, _ in pairs], slots),
        "slot": coded_column([name for _, name in pairs], slots),
    }


def _counted(*counts: Codes) -> dict[str, pl.Series]:
    return {name: pl.Series(each, dtype=pl.Int32) for name, each in zip(COUNTS, counts, strict=True)}


def _flagged(turns: TurnCounts) -> dict[str, pl.Series]:
    return {name: pl.Series(getattr(turns, name), dtype=pl.Boolean) for name in FLAGS}


def read_counts(run: Run) -> Counts:
    """The counts of all turns of a run, as they were when it was scored."""
    return frame_counts(run.table(TURN_SCORES), tracking_details(run).evidence)


def frame_counts(frame: pl.DataFrame, evidence: CountBasis) -> Counts:
    """The counts of the turns in a table ``turn_scores``, or in some whole dialogues of it."""
    dialogue = frame["dialogue"].rle_id().to_numpy().astype(np.int32)
    first = np.ones(len(dialogue), bool)
    first[1:] = dialogue[1:] != dialogue[:-1]
    return Counts(
        turns=TurnCounts(*(frame[name].to_numpy() for name in (*COUNTS, *FLAGS))),
        dialogue=dialogue,
        turn=frame["user_turn"].to_numpy(),
        first=first,
        inventory=evidence.slots,
        has_gold=evidence.gold,
        flags_only=evidence.flags,
    )
