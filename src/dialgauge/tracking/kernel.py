"""The counting: integer codes of a stretch of turns in, counts per turn out. Everything else derives from these.

Arrays are (slots, turns): a sum over slots is then a sum of rows, which numpy does at memory speed. For a turn, over
the slots of both states: C in both with the same value, V in both with different values, D only in gold, W only
predicted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialgauge.tracking.arrays import Codes, Counters, Flags, Verdicts
from dialgauge.tracking.coding import Coder

#: What happened to one slot in one turn; 0 is "filled on neither side".
CORRECT, WRONG, MISSED, SPURIOUS = 1, 2, 3, 4


@dataclass(frozen=True)
class TurnCounts:
    """What is kept of a stretch of turns."""

    correct: Counters
    wrong: Counters
    missed: Counters
    spurious: Counters
    #: A slot was added or changed on either side and is not right: the turn itself made an error (FGA, step 4).
    new_error: Flags
    #: Both sides added and changed the same (turn-label accuracy).
    label_match: Flags
    #: The set of wrong slots is the previous turn's (FGA rule ``error-set``).
    same_errors: Flags


def count(gold: Codes, predicted: Codes, first: Flags, coder: Coder | None = None) -> TurnCounts:
    """Counts of a stretch of whole dialogues; ``first`` marks their first turns. Without a coder, equal codes match."""
    has_gold, has_prediction = gold != 0, predicted != 0
    right = coder.same(gold, predicted) if coder else (gold == predicted) & has_gold
    either = has_gold | has_prediction
    correct, filled = _sum(right), _sum(has_gold)
    both = _sum(has_gold & has_prediction)
    errors = either & ~right
    gold_new, predicted_new = _changed(gold, has_gold, first, coder), _changed(predicted, has_prediction, first, coder)
    any_new = gold_new | predicted_new
    unmatched = any_new & ~(gold_new & predicted_new & right)
    if coder and not coder.identity:
        unmatched &= ~_reworded(gold_new, right, first)
    return TurnCounts(
        correct,
        both - correct,
        filled - both,
        _sum(has_prediction) - both,
        _any(any_new & ~right),
        ~_any(unmatched),
        _repeated(errors, first),
    )


def verdicts(gold: Codes, predicted: Codes, coder: Coder | None = None) -> Verdicts:
    """What happened to every slot in every turn."""
    has_gold, has_prediction = gold != 0, predicted != 0
    right = coder.same(gold, predicted) if coder else (gold == predicted) & has_gold
    result = np.zeros(gold.shape, np.uint8)
    result[has_gold] = MISSED
    result[has_prediction] = SPURIOUS
    result[has_gold & has_prediction] = WRONG
    result[right] = CORRECT
    return result


def count_flags(gold: Flags | None, wrong: Flags, first: Flags) -> TurnCounts:
    """Counts from per-slot correctness flags: wrong gold slots count as missed, since V and D cannot be told apart.

    Without gold every wrong slot is in ``missed``, and only the number of wrong slots has a meaning.
    """
    nothing = np.zeros(wrong.shape[1], np.int32)
    unknown = np.zeros(wrong.shape[1], bool)
    if gold is None:
        return TurnCounts(nothing, nothing, _sum(wrong), nothing, unknown, unknown, _repeated(wrong, first))
    return TurnCounts(
        _sum(gold & ~wrong),
        nothing,
        _sum(gold & wrong),
        _sum(wrong & ~gold),
        unknown,
        unknown,
        _repeated(wrong, first),
    )


def _changed(codes: Codes, filled: Flags, first: Flags, coder: Coder | None) -> Flags:
    """Slots added or changed since the previous turn; all filled ones in a first turn. Deletions do not count."""
    changed = filled.copy()
    if codes.shape[1] > 1:
        before, now = codes[:, :-1], codes[:, 1:]
        kept = coder.kept(before, now) if coder and not coder.identity else before == now
        changed[:, 1:] &= ~kept | first[1:]
    return changed


def _reworded(gold_new: Flags, right: Flags, first: Flags) -> Flags:
    """Right before and right now for a gold slot that did not change: if the prediction changed, it is only wording."""
    reworded = right & ~gold_new
    reworded[:, 1:] &= right[:, :-1] & ~first[1:]
    reworded[:, :1] = False
    return reworded


def _repeated(errors: Flags, first: Flags) -> Flags:
    repeated = np.zeros(errors.shape[1], bool)
    repeated[1:] = ~_any(errors[:, 1:] ^ errors[:, :-1]) & ~first[1:]
    return repeated


def _sum(flags: Flags) -> Counters:
    """How many slots of each turn are flagged. Bytes are summed while they cannot overflow: eight times as fast."""
    kind = np.uint8 if flags.shape[0] < 256 else np.int32
    total: Counters = np.add.reduce(flags.view(np.uint8), axis=0, dtype=kind).astype(np.int32)
    return total


def _any(flags: Flags) -> Flags:
    result: Flags = np.bitwise_or.reduce(flags.view(np.uint8), axis=0).view(np.bool_)
    return result
