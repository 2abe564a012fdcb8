"""dialgauge's own JSONL: one dialogue per line, exactly the fields of the data model.

Lines are decoded one by one, so a file of any size passes through in constant memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat, Peek
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

_DECODER = msgspec.json.Decoder(Dialogue)
_ENCODER = msgspec.json.Encoder()


class Native(DialogueFormat):
    """One :class:`~dialgauge.dialogue.Dialogue` a line, as JSON."""

    name = "native"
    summary = "dialgauge JSONL: one dialogue per line"
    fields = ALL_FIELDS
    writes = True

    def recognise(self, peek: Peek) -> bool:
        first = peek.first_line
        if first is None or not {"id", "turns"} <= first.keys():
            return False
        turns = first["turns"]  # ours all say who speaks
        strange = isinstance(turns, list) and all(isinstance(turn, dict) and "speaker" not in turn for turn in turns)
        return turns == [] or not strange

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        for number, line in part.lines():
            if not line.strip():
                continue
            try:
                dialogue = decode(_DECODER, line, part, line=number)
            except DialgaugeError as error:
                notes.refuse(error)
            else:
                yield dialogue

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        for dialogue in dialogues:
            out.write(_ENCODER.encode(dialogue))
            out.write(b"\n")
