"""Plain chat logs: JSONL with a speaker and a text per line, as chat services export them.

    {"dialogue": "7f3", "speaker": "customer", "text": "a table for two please"}
    {"dialogue": "7f3", "speaker": "operator", "text": "sure, when?"}

Lines of one conversation stand together and carry the same ``dialogue``; without that field, an empty line separates
conversations. Texts of one speaker in a row stay turns of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, Speaker, Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.json_text import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

#: How logs call the two sides.
SPEAKERS: dict[str, Speaker] = {
    **dict.fromkeys(("user", "customer", "client", "guest", "visitor", "caller", "human"), "user"),
    **dict.fromkeys(("system", "operator", "agent", "bot", "assistant", "concierge", "support"), "system"),
}

_KNOWN = frozenset({"dialogue", "speaker", "text"})
#: States beside the messages: somebody's predictions, of which only the texts would be left.
_STATE = re.compile(rb'"(?:\w*state|prediction|pred)":\s?[{\[]')
_DECODER = msgspec.json.Decoder(dict[str, Any])


class ChatLog(DialogueFormat):
    """One message a line: speaker, text, and where there is one the dialogue's id."""

    name = "chat-log"
    summary = "chat log JSONL: one message per line with speaker and text (and dialogue)"
    fields = frozenset({"text"})

    def recognise(self, peek: Peek) -> bool:
        first = peek.first_line
        if first is None or not {"speaker", "text"} <= first.keys() or "turns" in first:
            return False
        return "dialogue" in first or "dialogue_id" not in first or _STATE.search(peek.head) is None

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        prefix = part.stem.removesuffix(".jsonl")
        count, identifier, turns, begun = 0, "", list[Turn](), set[str]()
        for number, line in part.lines():
            if not line.strip():
                if turns:
                    yield Dialogue(id=identifier, turns=tuple(turns))
                turns = []
                continue
            named, turn = _message(decode(_DECODER, line, part, line=number), part, number, notes)
            if turns and named and named != identifier:
                yield Dialogue(id=identifier, turns=tuple(turns))
                turns = []
            if not turns:
                _begin(named, begun, part, number)
                count += 1
                identifier = named or f"{prefix}-{count:04d}"
            turns.append(turn)
        if turns:
            yield Dialogue(id=identifier, turns=tuple(turns))


def _begin(named: str, begun: set[str], part: Part, line: int) -> None:
    """Note that a dialogue begins; one that has an id begins only once."""
    if named and named in begun:
        raise DialgaugeError(
            f"the dialogue '{named}' continues here after another one or an empty line; keep its messages together",
            file=part.name,
            line=line,
        )
    begun.add(named)


def _message(raw: dict[str, Any], part: Part, line: int, notes: Notes) -> tuple[str, Turn]:
    """The dialogue's id (``""`` when the line has none) and the turn."""
    for name in raw.keys() - _KNOWN:
        notes.add(f"field {name} dropped")
    speaker, text, dialogue = raw.get("speaker"), raw.get("text"), raw.get("dialogue", "")
    if not isinstance(speaker, str) or not isinstance(text, str):
        raise DialgaugeError("a message needs 'speaker' and 'text', both strings", file=part.name, line=line)
    if isinstance(dialogue, int) and not isinstance(dialogue, bool):
        dialogue = str(dialogue)
    if not isinstance(dialogue, str):
        raise DialgaugeError("'dialogue' must be a string or a number", file=part.name, line=line)
    side = SPEAKERS.get(speaker.strip().lower())
    if side is None:
        raise DialgaugeError(
            f"the speaker '{speaker}' is unknown.{nearest(speaker, SPEAKERS)}", file=part.name, line=line
        )
    return dialogue, Turn(speaker=side, text=text)
