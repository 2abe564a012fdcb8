"""MultiWOZ as published: the ``data.json`` of versions 2.0, 2.1, 2.3 and 2.4, and the acts beside it.

An object of dialogues by id; each has a ``goal`` and a ``log`` in which user and system alternate, the user first.
The state after a user's turn is stored on the *system* entry that follows it (``metadata``); it is put on the user's
turn here. Slot names stay as they are in the file, booking slots under their plain name (``people``).

Versions 2.3 and 2.4 write several acceptable values in one string (``a|b``, ``a<b``, ``a>b``): alternatives here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Act, Dialogue, Goal, SlotSpec, State, Task, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek, Resource, ResourceFormat, ontology_of
from dialgauge.formats.jsonfile import Keyed, decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import alternatives
from dialgauge.formats.source import Part

_NOT_DOMAINS = ("message", "topic")
_EMPTY_OBJECT = b"{}"


class _Entry(Struct, gc=False):
    text: str
    metadata: dict[str, Raw] | None = None
    #: 2.0 has the words "No Annotation" where an annotator gave none.
    dialog_act: dict[str, list[tuple[str, str]]] | str | None = None
    #: For evaluators.
    span_info: Raw = Raw()


class MultiWozDialogue(Struct, gc=False):
    """A dialogue as it stands in the file; evaluators read more of it than the format."""

    log: list[_Entry]
    goal: dict[str, Raw] = {}


class DomainMetadata(Struct, gc=False):
    """The state of one domain: what was asked for, and the booking (``booked`` is what the wizard did)."""

    semi: dict[str, str | list[str]] = {}
    book: dict[str, str | list[Any]] = {}


class _Task(Struct, gc=False):
    info: dict[str, str | bool] = {}
    fail_info: dict[str, str | bool] = {}
    book: dict[str, str | bool] = {}
    fail_book: dict[str, str | bool] = {}
    reqt: list[str] | dict[str, str] = []


MULTIWOZ = Keyed(MultiWozDialogue)
_DOMAIN = msgspec.json.Decoder(DomainMetadata)
_TASK = msgspec.json.Decoder(_Task)
_MESSAGE = msgspec.json.Decoder(list[str] | str)


class MultiWoz(DialogueFormat):
    """Dialogues with goals, acts and states; the state of user turn t comes from log entry 2t+1."""

    name = "multiwoz"
    summary = "MultiWOZ 2.0, 2.1, 2.3, 2.4 data.json: goals, acts, states in the metadata of the next system turn"
    fields = frozenset({"text", "acts", "state", "goal", "domains"})

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None:
            return False
        dialogue = peek.first[1]
        log = dialogue.get("log") if isinstance(dialogue, dict) else None
        return isinstance(log, list) and bool(log) and isinstance(log[0], dict) and "text" in log[0]

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        reader = _Reader(part, notes)
        for identifier, raw in MULTIWOZ.read(part, notes):
            try:
                dialogue = reader.dialogue(identifier, raw)
            except DialgaugeError as error:
                notes.refuse(error.at(dialogue=identifier))
            else:
                yield dialogue


class _Reader:
    """One file's worth of reading. What repeats from turn to turn is made once: states of domains, values, acts."""

    def __init__(self, part: Part, notes: Notes) -> None:
        self._part, self._notes = part, notes
        self._domains: dict[bytes, dict[str, Values]] = {}
        self._values = cache(alternatives)
        self._act = cache(_act)

    def dialogue(self, identifier: str, raw: MultiWozDialogue) -> Dialogue:
        turns = tuple(self._turns(raw.log))
        goal = read_goal(raw.goal, self._part) if raw.goal else None
        return Dialogue(id=identifier, turns=turns, goal=goal, domains=tuple(goal.tasks) if goal else ())

    def _turns(self, log: list[_Entry]) -> Iterator[Turn]:
        for number, entry in enumerate(log):
            acts = self._acts(entry)
            if number % 2:
                yield Turn(speaker="system", text=entry.text, acts=acts)
                continue
            if entry.metadata:
                raise DialgaugeError(
                    "it is the user's turn but carries a state; user and system must alternate, the user first",
                    file=self._part.name,
                    turn=number,
                )
            state = self._state(log[number + 1].metadata, number) if number + 1 < len(log) else None
            if state is None:
                self._notes.add("user turn without a state (no metadata follows it)")
            yield Turn(speaker="user", text=entry.text, acts=acts, state=state)

    def _state(self, metadata: dict[str, Raw] | None, number: int) -> State | None:
        if not metadata:
            return None
        state: State = {}
        known = self._domains
        for domain, raw in metadata.items():
            content = bytes(raw)
            slots = known.get(content)
            if slots is None:
                slots = known[content] = self._slots(content, number)
            if slots:
                state[domain] = slots
        return state

    def _slots(self, content: bytes, number: int) -> dict[str, Values]:
        try:
            domain = decode(_DOMAIN, content, self._part)
        except DialgaugeError as error:
            raise error.at(turn=number + 1) from error
        slots: dict[str, Values] = {}
        for group in (domain.semi, domain.book):
            for slot, value in group.items():
                if slot == "booked":
                    continue
                values = self._values(value) if isinstance(value, str) else self._listed(value)
                if values:
                    slots[slot] = values
        return slots

    def _listed(self, value: list[Any]) -> Values:
        return tuple(dict.fromkeys(name for item in value if isinstance(item, str) for name in self._values(item)))

    def _acts(self, entry: _Entry) -> tuple[Act, ...] | None:
        if not isinstance(entry.dialog_act, dict):
            return None
        act = self._act
        return tuple([act(name, slot, value) for name, pairs in entry.dialog_act.items() for slot, value in pairs])


