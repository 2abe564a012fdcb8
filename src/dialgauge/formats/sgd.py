"""Schema-Guided Dialogue and MultiWOZ 2.2: ``dialogues_001.json`` and the like, data and predictions.

A list of dialogues; a turn has a *frame* for each service (domain) it is about, and a user's frame holds that service's
state. Services without a frame keep their last state: the state of a turn is put together from the last frame of every
service. Before a service's first frame it is empty; a dialogue in which no user frame has a state has none recorded.

A file of predictions has the same shape and is read the same way: its states stand in ``state``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import Act, Dialogue, Span, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek, Resource, ResourceFormat, SlotRecord, ontology_of
from dialgauge.formats.jsonfile import Listed, decode, elements_of, write_array
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import values_of
from dialgauge.formats.source import Part


class _Action(Struct, gc=False):
    act: str
    slot: str = ""
    values: Values = ()


class _Slot(Struct, gc=False):
    """Where a value stands in the utterance; MultiWOZ 2.2 also lists values that were copied, without a place."""

    slot: str
    start: int | None = None
    exclusive_end: int | None = None


class _State(Struct, gc=False):
    slot_values: dict[str, Values] = {}
    active_intent: str | UnsetType = UNSET
    requested_slots: Values | UnsetType = UNSET


class _Frame(Struct, gc=False):
    service: str
    actions: list[_Action] | UnsetType = UNSET
    slots: list[_Slot] | UnsetType = UNSET
    state: _State | UnsetType = UNSET


class _Turn(Struct, gc=False):
    speaker: Literal["USER", "SYSTEM"]
    utterance: str
    frames: list[_Frame] = []
    turn_id: str | int | None = None


class _Dialogue(Struct, gc=False):
    dialogue_id: str
    turns: list[_Turn]
    services: Values = ()
    goal: Raw = Raw()


_FILE = Listed(_Dialogue)
NO_INTENT = "NONE"


class Sgd(DialogueFormat):
    """Dialogues as turns with a frame per service."""

    name = "sgd"
    summary = "SGD and MultiWOZ 2.2 dialogue files, and predictions in that shape: turns with a frame per service"
    fields = frozenset({"text", "acts", "state", "active", "intents", "requested", "spans", "blank", "domains"})
    writes = True

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        if not isinstance(first, dict) or "dialogue_id" not in first or {"goal", "metrics"} & first.keys():
            return False
        turns = first.get("turns")
        return isinstance(turns, list) and bool(turns) and isinstance(turns[0], dict) and "frames" in turns[0]

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        for raw in _FILE.read(part, notes):
            if raw.goal:
                raise DialgaugeError(
                    "it records a goal, which SGD's format does not have and which would be lost; read the file as "
                    "gcdf1 ('dialgauge users score --format gcdf1')",
                    file=part.name,
                    dialogue=raw.dialogue_id,
                )
            try:
                dialogue = _dialogue(raw)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=raw.dialogue_id))
            else:
                yield dialogue

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        write_array((_written(dialogue, notes) for dialogue in dialogues), out)


def _dialogue(raw: _Dialogue) -> Dialogue:
    has_states = any(frame.state is not UNSET for turn in raw.turns for frame in turn.frames)
    state: State | None = {} if has_states else None
    turns: list[Turn] = []
    for number, turn in enumerate(raw.turns):
        if turn.turn_id is not None and str(turn.turn_id) != str(number):
            raise DialgaugeError(
                f"turn_id is {turn.turn_id!r} where {number} should follow; a turn is missing or out of order",
                turn=number,
            )
        blank: State = {}
        if state is not None and turn.speaker == "USER":
            state = _carried(state, turn.frames, blank)
        turns.append(_turn(turn, state, blank, number))
    return Dialogue(id=raw.dialogue_id, turns=tuple(turns), domains=raw.services)


def _carried(state: State, frames: list[_Frame], blank: State) -> State:
    """The state with the services that have a frame replaced by it; a service without slots is left out.

    Values that mean "absent" go into ``blank``.
    """
    following = dict(state)
    for frame in frames:
        if frame.state is UNSET:
            continue
        slots: dict[str, Values] = {}
        for slot, raw in frame.state.slot_values.items():
            values = values_of(raw)
            if values:
                slots[slot] = values
            if len(values) < len(raw) or not raw:
                blank.setdefault(frame.service, {})[slot] = raw
        if slots:
            following[frame.service] = slots
        else:
            following.pop(frame.service, None)
    return following


def _turn(raw: _Turn, state: State | None, blank: State, number: int) -> Turn:
    frames = raw.frames
    active = tuple([frame.service for frame in frames])
    if len(active) > 1 and len(set(active)) < len(active):
        raise DialgaugeError("it has two frames of one service; join them", turn=number)
    acts, spans = _acts(frames), _spans(frames)
    if raw.speaker == "SYSTEM":
        return Turn(speaker="system", text=raw.utterance, acts=acts, active=active, spans=spans)
    intents, requested = _asked(frames)
    return Turn(
        speaker="user",
        text=raw.utterance,
        acts=acts,
        state=state,
        blank=blank or None,
        active=active,
        intents=intents,
        requested=requested,
        spans=spans,
    )


def _acts(frames: list[_Frame]) -> tuple[Act, ...] | None:
    acts: list[Act] | None = None
    for frame in frames:
        if frame.actions is UNSET:
            continue
        service = frame.service
        made = [Act(action.act, service, action.slot, action.values) for action in frame.actions]
        acts = made if acts is None else acts + made
    return None if acts is None else tuple(acts)


def _spans(frames: list[_Frame]) -> tuple[Span, ...] | None:
    spans: list[Span] | None = None
    for frame in frames:
        if frame.slots is UNSET:
            continue
        if spans is None:
            spans = []
        for slot in frame.slots:
            if slot.start is not None and slot.exclusive_end is not None:
                spans.append(Span(frame.service, slot.slot, slot.start, slot.exclusive_end))
    return None if spans is None else tuple(spans)


def _asked(frames: list[_Frame]) -> tuple[dict[str, str] | None, dict[str, Values] | None]:
    """Active intents and requested slots by service; None for what no frame records."""
    intents: dict[str, str] = {}
    requested: dict[str, Values] = {}
    for frame in frames:
        if frame.state is UNSET:
            continue
        if frame.state.active_intent is not UNSET:
            intents[frame.service] = frame.state.active_intent
        if frame.state.requested_slots is not UNSET:
            requested[frame.service] = frame.state.requested_slots
    return intents or None, requested or None


def _written(dialogue: Dialogue, notes: Notes) -> dict[str, Any]:
    carried: State = {}
    turns = []
    for turn in dialogue.turns:
        services = _services(turn, carried)
        _note_losses(turn, len(services), notes)
        frames = [_frame(turn, service, carried) for service in services]
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


def _services(turn: Turn, carried: State) -> list[str]:
    """The services that get a frame: the active ones, and those with acts, spans or a state that changed."""
    services = dict.fromkeys(turn.active or ())
    services.update(dict.fromkeys(act.domain for act in turn.acts or ()))
    services.update(dict.fromkeys(span.domain for span in turn.spans or ()))
    if turn.speaker == "user" and turn.state is not None:
        services.update(dict.fromkeys((*(turn.intents or {}), *(turn.requested or {}), *(turn.blank or {}))))
        stateful = dict.fromkeys((*carried, *turn.state))
        services.update(dict.fromkeys(name for name in stateful if turn.state.get(name) != carried.get(name)))
    return list(services)


def _frame(turn: Turn, service: str, carried: State) -> dict[str, Any]:
    """One service's frame; ``carried`` follows what a reader will have carried forward.

    What a frame must have and the dialogue does not record is written as nothing: no intent, no requested slots.
    """
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
            "slot_values": {**slots, **(turn.blank or {}).get(service, {})},
        }
        if slots:
            carried[service] = slots
        else:
            carried.pop(service, None)
    return frame


# -- schemas ---------------------------------------------------------------------------------------------------------


class _Intent(Struct, gc=False):
    name: str


class _Service(Struct, gc=False):
    service_name: str
    slots: list[SlotRecord]
    intents: list[_Intent] = []


_SERVICE = msgspec.json.Decoder(_Service)


class SchemaFormat(ResourceFormat):
    """Services (domains here) of SGD, MultiWOZ 2.2 and GCDF1: slots with values and descriptions, names of intents."""

    name = "schema"
    summary = "schema.json of SGD, MultiWOZ 2.2 or GCDF1: services with slots, values and intents"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and "service_name" in first

    def load(self, part: Part, notes: Notes) -> Resource:
        intents: dict[str, tuple[str, ...]] = {}
        slots = []
        pieces = elements_of(part.read(), part)
        for number, raw in enumerate(pieces, start=1):
            try:
                service = decode(_SERVICE, raw, part)
            except DialgaugeError as error:
                raise DialgaugeError(f"service number {number}: {error.message}", file=part.name) from error
            if service.service_name in intents:
                raise DialgaugeError(f"the service {service.service_name!r} is listed twice", file=part.name)
            intents[service.service_name] = tuple(intent.name for intent in service.intents)
            slots += [(service.service_name, slot.name, slot.spec()) for slot in service.slots]
        return ontology_of(slots, part, intents)
