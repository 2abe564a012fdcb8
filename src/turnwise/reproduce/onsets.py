"""Where errors begin, and how full states get (RSA paper, Figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turnwise.dialogue import Dialogue
from turnwise.tracking.counts import Counts
from turnwise.values import Profile


@dataclass(frozen=True)
class Onsets:
    """For each dialogue: does it end wrong, and if so, is it exact again after its first error?

    ``positions`` are t0 / N of the dialogues that end wrong: the number of the first wrong turn over the turns.
    """

    ends_wrong: NDArray[np.bool_]
    exact_again: NDArray[np.bool_]
    positions: list[float]


def first_errors(counts: Counts) -> Onsets:
    """The first wrong turn of every dialogue whose last turn is wrong."""
    ends, again, positions = [], [], []
    for turns in np.split(counts.exact, np.flatnonzero(counts.first)[1:]):
        wrong = np.flatnonzero(~turns)
        ends.append(not turns[-1])
        again.append(bool(not turns[-1] and turns[wrong[0] :].any()))
        if not turns[-1]:
            positions.append(float(wrong[0] / len(turns)))
    return Onsets(np.array(ends, bool), np.array(again, bool), positions)


def slots_in_fullest_state(dialogues: Sequence[Dialogue], profile: Profile) -> list[int]:
    """For each dialogue the largest number of gold slots in one turn, after the profile's renaming and cleaning."""
    return [
        max((_filled(turn.state or {}, profile) for turn in dialogue.user_turns()), default=0) for dialogue in dialogues
    ]


def _filled(state: dict[str, dict[str, tuple[str, ...]]], profile: Profile) -> int:
    pairs = {
        pair
        for domain, slots in state.items()
        for slot, values in slots.items()
        if (pair := profile.pair(domain, slot)) is not None and profile.normalise(pair, values, "gold")
    }
    return len(pairs)
