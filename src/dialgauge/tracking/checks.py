"""A few numbers that tell a broken prediction file from a weak tracker.

Only three things stop a score, each until it is accepted by name: turns that are shifted, swapped roles
(:mod:`~dialgauge.tracking.roles`), and ids that do not meet. Everything else is a note of the run. The counts add up
over dialogues, whichever files they come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, choice
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.encode import Coder, Codes, EncodedDialogues, Flags, Item
from dialgauge.tracking.renaming import AS_READ, COUNTINGS, Counting
from dialgauge.values import Pair, Profile, Side, matcher_named

if TYPE_CHECKING:
    from dialgauge.tracking.align import TurnCoverage
    from dialgauge.tracking.prepared_inputs import System

TURNS, ROLES, IDS = "turns", "roles", "ids"
#: What stops a score, and may be accepted.
STOPS = (TURNS, ROLES, IDS)
CHANGES, NAMES, VALUES, EMPTY, FROZEN, BELOW_EMPTY = "changes", "names", "values", "empty", "frozen", "below_empty"
#: Kinds of notes that are shown beside scores.
SHOWN = (*STOPS, CHANGES, NAMES, VALUES, EMPTY, FROZEN, BELOW_EMPTY, "renamed", "renumbered", "remarks")

_SHIFTS = (-2, -1, 1, 2)
#: Turns or values below this number say nothing.
_FEW = 20
_LISTED = 3


class ShiftCounts(NamedTuple):
    """Turns at which the prediction changes and gold differs from its state so many turns away; which of the two the
    prediction equals. A tracker that stops changing repeats an old state, and its turns are not shifted; one that never
    changes is frozen."""

    turns: int = 0
    right: int = 0
    moved: int = 0


class CheckCounts(Struct, frozen=True):
    """What the checks look at, in the turns that are scored; nothing for flags."""

    #: For each of the shifts.
    before_two: ShiftCounts = ShiftCounts()
    before: ShiftCounts = ShiftCounts()
    after: ShiftCounts = ShiftCounts()
    after_two: ShiftCounts = ShiftCounts()
    #: Predicted states that equal gold's if turns are counted in each of the ways of COUNTINGS.
    fitting: tuple[int, ...] = (0,) * len(COUNTINGS)
    #: Predicted slots that have a next turn, and those that are gone in it.
    kept: tuple[int, int] = (0, 0)
    #: Turns in which gold fills slots, and those of them in which the prediction is empty.
    filled: tuple[int, int] = (0, 0)
    #: Dialogues of three turns or more whose gold changes, and those of them whose prediction never does.
    frozen: tuple[int, int] = (0, 0)
    #: How often each slot has which values, as written.
    predicted: dict[Item, int] = {}
    gold: dict[Item, int] = {}

    @classmethod
    def of(cls, system: System, coder: Coder) -> CheckCounts:
        """Of one system; the coder says which states are the same."""
        gold, predicted, aligned = system.gold, system.predicted, system.aligned
        if gold is None or predicted.kind == "judged":
            return cls()
        has_prediction = aligned.predicted_row >= 0
        gold_rows, rows = aligned.gold_row[has_prediction], aligned.predicted_row[has_prediction]
        wanted, given = state_codes(gold, coder, "gold"), state_codes(predicted, coder, "predicted")
        dialogue_of = np.repeat(np.arange(len(gold.offsets) - 1, dtype=np.int32), np.diff(gold.offsets))

        def shifted(shift: int) -> ShiftCounts:
            return _shift(gold, dialogue_of, gold_rows[changes], wanted, given[rows][changes], shift)

        dialogue = aligned.dialogue[has_prediction]
        changes = _changed(dialogue, given[rows])
        fills = wanted[gold_rows] != 0
        return cls(
            before_two=shifted(-2),
            before=shifted(-1),
            after=shifted(1),
            after_two=shifted(2),
            fitting=_fitting(gold, predicted, wanted, given),
            kept=predicted.dropped(_marked(predicted, rows) & predicted.present),
            filled=(_true(fills), _true(fills & (given[rows] == 0))),
            frozen=_frozen(dialogue, wanted[gold_rows], given[rows]),
            predicted=predicted.filled_at(_marked(predicted, rows)[predicted.cell_row]),
            gold=gold.filled_at(_marked(gold, gold_rows)[gold.cell_row]),
        )

    @property
    def shifts(self) -> dict[int, ShiftCounts]:
        return dict(zip(_SHIFTS, (self.before_two, self.before, self.after, self.after_two), strict=True))


def accepted_kinds(accept: str | Collection[str]) -> frozenset[str]:
    """The kinds that are accepted, each checked."""
    named = accept.split(",") if isinstance(accept, str) else accept
    return frozenset(choice(name.strip(), STOPS, "what is accepted (--accept)") for name in named if name.strip())


def check_notes(
    counts: CheckCounts,
    coverage: TurnCoverage,
    profile: Profile,
    inventory: Collection[Pair],
    *,
    system: str,
    numbered_from: int,
    accept: Collection[str],
) -> list[Note]:
    """The findings as notes; shifted turns and ids that do not meet are errors unless accepted.

    ``inventory`` has the slots that the profile or an ontology knows, ``numbered_from`` is the number that the file
    gives to its first turns.
    """
    notes = []
    for note, advice in (*_shifted_turns(counts, numbered_from), *_other_ids(coverage)):
        if note.kind not in accept:
            raise DialgaugeError(str(note), file=system, advice=f"{advice}; --accept {note.kind} scores it as it is")
        notes.append(note)
    return [*notes, *_changes(counts), *_names(counts, profile, inventory), *_values(counts, profile), *_empty(counts)]


def _shifted_turns(counts: CheckCounts, numbered_from: int) -> Iterable[tuple[Note, str]]:
    worst = max(counts.shifts.items(), key=lambda each: each[1].moved / max(1, each[1].turns))
    shift, (turns, right, moved) = worst
    if moved < max(5, 0.05 * turns) or moved <= 2 * right:
        return
    where = {-2: "two turns earlier", -1: "the turn before", 1: "the next turn", 2: "two turns later"}[shift]
    message = (
        f"{moved:,} of {counted(turns, 'prediction')} equal gold's state of {where}, and {right:,} that of their own"
    )
    yield Note(TURNS, message), _counting_advice(counts, numbered_from)


def _counting_advice(counts: CheckCounts, numbered_from: int) -> str:
    fitting = dict(zip(COUNTINGS, counts.fitting, strict=True))
    best = max(COUNTINGS, key=fitting.__getitem__)
    if best == AS_READ or fitting[best] <= 2 * fitting[AS_READ]:
        return "give each turn the number that it has in gold"
    named = Counting(best.shift + numbered_from) if best.step == 1 else best
    return f"--turns {named} counts them from {named.shift}{' in steps of 2' if named.step == 2 else ''}"


def _other_ids(coverage: TurnCoverage) -> Iterable[tuple[Note, str]]:
    missing, extra = sorted(coverage.missing_dialogues), sorted(coverage.extra_dialogues)
    shared = coverage.gold_dialogues - len(missing)
    if not (missing and extra) or 2 * shared >= min(coverage.gold_dialogues, coverage.predicted_dialogues):
        return
    message = (
        f"{shared:,} of {counted(coverage.gold_dialogues, 'gold dialogue')} have predictions, and "
        f"{counted(len(extra), 'predicted dialogue')} have no gold: gold's ids are like '{missing[0]}', those of the "
        f"predictions like '{extra[0]}'"
    )
    yield Note(IDS, message), "--rename FILE renames them"


def _changes(counts: CheckCounts) -> Iterable[Note]:
    slots, gone = counts.kept
    if slots >= _FEW and gone > 0.1 * slots:
        sentence = f"{gone / slots:.0%} of the predicted slots are gone in the next turn: are these only the changes?"
        yield Note(CHANGES, sentence)


def _names(counts: CheckCounts, profile: Profile, inventory: Collection[Pair]) -> Iterable[Note]:
    written = {item[:2] for item in counts.gold}
    known = {profile.pair(*pair) for pair in written} | set(inventory)
    foreign: Counter[Pair] = Counter()
    for (domain, slot, _), count in counts.predicted.items():
        if (domain, slot) not in written and profile.pair(domain, slot) not in known:
            foreign[domain, slot] += count
    total = sum(counts.predicted.values())
    if foreign.total() >= max(5, 0.02 * total):
        names = some_of(["-".join(pair) for pair, _ in foreign.most_common()], _LISTED)
        sentence = (
            f"{foreign.total():,} of {total:,} predicted values are in slots that gold never fills ({names}); "
            "--rename FILE renames slots"
        )
        yield Note(NAMES, sentence)


def _values(counts: CheckCounts, profile: Profile) -> Iterable[Note]:
    """Closed slots whose predicted values gold never has there; in open ones a small gold lacks right values."""
    gold, predicted = _by_slot(counts.gold, profile, "gold"), _by_slot(counts.predicted, profile, "predicted")
    same = matcher_named(profile.match)
    odd = []
    for pair, values in predicted.items():
        seen = gold.get(pair, Counter())
        used, fills = values.total(), seen.total()
        if min(used, fills) < _FEW or 4 * len(seen) > fills:
            continue
        unseen = Counter({v: n for v, n in values.items() if not any(same(known, v) for known in seen)})
        if unseen.total() >= 0.8 * used:
            odd.append(f"{'-'.join(pair)} (such as '{unseen.most_common(1)[0][0]}')")
    if odd:
        sentence = f"most values of {some_of(odd, _LISTED)} are none that gold has in that slot under {profile.name}"
        yield Note(VALUES, sentence)


def _by_slot(items: Mapping[Item, int], profile: Profile, side: Side) -> dict[Pair, Counter[str]]:
    """How often each slot has which value, under the profile."""
    found: dict[Pair, Counter[str]] = {}
    for (domain, slot, values), count in items.items():
        if (pair := profile.pair(domain, slot)) is not None:
            for value in profile.normalise(pair, values, side)[:1]:
                found.setdefault(pair, Counter())[value] += count
    return found


def _empty(counts: CheckCounts) -> Iterable[Note]:
    turns, empty = counts.filled
    if turns >= _FEW and 2 * empty >= turns:
        yield Note(EMPTY, f"{empty:,} of {counted(turns, 'turn')} in which gold fills slots have an empty prediction")
    dialogues, frozen = counts.frozen
    if frozen > 0 and 2 * frozen >= dialogues:
        sentence = (
            f"in {frozen:,} of {counted(dialogues, 'dialogue')} the prediction never changes while gold does: does "
            "every turn have the last state?"
        )
        yield Note(FROZEN, sentence)


def below_empty(totals: Mapping[str, int]) -> list[Note]:
    """A note where the system has fewer right turns than a file of empty states; nothing for flags without gold."""
    if totals["exact"] >= totals.get("gold_empty", 0):
        return []
    shares = (totals[name] / totals["turns"] for name in ("exact", "gold_empty"))
    sentence = "JGA {:.1%}; an empty file gets {:.1%}: do the ids and turns belong to these dialogues?".format(*shares)
    return [Note(BELOW_EMPTY, sentence)]


def _shift(
    gold: EncodedDialogues,
    dialogue_of: Codes,
    rows: Codes,
    wanted: NDArray[np.uint64],
    given: NDArray[np.uint64],
    shift: int,
) -> ShiftCounts:
    """``given`` are the predictions for the rows, ``wanted`` the gold states of all rows."""
    other = rows + shift
    inside = (other >= 0) & (other < len(wanted))
    inside[inside] = dialogue_of[other[inside]] == dialogue_of[rows[inside]]
    inside[inside] &= gold.present[other[inside]]
    here, there, guess = wanted[rows[inside]], wanted[other[inside]], given[inside]
    asked = (here != 0) & (there != 0) & (here != there)
    return ShiftCounts(_true(asked), _true(asked & (guess == here)), _true(asked & (guess == there)))


def _fitting(
    gold: EncodedDialogues, predicted: EncodedDialogues, wanted: NDArray[np.uint64], given: NDArray[np.uint64]
) -> tuple[int, ...]:
    places = {key: index for index, key in enumerate(gold.keys)}
    at = np.array([places.get(key, -1) for key in predicted.keys], np.int64)
    sizes = np.diff(predicted.offsets)
    dialogue = np.repeat(at, sizes)
    number = np.arange(len(dialogue)) - np.repeat(predicted.offsets[:-1], sizes)
    asked = (dialogue >= 0) & predicted.present & (given != 0)
    dialogue, number, states = dialogue[asked], number[asked], given[asked]
    found = []
    for counting in COUNTINGS:
        turn, rest = np.divmod(number - counting.shift, counting.step)
        inside = (turn >= 0) & (rest == 0) & (turn < np.diff(gold.offsets)[dialogue])
        found.append(_true(wanted[gold.offsets[dialogue[inside]] + turn[inside]] == states[inside]))
    return tuple(found)


def _changed(dialogue: Codes, states: NDArray[np.uint64]) -> Flags:
    """Rows whose state differs from that of the row before, and first rows of dialogues in which a row does."""
    changed: Flags = np.ones(len(states), np.bool_)
    first = np.diff(dialogue) != 0
    changed[1:] = first | (states[1:] != states[:-1])
    moves = np.bincount(dialogue[1:][changed[1:] & ~first], minlength=int(dialogue.max(initial=0)) + 1) > 0
    return changed & moves[dialogue]


def _frozen(dialogue: Codes, wanted: NDArray[np.uint64], given: NDArray[np.uint64]) -> tuple[int, int]:
    if not len(dialogue):
        return 0, 0
    same = np.diff(dialogue) == 0
    count = int(dialogue.max()) + 1
    long = np.bincount(dialogue, minlength=count) >= 3
    gold_changes, changes = (
        np.bincount(dialogue[1:][same & (np.diff(states) != 0)], minlength=count) > 0 for states in (wanted, given)
    )
    return _true(long & gold_changes), _true(long & gold_changes & ~changes)


def _marked(side: EncodedDialogues, rows: Codes) -> Flags:
    marked: Flags = np.zeros(len(side.present), np.bool_)
    marked[rows] = True
    return marked


def _true(flags: Flags) -> int:
    return int(np.count_nonzero(flags))


def state_codes(side: EncodedDialogues, coder: Coder, part: Side) -> NDArray[np.uint64]:
    """A number for the state of each row: equal states have equal ones, others differ but for rare accidents."""
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
