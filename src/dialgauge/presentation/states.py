"""Gold and predicted states side by side: what is new or differs, and the rest; and the states that turns record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from dialgauge.dialogue import State, Turn
from dialgauge.presentation.pages import Badge
from dialgauge.text import counted

#: What some sources put before the slots of a booking.
_BOOKING = "book"


class SlotRow(Struct, frozen=True):
    """A slot of a state, gold beside predicted; ``kind`` is ``right`` or the kind of error, ``new`` in this turn."""

    slot: str
    gold: str
    predicted: str
    kind: str
    new: bool


#: Slots with gold value, predicted value and kind, in order.
Slots: TypeAlias = Mapping[str, tuple[str, str, str]]


def slot_rows(slots: Slots, before: Slots) -> tuple[tuple[SlotRow, ...], tuple[SlotRow, ...]]:
    """The slots that are new since the turn before or not right, and the others."""
    rows = [SlotRow(name, *values, new=before.get(name) != values) for name, values in slots.items()]
    telling = tuple(row for row in rows if row.new or row.kind != "right")
    return telling, tuple(row for row in rows if not row.new and row.kind == "right")


class StateView(Struct, frozen=True):
    """States after a user turn. ``side`` names the one that is there where the other was not recorded."""

    rows: tuple[SlotRow, ...]
    rest: tuple[SlotRow, ...]
    side: str = ""

    @property
    def differs(self) -> int:
        """In how many slots the states differ."""
        return 0 if self.side else sum(row.kind != "right" for row in self.rows)

    def badges(self) -> list[Badge]:
        """In how many slots the states differ; those that differed before in the same way are no news."""
        new = 0 if self.side else sum(row.kind != "right" and row.new for row in self.rows)
        marks = []
        if new:
            marks.append(Badge(f"{counted(new, 'slot')} wrong", "bad", "the predicted state is not the gold state"))
        if carried := self.differs - new:
            marks.append(Badge(f"{counted(carried, 'slot')} still wrong", "plain", "since an earlier turn"))
        return marks


class StateRowReader:
    """Reads states turn by turn, so that it knows what is new."""

    def __init__(self) -> None:
        self._before: Slots = {}

    def read(self, turn: Turn) -> StateView | None:
        """The states of a turn; None where it has none."""
        if turn.state is None and turn.predicted is None:
            return None
        side = "predicted" if turn.state is None else "gold" if turn.predicted is None else ""
        slots = _slots(turn.state or {}, turn.predicted or {}, alone=bool(side))
        before, self._before = self._before, slots
        return StateView(*slot_rows(slots, before), side)


def _slots(gold: State, predicted: State, *, alone: bool) -> dict[str, tuple[str, str, str]]:
    """Each slot with its gold value, its predicted value and the kind of difference."""
    wanted, believed = dict(_flat(gold)), dict(_flat(predicted))
    slots = {}
    for name in sorted(wanted | believed):
        right, given = wanted.get(name, ()), believed.get(name, ())
        kind = "right" if alone else _kind(right, given)
        slots[name] = (" | ".join(right), " | ".join(given), kind)
    return slots


def _flat(state: State) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Slots with their domain. Some write ``bookday`` where others write ``day``: they are shown as one."""
    for domain, slots in state.items():
        for slot, values in slots.items():
            short = slot.removeprefix(_BOOKING)
            yield f"{domain}-{slot if not short or short in slots else short}", values


def _kind(gold: tuple[str, ...], predicted: tuple[str, ...]) -> str:
    if not gold:
        return "spurious"
    if not predicted:
        return "missed"
    known = {value.lower() for value in gold}
    return "right" if any(value.lower() in known for value in predicted) else "wrong"
