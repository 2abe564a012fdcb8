"""Predictions for MultiWOZ_Evaluation: responses of end-to-end and policy systems, with or without states.

``{"mul0001": [{"response": "...", "state": {"hotel": {"area": "east"}}, "active_domains": ["hotel"]}]}``

Each entry answers one user turn: it becomes a user turn that carries the predicted state, and the system turn with the
response. Policy systems are given the gold state and write none; their user turns carry no prediction. States may be
as language models write them (:mod:`~dialgauge.formats.predictions.loose`). A slot that says ``none`` or nothing is
absent, but to the package it has that value: such slots are kept in ``Turn.blank``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.jsonfile import NOTHING, Keyed
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.common import built, sample_dialogues, some_have
from dialgauge.formats.predictions.loose import LooseStates
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import clean_state, read_state


class _Entry(msgspec.Struct, gc=False):
    response: str
    state: Raw = Raw()
    active_domains: tuple[str, ...] | None = None


_FILE = Keyed(list[_Entry])


class MwzEval(DialogueFormat):
    """A list of responses a dialogue, each with an optional state; no gold inside."""

    name = "mwzeval"
    summary = "MultiWOZ_Evaluation predictions, {dialogue: [{response, state?, active_domains?}]}"
    kind = "predictions"
    fields = frozenset({"predicted", "blank", "active", "text"})

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, list) for item in dialogues):
            return False
        return some_have((entry for item in dialogues for entry in item), "response")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        blanks = _Blanks()

        def strict(content: bytes) -> State:
            blank: State = {}
            state = read_state(content, part, blank)
            blanks[content] = _still_blank(blank, msgspec.json.decode(content)) if blank else None
            return state

        states = LooseStates(strict, part, notes)

        def user_turn(content: bytes, active: tuple[str, ...] | None, number: int) -> Turn:
            if content in NOTHING:
                return Turn(speaker="user", active=active)
            states.turn = number
            try:
                turn = Turn(speaker="user", predicted=states.read(content), blank=blanks[content], active=active)
            except DialgaugeError as error:
                raise error.at(turn=number) from error
            return turn

        def build(dialogue: str, entries: list[_Entry]) -> Dialogue:
            states.dialogue = dialogue
            turns: list[Turn] = []
            for number, entry in enumerate(entries):
                turns.append(user_turn(bytes(entry.state), entry.active_domains, number))
                turns.append(Turn(speaker="system", text=entry.response))
            return Dialogue(id=dialogue, turns=tuple(turns))

        return built(_FILE.read(part, notes), build, part, notes)


class _Blanks(dict[bytes, State | None]):
    """The blank slots of every state that was read; those of a state that had to be read loosely are looked up here."""

    def __missing__(self, content: bytes) -> State | None:
        written = msgspec.json.decode(content)
        domains = written.items() if isinstance(written, dict) else ()
        raw = {domain: slots for domain, slots in domains if isinstance(slots, dict)}
        texts: dict[str, dict[str, str | list[str]]] = {
            domain: {slot: value or "" for slot, value in slots.items() if value is None or isinstance(value, str)}
            for domain, slots in raw.items()
        }
        blank: State = {}
        clean_state(texts, blank)
        blanks = self[content] = _still_blank(blank, raw)
        return blanks


def _still_blank(blank: State, raw: Mapping[str, Mapping[str, Any]]) -> State | None:
    """Without slots that the domain fills further on under another spelling: of two, the package takes the last."""
    for domain, slots in blank.items():
        later: set[str] = set()
        for slot in reversed(list(raw[domain])):
            name = slot.lower().replace(" ", "").replace("arriveby", "arrive").replace("leaveat", "leave")
            if name in later:
                slots.pop(slot, None)
            later.add(name)
    return {domain: slots for domain, slots in blank.items() if slots or not raw[domain]} or None
