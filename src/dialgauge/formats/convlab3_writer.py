"""Writing dialogues in ConvLab-3's unified format.

The data model does not say which slots are categorical, so acts are sorted by what they have: an act without a slot is
binary, acts from the first one with a place in the text on are non-categorical, those before it categorical. Reading
gives the same acts in the same order, wherever the dialogue had its acts without a slot last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

import msgspec

from dialgauge.dialogue import Act, Dialogue, Goal, Span, State, Turn
from dialgauge.formats.base import Notes

_ENCODER = msgspec.json.Encoder()


def write_convlab3(dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
    """Write a JSON array, one dialogue a line."""
    separator = b"[\n"
    for dialogue in dialogues:
        out.write(separator + _ENCODER.encode(_dialogue(dialogue, notes)))
        separator = b",\n"
    out.write(b"\n]\n" if separator == b",\n" else b"[]\n")


def _dialogue(dialogue: Dialogue, notes: Notes) -> dict[str, Any]:
    written: dict[str, Any] = {"dialogue_id": dialogue.id, "domains": dialogue.domains}
    if dialogue.goal is not None:
        written["goal"] = _goal(dialogue.goal, notes)
    written["turns"] = [_turn(turn, number, notes) for number, turn in enumerate(dialogue.turns)]
    return written


def _turn(turn: Turn, number: int, notes: Notes) -> dict[str, Any]:
    written: dict[str, Any] = {"speaker": turn.speaker, "utterance": turn.text, "utt_idx": number}
    if turn.acts is not None or turn.spans is not None:
        written["dialogue_acts"] = _acts(turn, notes)
    if turn.state is not None:
        written["state"] = _state(turn.state, notes)
    return written


def _state(state: State, notes: Notes) -> dict[str, dict[str, str]]:
    bars = sum("|" in value for slots in state.values() for values in slots.values() for value in values)
    notes.add("value with a '|' in it: it reads back as alternatives", bars)
    return {domain: {slot: "|".join(values) for slot, values in slots.items()} for domain, slots in state.items()}


def _acts(turn: Turn, notes: Notes) -> dict[str, list[dict[str, Any]]]:
    lists: dict[str, list[dict[str, Any]]] = {"categorical": [], "non-categorical": [], "binary": []}
    unplaced = list(turn.spans or ())
    for act in turn.acts or ():
        if not act.slot and not act.values:
            lists["binary"].append({"intent": act.name, "domain": act.domain, "slot": ""})
            continue
        notes.add("act with several values written as one act a value", int(len(act.values) > 1))
        notes.add("act written before an act without a slot that it followed", int(bool(lists["binary"])))
        for value in act.values or ("",):
            entry: dict[str, Any] = {"intent": act.name, "domain": act.domain, "slot": act.slot, "value": value}
            span = _place(act, value, turn.text, unplaced)
            if span is not None:
                unplaced.remove(span)
                entry |= {"start": span.start, "end": span.end}
            lists["non-categorical" if span is not None or lists["non-categorical"] else "categorical"].append(entry)
    notes.add("span without an act dropped", len(unplaced))
    return lists


def _place(act: Act, value: str, text: str, unplaced: list[Span]) -> Span | None:
    """The span of an act: one of its slot whose words are the value, else the first of its slot."""
    if not value:
        return None
    of_slot = [span for span in unplaced if (span.domain, span.slot) == (act.domain, act.slot)]
    same = [span for span in of_slot if text[span.start : span.end].lower() == value.lower()]
    return next(iter(same or of_slot), None)


def _goal(goal: Goal, notes: Notes) -> dict[str, Any]:
    inform: dict[str, dict[str, str]] = {}
    request: dict[str, dict[str, str]] = {}
    for domain, task in goal.tasks.items():
        inform[domain] = task.info | {f"book {slot}": value for slot, value in task.book.items()}
        request[domain] = dict.fromkeys(task.requests, "")
        notes.add("booking constraint of a goal written as the constraint 'book SLOT'", len(task.book))
        notes.add("constraint to fail first of a goal dropped", len(task.fail_info) + len(task.fail_book))
    notes.add("sentences of a goal joined to one text", max(len(goal.message) - 1, 0))
    return {"description": " ".join(goal.message), "inform": inform, "request": request}
