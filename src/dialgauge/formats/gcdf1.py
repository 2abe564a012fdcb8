"""GCDF1 conversations: simulated users and systems talking, as SGD-like frames with the user's MultiWOZ-like goal.

A file ``dialogues_*.json`` is a list of dialogues, or an object from id to dialogue. What the receiving side understood
of a turn is stored as ``nlu`` on the *following* turn; here it is ``Turn.heard`` of the turn that was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import Act, Dialogue, Goal, Speaker, State, Task, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek, Resource, ResourceFormat
from dialgauge.formats.jsonfile import Keyed, Listed, begins, decode, write_array
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part


class _Action(Struct, gc=False):
    act: str
    slot: str = ""
    values: Values = ()


class _State(Struct, gc=False):
    active_intent: str | UnsetType = UNSET
    requested_slots: Values | UnsetType = UNSET
    slot_values: dict[str, Values] | UnsetType = UNSET


class _Frame(Struct, gc=False):
    service: str = ""
    actions: tuple[_Action, ...] | UnsetType = UNSET
    state: _State | None = None


class _Heard(Struct, gc=False):
    frames: tuple[_Frame, ...] | UnsetType = UNSET


class _Turn(Struct, gc=False):
    speaker: str
    utterance: str = ""
    frames: tuple[_Frame, ...] | None = None
    nlu: _Heard | None = None
    turn_id: str | int | None = None


class _Task(Struct, gc=False, forbid_unknown_fields=True):
    """One domain of a goal. ``booked`` is a mark that nothing reads; any other key is a misspelling."""

    info: dict[str, str] = {}
    fail_info: dict[str, str] = {}
    book: dict[str, str] = {}
    fail_book: dict[str, str] = {}
    reqt: dict[str, Any] | list[str] = {}
    booked: Raw = Raw()


class _Dialogue(Struct, gc=False):
    turns: tuple[_Turn, ...]
    dialogue_id: str = ""
    goal: dict[str, Raw] | None = None
    services: Values = ()


_LISTED = Listed(_Dialogue)
_KEYED = Keyed(_Dialogue)
_TASK = msgspec.json.Decoder(_Task)
_PARTS = tuple(_Task.__struct_fields__)

NO_INTENT = "NONE"
REQUESTED = "?"
NO_SERVICE = ""

#: What is written into frames.
_FRAMED = ("acts", "active", "state", "intents", "requested")
_SPEAKERS: dict[str, Speaker] = {"USER": "user", "SYSTEM": "system", "user": "user", "system": "system"}


class Gcdf1(DialogueFormat):
    """Conversations of a simulated user and a system, in the layout of the GCDF1 evaluator."""

    name = "gcdf1"
    summary = "GCDF1 conversations: goal, acts and what the other side understood, in SGD-like frames"
    fields = frozenset({"text", "acts", "heard", "state", "active", "intents", "requested", "goal", "domains"})
    writes = True

    def recognise(self, peek: Peek) -> bool:
        if peek.first is None or not isinstance(peek.first[1], dict):
            return False
        dialogue = peek.first[1]
        turns = dialogue.get("turns")
        if not isinstance(turns, list) or not {"goal", "metrics"} & dialogue.keys():
            return False
        if isinstance(dialogue.get("goal"), str):
            return False
        if not turns or not isinstance(turns[0], dict):
            return not turns
        return "dialogue_acts" not in turns[0] and not any(key.startswith("pred") for key in turns[0])

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        for identifier, raw in _raw_dialogues(part, notes):
            try:
                yield _dialogue(identifier, raw, notes)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=identifier))

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        write_array((_written(dialogue, notes) for dialogue in dialogues), out)


def _raw_dialogues(part: Part, notes: Notes) -> Iterator[tuple[str, _Dialogue]]:
    """Id and content of each dialogue; an object's key stands in for an id that is not there."""
    if begins(part.buffer()) == b"{":
        yield from ((dialogue.dialogue_id or key, dialogue) for key, dialogue in _KEYED.read(part, notes))
        return
    for number, dialogue in enumerate(_LISTED.read(part, notes), start=1):
        yield dialogue.dialogue_id or f"number {number}", dialogue


