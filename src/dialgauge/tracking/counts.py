"""Counts per turn: integer codes of both states in, four counts and three flags out. Every measure derives from these.

Arrays are (slots, turns): a sum over slots is then a sum of rows, which numpy does at memory speed. For a turn, over
the slots of both states: C in both with the same value, V in both with different values, D only in gold, W only
predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.tracking.encode import Coder, Codes, Counters, Flags, Floats, Verdicts
from dialgauge.values import Pair

#: What happened to one slot in one turn; 0 is "filled on neither side".
CORRECT, WRONG, MISSED, SPURIOUS = 1, 2, 3, 4
#: The letters of formulas: what is counted in one turn.
SYMBOLS = {
    "C": "right slots, in both states with the same value",
    "V": "slots in both states with different values",
    "D": "slots of the gold state that were not predicted",
    "W": "predicted slots that the gold state does not have",
    "T": "slots of the inventory",
}


class TurnCounts(Struct, frozen=True, eq=False):
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

    @property
    def filled(self) -> Counters:
        """The slots that either state has."""
        return self.correct + self.wrong + self.missed + self.spurious

    def where(self, chosen: NDArray[Any]) -> TurnCounts:
        """Some of the turns: flags, or their places."""
        return TurnCounts(*(getattr(self, name)[chosen] for name in self.__struct_fields__))

    @classmethod
    def joined(cls, parts: Sequence[TurnCounts]) -> TurnCounts:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__struct_fields__))


def turn_counts(gold: Codes, predicted: Codes, first: Flags, coder: Coder | None = None) -> TurnCounts:
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


class SlotTally:
    """What :func:`count` gives without a coder, for tables too large to hold: slots are added one after the other.

    Where the codes of a slot differ, it is wrong, missed or spurious. ``first`` marks the first turns of dialogues.
    """

    def __init__(self, first: Flags, slots: int) -> None:
        turns, kind = len(first), _sum_kind(slots)
        self._first = first
        self._filled, self._predicted, self._both, self._errors = (np.zeros(turns, kind) for _ in range(4))
        self._new_error, self._unmatched, self._moved = (np.zeros(turns, bool) for _ in range(3))
        #: What every slot needs for a moment: new arrays each time would cost as much as the work on them.
        self._scratch = tuple(np.empty(turns, bool) for _ in range(6))

    def add(self, gold: Codes, predicted: Codes) -> None:
        has_gold, has_prediction, differs, gold_new, predicted_new, both = self._scratch
        np.not_equal(gold, 0, out=has_gold)
        np.not_equal(predicted, 0, out=has_prediction)
        np.not_equal(gold, predicted, out=differs)
        np.logical_and(has_gold, has_prediction, out=both)
        self._filled += has_gold.view(np.uint8)
        self._predicted += has_prediction.view(np.uint8)
        self._both += both.view(np.uint8)
        self._errors += differs.view(np.uint8)
        _mark_changed(gold, has_gold, self._first, gold_new)
        _mark_changed(predicted, has_prediction, self._first, predicted_new)
        np.logical_or(gold_new, predicted_new, out=both)
        np.logical_and(both, differs, out=both)
        np.logical_or(self._new_error, both, out=self._new_error)
        np.not_equal(gold_new, predicted_new, out=both)
        np.greater(both, differs, out=both)  # new on one side only, though the slot is right
        np.logical_or(self._unmatched, both, out=self._unmatched)
        np.not_equal(differs[1:], differs[:-1], out=both[1:])
        np.logical_or(self._moved[1:], both[1:], out=self._moved[1:])

    def counts(self) -> TurnCounts:
        missed, spurious = self._filled - self._both, self._predicted - self._both
        wrong = self._errors - missed - spurious
        return TurnCounts(
            (self._both - wrong).astype(np.int32),
            wrong.astype(np.int32),
            missed.astype(np.int32),
            spurious.astype(np.int32),
            self._new_error,
            ~(self._unmatched | self._new_error),
            ~(self._moved | self._first),
        )


def _mark_changed(codes: Codes, filled: Flags, first: Flags, changed: Flags) -> None:
    """Write into ``changed`` what :func:`_changed` gives for one slot."""
    changed[:1] = True
    np.not_equal(codes[1:], codes[:-1], out=changed[1:])
    np.logical_or(changed, first, out=changed)
    np.logical_and(changed, filled, out=changed)


def verdicts(gold: Codes, predicted: Codes, coder: Coder | None = None) -> Verdicts:
    """What happened to every slot in every turn."""
    has_gold, has_prediction = gold != 0, predicted != 0
    right = coder.same(gold, predicted) if coder else (gold == predicted) & has_gold
    # Sums of whole arrays: assigning where a mask is true takes twenty times as long.
    result: Verdicts = has_gold * np.uint8(MISSED) + has_prediction * np.uint8(SPURIOUS)
    result -= (has_gold & has_prediction) * np.uint8(MISSED + SPURIOUS - WRONG) + right * np.uint8(WRONG - CORRECT)
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
    total: Counters = np.add.reduce(flags.view(np.uint8), axis=0, dtype=_sum_kind(len(flags))).astype(np.int32)
    return total


def _sum_kind(slots: int) -> type[np.uint8 | np.int32]:
    return np.uint8 if slots < 256 else np.int32


def _any(flags: Flags) -> Flags:
    result: Flags = np.bitwise_or.reduce(flags.view(np.uint8), axis=0).view(np.bool_)
    return result


class SlotCounts(Struct, frozen=True, eq=False):
    """The four counts of every slot in every dialogue, (slots, dialogues)."""

    pairs: list[Pair]
    correct: Counters
    wrong: Counters
    missed: Counters
    spurious: Counters

    def by_domain(self) -> SlotCounts:
        """Summed over the slots of each domain; the pairs are then (domain, "")."""
        domains = list(dict.fromkeys(domain for domain, _ in self.pairs))
        member = np.array([[domain == other for other, _ in self.pairs] for domain in domains], np.int32)
        parts = (member.reshape(len(domains), len(self.pairs)) @ part for part in self.parts())
        return SlotCounts([(domain, "") for domain in domains], *parts)

    def in_gold(self) -> SlotCounts:
        """Only the slots that gold has, in any dialogue; the others count nothing but spurious predictions."""
        known = np.flatnonzero((self.correct + self.wrong + self.missed).any(axis=1))
        return SlotCounts([self.pairs[index] for index in known.tolist()], *(part[known] for part in self.parts()))

    def parts(self) -> tuple[Counters, Counters, Counters, Counters]:
        """C, V, D, W."""
        return self.correct, self.wrong, self.missed, self.spurious


class Counts(Struct, frozen=True, eq=False, dict=True):
    """Per-turn counts with the dialogue (0, 1, ...) and the user-turn number of each turn, dialogues in one piece.

    ``flags_only``: made from correctness flags, so V and D are one number; ``has_gold`` is False when the flags came
    without gold states, so that not even C is known.
    """

    turns: TurnCounts
    dialogue: NDArray[np.integer[Any]]
    turn: Codes
    first: Flags
    inventory: int
    has_gold: bool = True
    flags_only: bool = False
    #: Filled only where a measure or a view asks for it.
    slots: SlotCounts | None = None
    #: For some turns of dialogues: the whole dialogues, and which of their turns these are.
    within: tuple[Counts, Codes] | None = None

    def __len__(self) -> int:
        return len(self.dialogue)

    @cached_property
    def dialogues(self) -> int:
        return int(self.dialogue[-1]) + 1 if len(self) else 0

    @cached_property
    def ones(self) -> tuple[Floats, Floats]:
        """The denominators of a measure to which every turn counts alike, and their sums: most measures share them."""
        ones, sums = np.ones(len(self)), np.bincount(self.dialogue, minlength=self.dialogues).astype(np.float64)
        ones.flags.writeable = sums.flags.writeable = False
        return ones, sums

    @cached_property
    def last(self) -> Flags:
        """The last scored turn of each dialogue."""
        last = np.ones(len(self), bool)
        last[:-1] = self.first[1:]
        return last

    @cached_property
    def errors(self) -> Counters:
        """V + D + W."""
        return self.turns.wrong + self.turns.missed + self.turns.spurious

    @cached_property
    def exact(self) -> Flags:
        """Both states are the same."""
        exact: Flags = self.errors == 0
        return exact

    @cached_property
    def gold_size(self) -> Counters:
        """C + V + D: the filled gold slots."""
        return self.turns.correct + self.turns.wrong + self.turns.missed

    @cached_property
    def union(self) -> Counters:
        """C + V + D + W: T* of the RSA paper."""
        return self.turns.correct + self.errors

    @cached_property
    def dialogue_exact(self) -> Flags:
        """For each dialogue: are all of its turns exact?"""
        wrong = np.bincount(self.dialogue, weights=~self.exact, minlength=self.dialogues)
        exact: Flags = wrong == 0
        return exact

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Where functions of these counts keep what several measures ask for."""
        return {}

    def part(self, chosen: Codes) -> Counts:
        """Some of the turns, by their places, dialogues numbered anew; what went before them is not forgotten."""
        dialogue = self.dialogue[chosen]
        first = np.ones(len(chosen), bool)
        first[1:] = dialogue[1:] != dialogue[:-1]
        return Counts(
            turns=self.turns.where(chosen),
            dialogue=(np.cumsum(first) - 1).astype(np.int32),
            turn=self.turn[chosen],
            first=first,
            inventory=self.inventory,
            within=(self, chosen),
        )

    def dialogues_within(self) -> list[int]:
        """For a part: the number that each of its dialogues has in the whole."""
        whole, chosen = self.within or (self, np.arange(len(self)))
        numbers: list[int] = whole.dialogue[chosen][self.first].tolist()
        return numbers

    def totals(self) -> dict[str, int]:
        """Sums over all turns, named as in reports."""
        from dialgauge.tracking.fga import default_rule, turn_match

        totals: dict[str, int] = {"turns": len(self), "dialogues": self.dialogues}
        totals["exact"] = int(np.count_nonzero(self.exact))
        totals["turn_match"] = int(np.count_nonzero(turn_match(self, default_rule(self))))
        if self.has_gold and not self.flags_only:
            totals["turn_label_match"] = int(np.count_nonzero(self.turns.label_match))
            totals["wrong_value"] = int(self.turns.wrong.sum())
        if self.has_gold:
            totals["correct"] = int(self.turns.correct.sum())
            totals["missed"] = int(self.turns.missed.sum())
            totals["spurious"] = int(self.turns.spurious.sum())
            totals["both_empty"] = int(np.count_nonzero(self.union == 0))
            totals["gold_empty"] = int(np.count_nonzero(self.gold_size == 0))
        totals["dialogues_exact"] = int(np.count_nonzero(self.dialogue_exact))
        return totals


