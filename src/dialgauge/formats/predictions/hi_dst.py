"""Hi-DST's log: the cumulative gold state and the values predicted anew in each turn.

``{"MUL0001.json": {"0": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "east"}, "slots": {...}}}}``

The predicted state is what the turns so far predicted, later values overwriting earlier ones; a value that means
"absent" (``none``, null) empties its slot. Predictions may be as language models write them
(:mod:`~dialgauge.formats.predictions.loose`).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.formats.base import DialogueFormat, Notes, Peek, present_text
from dialgauge.formats.located import Remembered
from dialgauge.formats.predictions.common import (
    NumberedTurns,
    assembled,
    sample_dialogues,
    sample_turns,
    slot_state,
    some_have,
)
from dialgauge.formats.predictions.loose import LooseChanges
from dialgauge.formats.source import Part


class _Turn(msgspec.Struct, gc=False):
    pr_turn: msgspec.Raw
    gt: msgspec.Raw = msgspec.Raw()
    slots: msgspec.Raw = msgspec.Raw()


_FILE = NumberedTurns(_Turn)
_STATE = msgspec.json.Decoder(dict[str, str])


class HiDst(DialogueFormat):
    """Gold in ``gt``, new predictions in ``pr_turn``, both as ``domain-slot`` to value."""

    name = "hi-dst"
    summary = "Hi-DST log, {dialogue: {turn: {gt, pr_turn}}}, predictions per turn"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_turns(sample_dialogues(peek)), "pr_turn")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        golds = Remembered(_STATE, lambda written: slot_state(_values(written)), part)
        changes = LooseChanges(_STATE, part, notes)

        def build(dialogue: str, turns: list[_Turn | None]) -> Dialogue:
            notes.add("field slots dropped", sum([turn is not None and len(turn.slots) > 0 for turn in turns]))
            return assembled(dialogue, turns, _Accumulated(golds, changes).turn, changes)

        return _FILE.read(part, notes, build)


class _Accumulated:
    """What a dialogue's turns predicted so far."""

    def __init__(self, golds: Remembered[State], changes: LooseChanges) -> None:
        self._golds, self._changes = golds, changes
        self._values: dict[str, Values] = {}
        self._state: State = {}

    def turn(self, written: _Turn) -> Turn:
        if changed := self._changes.read(bytes(written.pr_turn)):
            self._values.update(changed)
            self._state = slot_state(self._values)
        return Turn(speaker="user", state=self._golds.optional(written.gt), predicted=self._state)


def _values(written: dict[str, str]) -> dict[str, Values]:
    return {slot: present_text(value) for slot, value in written.items()}
