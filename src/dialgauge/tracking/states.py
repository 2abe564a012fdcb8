"""Gold and one system under one profile: dense codes in stretches of whole dialogues, counts over all, a signature.

A signature's ``gold`` is a checksum of the scored gold turns under the profile: it does not depend on the order of
dialogues or on the file format, but on which turns were scored and on every gold value.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.tracking.align import Aligned
from dialgauge.tracking.counts import (
    CORRECT,
    Counts,
    SlotCounts,
    TurnCounts,
    count_flags,
    turn_counts,
    verdicts,
)
from dialgauge.tracking.details import CountBasis
from dialgauge.tracking.encode import RIGHT, Coder, Codes, EncodedDialogues, Flags, Part
from dialgauge.values import Pair, Side, profile_named

if TYPE_CHECKING:
    from dialgauge.tracking.prepared_inputs import System

#: Turn, slot number and value code of filled slots.
Cells: TypeAlias = tuple[Codes, Codes, Codes]

#: Cells (slots x turns) worked on at a time: large enough for numpy, small enough for the cache and for hostile input.
_CELLS = 1 << 20
#: Beyond this many slots a stretch looks only at the slots that occur in it.
_COMPACT = 256


class DialogueBlock(Struct, frozen=True, eq=False):
    """Whole dialogues, dense: the turns ``start`` up to ``stop``, and for each row of the arrays its slot number."""

    start: int
    stop: int
    slots: Codes
    gold: Codes
    predicted: Codes
    first: Flags


class FilledSlots(Struct, frozen=True, eq=False):
    """Slots that a state has, in order of turns and slots: turn, slot number, verdict, and the codes of both sides."""

    row: Codes
    slot: Codes
    verdict: Codes
    gold: Codes
    predicted: Codes

    def where(self, chosen: Flags) -> FilledSlots:
        return FilledSlots(*(getattr(self, name)[chosen] for name in self.__struct_fields__))


class StateComparison:
    """One system against gold under one profile."""

    def __init__(self, system: System, coder: Coder, inventory: Collection[Pair] | None = None) -> None:
        self.system, self.aligned, self.coder, self._given_inventory = system, system.aligned, coder, inventory
        gold, predicted = system.gold, system.predicted
        self.has_gold, self.flags_only = gold is not None, predicted.kind == "judged"
        part: Part = "judged" if self.flags_only else "predicted"
        self._sides: dict[Side, Cells] = {
            "gold": _cells(gold, self.aligned.gold_row, coder, "gold") if gold else _NO_CELLS,
            "predicted": _cells(predicted, self.aligned.predicted_row, coder, part),
        }
        if self.flags_only:
            self._sides["predicted"] = self._of_gold_slots(self._sides["predicted"])

    def _of_gold_slots(self, flags: Cells) -> Cells:
        """The flags with gold's slots: they have no names of their own, only places."""
        unify = profile_named("plain").pair
        occurring = set(np.unique(self._sides["gold"][1]).tolist())
        known = {unify(*pair): number for number, pair in enumerate(self.slots) if number in occurring}
        number_of = [
            number if number in occurring else known.get(unify(*pair), number) for number, pair in enumerate(self.slots)
        ]
        return flags[0], np.array(number_of, np.int32)[flags[1]], flags[2]

    @property
    def slots(self) -> list[Pair]:
        """(domain, slot) pairs by number."""
        return list(self.coder.slots)

    @cached_property
    def inventory(self) -> Collection[Pair]:
        """The slots of slot accuracy: the profile's or the ontology's, else those that occur in the gold states."""
        if self.coder.profile.inventory is not None:
            return self.coder.profile.inventory
        if self._given_inventory is not None:
            return self._given_inventory
        pairs = self.slots
        occurring = np.unique(self._sides["gold" if self.has_gold else "predicted"][1])
        return [pairs[number] for number in occurring.tolist()]

    def require_scope(self) -> None:
        """An error when the profile leaves nothing of a side that has something: the wrong profile for the dataset."""
        profile = self.coder.profile
        domains = {domain for domain, _ in profile.inventory or ()}
        for side, encoded in (("gold", self.system.gold), ("predicted", self.system.predicted)):
            names = encoded.names if encoded else []
            pairs = [pair for raw in names if (pair := profile.pair(*raw)) is not None]
            if side == "gold" and domains:
                pairs = [pair for pair in pairs if pair[0] in domains]
            if names and not pairs:
                raise DialgaugeError(
                    f"none of the {side} slots is in the scope of the profile {profile.name}: they are like "
                    f"{', '.join(map('-'.join, names[:3]))}; for datasets other than MultiWOZ use the profile verbatim",
                    file=self.system.name if side == "predicted" else "gold",
                )

    @cached_property
    def signature(self) -> Signature:
        """What all scores of this comparison share. Where there is no gold, the checksum is of the turns alone."""
        coverage = self.aligned.coverage
        return Signature(
            profile=self.coder.profile.label,
            slots=str(len(self.inventory)),
            coverage=coverage.policy,
            dialogues=str(coverage.dialogues),
            turns=str(coverage.turns),
            gold=_checksum(self.aligned, self._sides["gold"], self.slots, self.coder.values),
            roles=self.system.roles,
        )

    @cached_property
    def off_ontology(self) -> dict[Pair, int]:
        """Predicted slots that the inventory does not have, the most frequent first, with the turns that have each."""
        known = self.coder.profile.inventory or self._given_inventory
        if known is None or self.flags_only:
            return {}
        turns = np.bincount(self._sides["predicted"][1], minlength=len(self.slots)).tolist()
        unknown = [(pair, turns[number]) for pair, number in self.coder.slots.items() if pair not in known]
        return dict(sorted(((pair, count) for pair, count in unknown if count), key=lambda item: -item[1]))

    @cached_property
    def basis(self) -> CountBasis:
        """What the counts rest on: which slots there are, and what the profile made of their names."""
        sides = (self.system.gold, self.system.predicted)
        names = dict.fromkeys(raw for side in sides if side for raw in side.names)
        return CountBasis(
            slots=len(self.inventory),
            gold=self.has_gold,
            flags=self.flags_only,
            slots_out_of_scope=["-".join(raw) for raw in names if self.coder.profile.pair(*raw) is None],
            slots_not_in_inventory=["-".join(pair) for pair in self.off_ontology],
        )

    def stretches(self, domains: Collection[str] | None = None) -> Iterator[DialogueBlock]:
        """The dense codes, a bounded number of cells at a time; of all slots, or of those of some domains."""
        sides, slots = self._sides, np.arange(len(self.coder.slots), dtype=np.int32)
        if domains is not None:
            chosen = np.array([domain in domains for domain, _ in self.slots], bool)
            slots = slots[chosen]
            sides = {"gold": _of_slots(sides["gold"], chosen), "predicted": _of_slots(sides["predicted"], chosen)}
        total = len(slots)
        offsets = self.aligned.offsets
        most = max(1, _CELLS // max(1, total))
        first = 0
        while first < len(offsets) - 1:
            end = int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1
            end = min(max(end, first + 1), len(offsets) - 1)
            yield self._stretch(int(offsets[first]), int(offsets[end]), sides, slots)
            first = end

    def _stretch(self, start: int, stop: int, sides: Mapping[Side, Cells], slots: Codes) -> DialogueBlock:
        parts = {side: _between(cells, start, stop) for side, cells in sides.items()}
        if len(slots) > _COMPACT:
            slots = np.unique(np.concatenate([part[1] for part in parts.values()]))
        dense = {}
        for side, (rows, numbers, codes) in parts.items():
            cells = np.zeros(len(slots) * (stop - start), np.int32)
            cells[np.searchsorted(slots, numbers) * np.int64(stop - start) + (rows - start)] = codes
            dense[side] = cells.reshape(len(slots), stop - start)
        if self.coder.profile.forgive_unlisted_domains:
            self._forgive(slots, dense["gold"], dense["predicted"])
        return DialogueBlock(start, stop, slots, dense["gold"], dense["predicted"], self.aligned.first[start:stop])

    def _forgive(self, slots: Codes, gold: Codes, predicted: Codes) -> None:
        """Delete predictions in domains that the gold state of the turn does not have."""
        pairs = self.slots
        domains = np.array([pairs[number][0] for number in slots.tolist()])
        for domain in sorted(set(domains.tolist())):
            rows = np.flatnonzero(domains == domain)
            absent = ~(gold[rows] != 0).any(axis=0)
            predicted[np.ix_(rows, np.flatnonzero(absent))] = 0

    @cached_property
    def filled(self) -> FilledSlots:
        """Every slot of every turn that either state has."""
        parts = []
        for stretch in self.stretches():
            happened = verdicts(stretch.gold, stretch.predicted, self.coder)
            # By turn, then slot; one number for a cell is six times as fast as a pair of them.
            turn, slot = np.divmod(np.flatnonzero(np.ascontiguousarray(happened.T) != 0), max(1, len(happened)))
            cell = slot * happened.shape[1] + turn
            columns = turn + stretch.start, stretch.slots[slot]
            cells = (part.take(cell) for part in (happened, stretch.gold, stretch.predicted))
            parts.append(np.stack([column.astype(np.int32) for column in (*columns, *cells)]))
        return FilledSlots(*(np.concatenate(parts, axis=1) if parts else np.empty((5, 0), np.int32)))

    @cached_property
    def counts(self) -> Counts:
        return Counts(
            turns=TurnCounts.joined([self._count(stretch) for stretch in self.stretches()]),
            dialogue=self.aligned.dialogue,
            turn=self.aligned.turn,
            first=self.aligned.first,
            inventory=len(self.inventory),
            has_gold=self.has_gold,
            flags_only=self.flags_only,
            source=None if self.flags_only or not self.has_gold else self,
        )

    def slot_counts(self, slots: Codes | None = None, scored: Flags | None = None) -> SlotCounts:
        """The counts of every slot in every dialogue; of some slots, or over some turns."""
        pairs, filled = self.slots, self.filled
        if slots is not None:
            filled = filled.where(np.isin(filled.slot, slots))
        if scored is not None:
            filled = filled.where(scored[filled.row])
        shape = 4, len(pairs), self.aligned.coverage.dialogues
        cell = (filled.verdict - CORRECT) * np.int64(shape[1]) + filled.slot
        cell = cell * shape[2] + self.aligned.dialogue[filled.row]
        tables = np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
        occurring = np.flatnonzero(tables.any(axis=(0, 2)))
        return SlotCounts([pairs[number] for number in occurring.tolist()], *tables[:, occurring].astype(np.int32))

    def turns_of(self, slots: Codes) -> TurnCounts:
        """The counts of all turns, both states restricted to some slots."""
        domains = {self.slots[number][0] for number in slots.tolist()}
        parts = []
        for stretch in self.stretches(domains):
            own = np.isin(stretch.slots, slots)
            parts.append(turn_counts(stretch.gold[own], stretch.predicted[own], stretch.first, self.coder))
        return TurnCounts.joined(parts)

    def _count(self, stretch: DialogueBlock) -> TurnCounts:
        if not self.flags_only:
            return turn_counts(stretch.gold, stretch.predicted, stretch.first, self.coder)
        code = self.coder.values.index(RIGHT) if RIGHT in self.coder.values else -1
        judged, right = stretch.predicted != 0, stretch.predicted == code
        if not self.has_gold:
            return count_flags(None, judged & ~right, stretch.first)
        # A turn without flags is scored only where missing predictions count as empty: all of its gold is missed.
        missing = self.aligned.predicted_row[stretch.start : stretch.stop] < 0
        gold = (stretch.gold != 0) & (judged | missing)
        return count_flags(gold, (judged & ~right) | (gold & missing), stretch.first)


_NONE = np.empty(0, np.int32)
_NO_CELLS = (_NONE, _NONE, _NONE)


def _cells(encoded: EncodedDialogues, rows: Codes, coder: Coder, side: Part) -> Cells:
    """Turn, slot number and value code of every filled slot among the scored turns, in order of turns."""
    slots, codes = coder.table(side, encoded.shared, encoded.items)
    target = np.full(len(encoded.present) + 1, -1, np.int32)
    target[rows] = np.arange(len(rows), dtype=np.int32)
    target[-1] = -1  # turns without a prediction point at row -1
    row, item = encoded.cell_row, encoded.cell_item
    if side == "predicted" and coder.profile.counts_blanks:
        row, item = np.concatenate([row, encoded.blank_row]), np.concatenate([item, encoded.blank_item])
    turn, slot, code = target[row], slots[item], codes[item]
    kept = (turn >= 0) & (slot >= 0) & (code > 0)
    turn, slot, code = turn[kept], slot[kept], code[kept]
    if np.any(turn[1:] < turn[:-1]):
        order = np.argsort(turn, kind="stable")
        turn, slot, code = turn[order], slot[order], code[order]
    return turn, slot, code


def _of_slots(cells: Cells, chosen: Flags) -> Cells:
    kept = np.flatnonzero(chosen[cells[1]])
    return cells[0][kept], cells[1][kept], cells[2][kept]


def _between(cells: Cells, start: int, stop: int) -> Cells:
    low, high = np.searchsorted(cells[0], [start, stop])
    return cells[0][low:high], cells[1][low:high], cells[2][low:high]


def _checksum(aligned: Aligned, cells: Cells, slots: list[Pair], values: list[tuple[str, ...]]) -> str:
    """A checksum of the scored gold turns that is the same in whatever order they come."""
    turn_hash = _mixed(_hashes([dialogue_key(name) for name in aligned.ids])[aligned.dialogue], aligned.turn + 1)
    turn, slot, code = cells
    slot_hash = _hashes(["\0".join(pair) for pair in slots])
    used, inverse = np.unique(code, return_inverse=True)
    value_hash = _hashes(["\0".join(sorted(values[number])) for number in used.tolist()])
    cell_hash = _mixed(turn_hash[turn] ^ slot_hash[slot], value_hash[inverse])
    total = int(turn_hash.sum(dtype=np.uint64)) + int(cell_hash.sum(dtype=np.uint64))
    return f"{total % (1 << 64):016x}"[:12]


def _hashes(texts: list[str]) -> NDArray[np.uint64]:
    digests = b"".join(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)


def _mixed(left: NDArray[np.uint64], right: NDArray[np.uint64] | Codes) -> NDArray[np.uint64]:
    """Two numbers into one, so that no swap or shift of parts goes unnoticed (the finaliser of splitmix64)."""
    mixed = left * np.uint64(0x9E3779B97F4A7C15) + right.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
