"""Predicted states as language models write them: null, numbers, truth values, flat keys, and words around the JSON.

Gold must have the shape that the format says; of predictions everything is taken that can be meant. What had to be
read as something else is counted with its place. What no reading makes a state of is an *invalid output*: an empty
prediction, never a missing one, so that it is scored. What is neither absent nor a text is kept as a value that is
right nowhere. Nothing of it is to a system's advantage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import NOTHING, decode
from dialgauge.formats.notes import INVALID, Notes
from dialgauge.formats.predictions.states import Misfit, open_answer
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import present_text

NULL = "null values read as absent"
NUMBER = "numbers read as texts"
TRUTH = "booleans read as the texts true and false"
NO_VALUE = "objects and lists in place of a value, kept as wrong values"
NO_SLOT = "values without a slot, kept as wrong values"

#: Where a value stands that has a domain and no slot.
NO_NAME = "(no slot)"
#: What models like to put around a state.
_WRAPPERS = frozenset({"state", "belief_state", "dialogue_state", "predicted_state"})
Seen: TypeAlias = Counter[str]


T = TypeVar("T")


class _Loose(Generic[T]):
    """What a file predicts, piece by piece; equal texts are read once.

    ``strict`` reads what is written as the format says; only what it refuses is read with ``loose``. ``dialogue`` and
    ``turn`` are where the reader is, for the notes.
    """

    def __init__(self, strict: Callable[[bytes], T], loose: Callable[[Any, Seen], T], part: Part, notes: Notes) -> None:
        self._strict, self._loose, self._part, self._notes = strict, loose, part, notes
        self._known: dict[bytes, T] = {}
        #: What was seen in those that were read loosely.
        self._odd: dict[bytes, Seen] = {}
        self.dialogue, self.turn = "", 0

    def optional(self, raw: msgspec.Raw) -> T | None:
        """The meaning of a member that may be left out or null: then nothing is recorded."""
        content = bytes(raw)
        return None if content in NOTHING else self.read(content)

    def read(self, content: bytes) -> T:
        """The meaning of a member that is there."""
        meaning = self._known.get(content)
        if meaning is None:
            try:
                meaning = self._strict(content)
            except DialgaugeError as error:
                meaning = self._loosely(content, error)
            self._known[content] = meaning
        if self._odd and content in self._odd:
            self.note(self._odd[content])
        return meaning

    def note(self, seen: Seen) -> None:
        """Count what was read as something else, with the place."""
        for what, count in (+seen).items():
            self._notes.add_at(what, count, f"dialogue {self.dialogue}, turn {self.turn}")

    def _loosely(self, content: bytes, error: DialgaugeError) -> T:
        try:
            value = msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise error from None
        seen: Seen = Counter()
        meaning = self._loose(value, seen)
        if +seen:
            self._odd[content] = seen
        return meaning


class LooseStates(_Loose[State]):
    """Predicted states; ``text`` takes a value apart that lists alternatives."""

    def __init__(
        self,
        strict: Callable[[bytes], State],
        part: Part,
        notes: Notes,
        text: Callable[[str], Values] = present_text,
    ) -> None:
        super().__init__(strict, lambda value, seen: loose_state(value, seen, text), part, notes)


class LooseChanges(_Loose[dict[str, Values]]):
    """What turns predict anew, as ``domain-slot`` to values; an empty value empties its slot."""

    def __init__(self, decoder: msgspec.json.Decoder[dict[str, str]], part: Part, notes: Notes) -> None:
        def strict(content: bytes) -> dict[str, Values]:
            return {slot: present_text(value) for slot, value in decode(decoder, content, part).items()}

        super().__init__(strict, _loose_changes, part, notes)


def _loose_changes(value: Any, seen: Seen) -> dict[str, Values]:
    if not isinstance(value, dict):
        seen[INVALID] += 1
        return {}
    changes: dict[str, Values] = {}
    for name, content in value.items():
        inside = content if isinstance(content, dict) else {"": content}
        for slot, given in inside.items():
            whole = f"{name}-{slot}" if slot else name
            nameless = "-" not in whole.strip("-")
            seen[NO_SLOT] += nameless
            changes[f"{whole or 'unknown'}-{NO_NAME}" if nameless else whole] = loose_value(given, seen)
    return changes


def loose_state(value: Any, seen: Seen, text: Callable[[str], Values] = present_text) -> State:
    """The state in whatever a model put out: domains with slots, or ``domain-slot`` with values, or a text with it.

    >>> seen = Counter()
    >>> loose_state({"hotel-stars": 4, "hotel": {"area": None}}, seen), dict(seen)
    ({'hotel': {'stars': ('4',)}}, {'numbers read as texts': 1, 'null values read as absent': 1})
    """
    written = value
    if isinstance(value, str):
        try:
            written = open_answer(value)
        except Misfit:
            written = None
    if isinstance(written, dict) and len(written) == 1 and not _WRAPPERS.isdisjoint(written):
        [written] = written.values()
    if not isinstance(written, dict):
        seen[INVALID] += 1
        return {}
    state: State = {}
    for key, content in written.items():
        domain, hyphen, slot = str(key).partition("-")
        if isinstance(content, dict):
            inside = {str(name): loose_value(given, seen, text) for name, given in content.items()}
            _put(state, str(key), inside)
        elif hyphen:
            _put(state, domain, {slot: loose_value(content, seen, text)})
        else:
            values = loose_value(content, seen, text)
            seen[NO_SLOT] += bool(values)
            _put(state, domain, {NO_NAME: values})
    return state


def _put(state: State, domain: str, slots: dict[str, Values]) -> None:
    filled = {slot: values for slot, values in slots.items() if values}
    if filled:
        state[domain] = {**state.get(domain, {}), **filled}


def loose_value(value: Any, seen: Seen, text: Callable[[str], Values] = present_text) -> Values:
    """The acceptable values of a slot, whatever stands there; empty where it means absent."""
    if isinstance(value, str):
        return text(value)
    if value is None:
        seen[NULL] += 1
        return ()
    if isinstance(value, bool):
        seen[TRUTH] += 1
        return ("true" if value else "false",)
    if isinstance(value, int | float):
        seen[NUMBER] += 1
        if isinstance(value, float):
            return (f"{value:.0f}" if value.is_integer() else repr(value),)
        return (str(value),)
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple | dict) for item in value):
        return tuple(name for item in value for name in loose_value(item, seen, text))
    seen[NO_VALUE] += 1
    return (" ".join(re.sub(r"[\[\]{}]", " ", str(value)[:200]).split()) or NO_NAME,)
