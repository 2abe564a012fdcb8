"""Nested gt/pr: gold and predicted state of each turn as nested objects (result files of FGA and GCA).

``{"MUL0001.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "east"}}}}}``

A file may leave out ``gt`` or ``pr``; a value may be a list of alternatives. Predictions may be as language models
write them (:mod:`~dialgauge.formats.predictions.loose`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats.base import DialogueFormat, Notes, Peek, clean_state
from dialgauge.formats.located import Remembered
from dialgauge.formats.predictions.common import NumberedTurns, assembled, sample_dialogues, sample_turns, some_have
from dialgauge.formats.predictions.loose import LooseStates
from dialgauge.formats.source import Part

_Written: TypeAlias = dict[str, dict[str, str | list[str]]]


class _Turn(msgspec.Struct, gc=False):
    gt: msgspec.Raw = msgspec.Raw()
    pr: msgspec.Raw = msgspec.Raw()


_FILE = NumberedTurns(_Turn)
_STATE = msgspec.json.Decoder(_Written)


class Nested(DialogueFormat):
    """Gold and prediction side by side, nested by dialogue, turn, domain and slot."""

    name = "nested"
    summary = "states as nested objects, {dialogue: {turn: {gt, pr}}} (FGA, GCA)"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})
    writes = True

    def recognise(self, peek: Peek) -> bool:
        turns = sample_turns(sample_dialogues(peek))
        return some_have(turns, "gt", "pr") and not some_have(turns, "pr_turn")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        states = Remembered(_STATE, clean_state, part)
        predicted = LooseStates(states.made, part, notes)

        def make(turn: _Turn) -> Turn:
            return Turn(speaker="user", state=states.optional(turn.gt), predicted=predicted.optional(turn.pr))

        return _FILE.read(part, notes, lambda dialogue, turns: assembled(dialogue, turns, make, predicted))

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        """One member a dialogue and line; only user turns have a place."""
        before = b"{\n"
        for dialogue in dialogues:
            turns = {str(number): _written(turn) for number, turn in enumerate(dialogue.user_turns())}
            notes.add("system turns dropped", len(dialogue.turns) - len(turns))
            out.write(before + msgspec.json.encode(dialogue.id) + b": " + msgspec.json.encode(turns))
            before = b",\n"
        out.write(b"\n}\n" if before == b",\n" else b"{}\n")


def _written(turn: Turn) -> dict[str, _Written]:
    """The sides of a turn that are recorded."""
    sides = {"gt": turn.state, "pr": turn.predicted}
    return {side: _plain(state) for side, state in sides.items() if state is not None}


def _plain(state: State) -> _Written:
    return {
        domain: {slot: values[0] if len(values) == 1 else list(values) for slot, values in slots.items()}
        for domain, slots in state.items()
    }
