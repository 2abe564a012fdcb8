"""Predicted states as language models write them: null, numbers, truth values, flat keys, and words around the JSON.

Gold must have the shape that the format says; of predictions everything is taken that can be meant. What had to be
read as something else is counted with its place. What no reading makes a state of is an *invalid output*: an empty
prediction, never a missing one, so that it is scored. What is neither absent nor a text is kept as a value that is
right nowhere. Nothing of it is to a system's advantage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import decode, python_literal
from dialgauge.formats.located import NOTHING
from dialgauge.formats.notes import INVALID, PARTLY, Notes
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import present_text

NULL = "null values read as absent"
NUMBER = "numbers read as texts"
TRUTH = "booleans read as the texts true and false"
NO_VALUE = "objects and lists in place of a value, kept as wrong values"
RAN_ON = "outputs that go on with the next turn, cut off there"
NO_SLOT = "values without a slot, kept as wrong values"

#: Where a value stands that has a domain and no slot.
NO_NAME = "(no slot)"
#: What models like to put around a state.
_WRAPPERS = frozenset({"state", "belief_state", "dialogue_state", "predicted_state"})
#: Longer answers are no states, and in one of them no more than so many beginnings are tried.
MOST_TEXT = 50_000
_MOST_STARTS = 50
_MOST_LITERALS = 5
#: A text that begins with a state or says that one follows, with an object, and where the next turn begins.
_STATE_FIRST = re.compile(
    r"\s{0,9}(?:(?:<\|\w{1,40}\|>|</?s>|assistant\b)\s{0,9}){0,4}"
    r"(?:[\w ]{0,40}(?:state|answer|output|prediction)\s?:\s{0,9})?"
    r"(?:\[(?!INST)|[{(]|```|\w{1,40}[-._]\w[\w ]{0,40}[=:])",
    re.IGNORECASE,
)
_OBJECT_FIRST = re.compile(r"\s{0,9}(?:```\w{0,20}\s{0,9})?\{")
_CORRECTION = re.compile(
    r"\b(?:wait|actually|instead|rather|oops|mistake|better|correct\w*|final\w*|fix\w*|reflect\w*|revis\w*|updat\w*)\b",
    re.IGNORECASE,
)
_NEXT_TURN = re.compile(
    r"\n[\s*#>]{0,9}(?:user|usr|human|customer|question|input|instruction|dialogue|context|turn)[ 0-9*]{0,9}:"
    r"|<\|(?:im_start|start_header_id)\|>\s{0,9}user|<\|user\|>|<start_of_turn>user|\[INST\]",
    re.IGNORECASE,
)

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

    def is_odd(self, content: bytes) -> bool:
        """Had something of a member that was read to be read as something else?"""
        return content in self._odd

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
    written, sure = value, True
    if isinstance(value, str):
        answer = answer_before(value)
        seen[RAN_ON] += answer != value
        written, sure = answer_in(answer)
    if isinstance(written, dict) and len(written) == 1 and not _WRAPPERS.isdisjoint(written):
        [written] = written.values()
    if not isinstance(written, dict):
        seen[INVALID] += 1
        return {}
    if not sure:
        seen[PARTLY] += 1
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


def answer_before(text: str) -> str:
    """A model's answer up to where it goes on with the next turn itself, if it begins with a state.

    >>> answer_before("State: hotel-area=north\\nUser: thanks\\nState: hotel-area=south")
    'State: hotel-area=north'
    """
    next_turn = _NEXT_TURN.search(text) if _STATE_FIRST.match(text) else None
    return text[: next_turn.start()] if next_turn else text


def is_next_turn(text: str) -> bool:
    """Does it begin with what the user says next?"""
    return _NEXT_TURN.match(f"\n{text.lstrip()}") is not None


def answer_in(
    text: str, is_state: Callable[[dict[Any, Any]], bool] = lambda _: True
) -> tuple[dict[Any, Any] | None, bool]:
    """The last object in a model's answer that may be a state, and whether it is surely the one that was meant.

    It is not where braces are left open, as in a text that was cut off, or where the answer begins with another state
    and no word says that the last corrects it.

    >>> answer_in('Sure! ```json\\n{"hotel": {"area": "north"}}\\n``` Anything else?')
    ({'hotel': {'area': 'north'}}, True)
    """
    if len(text) > MOST_TEXT or "{" not in text:
        return None, False
    objects = list(_json_objects(text))
    last = objects[0] if objects else None
    for written in objects:
        last = written if is_state(written) or not is_state(last or {}) else last
    changed = bool(objects) and _OBJECT_FIRST.match(text) is not None and is_state(objects[0]) and objects[0] != last
    sure = text.count("{") == text.count("}") and not (changed and not _CORRECTION.search(text))
    return last or _python_literal(text) or last, sure


def _json_objects(text: str) -> Iterator[dict[Any, Any]]:
    from json import JSONDecoder

    decoder, offset = JSONDecoder(), 0
    for _ in range(_MOST_STARTS):
        offset = text.find("{", offset)
        if offset < 0:
            break
        try:
            written, offset = decoder.raw_decode(text, offset)
        except (ValueError, RecursionError):
            offset += 1
            continue
        yield written


def _python_literal(text: str) -> dict[Any, Any] | None:
    starts = [index for index, letter in enumerate(text) if letter == "{"][:_MOST_LITERALS]
    values = (python_literal(text[start : text.rfind("}") + 1]) for start in starts)
    return next((value for value in values if isinstance(value, dict)), None)
