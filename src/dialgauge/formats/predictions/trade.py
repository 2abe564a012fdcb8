"""TRADE's ``all_prediction_*.json``: gold and prediction of each turn as lists of ``domain-slot-value``.

``{"MUL0001.json": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-east"]}}}``

In spite of its name, ``turn_belief`` is the cumulative gold state.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.formats.base import DialogueFormat, Notes, Peek
from dialgauge.formats.predictions.common import (
    Beliefs,
    NumberedTurns,
    assembled,
    hyphenated,
    sample_dialogues,
    sample_turns,
    some_have,
)
from dialgauge.formats.source import Part


class _Turn(msgspec.Struct, gc=False):
    pred_bs_ptr: msgspec.Raw
    turn_belief: msgspec.Raw = msgspec.Raw()


_FILE = NumberedTurns(_Turn)


class Trade(DialogueFormat):
    """Gold in ``turn_belief``, the prediction in ``pred_bs_ptr``."""

    name = "trade"
    summary = "TRADE predictions, {dialogue: {turn: {turn_belief, pred_bs_ptr}}}"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_turns(sample_dialogues(peek)), "pred_bs_ptr")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        beliefs = Beliefs(hyphenated, part, notes)

        def make(turn: _Turn) -> Turn:
            gold, predicted = beliefs.optional(turn.turn_belief), beliefs.read(turn.pred_bs_ptr)
            return Turn(speaker="user", state=gold, predicted=predicted)

        return _FILE.read(part, notes, lambda dialogue, turns: assembled(dialogue, turns, make))
