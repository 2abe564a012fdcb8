"""Writing GCDF1 conversations: the data model back into frames, one per service, and ``nlu`` on the following turn.

What is recorded and empty belongs to no service ("nothing was asked for so far"); a frame without a service carries it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

import orjson

from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.formats.base import Notes

NO_INTENT = "NONE"
REQUESTED = "?"
NO_SERVICE = ""

_FRAMED = ("acts", "active", "state", "intents", "requested")


def write_dialogues(dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
    """A JSON list of dialogues, one a line."""
    out.write(b"[")
    for place, dialogue in enumerate(dialogues):
        out.write(b",\n" if place else b"\n")
        out.write(orjson.dumps(_dialogue(dialogue, notes)))
    out.write(b"\n]\n")


def _dialogue(dialogue: Dialogue, notes: Notes) -> dict[str, Any]:
    turns = []
    heard: tuple[Act, ...] | None = None
    for position, turn in enumerate(dialogue.turns):
        turns.append(_turn(position, turn, heard, notes))
        heard = turn.heard
    if heard is not None:
        notes.add("what was heard of a last turn dropped: no turn follows to carry it")
    if dialogue.goal is not None and dialogue.goal.message:
        notes.add("the instructions of a goal dropped: the format has no place for them")
    goal = {} if dialogue.goal is None else {"goal": _goal(dialogue.goal)}
    return {"dialogue_id": dialogue.id, "services": dialogue.domains, **goal, "metrics": {}, "turns": turns}


def _turn(position: int, turn: Turn, heard: tuple[Act, ...] | None, notes: Notes) -> dict[str, Any]:
    record: dict[str, Any] = {
        "speaker": turn.speaker.upper(),
        "turn_id": str(position),
        "utterance": turn.text,
    }
    if any(getattr(turn, field) is not None for field in _FRAMED):
        frames = record["frames"] = _frames(turn)
        if turn.active is None and any(frame["service"] for frame in frames):
            notes.add("turns without active services: all services with acts or states become active")
    if heard is not None:
        record["nlu"] = {"frames": [{"service": s, "actions": a} for s, a in _by_service(heard).items()]}
    return record


def _frames(turn: Turn) -> list[dict[str, Any]]:
    actions = _by_service(turn.acts or ())
    stateful = [mapping for mapping in (turn.state, turn.intents, turn.requested) if mapping is not None]
    services = dict.fromkeys([*(turn.active or ()), *actions, *(name for mapping in stateful for name in mapping)])
    frames = []
    for service in services or (NO_SERVICE,):
        frame: dict[str, Any] = {"service": service, "slots": []}
        if turn.acts is not None:
            frame["actions"] = actions.get(service, [])
        if stateful:
            frame["state"] = _state(turn, service)
        frames.append(frame)
    return frames


def _state(turn: Turn, service: str) -> dict[str, Any]:
    state: dict[str, Any] = {}
    if turn.intents is not None:
        state["active_intent"] = turn.intents.get(service, NO_INTENT)
    if turn.requested is not None:
        state["requested_slots"] = turn.requested.get(service, ())
    if turn.state is not None:
        state["slot_values"] = turn.state.get(service, {})
    return state


def _by_service(acts: Iterable[Act]) -> dict[str, list[dict[str, Any]]]:
    frames: dict[str, list[dict[str, Any]]] = {}
    for act in acts:
        action: dict[str, Any] = {"act": act.name}
        if act.slot or act.values:
            action |= {"slot": act.slot, "values": act.values}
        frames.setdefault(act.domain, []).append(action)
    return frames


def _goal(goal: Goal) -> dict[str, Any]:
    return {domain: _task(task) for domain, task in goal.tasks.items()}


def _task(task: Task) -> dict[str, Any]:
    record: dict[str, Any] = {
        key: constraints for key in ("info", "fail_info", "book", "fail_book") if (constraints := getattr(task, key))
    }
    if task.requests:
        record["reqt"] = dict.fromkeys(task.requests, REQUESTED)
    return record
