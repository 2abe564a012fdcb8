"""Where it goes wrong: when errors begin, how long they last, whether they are repaired, and which values are confused.

An *episode* is a slot that is wrong in consecutive turns of a dialogue: it begins at its origin, lasts a number of
turns, and ends by recovery or with the dialogue.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError
from dialgauge.rendering import Column, Table
from dialgauge.text import OPTIONS, Note, counted, some_of
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.encode import Codes
from dialgauge.tracking.tables import KIND_WORDS, SLOT_ERRORS, TURN_SCORES
from dialgauge.values import Pair

if TYPE_CHECKING:
    from dialgauge.tracking.tracked_system import TrackedSystem

#: Dialogues of a group that are named.
_LISTED = 20


class Episodes(Struct, frozen=True, eq=False):
    """All episodes, ordered by dialogue, slot and turn: arrays of equal length."""

    dialogue: Codes
    #: The number of the slot among :attr:`SlotErrors.pairs`.
    slot: Codes
    #: User-turn number where the error begins, and the kind of error it is there.
    origin: Codes
    kind: Any
    turns: Codes
    recovered: Codes

    def __len__(self) -> int:
        return len(self.slot)


class SlotErrorCounts(Struct, frozen=True):
    """The episodes of one slot."""

    pair: Pair
    episodes: int
    wrong_value: int
    missed: int
    spurious: int
    mean_origin: float
    mean_turns: float
    recovered: int


class FirstErrors(Struct, frozen=True):
    """The first wrong turn of dialogues whose last turn is wrong (RSA paper, Figure 1)."""

    dialogues: int
    #: Dialogue id to the number of its first wrong turn; to its place t0 among the N scored turns, and N; to t0 / N,
    #: and to (t0 + 1) / N.
    turn: dict[str, int]
    place: dict[str, int]
    turns: dict[str, int]
    position: dict[str, float]
    position_after: dict[str, float]
    #: Dialogues that are exact again at some turn after the first error, and still end wrong.
    recovering: list[str]

    def histogram(self, bins: int = 10) -> list[int]:
        """How many dialogues have their first error in each tenth of the dialogue."""
        return onset_histogram(self.place.values(), self.turns.values(), bins)


def onset_histogram(first: Iterable[int], turns: Iterable[int], bins: int = 10) -> list[int]:
    """How many dialogues have their first wrong turn t (from 0), of N turns, in each part of the dialogue: 10 · t // N.

    In integers: a turn that lies exactly on an edge, such as the third of ten, begins the part above it, which the
    fraction 0.3 times 10 does not always say.

    >>> onset_histogram([3, 6, 7], [10, 10, 10])
    [0, 0, 0, 1, 0, 0, 1, 1, 0, 0]
    """
    counts = [0] * bins
    for turn, length in zip(first, turns, strict=True):
        counts[bins * turn // length] += 1
    return counts


class SlotErrors:
    """The errors of one system under one profile, from the tables of its run."""

    def __init__(self, system: TrackedSystem) -> None:
        if SLOT_ERRORS not in system.run.tables:
            raise DialgaugeError("finding errors needs predicted states, but there are only flags", file=system.name)
        self.system = system

    @cached_property
    def _errors(self) -> pl.DataFrame:
        """``slot_errors`` with the row of each turn and the number of each slot."""
        run = self.system.run
        places = run.table(TURN_SCORES).select("dialogue", "turn").with_row_index("row")
        return (
            run.table(SLOT_ERRORS)
            .join(places, on=["dialogue", "turn"], how="left")
            .with_columns(number=pl.struct("domain", "slot").rank("dense").cast(pl.Int32) - 1)
        )

    @cached_property
    def pairs(self) -> list[Pair]:
        named = self._errors.select("number", "domain", "slot").unique().sort("number")
        return list(named.select("domain", "slot").iter_rows())

    @cached_property
    def episodes(self) -> Episodes:
        """All stretches of turns in which a slot stays wrong."""
        counts = self.system.counts
        row, slot = (self._errors[name].to_numpy().astype(np.int32) for name in ("row", "number"))
        dialogue = counts.dialogue[row]
        order = np.lexsort((row, slot, dialogue))
        row, slot, dialogue = row[order], slot[order], dialogue[order]
        kind = self._errors["kind"].to_numpy()[order]
        begins = np.ones(len(row), bool)
        begins[1:] = (slot[1:] != slot[:-1]) | (dialogue[1:] != dialogue[:-1]) | (row[1:] != row[:-1] + 1)
        start = np.flatnonzero(begins)
        length = np.diff(np.append(start, len(row))).astype(np.int32)
        end = row[start] + length - 1 if len(start) else row[start]
        return Episodes(
            dialogue[start], slot[start], counts.turn[row[start]], kind[start], length,
            (~counts.last[end]).astype(np.int32),
        )  # fmt: skip

    def by_slot(self) -> list[SlotErrorCounts]:
        """The episodes of each slot, slots with most wrong turns first."""
        all_episodes = self.episodes
        table = []
        for number, pair in enumerate(self.pairs):
            mine = all_episodes.slot == number
            wrong, missed, spurious = (int((all_episodes.kind[mine] == kind).sum()) for kind in KIND_WORDS)
            table.append(
                SlotErrorCounts(
                    pair,
                    int(mine.sum()),
                    wrong,
                    missed,
                    spurious,
                    float(all_episodes.origin[mine].mean()),
                    float(all_episodes.turns[mine].mean()),
                    int(all_episodes.recovered[mine].sum()),
                )
            )
        return sorted(table, key=lambda entry: (-entry.episodes * entry.mean_turns, entry.pair))

    def first_errors(self) -> FirstErrors:
        """Among dialogues whose last turn is wrong: where the first wrong turn is, and which recover in between."""
        counts = self.system.counts
        ids = self.system.run.table(TURN_SCORES)["dialogue"].to_list()
        starts = [*np.flatnonzero(counts.first).tolist(), len(counts)]
        turn, places, turns, position, after, recovering = {}, {}, {}, {}, {}, []
        for start, stop in pairwise(starts):
            exact = counts.exact[start:stop]
            if exact[-1]:
                continue
            name, index = ids[start], int(np.argmin(exact))
            turn[name] = int(counts.turn[start + index])
            places[name], turns[name] = index, len(exact)
            position[name], after[name] = index / len(exact), (index + 1) / len(exact)
            if exact[index:].any():
                recovering.append(name)
        return FirstErrors(len(turn), turn, places, turns, position, after, recovering)

    def confusions(self, most: int | None = None) -> list[tuple[Pair, str, str, int]]:
        """(slot, gold value, predicted value, turns), most frequent first; an absent slot is an empty string."""
        groups = self._errors.group_by("domain", "slot", "gold", "predicted").len()
        listed = [
            ((domain, slot), gold or "", predicted or "", int(turns))
            for domain, slot, gold, predicted, turns in groups.iter_rows()
        ]
        return sorted(listed, key=lambda entry: (-entry[3], entry[:3]))[:most]

    def as_dict(self, most: int = 100) -> dict[str, Any]:
        """For JSON: errors by slot, the most frequent confusions, first errors, slots per dialogue."""
        first = self.first_errors()
        return {
            "slots": [{**structs.asdict(entry), "pair": "-".join(entry.pair)} for entry in self.by_slot()],
            "confusions": [
                {"slot": "-".join(pair), "gold": gold, "predicted": predicted, "turns": turns}
                for pair, gold, predicted, turns in self.confusions(most)
            ],
            "first_error": {**structs.asdict(first), "histogram": first.histogram()},
            "slots_per_dialogue": np.bincount(slots_per_dialogue(self.system.counts)).tolist(),
        }


def slots_per_dialogue(counts: Counts) -> Codes:
    """For each dialogue the largest number of gold slots in one of its turns (RSA paper, Figure 2)."""
    return np.maximum.reduceat(counts.gold_size, np.flatnonzero(counts.first))


def slot_error_tables(system: TrackedSystem, most: int = 15) -> list[Table]:
    """Where errors begin, how long they last, and which values are confused."""
    errors = SlotErrors(system)
    slots = Table(
        f"{system.name}: errors by slot ({system.profile})",
        [
            "slot",
            "episodes",
            *KIND_WORDS.values(),
            Column("mean origin (user turn)", digits=1),
            Column("mean length (user turns)", digits=1),
            Column("recovered %", digits=1, percent=True),
        ],
        notes=[
            "An episode is a slot that stays wrong over consecutive user turns, which count from 0; it recovers if it "
            "ends before the dialogue. Slots with the most episodes come first."
        ],
    )
    for entry in sorted(errors.by_slot(), key=lambda entry: (-entry.episodes, entry.pair))[:most]:
        slots.add(
            "-".join(entry.pair),
            entry.episodes,
            entry.wrong_value,
            entry.missed,
            entry.spurious,
            entry.mean_origin,
            entry.mean_turns,
            entry.recovered / entry.episodes,
        )
    confused = Table(f"{system.name}: confused values ({system.profile})", ["slot", "gold", "predicted", "turns"])
    for pair, gold, predicted, turns in errors.confusions(most):
        confused.add("-".join(pair), gold or "(absent)", predicted or "(absent)", turns)
    return [slots, confused, _mismatch_table(system, errors.first_errors()), _first_error_table(system, errors)]


def _mismatch_table(system: TrackedSystem, first: FirstErrors) -> Table:
    """The dialogues behind the RSA paper's Figure 1, in its two groups: those whose error stays, and the others."""
    back = set(first.recovering)
    groups = {"wrong to the end": [name for name in first.turn if name not in back], "exact again": first.recovering}
    table = Table(
        f"{system.name}: dialogues that end with a wrong state ({system.profile})",
        ["group", "dialogues", "ids, with the first wrong user turn"],
        notes=[
            "After its first wrong user turn (counted from 0) a dialogue stays wrong to the end, or is exact again "
            f"before it ends wrong (RSA paper, appendix A). Up to {_LISTED} ids of each, earliest error first.",
            Note(OPTIONS, "--json has all, --dialogue ID shows one turn by turn."),
        ],
    )
    for group, names in groups.items():
        listed = sorted(names, key=lambda name: (first.position[name], name))
        table.add(group, len(listed), some_of([f"{name} (user turn {first.turn[name]})" for name in listed], _LISTED))
    return table


def _first_error_table(system: TrackedSystem, errors: SlotErrors) -> Table:
    first, slots = errors.first_errors(), slots_per_dialogue(system.counts)
    back = len(first.recovering)
    table = Table(
        f"{system.name}: position of the first error in dialogues that end with a wrong state ({system.profile})",
        ["part of the dialogue", "dialogues"],
        notes=[
            f"{counted(first.dialogues, 'dialogue')} {'ends' if first.dialogues == 1 else 'end'} with a wrong state; "
            f"{back:,} of them {'was' if back == 1 else 'were'} exact again in between.",
            f"Gold slots per dialogue: at most {int(slots.max())}; "
            f"{float((slots < 12).mean()):.1%} of the dialogues have fewer than 12.",
        ],
    )
    for index, number in enumerate(first.histogram()):
        table.add(f"{index * 10}% to {index * 10 + 10}%", number)
    return table
