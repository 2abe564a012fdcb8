"""ConvLab-3's unified format: a list of dialogues (``data.json`` or ``dialogues.json``), data of many corpora alike.

User turns carry the state, acts come in three lists (categorical, non-categorical with the place in the text, binary),
an empty string is an absent value and ``|`` separates acceptable ones. In the goal, booking constraints are ordinary
constraints (``book people``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from dialgauge.dialogue import Act, Dialogue, Goal, Span, State, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek, Resource, ResourceFormat, SlotRecord, ontology_of
from dialgauge.formats.jsonfile import Listed, decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.reading import PredictionFormat, grouped
from dialgauge.formats.predictions.states import alternatives
from dialgauge.formats.source import Part


class _Act(Struct, gc=False):
    intent: str
    domain: str = ""
    slot: str = ""
    value: str = ""
    start: int | None = None
    end: int | None = None


class _Acts(Struct, gc=False):
    categorical: list[_Act] = []
    non_categorical: list[_Act] = field(default_factory=list, name="non-categorical")
    binary: list[_Act] = []


class _Turn(Struct, gc=False):
    speaker: Literal["user", "system"]
    utterance: str
    utt_idx: int | None = None
    dialogue_acts: _Acts | UnsetType = UNSET
    state: dict[str, dict[str, str]] | UnsetType = UNSET


class _Goal(Struct, gc=False):
    description: str = ""
    inform: dict[str, dict[str, str]] = {}
    request: dict[str, dict[str, str]] = {}


class _Dialogue(Struct, gc=False):
    dialogue_id: str
    turns: list[_Turn]
    domains: tuple[str, ...] = ()
    goal: _Goal | None = None


_DIALOGUES = Listed(_Dialogue)


class ConvLab3(DialogueFormat):
    """Dialogues of the unified format; their id is ``dialogue_id``, which is what predictions refer to."""

    name = "convlab3"
    summary = "ConvLab-3 unified format: dialogues.json with acts in three lists and states on user turns"
    fields = frozenset({"text", "acts", "state", "spans", "goal", "domains"})

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        turns = first.get("turns") if isinstance(first, dict) and "dialogue_id" in first else None
        if not isinstance(turns, list) or not turns or not isinstance(turns[0], dict):
            return False
        marks = {"utt_idx", "dialogue_acts"} & turns[0].keys()
        return bool(marks) and turns[0].keys().isdisjoint(("frames", "predictions"))

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        for raw in _DIALOGUES.read(part, notes):
            try:
                turns = tuple([_turn(turn, number) for number, turn in enumerate(raw.turns)])
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=raw.dialogue_id))
            else:
                yield Dialogue(id=raw.dialogue_id, turns=turns, goal=_goal(raw.goal), domains=raw.domains)


def _state(raw: dict[str, dict[str, str]]) -> State:
    """A state without its empty slots and domains, alternatives taken apart."""
    state = {
        domain: {slot: values for slot, value in slots.items() if value and (values := alternatives(value, "|"))}
        for domain, slots in raw.items()
    }
    return {domain: slots for domain, slots in state.items() if slots}


def _turn(raw: _Turn, number: int) -> Turn:
    if raw.utt_idx is not None and raw.utt_idx != number:
        message = f"utt_idx is {raw.utt_idx} where {number} should follow; a turn is missing or out of order"
        raise DialgaugeError(message, turn=number)
    acts = spans = None
    if raw.dialogue_acts is not UNSET:
        acts, spans = _acts(raw.dialogue_acts), _spans(raw.dialogue_acts)
    state = None if raw.state is UNSET else _state(raw.state)
    return Turn(speaker=raw.speaker, text=raw.utterance, acts=acts, spans=spans, state=state)


def _acts(raw: _Acts) -> tuple[Act, ...]:
    acts = [*raw.categorical, *raw.non_categorical, *raw.binary]
    return tuple([Act(act.intent, act.domain, act.slot, (act.value,) if act.value else ()) for act in acts])


def _spans(raw: _Acts) -> tuple[Span, ...]:
    return tuple(
        [
            Span(act.domain, act.slot, act.start, act.end)
            for act in raw.non_categorical
            if act.start is not None and act.end is not None
        ]
    )


def _goal(raw: _Goal | None) -> Goal | None:
    if raw is None:
        return None
    domains = dict.fromkeys((*raw.inform, *raw.request))
    tasks = {
        domain: Task(
            info={slot: value for slot, value in raw.inform.get(domain, {}).items() if value},
            requests=tuple(raw.request.get(domain, {})),
        )
        for domain in domains
    }
    return Goal(tasks=tasks, message=(raw.description,) if raw.description else ())


class _Predicted(Struct, gc=False):
    state: dict[str, dict[str, str]] | None = None


class _Row(Struct, gc=False):
    dialogue_id: str
    utt_idx: int
    predictions: _Predicted
    state: dict[str, dict[str, str]] | UnsetType = UNSET
    utterance: str = ""


_ROWS = Listed(_Row)


class ConvLab3Predictions(PredictionFormat):
    """Gold and predicted states of user turns, one object a turn.

    ``{"dialogue_id": "multiwoz21-test-0", "utt_idx": 0, "state": {...}, "predictions": {"state": {...}}}``

    ``utt_idx`` counts the turns of both speakers, so user turns are 0, 2, 4, ...
    """

    name = "convlab3-predictions"
    summary = "ConvLab-3 unified predictions: a list with one object per user turn, gold and predicted state"
    fields = frozenset({"text", "state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and {"dialogue_id", "utt_idx", "predictions"} <= first.keys()

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        rows = ((row.dialogue_id, str(row.utt_idx // 2), row) for row in _ROWS.read(self.part, self.notes))
        return grouped(rows).items()

    def made(self, content: _Row) -> Iterable[Turn]:
        yield Turn(
            speaker="user",
            text=content.utterance,
            state=None if content.state is UNSET else _state(content.state),
            predicted=None if content.predictions.state is None else _state(content.predictions.state),
        )


# -- ontologies ------------------------------------------------------------------------------------------------------


class _UnifiedDomain(Struct, gc=False):
    slots: dict[str, SlotRecord]


class _UnifiedOntology(Struct, gc=False):
    domains: dict[str, _UnifiedDomain]


_UNIFIED = msgspec.json.Decoder(_UnifiedOntology)


class ConvLab3Ontology(ResourceFormat):
    """The ``ontology.json`` beside the dialogues: slots with descriptions and, where they are categorical, values."""

    name = "convlab3-ontology"
    summary = "ConvLab-3 unified ontology.json: domains with slots, descriptions and values"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        domains = peek.json.get("domains") if isinstance(peek.json, dict) else None
        first = next(iter(domains.values()), None) if isinstance(domains, dict) else None
        return isinstance(first, dict) and isinstance(first.get("slots"), dict)

    def load(self, part: Part, notes: Notes) -> Resource:
        raw = decode(_UNIFIED, part.read(), part)
        domains = raw.domains.items()
        slots = ((domain, name, slot.spec()) for domain, held in domains for name, slot in held.slots.items())
        return ontology_of(slots, part)
