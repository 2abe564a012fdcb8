"""Gold and predicted states beside a turn: what is new or differs first, what was carried over folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from dialgauge.report.table import Cell, Table, Tone
from dialgauge.text import counted, some_of

if TYPE_CHECKING:
    from dialgauge.dialogue import State, Turn

#: By slot the gold value, the predicted value, and what happened to it: ``right`` or a kind of error.
Slots: TypeAlias = Mapping[str, tuple[str, str, str]]

RIGHT = "right"
#: What happens to slots, and how it is coloured.
ERRORS: Mapping[str, str] = {"wrong": "wrong value", "missed": "missed", "spurious": "spurious"}
_TONES: Mapping[str, Tone] = {RIGHT: "good", "wrong": "bad", "missed": "bad", "spurious": "bad"}
#: What some sources put before the slots of a booking.
_BOOKING = "book"


def state_table(slots: Slots, before: Slots) -> Table:
    """Both states: slots that are new or changed first, the others folded; errors among these are named."""
    news = {slot for slot, values in slots.items() if values != before.get(slot)}
    table = Table("", ["slot", "gold", "predicted", "verdict"], first=len(news))
    if carried := [slot for slot in sorted(slots) if slot not in news and slots[slot][2] not in (RIGHT, "")]:
        table.notes.append(f"{counted(len(carried), 'error')} carried over: {some_of(carried)}.")
    for slot in sorted(slots, key=lambda name: (name not in news, name)):
        gold, predicted, kind = slots[slot]
        table.add(
            slot, gold or None, predicted or None, Cell(ERRORS.get(kind, kind) or None, tone=_TONES.get(kind, "plain"))
        )
    return table


def recorded_slots(turn: Turn) -> Slots | None:
    """The states that a turn records, compared as they are written; None if it has none."""
    if turn.state is None and turn.predicted is None:
        return None
    gold, predicted = dict(_flat(turn.state or {})), dict(_flat(turn.predicted or {}))
    both = turn.state is not None and turn.predicted is not None
    return {
        name: (" | ".join(right), " | ".join(given), _kind(right, given) if both else "")
        for name in sorted(gold | predicted)
        for right, given in [(gold.get(name, ()), predicted.get(name, ()))]
    }


def _flat(state: State) -> Iterator[tuple[str, tuple[str, ...]]]:
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
    return RIGHT if any(value.lower() in known for value in predicted) else "wrong"
