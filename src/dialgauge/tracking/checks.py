"""A few numbers that tell a broken prediction file from a weak tracker.

Only three things stop a score, each until it is accepted by name: turns that are shifted, swapped roles
(:mod:`~dialgauge.tracking.prepared_inputs`), and ids that do not meet. Everything else is a note of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
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

#: Turns or values below this number say nothing.
_FEW = 20
#: What a pilot of a few dialogues must have for a note on slots that vanish.
_FEWEST = 5
_LISTED = 3


def accepted_kinds(accept: str | Collection[str]) -> frozenset[str]:
    """The kinds that are accepted, each checked."""
    named = accept.split(",") if isinstance(accept, str) else accept
    return frozenset(choice(name.strip(), STOPS, "what is accepted (--accept)") for name in named if name.strip())


def check_notes(
    system: System,
    coder: Coder,
    profile: Profile,
    inventory: Collection[Pair],
    *,
    accept: Collection[str],
) -> list[Note]:
    """The findings as notes; shifted turns and ids that do not meet are errors unless accepted.

    The coder says which states are the same. ``inventory`` has the slots that the profile or an ontology knows.
    """
    stops, notes = [*_two_readings(system), *_other_ids(system.aligned.coverage)], list[Note]()
    if system.gold is not None and system.predicted.kind != "judged":
        states = _states(system, system.gold, coder)
        for note, advice, firm in _shifted_turns(system, states):
            if firm:
                stops.insert(0, (note, advice))
            else:
                notes.append(Note(note.kind, f"{note}; {advice}"))
        gold = system.gold.filled_at(_marked(system.gold, states.gold_rows)[system.gold.cell_row])
        chosen = _marked(system.predicted, states.rows)
        predicted = system.predicted.filled_at(chosen[system.predicted.cell_row])
        if _empty_between(states):
            sentence = (
                "every second row of all dialogues is empty on both sides: remove the system's, as they count as right"
            )
            notes.append(Note(CHANGES, sentence))
        else:
            notes += _changes(*system.predicted.dropped(chosen & system.predicted.present))
        notes += _names(gold, predicted, profile, inventory)
        notes += [*_values(gold, predicted, profile), *_empty(states), *_frozen(states)]
    for note, advice in stops:
        if note.kind not in accept:
            raise DialgaugeError(
                str(note), file=system.name, advice=f"{advice}; --accept {note.kind} scores it as it is"
            )
    return [*(note for note, _ in stops), *notes]


class _States(NamedTuple):
    """Numbers for the states of all rows of both sides; and of the scored turns that have a prediction their dialogue,
    their rows, and their states."""

    all_gold: NDArray[np.uint64]
    all_predicted: NDArray[np.uint64]
    dialogue: Codes
    gold_rows: Codes
    rows: Codes
    wanted: NDArray[np.uint64]
    given: NDArray[np.uint64]


def _states(system: System, gold: EncodedDialogues, coder: Coder) -> _States:
    aligned = system.aligned
    there = aligned.predicted_row >= 0
    gold_rows, rows = aligned.gold_row[there], aligned.predicted_row[there]
    wanted, given = state_codes(gold, coder, "gold"), state_codes(system.predicted, coder, "predicted")
    return _States(wanted, given, aligned.dialogue[there], gold_rows, rows, wanted[gold_rows], given[rows])


def _shifted_turns(system: System, states: _States) -> Iterable[tuple[Note, str, bool]]:
    """Turns at which the prediction changes and gold differs from its state so many turns away: which does it equal?

    A tracker that stops changing repeats an old state, and its turns are not shifted; one that never changes is frozen.
    With the note, what to do; and whether it is firm: of a weak tracker few predictions equal any state of gold.
    """
    gold = system.gold
    if gold is None:
        return
    changes = _changed(states.dialogue, states.given)
    rows, given = states.gold_rows[changes], states.given[changes]
    dialogue_of = np.repeat(np.arange(len(gold.ids), dtype=np.int32), gold.sizes)
    counts: dict[int, tuple[int, int, int]] = {}
    for shift in (-2, -1, 1, 2):
        other = rows + shift
        inside = (other >= 0) & (other < len(states.all_gold))
        inside[inside] = dialogue_of[other[inside]] == dialogue_of[rows[inside]]
        inside[inside] &= gold.present[other[inside]]
        here, there, guess = states.all_gold[rows[inside]], states.all_gold[other[inside]], given[inside]
        asked = (here != 0) & (there != 0) & (here != there)
        counts[shift] = _true(asked), _true(asked & (guess == here)), _true(asked & (guess == there))
    shift, (turns, right, moved) = max(counts.items(), key=lambda each: each[1][2] / max(1, each[1][0]))
    firm = moved >= max(5, 0.05 * turns)
    if not (firm or moved >= _FEW) or moved <= 2 * right:
        return
    where = {-2: "two turns earlier", -1: "the turn before", 1: "the next turn", 2: "two turns later"}[shift]
    message = (
        f"{moved:,} of {counted(turns, 'prediction')} equal gold's state of {where}, and {right:,} that of their own"
    )
    if system.gold_corpus.dialogues is system.dialogues:
        advice = "gold and predictions of a row disagree, which no option can mend: move one of the two by a turn"
    elif shift == 1 and system.given.numbered == (1, 1):
        advice = "read as from 1; --turns shift=0 takes the numbers as they are"
    else:
        advice = _counting_advice(_fitting(gold, system.predicted, states), Counting(*system.given.numbered))
    yield Note(TURNS, message), advice, firm


def _counting_advice(fitting: Mapping[Counting, int], read: Counting) -> str:
    best = max(COUNTINGS, key=fitting.__getitem__)
    named = Counting(read.shift + read.step * best.shift, read.step * best.step)
    if best == AS_READ or fitting[best] <= 2 * fitting[AS_READ] or named.step > 2:
        return "give each turn the number that it has in gold"
    return f"--turns {named} counts them from {named.shift}{' in steps of 2' if named.step == 2 else ''}"


def _two_readings(system: System) -> Iterable[tuple[Note, str]]:
    """A file that has every other number, where gold has turns of these numbers, too: are turns left out?"""
    first, step = system.given.numbered
    if step == 1 or system.given.recounted or system.given.mapping_sha256 or system.gold is None:
        return
    places = system.gold.places()
    sizes = [
        (size, system.gold.sizes[places[key]])
        for key, size in zip(system.predicted.keys, system.predicted.sizes, strict=True)
        if key in places
    ]
    if any(size > 1 for size, _ in sizes) and all(step * (size - 1) < wanted for size, wanted in sizes):
        shift = f"shift={first}," if first else ""
        message = f"its turns {first}, {first + 2}, ... may be all user turns, or every other one"
        yield Note(TURNS, message), f"--turns {shift}step=2 reads them as all, --turns {shift}step=1 as every other"


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


def _changes(slots: int, gone: int) -> Iterable[Note]:
    if (slots >= _FEW and gone > 0.1 * slots) or (slots >= _FEWEST and gone > 0.5 * slots):
        sentence = f"{gone / slots:.0%} of the predicted slots are gone in the next turn: are these only the changes?"
        yield Note(CHANGES, sentence)


def _empty_between(states: _States) -> bool:
    """Whether every second row of all dialogues is empty on both sides, and most of the others are not."""
    starts = np.flatnonzero(np.diff(states.dialogue, prepend=-1))
    number = np.arange(len(states.dialogue)) - np.repeat(starts, np.diff(starts, append=len(states.dialogue)))
    filled = (states.wanted != 0) | (states.given != 0)
    halves = [filled[number % 2 == rest] for rest in (0, 1)]
    return any(
        len(empty) >= _FEWEST and not empty.any() and 2 * _true(others) > len(others)
        for empty, others in (halves, halves[::-1])
    )


def _names(
    gold: Mapping[Item, int], predicted: Mapping[Item, int], profile: Profile, inventory: Collection[Pair]
) -> Iterable[Note]:
    written = {item[:2] for item in gold}
    known = {profile.pair(*pair) for pair in written} | set(inventory)
    foreign: Counter[Pair] = Counter()
    for (domain, slot, _), count in predicted.items():
        if (domain, slot) not in written and profile.pair(domain, slot) not in known:
            foreign[domain, slot] += count
    total = sum(predicted.values())
    if foreign.total() >= max(5, 0.02 * total):
        names = some_of(["-".join(pair) for pair, _ in foreign.most_common()], _LISTED)
        sentence = (
            f"{foreign.total():,} of {total:,} predicted values are in slots that gold never fills ({names}); "
            "--rename FILE renames slots"
        )
        yield Note(NAMES, sentence)


def _values(gold_items: Mapping[Item, int], items: Mapping[Item, int], profile: Profile) -> Iterable[Note]:
    """Closed slots whose predicted values gold never has there; in open ones a small gold lacks right values."""
    gold, predicted = _by_slot(gold_items, profile, "gold"), _by_slot(items, profile, "predicted")
    same = matcher_named(profile.match)
    odd = []
    for pair, values in predicted.items():
        seen = gold.get(pair, Counter())
        used, fills = values.total(), seen.total()
        if min(used, fills) < _FEW or 4 * len(seen) > fills:
            continue
        unseen = Counter(
            {v: n for v, n in values.items() if v not in seen and not any(same(known, v) for known in seen)}
        )
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


def _empty(states: _States) -> Iterable[Note]:
    fills = states.wanted != 0
    turns, empty = _true(fills), _true(fills & (states.given == 0))
    if turns >= _FEW and 2 * empty >= turns:
        yield Note(EMPTY, f"{empty:,} of {counted(turns, 'turn')} in which gold fills slots have an empty prediction")


def _frozen(states: _States) -> Iterable[Note]:
    """Dialogues of three turns or more whose gold changes, and whose prediction never does."""
    dialogue = states.dialogue
    if not len(dialogue):
        return
    same, size = np.diff(dialogue) == 0, int(dialogue.max()) + 1
    long = np.bincount(dialogue, minlength=size) >= 3
    gold_changes, changes = (
        np.bincount(dialogue[1:][same & (np.diff(each) != 0)], minlength=size) > 0
        for each in (states.wanted, states.given)
    )
    dialogues, frozen = _true(long & gold_changes), _true(long & gold_changes & ~changes)
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


def _fitting(gold: EncodedDialogues, predicted: EncodedDialogues, states: _States) -> dict[Counting, int]:
    """How many predicted states equal gold's if turns are counted in each way."""
    places = gold.places()
    at = np.array([places.get(key, -1) for key in predicted.keys], np.int64)
    dialogue = np.repeat(at, predicted.sizes)
    number = np.arange(len(dialogue)) - np.repeat(predicted.offsets[:-1], predicted.sizes)
    asked = (dialogue >= 0) & predicted.present & (states.all_predicted != 0)
    dialogue, number, given = dialogue[asked], number[asked], states.all_predicted[asked]
    found = {}
    for counting in COUNTINGS:
        turn, rest = np.divmod(number - counting.shift, counting.step)
        inside = (turn >= 0) & (rest == 0) & (turn < gold.sizes[dialogue])
        found[counting] = _true(states.all_gold[gold.offsets[dialogue[inside]] + turn[inside]] == given[inside])
    return found


def _changed(dialogue: Codes, states: NDArray[np.uint64]) -> Flags:
    """Rows whose state differs from that of the row before, and first rows of dialogues in which a row does."""
    changed: Flags = np.ones(len(states), np.bool_)
    first = np.diff(dialogue) != 0
    changed[1:] = first | (states[1:] != states[:-1])
    moves = np.bincount(dialogue[1:][changed[1:] & ~first], minlength=int(dialogue.max(initial=0)) + 1) > 0
    return changed & moves[dialogue]


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
