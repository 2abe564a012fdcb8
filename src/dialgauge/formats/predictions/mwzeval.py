"""Predictions for MultiWOZ_Evaluation: responses of end-to-end and policy systems, with or without states.

``{"mul0001": [{"response": "...", "state": {"hotel": {"area": "east"}}, "active_domains": ["hotel"]}]}``

Each entry answers one user turn: it becomes a user turn that carries the predicted state, and the system turn with the
response. Policy systems are given the gold state and write none; their user turns carry no prediction. States may be
as language models write them (:mod:`~dialgauge.formats.predictions.loose`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode, read_state
from dialgauge.formats.predictions.common import built, members, sample_dialogues, some_have
from dialgauge.formats.predictions.loose import LooseStates
from dialgauge.formats.source import Part


class _Entry(msgspec.Struct, gc=False):
    response: str
    state: Raw = Raw()
    active_domains: tuple[str, ...] | None = None


_DECODER = msgspec.json.Decoder(list[_Entry])
_ENTRY_PATH = re.compile(r"`\$\[(\d+)\]")


class MwzEval(DialogueFormat):
    """A list of responses a dialogue, each with an optional state; no gold inside."""

    name = "mwzeval"
    summary = "MultiWOZ_Evaluation predictions, {dialogue: [{response, state?, active_domains?}]}"
    kind = "predictions"
    fields = frozenset({"predicted", "active", "text"})

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, list) for item in dialogues):
            return False
        return some_have((entry for item in dialogues for entry in item), "response")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        states = LooseStates(lambda content: read_state(content, part), part, notes)

        def build(dialogue: str, raw: Raw) -> Dialogue:
            states.dialogue = dialogue
            try:
                entries = decode(_DECODER, raw, part)
            except DialgaugeError as error:
                place = _ENTRY_PATH.search(error.message)
                raise error.at(turn=int(place[1]) if place else None) from error
            turns: list[Turn] = []
            for number, entry in enumerate(entries):
                states.turn = number
                try:
                    predicted = states.optional(entry.state)
                except DialgaugeError as error:
                    raise error.at(turn=number) from error
                turns.append(Turn(speaker="user", predicted=predicted, active=entry.active_domains))
                turns.append(Turn(speaker="system", text=entry.response))
            return Dialogue(id=dialogue, turns=tuple(turns))

        return built(members(part), build, part, notes)
