"""What guards look at, in predictions and gold; it adds up over dialogues, whichever files they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.tracking.additive import joined
from dialgauge.tracking.encode import Coder, Codes, EncodedDialogues, Flags, Item, Items, encode
from dialgauge.values import Pair, Side, profile_named

if TYPE_CHECKING:
    from dialgauge.tracking.prepared_inputs import System

#: Different slots with their values that are kept apart when those of many files are put together.
_MOST_ITEMS = 250_000


class Changes(NamedTuple):
    """Pairs of turns between which a gold state changes, and what the predictions make of them."""

    changes: int = 0
    #: The later turn is right; it changes to gold's of the turn before.
    right: int = 0
    late: int = 0
    #: The earlier turn is right; it has gold's of the next turn already.
    right_before: int = 0
    early: int = 0
    #: Both turns have the same slots.
    unchanged: int = 0
    #: The same of turns two apart, with a gold state of its own between them.
    far: int = 0
    far_right: int = 0
    late_by_two: int = 0
    far_right_before: int = 0
    early_by_two: int = 0


class UnifiedSlots(Struct, frozen=True):
    """Slots that turns have under two names of which a profile makes one, and how often with different values."""

    again: int = 0
    names: dict[Pair, frozenset[Pair]] = {}

    @classmethod
    def of(cls, side: EncodedDialogues, coder: Coder) -> UnifiedSlots:
        if side.kind == "judged":
            return cls()
        pairs, pair_of = side.shared.pairs(side.items)
        filled = np.bincount(pair_of[side.cell_item], minlength=len(pairs)).tolist()
        names: dict[Pair, set[Pair]] = {}
        for written in (pair for pair, count in zip(pairs, filled, strict=True) if count):
            if (compared := coder.compared_as(written)) is not None:
                names.setdefault(compared, set()).add(written)
        twice = {pair: frozenset(several) for pair, several in names.items() if len(several) > 1}
        if not twice:
            return cls()
        slots, codes = coder.table("predicted", side.shared, side.items)
        column = np.full(len(coder.slots) + 1, -1)  # slots out of scope are the last, -1
        column[[coder.slots[pair] for pair in twice]] = np.arange(len(twice))
        asked = (column[slots] >= 0) & (codes > 0)
        cells = asked[side.cell_item]
        items = side.cell_item[cells]
        place = side.cell_row[cells].astype(np.int64) * len(twice) + column[slots[items]]
        last = np.zeros(len(side.present) * len(twice), np.int32)
        last[place] = codes[items]
        again = int((last[place] != codes[items]).sum())
        return cls(again, twice) if again else cls()


class GuardEvidence(Struct, frozen=True, dict=True):
    """What the findings on some dialogues rest on."""

    #: How often each slot has which values in the scored turns, as written.
    predicted: dict[Item, int] = {}
    #: How often gold fills each slot in these turns, and with which values in small letters; None where there is none.
    gold: dict[Pair, int] | None = None
    gold_words: dict[Pair, frozenset[str]] = {}
    #: All slots of gold, in whatever turns.
    gold_slots: frozenset[Pair] = frozenset()
    #: Filled slots that have a next turn to score, and those that are gone in it: of the predictions, then of gold.
    kept: tuple[int, int] = (0, 0)
    gold_kept: tuple[int, int] = (0, 0)
    changed: Changes = Changes()
    #: Turns with several gold domains in dialogues that predict several; those of them that predict several themselves.
    domains: tuple[int, int] = (0, 0)
    #: Turns that fill a domain which the turn before lacks, where that fills others; those of them that keep none of
    #: these: of the predictions, then of gold.
    switches: tuple[int, int] = (0, 0)
    gold_switches: tuple[int, int] = (0, 0)
    #: Dialogues in which gold fills slots, and those of them in which the predictions fill none.
    filled: tuple[int, int] = (0, 0)
    #: How many turns have so many slots in the predictions, and so many in gold.
    sizes: dict[tuple[int, int], int] = {}
    #: Turns, and those that fill nothing between turns of their dialogue that do, where gold fills slots.
    gaps: tuple[int, int] = (0, 0)
    #: Turns for which a file brings a gold state of its own; it is GOLD's; what the file predicts is GOLD's.
    own_gold: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of(cls, system: System, coder: Coder, own_gold: Items | None = None) -> GuardEvidence:
        """Of one system; of flags there is none. The coder says which states are the same.

        ``own_gold``: the items to encode the gold states with that the file brings beside GOLD.
        """
        gold, predicted, rows = system.gold, system.predicted, system.aligned.predicted_row
        if gold is None or predicted.kind == "judged":
            return cls()
        codes = state_codes(predicted, coder, "predicted")
        shared = rows >= 0
        compared_rows, dialogue = system.aligned.gold_row[shared], system.aligned.dialogue[shared]
        # How many slots the compared turns have, on both sides.
        gold_sizes = gold.once("sizes", gold.offsets, lambda: np.bincount(gold.cell_row, minlength=len(gold.present)))
        ours = gold_sizes[compared_rows]
        theirs = np.bincount(predicted.cell_row, minlength=len(predicted.present))[rows[shared]]
        our_dialogues, their_dialogues = (np.bincount(dialogue, sizes) > 0 for sizes in (ours, theirs))
        width = int(ours.max(initial=0)) + 1
        sizes = np.bincount(theirs * width + ours)
        fills, words = gold.once("fills", compared_rows, lambda: _fills(gold, compared_rows))
        return cls(
            predicted=predicted.filled_at(_among(predicted, rows[shared])),
            gold=fills,
            gold_words=words,
            gold_slots=gold.names,
            kept=predicted.dropped(_flagged(predicted, rows[shared]) & predicted.present),
            gold_kept=gold.once("dropped", gold.offsets, lambda: gold.dropped(gold.present)),
            changed=_changed(system, gold, coder, codes),
            domains=_domains(system, gold),
            switches=_switches(predicted),
            gold_switches=gold.once("switches", gold.offsets, lambda: _switches(gold)),
            filled=(int(our_dialogues.sum()), int((our_dialogues & ~their_dialogues).sum())),
            sizes={divmod(place, width): int(sizes[place]) for place in np.flatnonzero(sizes).tolist()},
            gaps=_gaps(theirs > 0, ours > 0, dialogue),
            own_gold=(0, 0, 0) if own_gold is None else _own_gold(system, own_gold, coder, codes),
        )

    @cached_property
    def gold_values(self) -> frozenset[str]:
        return frozenset().union(*self.gold_words.values())

    @cached_property
    def absent_words(self) -> set[str]:
        """Words that gold lacks and that seem to say that a slot is absent: one that most slots have, or known ones."""
        words = Counter[str]()
        for (_, _, values), count in self.predicted.items():
            if len(values) == 1:
                words[values[0]] += count
        word, often = words.most_common(1)[0] if words else ("", 0)
        slots = {item[:2] for item in self.predicted if item[2] == (word,)}
        mostly = 2 * often > sum(self.predicted.values()) and len(slots) > 1
        unlike = {each for each in words if each.lower() not in self.gold_values}
        return unlike & {word} if mostly else {each for each in unlike if means_absent(each)}

    @classmethod
    def joined(cls, parts: Sequence[GuardEvidence]) -> GuardEvidence:
        whole = joined(parts)
        return replace(whole, predicted=_few(whole.predicted))


def _fills(gold: EncodedDialogues, rows: Codes) -> tuple[dict[Pair, int], dict[Pair, frozenset[str]]]:
    """How often gold fills each slot in some rows, and with which words."""
    filled = gold.filled_at(_among(gold, rows))
    fills: Counter[Pair] = Counter()
    for item, count in filled.items():
        fills[item[:2]] += count
    return dict(fills), _words(filled)


def _words(items: Iterable[Item]) -> dict[Pair, frozenset[str]]:
    words: dict[Pair, set[str]] = {}
    for domain, slot, values in items:
        words.setdefault((domain, slot), set()).update(value.lower() for value in values)
    return {pair: frozenset(several) for pair, several in words.items()}


def _among(side: EncodedDialogues, rows: Codes) -> Flags:
    """Which cells are in these rows."""
    return _flagged(side, rows)[side.cell_row]


def _flagged(side: EncodedDialogues, rows: Codes) -> Flags:
    flags: Flags = np.zeros(len(side.present), np.bool_)
    flags[rows] = True
    return flags


def _changed(system: System, gold: EncodedDialogues, coder: Coder, other: NDArray[np.uint64]) -> Changes:
    predicted, aligned = system.predicted, system.aligned
    first = np.zeros(len(gold.present) + 1, np.bool_)
    first[gold.offsets] = True
    known = (aligned.predicted_row >= 0) & ~first[aligned.gold_row]
    rows, theirs = aligned.gold_row[known], aligned.predicted_row[known]
    ours = _gold_codes(gold, coder)
    changes = gold.present[rows - 1] & (ours[rows] != ours[rows - 1]) & (ours[rows - 1] != 0)
    rows, theirs = rows[changes], theirs[changes]
    before, now = ours[rows - 1], ours[rows]
    their_before, theirs_now = other[theirs - 1], other[theirs]
    same = their_before == theirs_now
    outcomes = (
        theirs_now == now,
        (theirs_now == before) & ~same,
        their_before == before,
        (their_before == now) & predicted.present[theirs - 1],
        same & (theirs_now != 0),
    )
    first[gold.offsets[:-1][gold.sizes > 0] + 1] = True
    distant = ~first[rows] & (ours[rows - 2] != now) & (ours[rows - 2] != before) & (ours[rows - 2] != 0)
    rows, theirs = rows[distant], theirs[distant]
    by_two = (
        other[theirs] == ours[rows],
        (other[theirs] == ours[rows - 2]) & (other[theirs] != other[theirs - 1]),
        other[theirs - 2] == ours[rows - 2],
        (other[theirs - 2] == ours[rows]) & predicted.present[theirs - 2],
    )
    counts = [_true(changes), *map(_true, outcomes), len(rows), *map(_true, by_two)]
    return Changes(*counts)


def _true(flags: Flags) -> int:
    return int(np.count_nonzero(flags))


def _gold_codes(gold: EncodedDialogues, coder: Coder) -> NDArray[np.uint64]:
    return coder.once("state_codes", gold, gold.offsets[:0], lambda: state_codes(gold, coder, "gold"))


def _own_gold(system: System, items: Items, coder: Coder, predicted: NDArray[np.uint64]) -> tuple[int, int, int]:
    aligned, gold = system.aligned, system.gold
    own = encode(system.dialogues, "state", items)
    known = (aligned.predicted_row >= 0) & own.present[aligned.predicted_row]
    rows, theirs = aligned.gold_row[known], aligned.predicted_row[known]
    if gold is None:
        return (0, 0, 0)
    wanted = _gold_codes(gold, coder)[rows]
    alike = int((state_codes(own, coder, "gold")[theirs] == wanted).sum())
    return len(rows), alike, int((predicted[theirs] == wanted).sum())


def _domains(system: System, gold: EncodedDialogues) -> tuple[int, int]:
    predicted, aligned = system.predicted, system.aligned
    known = aligned.predicted_row >= 0
    rows, theirs = aligned.gold_row[known], aligned.predicted_row[known]
    of_rows = _domain_bits(predicted)
    filled = predicted.sizes > 0
    of_dialogues = np.zeros(len(filled), np.int64)
    if filled.any():
        of_dialogues[filled] = np.bitwise_or.reduceat(of_rows, predicted.offsets[:-1][filled])
    several = gold.once("several domains", gold.offsets, lambda: _several(_domain_bits(gold)))
    asked = several[rows] & np.repeat(_several(of_dialogues), predicted.sizes)[theirs]
    return int(asked.sum()), int((asked & _several(of_rows)[theirs]).sum())


def _switches(side: EncodedDialogues) -> tuple[int, int]:
    bits = _domain_bits(side)
    before, now = bits[:-1], bits[1:]
    first = np.zeros(len(bits) + 1, np.bool_)
    first[side.offsets] = True
    switches = (before != 0) & ((now & ~before) != 0) & ~first[1:-1]
    return _true(switches), _true(switches & ((now & before) == 0))


def _gaps(filled: Flags, wanted: Flags, dialogue: Codes) -> tuple[int, int]:
    """An empty turn lies between filled ones where the filled turns before it are some of its dialogue, and not all."""
    before = np.cumsum(filled)
    ends = np.flatnonzero(np.append(np.diff(dialogue) != 0, len(filled) > 0))
    of_dialogue = np.zeros(int(dialogue.max(initial=-1)) + 2, before.dtype)
    of_dialogue[dialogue[ends] + 1] = before[ends]
    of_dialogue = np.maximum.accumulate(of_dialogue)
    some = (before > of_dialogue[dialogue]) & (before < of_dialogue[dialogue + 1])
    return len(filled), int((some & ~filled & wanted).sum())


def _domain_bits(side: EncodedDialogues) -> NDArray[np.int64]:
    """A bit for each domain that a row fills; of more than 62 domains some share one."""
    bits = np.zeros(len(side.present), np.int64)
    if len(side.cell_row):
        pairs, pair_of = side.shared.pairs(side.items)
        places = {domain: place % 62 for place, domain in enumerate(dict.fromkeys(domain for domain, _ in pairs))}
        of_pairs = np.array([1 << places[domain] for domain, _ in pairs], np.int64)
        first = np.flatnonzero(np.append(True, np.diff(side.cell_row) != 0))
        bits[side.cell_row[first]] = np.bitwise_or.reduceat(of_pairs[pair_of[side.cell_item]], first)
    return bits


def _several(bits: NDArray[np.int64]) -> Flags:
    several: Flags = (bits & (bits - 1)) != 0
    return several


def state_codes(side: EncodedDialogues, coder: Coder, part: Side) -> NDArray[np.uint64]:
    """A number for the state of each row: equal states have equal ones, and others others but for rare accidents."""
    slots, values = coder.table(part, side.shared, side.items)
    codes = slots.astype(np.uint64) * np.uint64(1 << 32) + values.astype(np.uint64)
    codes = (codes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    codes ^= codes >> np.uint64(29)
    codes *= np.uint64(0xBF58476D1CE4E5B9)
    codes ^= codes >> np.uint64(32)
    codes = np.where((slots < 0) | (values == 0), np.uint64(0), codes)[side.cell_item]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes, dtype=np.uint64)])  # cells lie in order of rows
    ends = np.cumsum(np.bincount(side.cell_row, minlength=len(side.present)))
    whole: NDArray[np.uint64] = np.diff(sums[np.concatenate([np.zeros(1, ends.dtype), ends])])
    return whole


def _few(items: dict[Item, int]) -> dict[Item, int]:
    """Of very many different items, those that are met once count for their slots only, without their values."""
    if len(items) <= _MOST_ITEMS:
        return items
    folded: Counter[Item] = Counter()
    for item, count in items.items():
        folded[item if count > 1 else (*item[:2], ())] += count
    return dict(folded)


@lru_cache(maxsize=1 << 14)
def means_absent(word: str) -> bool:
    """Is it one of the words that the profile for language models reads as an absent slot?"""
    return not profile_named("llm").normalise(("any", "name"), (word,), "predicted")
