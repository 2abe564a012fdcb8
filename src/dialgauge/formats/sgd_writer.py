"""Writing dialogues in the shape of SGD and MultiWOZ 2.2.

A turn gets a frame for each service in ``active``, and for services that have something to say without being listed
there: acts, spans, or a state that changed since the last frame. What a frame must have by the format and the dialogue
does not record is written as nothing: the intent ``NONE``, no requested slots.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats.base import Notes

NO_INTENT = "NONE"

_ENCODER = msgspec.json.Encoder()


def write_sgd(dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
    """Write a JSON array, one dialogue a line."""
    separator = b"[\n"
    for dialogue in dialogues:
        out.write(separator + _ENCODER.encode(_dialogue(dialogue, notes)))
        separator = b",\n"
    out.write(b"\n]\n" if separator == b",\n" else b"[]\n")


def _dialogue(dialogue: Dialogue, notes: Notes) -> dict[str, Any]:
    written: State = {}
    turns = []
    for turn in dialogue.turns:
        services = _services(turn, written)
        _note_losses(turn, len(services), notes)
        frames = [_frame(turn, service, written) for service in services]
        turns.append({"speaker": turn.speaker.upper(), "utterance": turn.text, "frames": frames})
    return {
        "dialogue_id": dialogue.id,
        "services": dialogue.domains or tuple(dict.fromkeys(_mentioned(dialogue))),
        "turns": turns,
    }


def _note_losses(turn: Turn, frames: int, notes: Notes) -> None:
    if turn.active is not None:
        notes.add("frame added for a service that is not among the active ones", frames - len(turn.active))
    if turn.speaker == "user" and turn.state is None:
        notes.add("user turn without a state: it reads back as the state before it, if there is one")
        notes.add("intents or requests of a turn without a state dropped", int(bool(turn.intents or turn.requested)))
    elif turn.state == {} and not frames:
        notes.add("empty state written as no frame: it reads back as 'no state' if the whole dialogue has none")


def _mentioned(dialogue: Dialogue) -> Iterable[str]:
    for turn in dialogue.turns:
        yield from turn.active or ()
        yield from turn.state or {}


def _services(turn: Turn, written: State) -> list[str]:
    found = dict.fromkeys(turn.active or ())
    found.update(dict.fromkeys(act.domain for act in turn.acts or ()))
    found.update(dict.fromkeys(span.domain for span in turn.spans or ()))
    if turn.speaker == "user" and turn.state is not None:
        found.update(dict.fromkeys((*(turn.intents or {}), *(turn.requested or {}))))
        services = dict.fromkeys((*written, *turn.state))
        found.update(dict.fromkeys(one for one in services if turn.state.get(one) != written.get(one)))
    return list(found)


def _frame(turn: Turn, service: str, written: State) -> dict[str, Any]:
    """One service's frame; ``written`` follows what a reader will have carried forward."""
    frame: dict[str, Any] = {"service": service}
    if turn.acts is not None:
        frame["actions"] = [
            {"act": act.name, "slot": act.slot, "values": act.values} for act in turn.acts if act.domain == service
        ]
    if turn.spans is not None:
        frame["slots"] = [
            {"slot": span.slot, "start": span.start, "exclusive_end": span.end}
            for span in turn.spans
            if span.domain == service
        ]
    if turn.speaker == "user" and turn.state is not None:
        slots = turn.state.get(service, {})
        frame["state"] = {
            "active_intent": (turn.intents or {}).get(service, NO_INTENT),
            "requested_slots": (turn.requested or {}).get(service, ()),
            "slot_values": slots,
        }
        if slots:
            written[service] = slots
        else:
            written.pop(service, None)
    return frame
