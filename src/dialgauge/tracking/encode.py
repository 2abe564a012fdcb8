"""From dialogues to integers: states become cells once per input, cells become codes once per profile.

A cell is the row of a user turn and the number of a distinct (domain, slot, values) item. All inputs of a call share
the :class:`Items`, so a profile looks at every distinct item once, however many turns, systems and profiles there are.

A code stands for the acceptable normalised values of a slot under a profile. Equal codes are equal values, so for most
profiles comparing states is comparing integers. Pairs of different codes need a closer look only where a code holds
several values or the profile's match is more lenient than identity; each distinct pair is looked at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Values, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.values import EQUAL, Matcher, Pair, Profile, Side, matcher_named

Codes: TypeAlias = NDArray[np.int32]
Counters: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Verdicts: TypeAlias = NDArray[np.uint8]

Item: TypeAlias = tuple[str, str, Values]
#: Which attribute of a turn is read.
Kind: TypeAlias = Literal["state", "predicted", "judged"]

RIGHT: Values = ("right",)
WRONG: Values = ("wrong",)
_VERDICTS: dict[Any, Values] = {True: RIGHT, False: WRONG}

#: Distinct states that are remembered at once.
_REMEMBERED = 1 << 18
_ENCODER = msgspec.msgpack.Encoder()


class Items:
    """Distinct (domain, slot, values) items, numbered in order of appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Item, int] = {}
        self._states: dict[bytes, list[int]] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def of_state(self, state: Mapping[str, Mapping[str, Any]] | None) -> list[int]:
        """The numbers of the filled slots of a state; of judged slots the verdicts are their values."""
        if not state:
            return []
        written = _ENCODER.encode(state)
        known = self._states.get(written)
        if known is None:
            if len(self._states) == _REMEMBERED:
                self._states.clear()
            numbers = self.numbers
            items = ((domain, slot, values) for domain, slots in state.items() for slot, values in slots.items())
            known = [
                numbers.setdefault((domain, slot, _VERDICTS.get(values, values)), len(numbers))
                for domain, slot, values in items
            ]
            self._states[written] = known
        return known

    def listed(self, start: int, stop: int) -> list[Item]:
        return list(islice(self.numbers, start, stop))


class EncodedDialogues(Struct, frozen=True, eq=False, dict=True):
    """One side of one input: dialogues in file order, a row per user turn, a cell per filled slot."""

    kind: Kind
    ids: list[str]
    #: The ids as those of different sources meet.
    keys: list[str]
    #: Where each dialogue begins among the rows, with the number of rows at the end.
    offsets: Codes
    #: Rows that carry a state at all; a turn without one is missing, not empty.
    present: Flags
    cell_row: Codes
    cell_item: Codes
    #: How many of the shared items were known when this input was encoded: all of its items are among these.
    items: int
    shared: Items
    #: Cells of predicted slots whose value means "absent": no part of the state, but to some profiles filled.
    blank_row: Codes
    blank_item: Codes

    def places(self) -> dict[str, int]:
        """Dialogue key to position."""
        return dict(zip(self.keys, range(len(self.keys)), strict=True))

    @cached_property
    def sizes(self) -> Codes:
        """How many rows each dialogue has."""
        return np.diff(self.offsets)

    @cached_property
    def names(self) -> list[Pair]:
        """The (domain, slot) pairs of this input, as its source writes them, in order."""
        return sorted({item[:2] for item in self.filled_at(slice(None))})

    def dropped(self, turns: Flags) -> tuple[int, int]:
        """The number of slots filled just before the flagged turns, and how many of them are gone in those turns."""
        if not len(self.cell_row):
            return 0, 0
        followed = np.append(turns[1:], np.False_)
        followed[self.offsets[1:] - 1] = False
        pairs: dict[Pair, int] = {}
        items = self.shared.listed(0, self.items)
        pair_of = np.array([pairs.setdefault(item[:2], len(pairs)) for item in items], np.int32)
        step = len(pairs)
        filled = self.cell_row.astype(np.int64) * step + pair_of[self.cell_item]
        before = filled[followed[self.cell_row]]
        kept = np.isin(before + step, filled, assume_unique=True)
        return len(before), len(before) - int(np.count_nonzero(kept))

    def filled_at(self, cells: Flags | slice) -> dict[Item, int]:
        """How often each slot has which values, as its source writes them, in some of the cells."""
        counts = np.bincount(self.cell_item[cells])
        items = self.shared.listed(0, len(counts))
        return {items[number]: int(counts[number]) for number in np.flatnonzero(counts).tolist()}


def encode(dialogues: Iterable[Dialogue], kind: Kind, items: Items) -> EncodedDialogues:
    """The states of one kind as cells."""
    ids: list[str] = []
    keys: dict[str, None] = {}
    offsets = [0]
    present = bytearray()
    sizes, cells, blank_row, blank_item = array("i"), array("i"), array("i"), array("i")
    state_of = attrgetter(kind)
    for dialogue in dialogues:
        name = dialogue_key(dialogue.id)
        if name in keys:
            raise DialgaugeError("two dialogues have this id (case and .json are ignored)", dialogue=dialogue.id)
        keys[name] = None
        ids.append(dialogue.id)
        for turn in dialogue.turns:
            if turn.speaker != "user":
                continue
            state = state_of(turn)
            numbers = items.of_state(state)
            sizes.append(len(numbers))
            cells.extend(numbers)
            if turn.blank and kind != "judged":
                absent = items.of_state(turn.blank)
                blank_row.extend([len(present)] * len(absent))
                blank_item.extend(absent)
            present.append(state is not None)
        offsets.append(len(present))
    return EncodedDialogues(
        kind,
        ids,
        list(keys),
        np.array(offsets, np.int32),
        np.frombuffer(bytes(present), np.bool_),
        np.repeat(np.arange(len(sizes), dtype=np.int32), np.array(sizes, np.int32)),
        np.array(cells, np.int32),
        len(items),
        items,
        np.array(blank_row, np.int32),
        np.array(blank_item, np.int32),
    )


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
        self._codes: dict[tuple[str, ...], int] = {(): 0}
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

    def _coded(self, domain: str, slot: str, values: tuple[str, ...], side: Part) -> tuple[int, int]:
        pair = self.profile.pair(domain, slot)
        if pair is None:
            return -1, 0
        number = self.slots.setdefault(pair, len(self.slots))
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