def _dialogue(identifier: str, raw: _Dialogue, notes: Notes) -> Dialogue:
    heard = [*(None if turn.nlu is None else _heard(turn.nlu) for turn in raw.turns), None]
    if heard[0]:
        notes.add("nlu of a first turn dropped: nothing was said before it")
    turns = []
    for position, turn in enumerate(raw.turns):
        frames = turn.frames
        state, intents, requested = (None, None, None) if frames is None else _states(frames)
        services = None if frames is None else dict.fromkeys(frame.service for frame in frames if frame.service)
        turns.append(
            Turn(
                speaker=_speaker(turn, position),
                text=turn.utterance,
                acts=None if frames is None else _acts(frames),
                heard=heard[position + 1],
                state=state,
                active=None if services is None else tuple(services),
                intents=intents,
                requested=requested,
            )
        )
    goal = None if raw.goal is None else Goal(tasks={name: _task(name, task) for name, task in raw.goal.items()})
    return Dialogue(id=identifier, turns=tuple(turns), goal=goal, domains=raw.services)


def _speaker(raw: _Turn, position: int) -> Speaker:
    """Who speaks in a turn that stands where its number says."""
    speaker = _SPEAKERS.get(raw.speaker) or _SPEAKERS.get(raw.speaker.lower())
    if speaker is None:
        raise DialgaugeError(f"the speaker is {raw.speaker!r}; it must be USER or SYSTEM", turn=position)
    if speaker == "user" and raw.turn_id not in (None, position, str(position)):
        raise DialgaugeError(
            f"turn_id is {raw.turn_id!r}, but turns are counted from 0 and this one is number {position}; "
            "renumber the turns or leave turn_id out",
            turn=position,
        )
    return speaker


def _heard(raw: _Heard) -> tuple[Act, ...] | None:
    """What was understood; nothing, where frames are there and none has a list of actions."""
    return None if raw.frames is UNSET else _acts(raw.frames) or ()


def _acts(frames: tuple[_Frame, ...]) -> tuple[Act, ...] | None:
    """All acts of the frames; None when there are frames and none of them has a list of actions."""
    acts: list[Act] = []
    recorded = not frames
    for frame in frames:
        if frame.actions is UNSET:
            continue
        recorded = True
        if frame.actions:
            service = frame.service
            acts.extend([Act(action.act, service, action.slot, action.values) for action in frame.actions])
    return tuple(acts) if recorded else None


def _states(frames: tuple[_Frame, ...]) -> tuple[State | None, dict[str, str] | None, dict[str, Values] | None]:
    """Slot values, active intents and requested slots by service; None for what no frame records.

    Of several frames of one service, slots are put together, and the last intent and value count.
    """
    values: State | None = None
    intents: dict[str, str] | None = None
    requested: dict[str, Values] | None = None
    for frame in frames:
        state = frame.state
        if state is None:
            continue
        if state.slot_values is not UNSET:
            values = {} if values is None else values
            if state.slot_values:
                before = values.get(frame.service)
                values[frame.service] = {**before, **state.slot_values} if before else state.slot_values
        if state.active_intent is not UNSET:
            intents = {} if intents is None else intents
            if state.active_intent != NO_INTENT:
                intents[frame.service] = state.active_intent
        if state.requested_slots is not UNSET:
            requested = {} if requested is None else requested
            if state.requested_slots:
                requested[frame.service] = (*requested.get(frame.service, ()), *state.requested_slots)
    return values, intents, requested


def _task(domain: str, text: Raw) -> Task:
    try:
        raw = _TASK.decode(text)
    except msgspec.ValidationError as error:
        message = f"the goal of '{domain}' does not have the expected shape: {error}; its parts are {', '.join(_PARTS)}"
        raise DialgaugeError(message) from error
    return Task(
        info=raw.info, fail_info=raw.fail_info, book=raw.book, fail_book=raw.fail_book, requests=tuple(raw.reqt)
    )


