"""What a language model answered when asked for states: JSON lines, one answer a line.

``{"dialogue": "MUL0001.json", "turn": 0, "output": "Sure! {\\"hotel\\": {\\"area\\": \\"north\\", \\"stars\\": 4}}"}``

``turn`` is the number of the user turn. ``output`` is the answer as it came, or the JSON that was found in it: the
whole state so far, as domains with slots or as ``domain-slot`` with values. How it is read says
:mod:`~dialgauge.formats.predictions.loose`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.predictions.common import assembled, built, grouped, in_order
from dialgauge.formats.predictions.loose import LooseStates, loose_state
from dialgauge.formats.source import Part


class _Line(msgspec.Struct, gc=False):
    dialogue: str
    turn: int
    output: Any


_LINE = msgspec.json.Decoder(_Line)


class LlmOutput(DialogueFormat):
    """One answer a line: dialogue, user turn, output."""

    name = "llm-output"
    summary = "answers of a language model, JSON lines of {dialogue, turn, output}; the state is found in the output"
    kind = "predictions"
    fields = frozenset({"predicted"})

    def recognise(self, peek: Peek) -> bool:
        return peek.first_line is not None and {"dialogue", "turn", "output"} <= peek.first_line.keys()

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        place = LooseStates(lambda content: {}, part, notes)

        def make(output: Any) -> Turn:
            seen: Counter[str] = Counter()
            state = loose_state(output[0], seen)
            place.note(seen)
            return Turn(speaker="user", predicted=state)

        def build(dialogue: str, turns: list[tuple[str, Any]]) -> Dialogue:
            return assembled(dialogue, in_order(turns, notes), make, place)

        return built(grouped(_answers(part)).items(), build, part, notes)


def _answers(part: Part) -> Iterator[tuple[str, str, tuple[Any]]]:
    """Dialogue, turn and output; in a tuple, because no output (null) is an answer too."""
    for number, line in part.lines():
        if line.strip():
            answer = decode(_LINE, line, part, line=number)
            yield answer.dialogue, str(answer.turn), (answer.output,)