def read_goal(raw: dict[str, Raw], part: Part) -> Goal:
    """The goal of a dialogue, a task for each domain that it has."""
    tasks = {
        domain: _task(decode(_TASK, content, part))
        for domain, content in raw.items()
        if domain not in _NOT_DOMAINS and bytes(content) != _EMPTY_OBJECT
    }
    message: list[str] | str = decode(_MESSAGE, raw["message"], part) if "message" in raw else []
    return Goal(tasks=tasks, message=(message,) if isinstance(message, str) else tuple(message))


def _task(raw: _Task) -> Task:
    """A task without the flags ``invalid`` and ``pre_invalid`` of the tool that made the goals."""
    given = (raw.info, raw.fail_info, raw.book, raw.fail_book)
    info, fail_info, book, fail_book = (
        {slot: value for slot, value in each.items() if isinstance(value, str)} for each in given
    )
    return Task(info=info, fail_info=fail_info, book=book, fail_book=fail_book, requests=tuple(raw.reqt))


def _act(name: str, slot: str, value: str) -> Act:
    """``Hotel-Inform`` with ``none`` for what an act does not have; its domain is spelt as in states and goals."""
    domain = name.partition("-")[0].lower()
    return Act(name, domain, "" if slot == "none" else slot, () if value == "none" else (value,))


# -- ontologies ------------------------------------------------------------------------------------------------------


_VALUES_BY_SLOT = msgspec.json.Decoder(dict[str, list[str]])


class MultiWozOntology(ResourceFormat):
    """An object of ``domain-slot`` to its values, in every spelling of the keys.

    ==========  =========================================================
    2.0         ``hotel-price range``, ``hotel-book people``
    2.1         ``hotel-semi-pricerange``, ``hotel-book-people``
    2.3, 2.4    ``hotel-pricerange``, ``hotel-book-people``
    ==========  =========================================================

    The part between domain and slot is dropped (``semi``), as is ``book`` where it stands between hyphens: the slots
    are then named as in the ``data.json`` beside the file. Other spellings stay as they are; comparing them is the job
    of the profiles in ``values``. Values that name alternatives (``centre|west``) are taken apart, as in the states.
    """

    name = "multiwoz-ontology"
    summary = "MultiWOZ ontology: 'domain-slot' to the list of its values, keys as in 2.0, 2.1 or 2.3"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or not peek.json:
            return False
        if all(key[-1:].isdigit() for key in peek.json):  # turns of dialogues, and no slots
            return False
        return all(
            isinstance(values, list) and "-" in key and all(isinstance(value, str) for value in values)
            for key, values in peek.json.items()
        )

    def load(self, part: Part, notes: Notes) -> Resource:
        slots = []
        for key, raw in decode(_VALUES_BY_SLOT, part.read(), part).items():
            domain, _, slot = key.partition("-")
            if not domain or not slot:
                raise DialgaugeError(f"the key {key!r} is not 'domain-slot'", file=part.name)
            values = tuple(dict.fromkeys(alternative for value in raw for alternative in alternatives(value)))
            slots.append((domain, slot.removeprefix("semi-").removeprefix("book-"), SlotSpec(values=values)))
        return ontology_of(slots, part)