def _written(dialogue: Dialogue, notes: Notes) -> dict[str, Any]:
    turns = []
    heard: tuple[Act, ...] | None = None
    for position, turn in enumerate(dialogue.turns):
        turns.append(_written_turn(position, turn, heard, notes))
        heard = turn.heard
    if heard is not None:
        notes.add("what was heard of a last turn dropped: no turn follows to carry it")
    if dialogue.instruction:
        notes.add("the instructions of a goal dropped: the format has no place for them")
    goal = (
        {}
        if dialogue.goal is None
        else {"goal": {domain: _written_task(task) for domain, task in dialogue.goal.tasks.items()}}
    )
    return {"dialogue_id": dialogue.id, "services": dialogue.domains, **goal, "metrics": {}, "turns": turns}


def _written_turn(position: int, turn: Turn, heard: tuple[Act, ...] | None, notes: Notes) -> dict[str, Any]:
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
    """A frame for each service; what is recorded and empty belongs to none and goes into a frame without a service."""
    actions = _by_service(turn.acts or ())
    stateful = [mapping for mapping in (turn.state, turn.intents, turn.requested) if mapping is not None]
    services = dict.fromkeys([*(turn.active or ()), *actions, *(name for mapping in stateful for name in mapping)])
    frames = []
    for service in services or (NO_SERVICE,):
        frame: dict[str, Any] = {"service": service, "slots": []}
        if turn.acts is not None:
            frame["actions"] = actions.get(service, [])
        if stateful:
            frame["state"] = _written_state(turn, service)
        frames.append(frame)
    return frames


def _written_state(turn: Turn, service: str) -> dict[str, Any]:
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


def _written_task(task: Task) -> dict[str, Any]:
    record: dict[str, Any] = {
        key: constraints for key in ("info", "fail_info", "book", "fail_book") if (constraints := getattr(task, key))
    }
    if task.requests:
        record["reqt"] = dict.fromkeys(task.requests, REQUESTED)
    return record


# -- canonical maps --------------------------------------------------------------------------------------------------

SPECIAL = "special_keys"
_Texts: TypeAlias = list[str]


class _Special(Struct):
    not_in_goal: dict[str, _Texts | dict[str, _Texts]] = {}


class CanonicalMapFile(ResourceFormat):
    """The values a dataset's goals use, each with the ways people write it; some slots are split by domain first."""

    name = "canonical-map"
    summary = "canonical values and their paraphrases by slot, as GCDF1 uses them"
    kind = "values"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        slots = peek.json.values()
        return all(isinstance(table, dict) for table in slots) and any(map(_looks_like_a_table, slots))

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(msgspec.json.Decoder(dict[str, dict[str, Any]]), part.read(), part)
        for slot, table in content.items():
            tables = {slot: table} if SPECIAL in table else {f"{slot}.{key}": sub for key, sub in table.items()}
            for name, each in tables.items():
                _check_table(name, each, part)
        return Resource(kind="values", values=content)


def _looks_like_a_table(table: dict[str, Any]) -> bool:
    """Canonical values with lists of paraphrases, perhaps under a domain."""
    if SPECIAL in table:
        return isinstance(table[SPECIAL], dict) and "not_in_goal" in table[SPECIAL]
    return any(isinstance(sub, dict) and SPECIAL in sub for sub in table.values())


def _check_table(name: str, table: Any, part: Part) -> None:
    if not isinstance(table, dict) or SPECIAL not in table:
        slot, _, key = name.partition(".")
        raise DialgaugeError(
            f"the slot {slot} has no {SPECIAL}, and the domain {key} within it has none either; "
            f'add "{SPECIAL}": {{"not_in_goal": {{}}}} to the slot, or to each of its domains',
            file=part.name,
        )
    try:
        msgspec.convert(table[SPECIAL], _Special)
        msgspec.convert({value: texts for value, texts in table.items() if value != SPECIAL}, dict[str, _Texts])
    except msgspec.ValidationError as error:
        reason = f"{name} is no table of values with lists of paraphrases: {error}"
        raise DialgaugeError(reason, file=part.name) from None
