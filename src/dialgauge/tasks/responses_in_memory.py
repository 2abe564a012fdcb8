"""Responses of a system from Python: dictionaries, frames and dialogues, as a file of predictions has them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias, TypeGuard

import msgspec

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, AnyFrame, Corpus, Part, dialogue_named, frame_rows, is_frame, read
from dialgauge.tasks.predictions import TaskPredictions, predictions_in

_ByDialogue: TypeAlias = Mapping[str, Sequence[Mapping[str, object]]]
#: Turns by dialogue, rows or a frame of them, or dialogues.
ResponsesInMemory: TypeAlias = _ByDialogue | Sequence[Mapping[str, object]] | AnyFrame | Corpus | Sequence[Dialogue]

_KEYS = ("response", "state", "active_domains")


def predictions_from(name: str, dialogues: ResponsesInMemory) -> TaskPredictions:
    """What a prediction file holds, from Python: dialogue to list of turns with ``response`` and, if you have them,
    ``state`` and ``active_domains``; a frame or list of such turns that name their dialogue; or dialogues.

    >>> predictions_from("mine", {"SNG0073.json": [{"response": "[taxi_type] is on its way ."}]}).turns
    1
    """
    try:
        content = msgspec.json.encode(_by_dialogue(dialogues))
    except TypeError as error:
        raise DialgaugeError(f"the predictions of '{name}' hold something JSON cannot express: {error}") from error
    return predictions_in([Part(name, lambda: io.BytesIO(content), DEFAULT_LIMIT)], name)


def are_responses(given: object) -> TypeGuard[_ByDialogue]:
    """Are these the turns of one system by dialogue, and not systems by name?"""
    if not isinstance(given, Mapping) or not all(isinstance(turns, list | tuple) for turns in given.values()):
        return False
    all_turns = [(str(name), turn) for name, turns in given.items() for turn in turns]
    return bool(given) and all(
        isinstance(turn, Mapping) and dialogue_key(dialogue_named(turn) or name) == dialogue_key(name)
        for name, turn in all_turns
    )


def _by_dialogue(given: ResponsesInMemory) -> _ByDialogue:
    if are_responses(given):
        return given
    rows = frame_rows(given) if is_frame(given) else given
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) and "response" in row for row in rows):
        return {dialogue.id: list(_answers(dialogue)) for dialogue in read(given)}
    turns: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if not (dialogue := dialogue_named(row)):
            raise DialgaugeError(f"a response names no dialogue (it has {', '.join(map(str, row))}); add 'dialogue'")
        turns.setdefault(dialogue, []).append(row)
    numbered = all(isinstance(row.get("turn"), int) for row in rows)
    return {
        dialogue: [_entry(row) for row in (sorted(held, key=itemgetter("turn")) if numbered else held)]
        for dialogue, held in turns.items()
    }


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """A turn of a row: a state may be a JSON text, and a column of structs gives all states the same slots."""
    entry = {key: value for key in _KEYS if (value := row.get(key)) is not None}
    state = entry.get("state")
    if isinstance(state, str):
        try:
            state = msgspec.json.decode(state)
        except msgspec.DecodeError as error:
            raise DialgaugeError(f"the state is no JSON text ({error})", dialogue=dialogue_named(row)) from error
    if isinstance(state, Mapping):
        entry["state"] = {domain: _filled(slots) for domain, slots in _filled(state).items()}
    return entry


def _filled(values: Any) -> Any:
    return {key: value for key, value in values.items() if value is not None} if isinstance(values, Mapping) else values


def _answers(dialogue: Dialogue) -> Iterator[dict[str, Any]]:
    """The responses of a dialogue, each with what was predicted for the user's turn before it."""
    user = Turn(speaker="user")
    for turn in dialogue.turns:
        if turn.speaker == "user":
            user = turn
            continue
        entry: dict[str, Any] = {"response": turn.text, "active_domains": user.active}
        if user.predicted is not None:
            entry["state"] = state = dict[str, dict[str, str]]()
            for states in (user.blank or {}, user.predicted):
                for domain, slots in states.items():
                    state.setdefault(domain, {}).update({slot: next(iter(held), "") for slot, held in slots.items()})
        yield _filled(entry)
