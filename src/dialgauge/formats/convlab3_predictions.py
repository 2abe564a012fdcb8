"""Predictions in ConvLab-3's unified format: a list with one object a user turn.

``{"dialogue_id": "multiwoz21-test-0", "utt_idx": 0, "state": {...}, "predictions": {"state": {...}}}``

Rows of one dialogue stand together. ``utt_idx`` counts the turns of both speakers: where it jumps, user turns are
missing; they are put in without a state, so that the turns after them keep their place, and counted in the notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes
from dialgauge.formats.convlab3 import StateReader
from dialgauge.formats.located import Listed
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions import HOLE, MOST_TURNS
from dialgauge.formats.source import Part


class _Predicted(Struct, gc=False):
    state: dict[str, Raw] | UnsetType = UNSET


class _Row(Struct, gc=False):
    dialogue_id: str
    utt_idx: int
    predictions: _Predicted
    state: dict[str, Raw] | UnsetType = UNSET
    utterance: str = ""


_FILE = Listed(_Row)


class ConvLab3Predictions(DialogueFormat):
    """Gold and predicted states of user turns."""

    name = "convlab3-predictions"
    summary = "ConvLab-3 unified predictions: a list with one object a user turn, gold and predicted state"
    kind = "predictions"
    fields = frozenset({"text", "state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and {"dialogue_id", "utt_idx", "predictions"} <= first.keys()

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        states = StateReader(part)
        rows = _FILE.decode(part.read(), part, notes)
        for identifier, group in groupby(rows, key=lambda row: row.dialogue_id):
            try:
                dialogue = Dialogue(id=identifier, turns=tuple(_turns(list(group), states, notes)))
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=identifier))
            else:
                yield dialogue


def _turns(rows: list[_Row], states: StateReader, notes: Notes) -> Iterator[Turn]:
    last = -2 + rows[0].utt_idx % 2
    for row in rows:
        step = row.utt_idx - last
        if step < 1 or row.utt_idx > MOST_TURNS:
            message = f"utt_idx {row.utt_idx} cannot follow {last}; the rows of a dialogue go in the order of its turns"
            raise DialgaugeError(message)
        missing = (step - 1) // 2
        notes.add("missing turns, left as holes", missing)
        yield from (HOLE for _ in range(missing))
        last = row.utt_idx
        try:
            yield Turn(
                speaker="user",
                text=row.utterance,
                state=None if row.state is UNSET else states.read(row.state),
                predicted=None if row.predictions.state is UNSET else states.read(row.predictions.state),
            )
        except DialgaugeError as error:
            raise error.at(turn=row.utt_idx) from error
