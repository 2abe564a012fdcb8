"""Files of single papers: flags and human evaluation of FGA, raw predictions of TripPy, MultiWOZ_Evaluation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw

from dialgauge.dialogue import State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Peek
from dialgauge.formats.jsonfile import Keyed, decode
from dialgauge.formats.predictions.reading import (
    PredictionFormat,
    Seen,
    grouped,
    model_state,
    sample_dialogues,
    sample_turns,
    slot_state,
    some_have,
)
from dialgauge.formats.predictions.states import clean_state, read_state, shown, values_of
from dialgauge.formats.source import Part
from dialgauge.text import Note

# -- Flags ---------------------------------------------------------------------------------------------------------

#: The slots in the order of the flags.
FLAG_SLOTS = {
    "taxi": ("leaveAt", "destination", "departure", "arriveBy"),
    "restaurant": ("book_people", "book_day", "book_time", "food", "pricerange", "name", "area"),
    "hotel": (
        *("book_people", "book_day", "book_stay", "name", "area"),
        *("parking", "pricerange", "stars", "internet", "type"),
    ),
    "attraction": ("type", "name", "area"),
    "train": ("book_people", "leaveAt", "destination", "day", "arriveBy", "departure"),
}
_COUNT = sum(map(len, FLAG_SLOTS.values()))
_FLAGS = msgspec.json.Decoder(list[bool | int | float])


class Flags(PredictionFormat):
    """Correctness flags (FGA's ``trippy_result.json``): for each turn, whether each of MultiWOZ's 30 slots was right.

    ``{"MUL0001.json": {"0": [1, 0, 1, ...]}}``
    """

    name = "flags"
    summary = "correctness of the 30 MultiWOZ slots, {dialogue: {turn: [1, 0, ...]}} (FGA's TripPy results)"
    fields = frozenset({"judged"})

    def recognise(self, peek: Peek) -> bool:
        turns = sample_turns(sample_dialogues(peek))
        numbers = (
            isinstance(each, list) and each and all(isinstance(one, int | float) for one in each) for each in turns
        )
        return bool(turns) and all(numbers)

    def made(self, content: Raw) -> Iterable[Turn]:
        yield Turn(speaker="user", judged=_judged(decode(_FLAGS, content, self.part)))


def _judged(flags: list[bool | int | float]) -> dict[str, dict[str, bool]]:
    """The verdict of each slot."""
    if len(flags) != _COUNT:
        raise DialgaugeError(f"it has {len(flags)} flags; there must be {_COUNT}, one per slot")
    if wrong := [flag for flag in flags if flag not in (0, 1)]:
        raise DialgaugeError(f"a flag is {wrong[0]}; it must be 0 or 1")
    verdicts = iter(map(bool, flags))
    return {domain: dict(zip(slots, verdicts, strict=False)) for domain, slots in FLAG_SLOTS.items()}


# -- HumanEval -----------------------------------------------------------------------------------------------------

_CONTRADICTED = Note("contradicted_match", "turns whose 'Matched' contradicts their states")
_TURN = re.compile(
    r"Turn *:(?P<turn>.*)\nSys *:(?P<system>(?s:.*?))\nUsr *:(?P<user>(?s:.*?))\n"
    r"GT *:(?P<gold>.*)\nPR *:(?P<predicted>.*)\n\s*Matched *:(?P<matched>.*)"
)
_ID, _BETWEEN = re.compile(r"Dialogue ID *:(.*)"), re.compile(r"[\s-]*")
_MOST_LITERAL = 100_000


class HumanEval(PredictionFormat):
    """FGA's human-evaluation files: one dialogue a text file, with utterances and both states of each turn.

    Blocks between lines of dashes, the first with the dialogue's id::

        Turn: 1
        Sys : Sure! What day are you traveling?
        Usr : I will be leaving on Thursday.

        GT  : {'train': {'day': 'thursday'}}
        PR  : {}

        Matched : False

    The system utterance is the one *before* the user's. Utterances may span lines; states are Python literals.
    """

    name = "human-eval"
    summary = "FGA's human-evaluation text files, one dialogue per file"
    fields = frozenset({"text", "state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return _TURN.search("\n".join(peek.lines)) is not None

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        text = "\n".join(line.rstrip() for line in self.part.text().split("\n"))
        named = _ID.match(text)
        end = named.end() if named else 0
        turns = []
        for match in _TURN.finditer(text):
            self._check_between(text, end, match.start())
            end = match.end()
            turns.append((match["turn"].strip(), match))
        self._check_between(text, end, len(text))
        yield named[1].strip() if named else self.part.stem.removesuffix(".txt"), turns

    def _check_between(self, text: str, start: int, stop: int) -> None:
        """Between turns there are dashes and empty lines, or a turn lacks a part."""
        if (at := _BETWEEN.match(text, start, stop).end()) < stop:  # type: ignore[union-attr]
            message = (
                f"here, {shown(text[at:stop].partition(chr(10))[0])}, is no turn of Turn, Sys, Usr, GT, PR, Matched"
            )
            raise DialgaugeError(message, file=self.part.name, line=text.count("\n", 0, at) + 1)

    def made(self, content: re.Match[str]) -> Iterable[Turn]:
        if reply := content["system"].strip():
            yield Turn(speaker="system", text=reply)
        gold, predicted = (
            _literal_state(content["gold"].strip(), "GT"),
            _literal_state(content["predicted"].strip(), "PR"),
        )
        self.notes.add(_CONTRADICTED, int((content["matched"].strip() == "True") != (gold == predicted)))
        yield Turn(speaker="user", text=content["user"].strip(), state=gold, predicted=predicted)


def _literal_state(literal: str, label: str) -> State:
    if literal == "{{}}":  # a template's escaped braces, printed as they stand
        return {}
    if len(literal) > _MOST_LITERAL:
        raise DialgaugeError(f"the state after {label} is longer than {_MOST_LITERAL:,} characters")
    try:
        value = ast.literal_eval(literal)
        return clean_state(msgspec.convert(value, dict[str, dict[str, str | list[str]]]))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise DialgaugeError(
            f"the state after {label} is not a dictionary of domains, slots and texts: {literal[:80]}"
        ) from error


# -- Trippy --------------------------------------------------------------------------------------------------------

#: What ``class_prediction_SLOT`` counts through.
CLASSES = ("none", "dontcare", "copy_value", "true", "false", "refer", "inform")
_ARE_VALUES = frozenset({"dontcare", "true", "false"})
_CLASS, _VALUE, _GOLD = "class_prediction_", "slot_prediction_", "slot_groundtruth_"
_INFORMED = "§§"


class _Guid(msgspec.Struct):
    """Set, dialogue and turn. TripPy splits its ids at hyphens, so an id may come in several pieces, or in one text."""

    guid: list[str | int] | str = ""


_RECORDS = msgspec.json.Decoder(list[Raw])
_RECORD = msgspec.json.Decoder(dict[str, Any])
_GUID = msgspec.json.Decoder(_Guid)


class Trippy(PredictionFormat):
    """TripPy's raw prediction file: one object a turn, with a class and a value for each slot.

    ``[{"guid": ["test", "MUL0001.json", "0"], "class_prediction_hotel-area": 2, "slot_prediction_hotel-area": "east",
    "slot_groundtruth_hotel-area": "north"}]``

    Gold is cumulative, predictions are not: the class says what the turn does to the slot (:data:`CLASSES`), and the
    state is rebuilt turn by turn. ``none``, and a class without a value (``none`` as the value), leave the slot as it
    was; ``dontcare``, ``true`` and ``false`` are the value; the others put ``slot_prediction`` into the slot, where
    values taken from what the system said carry two section signs in front.
    """

    name = "trippy"
    summary = "TripPy raw predictions, [{guid, class_prediction_SLOT, slot_prediction_SLOT, slot_groundtruth_SLOT}]"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, list) or peek.first is None:
            return False
        record = peek.first[1]
        return isinstance(record, dict) and "guid" in record and any(key.startswith(_CLASS) for key in record)

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        return grouped(_entries(self.part)).items()

    def turns(self, content: Any) -> Any:
        self._values: dict[str, Values] = {}
        return content

    def made(self, content: Raw) -> Iterable[Turn]:
        record = decode(_RECORD, content, self.part)
        predicted, gold = _layout(tuple(record))
        for slot, key in predicted:
            if record[key] != 0:
                self._values[slot] = _predicted(record, slot, record[key]) or self._values.get(slot, ())
        state = slot_state({slot: _value(record, key) for slot, key in gold}) if gold else None
        yield Turn(speaker="user", state=state, predicted=slot_state(self._values))


def _entries(part: Part) -> Iterator[tuple[str, str, Raw]]:
    records = decode(_RECORDS, part.read(), part)
    for position, raw in enumerate(records, 1):
        try:
            guid = decode(_GUID, raw, part).guid
        except DialgaugeError as error:
            raise DialgaugeError(f"object {position} of the list: {error.message}", file=part.name) from error
        pieces = guid.split("-") if isinstance(guid, str) else guid
        if len(pieces) < 3:
            raise DialgaugeError(
                f"the 'guid' of object {position} of the list is not set, dialogue and turn, "
                'such as ["test", "MUL0001.json", "0"] or "test-MUL0001.json-0"',
                file=part.name,
            )
        yield "-".join(map(str, pieces[1:-1])), str(pieces[-1]), raw


@lru_cache(maxsize=16)
def _layout(keys: tuple[str, ...]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Slot and key of each class, and slot and key of each gold value.

    A record has hundreds of keys and all records of a file have the same, so they are looked through once.
    """
    predicted = [(key[len(_CLASS) :], key) for key in keys if key.startswith(_CLASS)]
    gold = [(key[len(_GOLD) :], key) for key in keys if key.startswith(_GOLD)]
    return predicted, gold


def _predicted(record: dict[str, Any], slot: str, number: object) -> Values:
    """The value the turn gives the slot; empty when it leaves the slot as it was."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(CLASSES):
        raise DialgaugeError(f"class_prediction_{slot} must be 0 to {len(CLASSES) - 1} ({', '.join(CLASSES)})")
    chosen = CLASSES[number]
    if chosen in _ARE_VALUES:
        return (chosen,)
    key = _VALUE + slot
    if key not in record:
        raise DialgaugeError(f"the class of {slot} is {chosen}, but there is no {key}")
    return _value(record, key)


def _value(record: dict[str, Any], key: str) -> Values:
    value = record[key]
    if not isinstance(value, str):
        raise DialgaugeError(f"{key} must be text, not {value!r:.40}")
    return values_of(value.removeprefix(_INFORMED).lstrip() if value.startswith(_INFORMED) else value)


# -- MwzEval -------------------------------------------------------------------------------------------------------


class _Entry(msgspec.Struct, gc=False):
    response: str
    state: Raw = Raw()
    active_domains: tuple[str, ...] | None = None


_ENTRIES = Keyed(list[_Entry])


class MwzEval(PredictionFormat):
    """Predictions for MultiWOZ_Evaluation: responses of end-to-end and policy systems, with or without states.

    ``{"mul0001": [{"response": "...", "state": {"hotel": {"area": "east"}}, "active_domains": ["hotel"]}]}``

    Each entry answers one user turn: it becomes a user turn that carries the predicted state, and the system turn with
    the response. Policy systems are given the gold state and write none; their user turns carry no prediction. A slot
    that says ``none`` or nothing is absent, but to the package it has that value: it is kept in ``Turn.blank``.
    """

    name = "mwzeval"
    summary = "MultiWOZ_Evaluation predictions, {dialogue: [{response, state?, active_domains?}]}"
    fields = frozenset({"predicted", "blank", "active", "text"})

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, list) for item in dialogues):
            return False
        return some_have((entry for item in dialogues for entry in item), "response")

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        return _ENTRIES.read(self.part, self.notes)

    def turns(self, content: Any) -> Any:
        return [(str(number), entry) for number, entry in enumerate(content)]

    def made(self, content: _Entry) -> Iterable[Turn]:
        state, blank = self.optional(self._state, content.state) or (None, None)
        yield Turn(speaker="user", predicted=state, blank=blank, active=content.active_domains)
        yield Turn(speaker="system", text=content.response)

    def _state(self, content: bytes, seen: Seen) -> tuple[State, State | None]:
        """A state, and its slots that mean "absent"."""
        blank: State = {}
        try:
            state = read_state(content, self.part, blank)
        except DialgaugeError:
            return model_state(content, self.part, seen), None
        return state, _without_later(blank, msgspec.json.decode(content)) if blank else None


def _without_later(blank: State, raw: Mapping[str, Mapping[str, Any]]) -> State | None:
    """Without slots that the domain fills further on under another spelling: of two, the package takes the last."""
    for domain, slots in blank.items():
        later: set[str] = set()
        for slot in reversed(list(raw[domain])):
            name = slot.lower().replace(" ", "").replace("arriveby", "arrive").replace("leaveat", "leave")
            if name in later:
                slots.pop(slot, None)
            later.add(name)
    return {domain: slots for domain, slots in blank.items() if slots or not raw[domain]} or None
