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

Correctness flags tell neither values nor slots of gold, so that runs of them have only the first and the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import polars as pl

from dialgauge.dialogue import Turn
from dialgauge.measures import Measure
from dialgauge.runs import GivenTable, Pieces, coded
from dialgauge.tracking.counts import CORRECT, MISSED, SPURIOUS, WRONG, Counts, TurnCounts
from dialgauge.tracking.details import CountBasis, tracking_details
from dialgauge.tracking.encode import Codes
from dialgauge.tracking.fga import default_rule, error_types
from dialgauge.tracking.measures import averages_slots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dialgauge.runs import Run
    from dialgauge.tracking.prepared_inputs import System
    from dialgauge.tracking.states import FilledSlots, StateComparison

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


def run_tables(
    comparison: StateComparison, system: System, measures: Sequence[Measure[Any]]
) -> Mapping[str, MakeTable]:
    """The functions that make the tables of one system under one profile."""
    tables: dict[str, MakeTable] = {TURN_SCORES: partial(_turn_scores, comparison, system, measures)}
    if not comparison.flags_only:
        tables |= {
            SLOT_SCORES: partial(_slot_scores, comparison),
            SLOT_ERRORS: partial(_slot_errors, comparison, system),
            SLOT_REWORDINGS: partial(_slot_rewordings, comparison, system),
        }
    return {**tables, PREDICTIONS: partial(_predictions, comparison, system)}


def _turn_scores(comparison: StateComparison, system: System, measures: Sequence[Measure[Any]]) -> pl.DataFrame:
    counts = comparison.counts
    types = error_types(counts, default_rule(counts))
    columns = {
        **_places(comparison, system),
        **_counted(*(getattr(counts.turns, name) for name in ("correct", "wrong", "missed", "spurious"))),
        "exact": pl.Series(counts.exact, dtype=pl.Boolean),
        "error_type": coded(ERROR_TYPES, types),
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
            "dialogue": coded(comparison.aligned.ids, dialogue),
            **_named(table.pairs, slot),
            **_counted(*(part[slot, dialogue] for part in table.parts())),
        }
    )


def _slot_errors(comparison: StateComparison, system: System) -> pl.DataFrame:
    wrong = comparison.filled.where(comparison.filled.verdict > CORRECT)
    kind = coded(["", "", *KINDS.values()], wrong.verdict)
    return _slots(comparison, system, wrong, {"kind": kind})


def _slot_rewordings(comparison: StateComparison, system: System) -> pl.DataFrame:
    filled = comparison.filled
    return _slots(comparison, system, filled.where((filled.verdict == CORRECT) & (filled.gold != filled.predicted)), {})


def _slots(
    comparison: StateComparison, system: System, slots: FilledSlots, more: Mapping[str, pl.Series]
) -> pl.DataFrame:
    """A row per slot, with both values."""
    texts = [" | ".join(values) if values else None for values in comparison.coder.values]
    return pl.DataFrame(
        {
            **_places(comparison, system, slots.row),
            **_named(comparison.slots, slots.slot),
            **more,
            "gold": coded(texts, slots.gold),
            "predicted": coded(texts, slots.predicted),
        }
    )


def _predictions(comparison: StateComparison, system: System) -> Pieces:
    """In pieces: the dialogues may lie in a file that is too large to be held."""
    ids = comparison.aligned.ids
    begins = [*range(0, len(ids), _PIECE), len(ids)]
    return Pieces(lambda: (_some_predictions(comparison, system, *some) for some in pairwise(begins)))


def _some_predictions(comparison: StateComparison, system: System, first: int, last: int) -> pl.DataFrame:
    """The predictions for the scored dialogues from a place up to another."""
    aligned, theirs = comparison.aligned, system.predicted.offsets
    rows = np.arange(aligned.offsets[first], aligned.offsets[last], dtype=np.int32)
    predicted = aligned.predicted_row[rows]
    owners = np.searchsorted(theirs, predicted, side="right") - 1
    answers: list[Turn | None] = []
    known, turns = -1, list[Turn]()
    for row, owner in zip(predicted.tolist(), owners.tolist(), strict=True):
        if row >= 0 and owner != known:
            known, turns = owner, list(system.dialogues[owner].user_turns())
        answers.append(turns[row - int(theirs[owner])] if row >= 0 else None)
    states = [None if turn is None else getattr(turn, system.predicted.kind) for turn in answers]
    worded = system.gold_corpus.user_turns[1][aligned.gold_row[rows]]
    words = [
        turn.text if turn is not None and turn.text and not own else None
        for turn, own in zip(answers, worded.tolist(), strict=True)
    ]
    distinct = {id(state): state for state in states}  # turns share what is written the same in their file
    lines = msgspec.json.Encoder().encode_lines(distinct.values()).decode().split("\n")
    written = [None if state is None else line for state, line in zip(distinct.values(), lines, strict=False)]
    places = dict(zip(distinct, range(len(distinct)), strict=True))
    state = coded(written, np.array([places[id(state)] for state in states], np.int64))
    text = pl.Series(words, dtype=pl.String)
    return pl.DataFrame({**_places(comparison, system, rows), "state": state, "text": text})


def _places(comparison: StateComparison, system: System, rows: Codes | None = None) -> dict[str, pl.Series]:
    """dialogue, turn and user_turn of some scored turns, or of all."""
    aligned = comparison.aligned
    chosen = np.arange(len(aligned), dtype=np.int32) if rows is None else rows
    return {
        "dialogue": coded(aligned.ids, aligned.dialogue[chosen]),
        "turn": pl.Series(system.gold_corpus.user_turns[0][aligned.gold_row[chosen]], dtype=pl.Int64),
        "user_turn": pl.Series(aligned.turn[chosen], dtype=pl.Int32),
    }


def _named(pairs: Sequence[tuple[str, str]], slots: NDArray[Any]) -> dict[str, pl.Series]:
    return {
        "domain": coded([domain for domain, _ in pairs], slots),
        "slot": coded([name for _, name in pairs], slots),
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
