"""SOM-DST's ``preds_N.json``: prediction and gold of each turn as lists of ``domain-slot-value``.

``{"MUL0001.json_0": [["hotel-area-east"], ["hotel-area-north"]]}``
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.predictions.common import Beliefs, assembled, built, grouped, hyphenated, in_order, members
from dialgauge.formats.source import Part

_DECODER = msgspec.json.Decoder(tuple[msgspec.Raw, msgspec.Raw])


class SomDst(DialogueFormat):
    """Keys of dialogue id, underscore and turn; values of prediction and gold."""

    name = "som-dst"
    summary = "SOM-DST predictions, {dialogue_turn: [predicted, gold]}"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        if peek.first is None:
            return False
        key, value = peek.first
        return _split(key) is not None and isinstance(value, list) and bool(value) and _is_texts(value[0])

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        beliefs = Beliefs(hyphenated, part, notes)

        def make(raw: msgspec.Raw) -> Turn:
            predicted, gold = decode(_DECODER, raw, part)
            return Turn(speaker="user", state=beliefs.read(gold), predicted=beliefs.read(predicted))

        def build(dialogue: str, turns: list[tuple[str, msgspec.Raw]]) -> Dialogue:
            return assembled(dialogue, in_order(turns, notes), make)

        return built(grouped(_entries(part)).items(), build, part, notes)


def _entries(part: Part) -> Iterator[tuple[str, str, msgspec.Raw]]:
    for key, raw in members(part):
        split = _split(key)
        if split is None:
            raise DialgaugeError(f"the key '{key[:80]}' is not a dialogue id, an underscore and a turn", file=part.name)
        yield (*split, raw)


def _split(key: str) -> tuple[str, str] | None:
    """Dialogue id and turn number of a key such as ``MUL0001.json_0``."""
    dialogue, _, turn = key.rpartition("_")
    return (dialogue, turn) if dialogue and turn.isascii() and turn.isdigit() and len(turn) < 10 else None


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
