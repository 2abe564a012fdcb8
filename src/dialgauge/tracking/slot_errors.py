"""Where a tracker goes wrong: when errors begin, how long they last, and whether they recover.

An *episode* is a slot that is wrong in consecutive turns of a dialogue: it begins at its origin, lasts a number of
turns, and ends by recovery or with the dialogue.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.encode import Codes
from dialgauge.tracking.tables import SLOT_ERRORS, TURN_SCORES, read_counts

if TYPE_CHECKING:
    from dialgauge.runs import Run


class SlotEpisodes(Struct, frozen=True):
    """The episodes of one slot; means are in user turns."""

    slot: str
    episodes: int
    mean_origin: float
    mean_turns: float
    recovered: int


def slot_episodes(run: Run) -> list[SlotEpisodes]:
    """The episodes of each slot, slots with most wrong turns first."""
    if SLOT_ERRORS not in run.tables:
        raise DialgaugeError("finding errors needs predicted states, but there are only flags", file=run.name)
    counts = read_counts(run)
    places = run.table(TURN_SCORES).select("dialogue", "turn").with_row_index("row")
    name = pl.concat_str("domain", "slot", separator="-")
    errors = run.table(SLOT_ERRORS).join(places, on=["dialogue", "turn"], how="left").select("row", slot=name)
    slots = errors["slot"].unique().sort()
    row = errors["row"].to_numpy().astype(np.int64)
    slot = np.searchsorted(slots.to_numpy(), errors["slot"].to_numpy())
    order = np.lexsort((row, slot))
    row, slot = row[order], slot[order]
    begins = np.ones(len(row), bool)
    begins[1:] = (slot[1:] != slot[:-1]) | (row[1:] != row[:-1] + 1) | counts.first[row[1:]]
    start = np.flatnonzero(begins)
    length = np.diff(np.append(start, len(row)))
    recovered = ~counts.last[row[start] + length - 1]
    found = [
        SlotEpisodes(
            slots[number],
            int(own.sum()),
            float(counts.turn[row[start]][own].mean()),
            float(length[own].mean()),
            int(recovered[own].sum()),
        )
        for number in range(len(slots))
        for own in (slot[start] == number,)
    ]
    return sorted(found, key=lambda each: (-each.episodes * each.mean_turns, each.slot))


class FirstErrors(Struct, frozen=True):
    """The first wrong turn of dialogues whose last turn is wrong (RSA paper, Figure 1), by dialogue."""

    #: The number of the user turn, its place t0 among the N scored turns, and N.
    turn: dict[str, int]
    place: dict[str, int]
    turns: dict[str, int]
    #: Dialogues that are exact again at some turn after the first error, and still end wrong.
    recovering: list[str]

    @property
    def position(self) -> dict[str, float]:
        """t0 / N."""
        return {name: place / self.turns[name] for name, place in self.place.items()}

    def histogram(self, bins: int = 10) -> list[int]:
        """How many dialogues have their first error in each tenth of the dialogue.

        In integers: a turn that lies exactly on an edge, such as the third of ten, begins the part above it, which the
        fraction 0.3 times 10 does not always say.
        """
        counts = [0] * bins
        for name, place in self.place.items():
            counts[bins * place // self.turns[name]] += 1
        return counts


def first_errors(run: Run) -> FirstErrors:
    """Among dialogues whose last turn is wrong: where the first wrong turn is, and which recover in between."""
    counts, ids = read_counts(run), run.table(TURN_SCORES)["dialogue"].to_list()
    found = FirstErrors({}, {}, {}, [])
    for start, stop in pairwise([*np.flatnonzero(counts.first).tolist(), len(counts)]):
        exact = counts.exact[start:stop]
        if exact[-1]:
            continue
        name, index = ids[start], int(np.argmin(exact))
        found.turn[name] = int(counts.turn[start + index])
        found.place[name], found.turns[name] = index, len(exact)
        if exact[index:].any():
            found.recovering.append(name)
    return found


def slots_per_dialogue(counts: Counts) -> Codes:
    """For each dialogue the largest number of gold slots in one of its turns (RSA paper, Figure 2)."""
    return np.maximum.reduceat(counts.gold_size, np.flatnonzero(counts.first))
