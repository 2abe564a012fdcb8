"""From dialogues to integers, once per input.

A state becomes cells: the row of its user turn and the number of a distinct (domain, slot, values) item. All inputs of
one study share the :class:`Items`, so a profile later looks at every distinct item once, however many turns, systems
and profiles there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np

from dialgauge.dialogue import Dialogue, State, Turn, Values, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.tracking.arrays import Codes, Flags

Item: TypeAlias = tuple[str, str, Values]
#: Which attribute of a turn is read.
Kind: TypeAlias = Literal["state", "predicted", "judged"]

RIGHT: Values = ("right",)
WRONG: Values = ("wrong",)


class Items:
    """Distinct (domain, slot, values) items, numbered in order of appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Item, int] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def listed(self, start: int, stop: int) -> list[Item]:
        """The items from a number up to another."""
        return list(islice(self.numbers, start, stop))


@dataclass(frozen=True)
class Encoded:
    """One side of one input: dialogues in file order, a row per user turn, a cell per filled slot."""

    kind: Kind
    ids: list[str]
    #: Where each dialogue begins among the rows, with the number of rows at the end.
    offsets: Codes
    #: Rows that carry a state at all; a turn without one is missing, not empty.
    present: Flags
    cell_row: Codes
    cell_item: Codes
    #: How many of the shared items were known when this input was encoded: all of its items are among these.
    items: int

    def places(self) -> dict[str, int]:
        """Dialogue key to position."""
        return {dialogue_key(identifier): place for place, identifier in enumerate(self.ids)}

    @property
    def sizes(self) -> Codes:
        """User turns per dialogue."""
        return np.diff(self.offsets)


def encode(dialogues: Iterable[Dialogue], kind: Kind, items: Items) -> Encoded:
    """The states of one kind as cells."""
    ids: list[str] = []
    seen: set[str] = set()
    offsets, present = [0], []
    rows: list[int] = []
    cells: list[int] = []
    numbers = items.numbers
    row = 0
    for dialogue in dialogues:
        for turn in dialogue.turns:
            if turn.speaker != "user":
                continue
            state = _verdicts(turn) if kind == "judged" else (turn.state if kind == "state" else turn.predicted)
            present.append(state is not None)
            if state:
                before = len(cells)
                for domain, slots in state.items():
                    for slot, values in slots.items():
                        item = (domain, slot, values)
                        number = numbers.get(item)
                        if number is None:
                            number = numbers[item] = len(numbers)
                        cells.append(number)
                rows.extend([row] * (len(cells) - before))
            row += 1
        key = dialogue_key(dialogue.id)
        if key in seen:
            raise DialgaugeError("two dialogues have this id (case and .json do not count)", dialogue=dialogue.id)
        seen.add(key)
        ids.append(dialogue.id)
        offsets.append(row)
    return Encoded(
        kind,
        ids,
        np.array(offsets, np.int32),
        np.array(present, bool),
        np.array(rows, np.int32),
        np.array(cells, np.int32),
        len(numbers),
    )


def _verdicts(turn: Turn) -> State | None:
    if turn.judged is None:
        return None
    return {
        domain: {slot: RIGHT if right else WRONG for slot, right in slots.items()}
        for domain, slots in turn.judged.items()
    }


def predicted_kind(dialogues: Sequence[Dialogue], name: str) -> Kind:
    """What a prediction file offers: predicted states, else flags, else plain states (gold scored against gold)."""
    kinds: tuple[Kind, ...] = ("predicted", "judged", "state")
    for kind in kinds:
        if _carries(dialogues, kind):
            return kind
    raise DialgaugeError(
        "no turn carries a state, so there is nothing to score as tracking; response files of policy models have none",
        file=name,
    )


def carries_gold(dialogues: Sequence[Dialogue]) -> bool:
    """Does a prediction file bring its own gold states beside the predictions?"""
    return _carries(dialogues, "state") and (_carries(dialogues, "predicted") or _carries(dialogues, "judged"))


def require_gold(dialogues: Sequence[Dialogue], name: str) -> None:
    """Gold must have states."""
    if not _carries(dialogues, "state"):
        raise DialgaugeError(
            "no turn carries a gold state; give a file with annotated states as GOLD, such as the dataset itself",
            file=name,
        )


def _carries(dialogues: Sequence[Dialogue], kind: Kind) -> bool:
    return any(getattr(turn, kind) is not None for dialogue in dialogues for turn in dialogue.turns)
