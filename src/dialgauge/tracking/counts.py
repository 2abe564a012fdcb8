"""Counts per turn: integer codes of both states in, four counts and three flags out. Every measure derives from these.

Arrays are (slots, turns): a sum over slots is then a sum of rows, which numpy does at memory speed. For a turn, over
the slots of both states: C in both with the same value, V in both with different values, D only in gold, W only
predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.tracking.encode import Coder, Codes, Counters, Flags, Verdicts
from dialgauge.values import Pair

if TYPE_CHECKING:
    from dialgauge.tracking.states import StateComparison

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

    @classmethod
    def joined(cls, parts: Sequence[TurnCounts]) -> TurnCounts:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__struct_fields__))


def turn_counts(gold: Codes, predicted: Codes, first: Flags, coder: Coder) -> TurnCounts:
    """Counts of a stretch of whole dialogues; ``first`` marks their first turns."""
    has_gold, has_prediction = gold != 0, predicted != 0
    right = coder.same(gold, predicted)
    either = has_gold | has_prediction
    correct, filled = _sum(right), _sum(has_gold)
    both = _sum(has_gold & has_prediction)
    errors = either & ~right
    gold_new, predicted_new = _changed(gold, has_gold, first, coder), _changed(predicted, has_prediction, first, coder)
    any_new = gold_new | predicted_new
    unmatched = any_new & ~(gold_new & predicted_new & right)
    if not coder.identity:
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


def verdicts(gold: Codes, predicted: Codes, coder: Coder) -> Verdicts:
    """What happened to every slot in every turn."""
    has_gold, has_prediction = gold != 0, predicted != 0
    right = coder.same(gold, predicted)
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


def _changed(codes: Codes, filled: Flags, first: Flags, coder: Coder) -> Flags:
    """Slots added or changed since the previous turn; all filled ones in a first turn. Deletions do not count."""
    changed = filled.copy()
    if codes.shape[1] > 1:
        before, now = codes[:, :-1], codes[:, 1:]
        kept = before == now if coder.identity else coder.kept(before, now)
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
    kind = np.uint8 if len(flags) < 256 else np.int32
    total: Counters = np.add.reduce(flags.view(np.uint8), axis=0, dtype=kind).astype(np.int32)
    return total


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
    without gold states, so that not even C is known. A part is a domain or service (``hotel``: the turns whose gold
    state has it, both states restricted to it), a slot (``hotel-area``: all turns), a user turn (``turn=3``), or the
    dialogues with so many domains (``domains=2``).
    """

    turns: TurnCounts
    dialogue: NDArray[np.integer[Any]]
    turn: Codes
    first: Flags
    inventory: int
    has_gold: bool = True
    flags_only: bool = False
    source: StateComparison | None = None
    #: Of a part: the turns that count, its slots, and how many of the inventory's these are.
    within: Flags | None = None
    own_slots: Codes | None = None
    own_size: int | None = None

    def __len__(self) -> int:
        return len(self.dialogue)

    @cached_property
    def dialogues(self) -> int:
        return int(self.dialogue[-1]) + 1 if len(self) else 0

    @cached_property
    def scored(self) -> Flags:
        """The turns that count."""
        return np.ones(len(self), bool) if self.within is None else self.within

    @property
    def own_inventory(self) -> int:
        """The slots of the inventory that the part has."""
        return self.inventory if self.own_size is None else self.own_size

    @cached_property
    def last(self) -> Flags:
        """The last scored turn of each dialogue."""
        places = np.flatnonzero(self.scored)
        last = np.zeros(len(self), bool)
        last[places[np.append(np.diff(self.dialogue[places]) != 0, True)[: len(places)]]] = True
        return last

    @cached_property
    def wrong_missed_spurious(self) -> Counters:
        """V + D + W."""
        return self.turns.wrong + self.turns.missed + self.turns.spurious

    @cached_property
    def exact(self) -> Flags:
        """Both states are the same."""
        exact: Flags = self.wrong_missed_spurious == 0
        return exact

    @cached_property
    def gold_size(self) -> Counters:
        """C + V + D: the filled gold slots."""
        return self.turns.correct + self.turns.wrong + self.turns.missed

    @cached_property
    def union(self) -> Counters:
        """C + V + D + W: T* of the RSA paper."""
        return self.turns.correct + self.wrong_missed_spurious

    @cached_property
    def dialogue_exact(self) -> Flags:
        """For each dialogue: are all of its scored turns exact?"""
        wrong = np.bincount(self.dialogue, weights=~self.exact & self.scored, minlength=self.dialogues)
        exact: Flags = wrong == 0
        return exact

    @cached_property
    def slot_counts(self) -> SlotCounts:
        """The counts of every slot in every dialogue."""
        if self.source is None:
            raise DialgaugeError("slots need gold and predicted states, but there are only correctness flags")
        return self.source.slot_counts(self.own_slots, self.within)

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Where functions of these counts keep what several measures ask for."""
        return {}

    def part(self, name: str) -> Counts:
        """A part by name; the last one is kept, as several measures of a part follow each other."""
        kept: tuple[str, Counts] | None = self.memo.get("part")
        if kept is None or kept[0] != name:
            kept = self.memo["part"] = (name, self._part(name))
        return kept[1]

    def _part(self, name: str) -> Counts:
        attribute, equals, value = name.partition("=")
        if equals and attribute in ("turn", "domains") and value.isdecimal():
            number = self.turn if attribute == "turn" else self.domains_of_dialogues[self.dialogue]
            within = number == int(value)
            if not within.any():
                what = "scored dialogue has that turn" if attribute == "turn" else f"dialogue has {value} domains"
                raise DialgaugeError(f"no {what}")
            return structs.replace(self, within=within)
        if self.source is None:
            raise DialgaugeError(f"the part '{name}' needs gold and predicted states, but there are only flags")
        slots = self.source.slots
        of_domain = [number for number, (domain, _) in enumerate(slots) if name in (domain, domain_of(domain))]
        own = of_domain or [number for number, pair in enumerate(slots) if "-".join(pair) == name]
        turns = self.source.turns_of(np.array(own, np.int32)) if own else None
        if turns is None or not turns.filled.any():
            known = sorted({domain_of(domain) for domain, _ in slots} | {"-".join(pair) for pair in slots})
            raise DialgaugeError(f"no state has a domain or slot '{name}'.{nearest(name, known)}")
        part = structs.replace(
            self,
            turns=turns,
            own_slots=np.array(own, np.int32),
            own_size=len({slots[number] for number in own} & set(self.source.inventory)),
        )
        if not of_domain:
            return part
        within = part.gold_size > 0
        if not within.any():
            raise DialgaugeError(f"no gold state has the domain '{name}'")
        return structs.replace(part, within=within)

    @cached_property
    def domains_of_dialogues(self) -> Codes:
        """For each dialogue the number of domains that its gold states ever have."""
        table = self.slot_counts.by_domain()
        numbers: Codes = ((table.correct + table.wrong + table.missed) > 0).sum(axis=0).astype(np.int32)
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


def domain_of(service: str) -> str:
    """The domain of one of SGD's services: ``Hotels`` of ``Hotels_1``."""
    return service.split("_")[0]
