"""Hi-DST's log: the cumulative gold state and the values predicted anew in each turn.

``{"MUL0001.json": {"0": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "east"}, "slots": {...}}}}``

The predicted state is what the turns so far predicted, later values overwriting earlier ones; a value that means
"absent" (``none``) empties its slot.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from turnwise.dialogue import Dialogue, Turn, Values
from turnwise.formats.base import DialogueFormat, Notes, present_text
from turnwise.formats.beliefs import slot_state
from turnwise.formats.located import Key, as_key
from turnwise.formats.peek import Peek
from turnwise.formats.predictions import assembled, built, by_turn, members, sample_dialogues, sample_turns, some_have
from turnwise.formats.source import Part


class _Turn(msgspec.Struct):
    pr_turn: dict[str, str]
    gt: dict[str, str] | None = None
    slots: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(dict[Key, _Turn], dec_hook=as_key)


class HiDst(DialogueFormat):
    """Gold in ``gt``, new predictions in ``pr_turn``, both as ``domain-slot`` to value."""

    name = "hi-dst"
    summary = "Hi-DST log, {dialogue: {turn: {gt, pr_turn}}}, predictions per turn"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_turns(sample_dialogues(peek)), "pr_turn")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        def build(dialogue: str, raw: msgspec.Raw) -> Dialogue:
            turns = by_turn(raw, _DECODER, part, notes)
            notes.add("field slots dropped", sum(turn is not None and bool(bytes(turn.slots)) for turn in turns))
            return assembled(dialogue, turns, _Accumulated().turn)

        return built(members(part), build, part, notes)


class _Accumulated:
    """What a dialogue's turns predicted so far."""

    def __init__(self) -> None:
        self._predicted: dict[str, Values] = {}

    def turn(self, written: _Turn) -> Turn:
        self._predicted.update(_values(written.pr_turn))
        gold = None if written.gt is None else slot_state(_values(written.gt))
        return Turn(speaker="user", state=gold, predicted=slot_state(self._predicted))


def _values(written: dict[str, str]) -> dict[str, Values]:
    return {slot: present_text(value) for slot, value in written.items()}
