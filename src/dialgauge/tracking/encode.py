"""From dialogues to integers: states become cells once per input, cells become codes once per profile.

A cell is the row of a user turn and the number of a distinct (domain, slot, values) item. All inputs of a call share
the :class:`Items`, so a profile looks at every distinct item once, however many turns, systems and profiles there are.

A code stands for the acceptable normalised values of a slot under a profile. Equal codes are equal values, so for most
profiles comparing states is comparing integers. Pairs of different codes need a closer look only where a code holds
several values or the profile's match is more lenient than identity; each distinct pair is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge import formats
from dialgauge.dialogue import Dialogue, Turn, Values, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SpooledDialogues, carries
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

#: Turns of dialogues in a file that are held at once.
_HELD = 1 << 15


class Items:
    """Distinct (domain, slot, values) items, numbered in order of appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Item, int] = {}
        #: By id the numbers of each state that turns and files share; the state is held so that its id stays its own.
        self.states: dict[int, tuple[object, list[int]]] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, domain: str, slots: Mapping[str, Values]) -> list[int]:
        """The numbers of the filled slots of a domain."""
        numbers = self.numbers
        return [numbers.setdefault((domain, slot, values), len(numbers)) for slot, values in slots.items()]

    def of_state(self, state: Mapping[str, Mapping[str, Any]] | None, *, judged: bool) -> list[int]:
        """The numbers of the filled slots of a state, or of what stands in for them where slots were judged."""
        if not state:
            return []
        whole = self.states.get(id(state))
        if whole is None:
            numbers: list[int] = []
            for domain, slots in state.items():
                numbers += self.of(domain, _verdicts(slots) if judged else slots)
            whole = self.states[id(state)] = state, numbers
        return whole[1]

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

    @property
    def sizes(self) -> Codes:
        return np.diff(self.offsets)

    @cached_property
    def names(self) -> frozenset[Pair]:
        """The (domain, slot) pairs of this input, as its source writes them."""
        return frozenset(item[:2] for item in self.filled_at(slice(None)))

    def dropped(self, turns: Flags) -> tuple[int, int]:
        """How many slots turns have that one of these turns follows, and how many of them that one lacks."""
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
        kept = np.isin(before + step, filled)
        return len(before), len(before) - int(np.count_nonzero(kept))

    def filled_at(self, cells: Flags | slice) -> dict[Item, int]:
        """How often each slot has which values, as its source writes them, in some of the cells."""
        counts = np.bincount(self.cell_item[cells])
        items = self.shared.listed(0, len(counts))
        return {items[number]: int(counts[number]) for number in np.flatnonzero(counts).tolist()}


class _EncodedTurns(NamedTuple):
    """What is known of some turns."""

    present: Flags
    cell_row: Codes
    cell_item: Codes
    blank_row: Codes
    blank_item: Codes


def encode(dialogues: Iterable[Dialogue], kind: Kind, items: Items) -> EncodedDialogues:
    """The states of one kind as cells; of dialogues in a file only some are held at a time, and no state is kept."""
    spooled = isinstance(dialogues, SpooledDialogues)
    ids: list[str] = []
    keys: dict[str, None] = {}
    offsets = [0]
    turns: list[Turn] = []
    blocks: list[_EncodedTurns] = []
    done = 0
    for dialogue in dialogues:
        turns += [turn for turn in dialogue.turns if turn.speaker == "user"]
        name = dialogue_key(dialogue.id)
        if name in keys:
            raise DialgaugeError("two dialogues have this id (case and .json are ignored)", dialogue=dialogue.id)
        keys[name] = None
        ids.append(dialogue.id)
        offsets.append(done + len(turns))
        if spooled and len(turns) > _HELD:
            blocks.append(_encoded(turns, done, kind, items))
            items.states.clear()
            turns, done = [], offsets[-1]
    blocks.append(_encoded(turns, done, kind, items))
    whole = blocks[0] if len(blocks) == 1 else _joined(blocks)
    return EncodedDialogues(
        kind,
        ids,
        list(keys),
        np.array(offsets, np.int32),
        whole.present,
        whole.cell_row,
        whole.cell_item,
        len(items),
        items,
        whole.blank_row,
        whole.blank_item,
    )