def merge_slots(parts: list[SlotCounts]) -> SlotCounts:
    """The slot counts of several disjoint sets of dialogues as one; a slot absent from one of them has 0 there."""
    pairs = sorted({pair for part in parts for pair in part.pairs})
    row_of = {pair: number for number, pair in enumerate(pairs)}
    merged = []
    for which in range(4):
        wide = []
        for part in parts:
            counts = part.parts()[which]
            rows = np.zeros((len(pairs), counts.shape[1]), np.int32)
            rows[[row_of[pair] for pair in part.pairs]] = counts
            wide.append(rows)
        merged.append(np.concatenate(wide, axis=1))
    return SlotCounts(pairs, *merged)


def merge(parts: list[Counts]) -> Counts:
    """The counts of several disjoint sets of dialogues as one."""
    slots = [part.slots for part in parts if part.slots is not None]
    shift = np.cumsum([0] + [part.dialogues for part in parts[:-1]])
    return Counts(
        turns=TurnCounts.joined([part.turns for part in parts]),
        dialogue=np.concatenate([part.dialogue + int(by) for part, by in zip(parts, shift, strict=True)]),
        turn=np.concatenate([part.turn for part in parts]),
        first=np.concatenate([part.first for part in parts]),
        inventory=parts[0].inventory,
        has_gold=parts[0].has_gold,
        flags_only=parts[0].flags_only,
        slots=merge_slots(slots) if len(slots) == len(parts) else None,
    )
