"""A profile applied to distinct items: slot numbers and value codes that both sides share.

A value code stands for the acceptable normalised values of a slot. Equal codes are equal values, so for most profiles
comparing states is comparing integers. Pairs of different codes need a closer look only where a code holds several
values or the profile's match is more lenient than identity; each distinct pair is looked at once.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from dialgauge.tracking.arrays import Codes, Flags
from dialgauge.tracking.encode import Items
from dialgauge.values.match import EQUAL, Matcher, matcher_named
from dialgauge.values.profile import Profile
from dialgauge.values.rules import Pair, Side

#: A side of the comparison, or the flags that stand in for a predicted state; flags are not normalised.
Part: TypeAlias = Side | Literal["judged"]


class Coder:
    """Slot numbers and value codes of one profile; it grows with the items it meets."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.slots: dict[Pair, int] = {}
        #: Code to acceptable values; code 0 is the absent slot.
        self.values: list[tuple[str, ...]] = [()]
        #: Are different codes always different values?
        self.identity = profile.match == EQUAL
        self.renamed: set[Pair] = set()
        self.out_of_scope: set[Pair] = set()
        self._codes: dict[tuple[str, ...], int] = {(): 0}
        self._pairs: dict[Pair, Pair | None] = {}
        self._tables: dict[Part, tuple[Codes, Codes]] = {}
        self._matcher: Matcher = matcher_named(profile.match)
        self._known: dict[tuple[int, int], bool] = {}
        for pair in profile.inventory or ():
            self.slots.setdefault(pair, len(self.slots))

    def table(self, side: Part, items: Items, most: int) -> tuple[Codes, Codes]:
        """For the first ``most`` items: slot number (-1: out of scope) and value code (0: absent)."""
        slots, codes = self._tables.get(side, (np.empty(0, np.int32), np.empty(0, np.int32)))
        if len(slots) < most:
            fresh = [self._coded(domain, slot, values, side) for domain, slot, values in items.listed(len(slots), most)]
            grown = np.array(fresh, np.int32).reshape(-1, 2)
            slots, codes = np.concatenate([slots, grown[:, 0]]), np.concatenate([codes, grown[:, 1]])
            self._tables[side] = slots, codes
        return slots, codes

    def slot_number(self, domain: str, slot: str) -> int:
        """The number of a slot as the source writes it; -1 when it is out of scope."""
        raw = (domain, slot)
        if raw not in self._pairs:
            self._pairs[raw] = self.profile.pair(domain, slot)
        pair = self._pairs[raw]
        if pair is None:
            self.out_of_scope.add(raw)
            return -1
        if pair != raw:
            self.renamed.add(raw)
        return self.slots.setdefault(pair, len(self.slots))

    def _coded(self, domain: str, slot: str, values: tuple[str, ...], side: Part) -> tuple[int, int]:
        number = self.slot_number(domain, slot)
        pair = self._pairs[domain, slot]
        if pair is None:
            return -1, 0
        normalised = values if side == "judged" else self.profile.normalise(pair, values, side)
        code = self._codes.get(normalised)
        if code is None:
            code = self._codes[normalised] = len(self.values)
            self.values.append(normalised)
            self.identity = self.identity and len(normalised) < 2
        return number, code

    def same(self, gold: Codes, predicted: Codes) -> Flags:
        """Where both sides are filled and the prediction counts as gold."""
        return self._alike(gold, predicted, lenient=True)

    def kept(self, before: Codes, now: Codes) -> Flags:
        """Where one side kept its value from one turn to the next: the acceptable values overlap."""
        return self._alike(before, now, lenient=False)

    def _alike(self, left: Codes, right: Codes, *, lenient: bool) -> Flags:
        filled = left != 0
        alike: Flags = (left == right) & filled
        if self.identity:
            return alike
        open_pairs = filled & (right != 0) & ~alike
        pairs, inverse = np.unique(
            left[open_pairs].astype(np.int64) * len(self.values) + right[open_pairs], return_inverse=True
        )
        decide = self._matches if lenient else self._overlap
        verdicts = [decide(*divmod(int(pair), len(self.values))) for pair in pairs]
        alike[open_pairs] = np.array(verdicts, bool)[inverse]
        return alike

    def _matches(self, gold: int, predicted: int) -> bool:
        key = (gold, predicted)
        if key not in self._known:
            self._known[key] = any(
                self._matcher(wanted, given) for wanted in self.values[gold] for given in self.values[predicted]
            )
        return self._known[key]

    def _overlap(self, left: int, right: int) -> bool:
        return not set(self.values[left]).isdisjoint(self.values[right])
