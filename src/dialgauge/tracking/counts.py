"""The counts of all scored turns of one system, and what follows from them alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dialgauge.tracking.arrays import Codes, Counters, Flags
from dialgauge.tracking.kernel import TurnCounts
from dialgauge.values.rules import Pair


@dataclass(frozen=True)
class SlotCounts:
    """The same four counts for every slot and dialogue, (slots, dialogues)."""

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

    def parts(self) -> tuple[Counters, Counters, Counters, Counters]:
        """C, V, D, W."""
        return self.correct, self.wrong, self.missed, self.spurious


@dataclass(frozen=True)
class Counts:
    """Per-turn counts with the dialogue (0, 1, ...) and the user-turn number of each turn, dialogues in one piece.

    ``flags_only``: made from correctness flags, so V and D are one number; ``has_gold`` is False when the flags came
    without gold states, so that not even C is known.
    """

    turns: TurnCounts
    dialogue: Codes
    turn: Codes
    first: Flags
    inventory: int
    has_gold: bool = True
    flags_only: bool = False
    #: Filled only where a measure or a view asks for it.
    slots: SlotCounts | None = None

    def __len__(self) -> int:
        return len(self.dialogue)

    @cached_property
    def dialogues(self) -> int:
        """The number of dialogues."""
        return int(self.dialogue[-1]) + 1 if len(self) else 0

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

    def totals(self) -> dict[str, int]:
        """Sums over all turns, named as in reports."""
        from dialgauge.tracking.fga import default_rule, turn_match

        totals = {"turns": len(self), "dialogues": self.dialogues, "exact": int(self.exact.sum())}
        totals["turn_match"] = int(turn_match(self, default_rule(self)).sum())
        if self.has_gold and not self.flags_only:
            totals["turn_label_match"] = int(self.turns.label_match.sum())
            totals["wrong_value"] = int(self.turns.wrong.sum())
        if self.has_gold:
            totals["correct"] = int(self.turns.correct.sum())
            totals["missed"] = int(self.turns.missed.sum())
            totals["spurious"] = int(self.turns.spurious.sum())
            totals["both_empty"] = int((self.union == 0).sum())
            totals["gold_empty"] = int((self.gold_size == 0).sum())
        totals["dialogues_exact"] = int(self.dialogue_exact.sum())
        return totals


def merge_slots(parts: list[SlotCounts]) -> SlotCounts:
    """The slot counts of several disjoint sets of dialogues as one; a slot absent from one of them has 0 there."""
    pairs = sorted({pair for part in parts for pair in part.pairs})
    place = {pair: number for number, pair in enumerate(pairs)}
    merged = []
    for which in range(4):
        wide = []
        for part in parts:
            counts = part.parts()[which]
            rows = np.zeros((len(pairs), counts.shape[1]), np.int32)
            rows[[place[pair] for pair in part.pairs]] = counts
            wide.append(rows)
        merged.append(np.concatenate(wide, axis=1))
    return SlotCounts(pairs, *merged)


def merge(parts: list[Counts]) -> Counts:
    """The counts of several disjoint sets of dialogues as one."""
    slots = [part.slots for part in parts if part.slots is not None]
    shift = np.cumsum([0] + [part.dialogues for part in parts[:-1]])
    return Counts(
        turns=TurnCounts(
            *(np.concatenate([getattr(p.turns, name) for p in parts]) for name in TurnCounts.__dataclass_fields__)
        ),
        dialogue=np.concatenate([part.dialogue + int(by) for part, by in zip(parts, shift, strict=True)]),
        turn=np.concatenate([part.turn for part in parts]),
        first=np.concatenate([part.first for part in parts]),
        inventory=parts[0].inventory,
        has_gold=parts[0].has_gold,
        flags_only=parts[0].flags_only,
        slots=merge_slots(slots) if len(slots) == len(parts) else None,
    )
