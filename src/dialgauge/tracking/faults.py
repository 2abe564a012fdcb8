"""Where it goes wrong: when errors begin, how long they last, whether they are repaired, and which values are confused.

An *episode* is a slot that is wrong in consecutive turns of a dialogue: it begins at its origin, lasts a number of
turns, and ends by recovery or with the dialogue.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dialgauge.tracking.comparison import StateComparison
from dialgauge.tracking.counts import CORRECT, MISSED, SPURIOUS, WRONG
from dialgauge.tracking.encode import Codes, Verdicts
from dialgauge.values import Pair

KINDS = {WRONG: "wrong value", MISSED: "missed", SPURIOUS: "spurious"}


@dataclass(frozen=True)
class Episodes:
    """All episodes, ordered by dialogue, slot and turn: arrays of equal length."""

    dialogue: Codes
    slot: Codes
    #: User-turn number where the error begins, and the kind of error it is there.
    origin: Codes
    kind: Verdicts
    turns: Codes
    recovered: Codes

    def __len__(self) -> int:
        return len(self.slot)


@dataclass(frozen=True)
class SlotFaults:
    """The episodes of one slot."""

    pair: Pair
    episodes: int
    wrong_value: int
    missed: int
    spurious: int
    mean_origin: float
    mean_turns: float
    recovered: int


@dataclass(frozen=True)
class FirstErrors:
    """The first wrong turn of dialogues whose last turn is wrong (RSA paper, Figure 1)."""

    dialogues: int
    #: Dialogue id to the number of its first wrong turn t0, to t0 / N of its N turns, and to (t0 + 1) / N.
    turn: dict[str, int]
    position: dict[str, float]
    position_after: dict[str, float]
    #: Dialogues that are exact again at some turn after the first error, and still end wrong.
    recovering: list[str]

    def histogram(self, bins: int = 10) -> list[int]:
        """How many dialogues have their first error in each tenth of the dialogue."""
        counts, _ = np.histogram(list(self.position.values()), bins=bins, range=(0.0, 1.0))
        return [int(number) for number in counts]


class Faults:
    """The errors of one system under one profile."""

    def __init__(self, comparison: StateComparison) -> None:
        self.comparison = comparison

    @cached_property
    def _cells(self) -> tuple[Codes, Codes, Verdicts, Codes, Codes]:
        """Every wrong slot in every turn: turn (row), slot, kind, gold code, predicted code."""
        parts: list[tuple[Codes, Codes, Verdicts, Codes, Codes]] = []
        for stretch in self.comparison.stretches():
            verdicts = self.comparison.verdicts(stretch)
            slot, turn = np.nonzero(verdicts > CORRECT)
            parts.append(
                (
                    (turn + stretch.start).astype(np.int32),
                    stretch.slots[slot],
                    verdicts[slot, turn],
                    stretch.gold[slot, turn],
                    stretch.predicted[slot, turn],
                )
            )
        return (
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts]),
            np.concatenate([part[3] for part in parts]),
            np.concatenate([part[4] for part in parts]),
        )

    @cached_property
    def episodes(self) -> Episodes:
        """All stretches of turns in which a slot stays wrong."""
        row, slot, kind, _, _ = self._cells
        counts = self.comparison.counts
        dialogue = counts.dialogue[row]
        order = np.lexsort((row, slot, dialogue))
        row, slot, kind, dialogue = row[order], slot[order], kind[order], dialogue[order]
        begins = np.ones(len(row), bool)
        begins[1:] = (slot[1:] != slot[:-1]) | (dialogue[1:] != dialogue[:-1]) | (row[1:] != row[:-1] + 1)
        start = np.flatnonzero(begins)
        length = np.diff(np.append(start, len(row))).astype(np.int32)
        end = row[start] + length - 1 if len(start) else row[start]
        return Episodes(
            dialogue[start], slot[start], counts.turn[row[start]], kind[start], length,
            (~counts.last[end]).astype(np.int32),
        )  # fmt: skip

    def by_slot(self) -> list[SlotFaults]:
        """The episodes of each slot, slots with most wrong turns first."""
        found, pairs = self.episodes, self.comparison.slots
        table = []
        for slot in np.unique(found.slot).tolist():
            mine = found.slot == slot
            kinds = Counter(found.kind[mine].tolist())
            table.append(
                SlotFaults(
                    pairs[slot],
                    int(mine.sum()),
                    kinds[WRONG],
                    kinds[MISSED],
                    kinds[SPURIOUS],
                    float(found.origin[mine].mean()),
                    float(found.turns[mine].mean()),
                    int(found.recovered[mine].sum()),
                )
            )
        return sorted(table, key=lambda entry: (-entry.episodes * entry.mean_turns, entry.pair))

    def first_errors(self) -> FirstErrors:
        """Among dialogues whose last turn is wrong: where the first wrong turn is, and which recover in between."""
        counts, ids = self.comparison.counts, self.comparison.aligned.ids
        offsets = self.comparison.aligned.offsets.tolist()
        turn, position, after, recovering = {}, {}, {}, []
        for number, name in enumerate(ids):
            exact = counts.exact[offsets[number] : offsets[number + 1]]
            if exact[-1]:
                continue
            place = int(np.argmin(exact))
            turn[name] = int(counts.turn[offsets[number] + place])
            position[name], after[name] = place / len(exact), (place + 1) / len(exact)
            if exact[place:].any():
                recovering.append(name)
        return FirstErrors(len(turn), turn, position, after, recovering)

    def confusions(self, most: int | None = None) -> list[tuple[Pair, str, str, int]]:
        """(slot, gold value, predicted value, turns), most frequent first; an absent slot is an empty string."""
        _, slot, _, gold, predicted = self._cells
        values, pairs = self.comparison.coder.values, self.comparison.slots
        triples, counts = np.unique(np.stack([slot, gold, predicted]), axis=1, return_counts=True)
        listed = [
            (pairs[which], " | ".join(values[wanted]), " | ".join(values[given]), int(number))
            for (which, wanted, given), number in zip(triples.T.tolist(), counts, strict=True)
        ]
        return sorted(listed, key=lambda entry: (-entry[3], entry[:3]))[:most]


def slots_per_dialogue(comparison: StateComparison) -> Codes:
    """For each dialogue the largest number of gold slots in one of its turns (RSA paper, Figure 2)."""
    sizes = comparison.counts.gold_size
    return np.maximum.reduceat(sizes, comparison.aligned.offsets[:-1])


def faults_as_dict(faults: Faults, most: int = 100) -> dict[str, Any]:
    """For JSON: errors by slot, the most frequent confusions, first errors, slots per dialogue."""
    first = faults.first_errors()
    return {
        "slots": [{**asdict(entry), "pair": "-".join(entry.pair)} for entry in faults.by_slot()],
        "confusions": [
            {"slot": "-".join(pair), "gold": gold, "predicted": predicted, "turns": turns}
            for pair, gold, predicted, turns in faults.confusions(most)
        ],
        "first_error": {**asdict(first), "histogram": first.histogram()},
        "slots_per_dialogue": np.bincount(slots_per_dialogue(faults.comparison)).tolist(),
    }
