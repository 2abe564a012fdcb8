"""TripPy's raw prediction file: one object a turn, with a class and a value for each slot.

``[{"guid": ["test", "MUL0001.json", "0"], "class_prediction_hotel-area": 2, "slot_prediction_hotel-area": "east",
"slot_groundtruth_hotel-area": "north"}]``

Gold is cumulative, predictions are not: the class says what the turn does to the slot (:data:`CLASSES`), and the state
is rebuilt turn by turn. ``none`` leaves the slot as it was (told where its value becomes none, too); ``dontcare``,
``true`` and ``false`` are themselves the value; the others put ``slot_prediction`` into the slot, where values taken
from what the system said carry two section signs in front. A class that has no value to give (``none`` as the value)
leaves the slot as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.common import assembled, built, example_rows, grouped, in_order, slot_state
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import present_text

#: What ``class_prediction_SLOT`` counts through.
CLASSES = ("none", "dontcare", "copy_value", "true", "false", "refer", "inform")
_ARE_VALUES = frozenset({"dontcare", "true", "false"})
_CLASS, _VALUE, _GOLD = "class_prediction_", "slot_prediction_", "slot_groundtruth_"
_INFORMED = "§§"
_NO_VALUE = ("none", "")
_KEPT = "slots that go back to none, which keep their value as in TripPy's own metric"


class _Guid(msgspec.Struct):
    """Set, dialogue and turn. TripPy splits its ids at hyphens, so an id may come in several pieces, or in one text."""

    guid: list[str | int] | str = ""


_RECORDS = msgspec.json.Decoder(list[msgspec.Raw])
_RECORD = msgspec.json.Decoder(dict[str, Any])
_GUID = msgspec.json.Decoder(_Guid)


class Trippy(DialogueFormat):
    """Class and value of each slot, one object a turn."""

    name = "trippy"
    summary = "TripPy raw predictions, [{guid, class_prediction_SLOT, slot_prediction_SLOT, slot_groundtruth_SLOT}]"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, list) or peek.first is None:
            return False
        record = peek.first[1]
        return isinstance(record, dict) and "guid" in record and any(key.startswith(_CLASS) for key in record)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        def build(dialogue: str, turns: list[tuple[str, msgspec.Raw]]) -> Dialogue:
            running = _Running(part, notes)
            return assembled(dialogue, in_order(turns, notes), running.read, running)

        return built(grouped(_entries(part)).items(), build, part, notes)


def _entries(part: Part) -> Iterator[tuple[str, str, msgspec.Raw]]:
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
                'such as ["test", "MUL0001.json", "0"] or "test-MUL0001.json-0"; lines such as those below are read, '
                "too",
                file=part.name,
                example=example_rows(str(pieces[0]) if pieces else ""),
            )
        yield "-".join(map(str, pieces[1:-1])), str(pieces[-1]), raw


class _Running:
    """The predicted state of a dialogue as its turns go by."""

    def __init__(self, part: Part, notes: Notes) -> None:
        self._part, self._notes = part, notes
        self.dialogue, self.turn = "", 0
        self._values: dict[str, Values] = {}
        #: Slots that the record before empties, as far as it goes.
        self._emptied: set[str] = set()

    def read(self, raw: msgspec.Raw) -> Turn:
        record = decode(_RECORD, raw, self._part)
        predicted, gold, unused = _layout(tuple(record))
        emptied = {
            slot
            for slot, key in predicted
            if self._values.get(slot) and record[key] == 0 and record.get(_VALUE + slot) in _NO_VALUE
        }
        if again := emptied - self._emptied:
            self._notes.add_at(_KEPT, len(again), f"dialogue {self.dialogue}, turn {self.turn}")
        self._emptied = emptied
        for slot, key in predicted:
            if record[key] != 0:
                self._values[slot] = _predicted(record, slot, record[key]) or self._values.get(slot, ())
        self._notes.add("fields of labels, positions and referrals dropped", unused)
        return Turn(
            speaker="user",
            state=slot_state({slot: _value(record, key) for slot, key in gold}) if gold else None,
            predicted=slot_state(self._values),
        )


@lru_cache(maxsize=16)
def _layout(keys: tuple[str, ...]) -> tuple[list[tuple[str, str]], list[tuple[str, str]], int]:
    """Slot and key of each class, slot and key of each gold value, and how many keys are not used.

    A record has hundreds of keys and all records of a file have the same, so they are looked through once.
    """
    predicted = [(key[len(_CLASS) :], key) for key in keys if key.startswith(_CLASS)]
    gold = [(key[len(_GOLD) :], key) for key in keys if key.startswith(_GOLD)]
    values = sum(key.startswith(_VALUE) for key in keys)
    return predicted, gold, len(keys) - len(("guid",)) - len(predicted) - len(gold) - values


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
    return present_text(value.removeprefix(_INFORMED).lstrip() if value.startswith(_INFORMED) else value)
