"""What a guard finds: kinds of mistakes that make a score nonsense, and the words and thresholds that guards share."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from dialgauge.values import Pair, Profile

TURNS, SLOTS, DIALOGUES, OUTPUTS = "turn_numbers", "slot_names", "dialogue_ids", "invalid_outputs"
ABSENT, JOINED, CHANGES = "absent_values", "joined_slots", "turn_changes"
BOOLEANS, SPELLINGS, SEVERAL = "boolean_values", "value_spellings", "several_values"
OWN_GOLD = "own_gold"
#: What may be accepted.
GUARDS = (TURNS, SLOTS, DIALOGUES, OUTPUTS, ABSENT, JOINED, CHANGES, BOOLEANS, SPELLINGS, OWN_GOLD)
#: What notes of runs are about that are shown beside scores.
SHOWN = (*GUARDS, "renamed", "renumbered", SEVERAL)

#: Fewer filled slots or turns are too few to call a score nonsense.
FEW = 10
#: The share of filled slots from which values that name other slots stop the score.
MANY = 0.1
#: The share of filled slots from which a name that only one side has is told.
NOTABLE = 0.01
LISTED = 8


class GuardFinding(NamedTuple):
    """A likely mistake; ``stops``: the score would mean nothing.

    ``example`` is a file that would mend it, ``advice`` the option.
    """

    kind: str
    sentence: str
    stops: bool = False
    example: str = ""
    advice: str = ""


def slot_fills(written: dict[Pair, int], profile: Profile) -> tuple[Counter[Pair], Counter[Pair]]:
    """How often each slot is filled, under the profile's names; those out of its scope as written."""
    inside: Counter[Pair] = Counter()
    outside: Counter[Pair] = Counter()
    for name, count in written.items():
        pair = profile.pair(*name)
        if pair is None:
            outside[name] += count
        else:
            inside[pair] += count
    return inside, outside


def slot_text(pair: Pair) -> str:
    """A slot as people write it: hotel-area."""
    return f"{pair[0]}-{pair[1]}"