def _joined(blocks: Sequence[_EncodedTurns]) -> _EncodedTurns:
    return _EncodedTurns(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _encoded(turns: Sequence[Turn], first: int, kind: Kind, items: Items) -> _EncodedTurns:
    """Some turns, the first of which is the row ``first``."""
    blanks = [] if kind == "judged" else list(map(attrgetter("blank"), turns))
    given = list(map(attrgetter(kind), turns))
    #: The turns of a file share the states that are written the same: each different one is looked at once.
    ids = list(map(id, given))
    distinct = dict(zip(ids, given, strict=True))
    places = dict(zip(distinct, range(len(distinct)), strict=True))
    which = np.fromiter(map(places.__getitem__, ids), np.int32, len(ids))
    known, judged = items.states, kind == "judged"
    numbered = [
        known[name][1] if name in known else items.of_state(state, judged=judged) for name, state in distinct.items()
    ]
    blank_rows: list[int] = []
    blank_cells: list[int] = []
    for row, blank in enumerate(blanks) if any(blanks) else ():
        for domain, slots in (blank or {}).items():
            numbers = items.of(domain, slots)
            blank_rows += [first + row] * len(numbers)
            blank_cells += numbers
    cell_row, cell_item = _cells_of(which, numbered)
    return _EncodedTurns(
        which != places.get(id(None), -1),
        cell_row + np.int32(first) if first else cell_row,
        cell_item,
        np.array(blank_rows, np.int32),
        np.array(blank_cells, np.int32),
    )


def _cells_of(state_of: Codes, numbered: Sequence[Sequence[int]]) -> tuple[Codes, Codes]:
    """Row and item of every cell, from the items of each different state and row by row which state it has."""
    sizes = np.fromiter(map(len, numbered), np.int64, len(numbered))
    cells = np.fromiter(chain.from_iterable(numbered), np.int32, int(sizes.sum()))
    row_sizes = sizes[state_of]
    shift = (np.cumsum(sizes) - sizes)[state_of] - (np.cumsum(row_sizes) - row_sizes)
    rows = np.repeat(np.arange(len(state_of), dtype=np.int32), row_sizes)
    return rows, cells[np.arange(len(rows)) + shift[rows]]


def _verdicts(slots: Mapping[str, bool]) -> dict[str, Values]:
    return {slot: RIGHT if right else WRONG for slot, right in slots.items()}


def kind_carried(dialogues: Sequence[Dialogue]) -> Kind | None:
    """The first of predicted states, flags and plain states that there are any of."""
    kinds: tuple[Kind, ...] = ("predicted", "judged", "state")
    return next((kind for kind in kinds if carries(dialogues, kind)), None)


def predicted_kind(dialogues: Sequence[Dialogue], name: str) -> Kind:
    """What a prediction file offers: predicted states, else flags, else plain states (gold scored against gold)."""
    kind = kind_carried(dialogues)
    if kind is not None:
        return kind
    raise DialgaugeError(
        "no turn has a state, so there is nothing to score as tracking; response files of policy models have none; "
        "where the replies are states, write a line for each turn of the user",
        file=name,
        example=formats.example_rows(dialogues[0].id) if dialogues else "",
    )


def carries_gold(dialogues: Sequence[Dialogue]) -> bool:
    """Does a prediction file bring its own gold states beside the predictions?"""
    return carries(dialogues, "state") and (carries(dialogues, "predicted") or carries(dialogues, "judged"))


def require_gold(dialogues: Sequence[Dialogue], name: str) -> None:
    """Gold must have states."""
    if not carries(dialogues, "state"):
        raise DialgaugeError(
            "no turn has a gold state; give a file with annotated states as GOLD, such as the dataset itself",
            file=name,
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
        pair = self.compared_as((domain, slot))
        return -1 if pair is None else self.slots.setdefault(pair, len(self.slots))

    def compared_as(self, raw: Pair) -> Pair | None:
        """The slot under which a slot is compared that the source writes so; None when it is out of scope."""
        if raw not in self._pairs:
            self._pairs[raw] = self.profile.pair(*raw)
        return self._pairs[raw]

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
