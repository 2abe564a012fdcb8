"""T5-DST style: as TRADE's, with the domain of each dialogue beside its turns.

``{"MUL0001.json": {"domain": "hotel", "turns": {"0": {"turn_belief": ["hotel-area-north"], "pred_belief": []}}}}``

Files of zero-shot experiments hold the slots of one domain only; ``domain`` becomes the dialogue's ``domains``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.located import KeyLocation, as_key
from dialgauge.formats.predictions.common import (
    Beliefs,
    assembled,
    built,
    by_turn,
    hyphenated,
    members,
    sample_dialogues,
    sample_turns,
    some_have,
)
from dialgauge.formats.source import Part


class _Turn(msgspec.Struct, gc=False):
    pred_belief: msgspec.Raw
    turn_belief: msgspec.Raw = msgspec.Raw()


class _Dialogue(msgspec.Struct):
    turns: msgspec.Raw
    domain: str | list[str] = ""


_DIALOGUE = msgspec.json.Decoder(_Dialogue)
_TURNS = msgspec.json.Decoder(dict[KeyLocation, _Turn], dec_hook=as_key)


class T5Dst(DialogueFormat):
    """Gold in ``turn_belief``, the prediction in ``pred_belief``, below ``turns``."""

    name = "t5-dst"
    summary = "T5-DST predictions, {dialogue: {domain, turns: {turn: {turn_belief, pred_belief}}}}"
    kind = "predictions"
    fields = frozenset({"state", "predicted", "domains"})

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, dict) and "turns" in item for item in dialogues):
            return False
        return some_have(sample_turns(item["turns"] for item in dialogues), "pred_belief")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        beliefs = Beliefs(hyphenated, part, notes)

        def make(turn: _Turn) -> Turn:
            gold, predicted = beliefs.optional(turn.turn_belief), beliefs.read(turn.pred_belief)
            return Turn(speaker="user", state=gold, predicted=predicted)

        def build(dialogue: str, raw: msgspec.Raw) -> Dialogue:
            whole = decode(_DIALOGUE, raw, part)
            domains = (whole.domain,) if isinstance(whole.domain, str) else tuple(whole.domain)
            turns = by_turn(whole.turns, _TURNS, part, notes)
            return msgspec.structs.replace(assembled(dialogue, turns, make), domains=tuple(filter(None, domains)))

        return built(members(part), build, part, notes)
